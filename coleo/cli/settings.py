"""``coleo config``: what is set, to what, and where that comes from."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coleo.bus import doorbell
from coleo.cli import out, starting
from coleo.cli.app import Json, command, group
from coleo.files import activity, settings_edit
from coleo.files import settings as files
from coleo.files.layout import Layout, find, user_config
from coleo.model.errors import BadInput
from coleo.model.problem import ERROR, raise_if_any

config = group(
    "See and change settings.",
    "coleo config list",
    "coleo config get brain.poll_interval_ms",
    "coleo config set brain.max_arms 4",
    "coleo config set brain.max_arms 4 --user",
)
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Look as if this were on the command line.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app."""
    app.add_typer(config, name="config")


@command(config, "list", "coleo config list", "coleo config list --json")
def list_(settings: Overrides = None, json: Json = False) -> int:
    """List every setting with its value and where it comes from. Exit 2 when something is wrong."""
    loaded, values = _loaded(settings)
    if json:
        facts = [{"key": key, "value": value, "source": loaded.sources.get(key, "default")} for key, value in values]
        out.emit({"settings": facts, "problems": [problem.as_dict() for problem in loaded.problems]})
    else:
        rows = [(key, _shown(value), loaded.sources.get(key, "default")) for key, value in values]
        out.table(("KEY", "VALUE", "FROM"), rows, wide="VALUE")
        for problem in loaded.problems:
            out.note(str(problem))
    return 2 if any(problem.severity == ERROR for problem in loaded.problems) else 0


@command(config, "get", "coleo config get brain.max_arms")
def get(key: Annotated[str, typer.Argument(metavar="KEY")], settings: Overrides = None, json: Json = False) -> None:
    """Print one setting's value. Exit 2 when what was said of it is wrong: then nothing would start with it."""
    loaded, values = _loaded(settings)
    found = dict(values)
    name = _key(key)
    raise_if_any((problem for problem in loaded.problems if problem.key in (name, "")), name)
    if name not in found:
        raise BadInput("this is not set", found=name, wanted="a section that has a command")
    if json:
        out.emit({"key": name, "value": found[name], "source": loaded.sources.get(name, "default")})
    else:
        out.line(_shown(found[name]))


@command(config, "set", "coleo config set brain.poll_interval_ms 10000")
def set_(
    key: Annotated[str, typer.Argument(metavar="KEY")],
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    user: Annotated[bool, typer.Option("--user", help="In ~/.coleo/config.toml, for all your projects.")] = False,
    json: Json = False,
) -> None:
    """Write one setting into the project's config.toml.

    Comments, order and every other line stay. A running brain takes it up at once.
    """
    layout = _layout()
    if layout is None and not user:
        find()
    path = user_config() if user or layout is None else layout.config
    name = _key(key)
    settings_edit.set_value(path, name, value)
    if layout is not None:
        activity.append(layout, "notice", now=out.now(), text=f"setting {name} is {value}", file=path)
        doorbell.ring(layout, "settings")
    loaded, values = _loaded(None)
    effective = dict(values).get(name)
    source = loaded.sources.get(name, "default")
    if json:
        out.emit({"key": name, "value": effective, "source": source, "file": path})
        return
    out.line(f"{name} is {_shown(effective)} ({source})")
    if source != path:
        out.note(f"what you set in {path} does not count: {source} says otherwise")


def _layout() -> Layout | None:
    """The project around, if there is one: settings can be looked at without."""
    try:
        return find()
    except BadInput:
        return None


def _loaded(pairs: list[str] | None) -> tuple[files.Loaded, list[tuple[str, Any]]]:
    loaded = files.load(_layout(), starting.overrides(pairs or []))
    return loaded, list(files.flat(loaded.settings).items())


def _key(key: str) -> str:
    try:
        return files.canonical(key)
    except KeyError as error:
        near = error.args[0] if error.args else None
        raise BadInput("no such setting", found=key, wanted=near or "a key as `coleo config list` shows it") from None


def _shown(value: object) -> str:
    """A value as config.toml has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
