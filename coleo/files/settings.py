"""Settings: what may be set, where it may be set, and every problem at once (cases g06, g07, g12).

Command line, then environment (``COLEO_*``, then the older ``OCTOPAI_*``), then the project's ``.coleo/config.toml``,
then ``~/.coleo/config.toml``, then the defaults below: the first that says something right about a key wins.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from coleo.files import atomic, checked, tomllines
from coleo.files.checked import SeatName, Strict, Zone
from coleo.files.layout import Layout, user_config
from coleo.model.problem import ERROR, Problem, raise_if_any

#: Names of the first source document that still count.
OLDER = ("brain.poll_interval_ms", "brain.max_arms", "brain.arm_grace_period_minutes")

COMMAND_LINE = "command line"
DEFAULT = "default"

_HINTS = {"seats": "each seat in a folder of its own, .project/seats/<seat>/seat.md"}

Seconds = Annotated[float, Field(gt=0, le=86_400)]


class Stuck(Strict):
    """When an arm that gets nowhere counts as stuck. Checked and kept, not used yet: detection is still to come."""

    prompts: Annotated[int, Field(ge=1, le=100)] = 3
    """Prompts without any progress after them."""
    minutes: Annotated[int, Field(ge=1, le=1440)] = 5
    """Minutes since the later of its last progress and its last prompt."""


class Brain(Strict):
    """The loop that watches files and arms."""

    poll_interval_ms: Annotated[int, Field(ge=100, le=86_400_000)] = 30_000
    """Time between two ticks, in milliseconds. Changed files wake the brain at once, between ticks."""
    max_arms: Annotated[int, Field(ge=1, le=1000)] = 8
    """How many agents may run at the same time."""
    arm_grace_period_minutes: Annotated[int, Field(ge=0, le=1440)] = 5
    """How long an agent that was found running is left alone."""
    settle_s: Annotated[float, Field(ge=0, le=3600)] = 2.0
    """How long a file must be still before new lines in it are taken."""
    retention_days: Annotated[int, Field(ge=0, le=36_500)] = 30
    """How many days of the activity log are kept; 0 keeps all."""
    withdraw_after_s: Annotated[float, Field(ge=0, le=86_400)] = 10.0
    """How long a task must be gone from the plan before it counts as withdrawn."""
    max_attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """Failed or released attempts after which a task is blocked."""
    claim_ack_minutes: Annotated[float, Field(gt=0, le=1440)] = 3.0
    """How long a seat has to acknowledge a task that it was given."""
    stuck: Stuck = Stuck()


class Git(Strict):
    """What coleo does about its own changes below .project/."""

    commit: Literal["off", "suggest", "auto"] = "suggest"
    """off: nothing. suggest: say what could be committed. auto: commit it, and nothing that you have staged."""


class Verify(Strict):
    """Proof before a box is ticked."""

    command: str = ""
    """A shell command that must succeed before a task counts as done; empty for none."""
    timeout_s: Seconds = 600.0
    """Seconds that a verification may take."""
    sections: dict[str, str] = Field(default_factory=dict)
    """Commands for the tasks of one section of the plan: its heading = the command."""


class Shell(Strict):
    """The shell worker."""

    time_limit_s: Seconds = 1800.0
    """Seconds that one block of a task may run."""


class Log(Strict):
    """What the brain says."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least that is worth a line."""


class Settings(Strict):
    """All settings; ``Settings()`` is the defaults."""

    orchestrator: SeatName = ""
    """The seat that leads; empty for none."""
    timezone: Zone = ""
    """Time zone of schedules and of agents, such as Europe/Berlin; empty for the machine's."""
    brain: Brain = Brain()
    git: Git = Git()
    verify: Verify = Verify()
    shell: Shell = Shell()
    log: Log = Log()


@dataclass(frozen=True)
class Loaded:
    """Settings, and where they come from.

    sources: dotted key to ``command line``, the name of a variable, the path of a file, or ``default``.
    """

    settings: Settings
    problems: list[Problem] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    def raise_if_bad(self, *, strict: bool = False) -> None:
        """BadInput that names all errors; `strict` counts warnings as errors."""
        raise_if_any(self.problems, "the settings", strict=strict)


@cache
def keys() -> dict[str, tuple[type[BaseModel], str]]:
    """Dotted key of every setting to its table and its name there, in the order of the file."""
    return dict(_keys(Settings, ""))


def _keys(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, tuple[type[BaseModel], str]]]:
    for name, one in model.model_fields.items():
        below = checked.table_of(one.annotation)
        if below is not None:
            yield from _keys(below, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", (model, name)


def flat(settings: Settings) -> dict[str, Any]:
    """Dotted key to value, for listing; the commands of sections have a key each, ``verify.sections.<heading>``."""
    values: dict[str, Any] = {}
    for key in keys():
        value: Any = settings
        for part in key.split("."):
            value = getattr(value, part)
        if isinstance(value, dict):
            values |= {f"{key}.{name}": one for name, one in value.items()}
        else:
            values[key] = value
    return values


def canonical(key: str) -> str:
    """The dotted key that is meant by `key`, which may be ``brain_poll_interval_ms`` or ``poll_interval_ms``.

    KeyError, with the nearest known key or None as its argument, when there is none.
    """
    wanted = key.strip()
    if wanted in keys() or _is_section(wanted):
        return wanted
    for known in keys():
        if wanted in (known.replace(".", "_"), known.removeprefix("brain.")):
            return known
    tails = {known.rpartition(".")[2]: known for known in reversed(keys())}
    close = checked.nearest(wanted, list(keys())) or tails.get(checked.nearest(wanted, list(tails)) or "")
    raise KeyError(close)


def _is_section(key: str) -> bool:
    return key.startswith("verify.sections.") and len(key) > len("verify.sections.")


def parts_of(key: str) -> list[str]:
    """The tables and the name of a known key; a section's heading may hold dots."""
    return ["verify", "sections", key.removeprefix("verify.sections.")] if _is_section(key) else key.split(".")


def variables(key: str) -> list[str]:
    """The environment variables of a key, the one that wins first."""
    names = ["COLEO_" + key.replace(".", "_").upper()]
    if key.startswith("brain."):
        names.append("COLEO_" + key.removeprefix("brain.").replace(".", "_").upper())
    if key in OLDER:
        names.append("OCTOPAI_" + key.removeprefix("brain.").upper())
    return names


def load(
    layout: Layout | None, overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] = os.environ
) -> Loaded:
    """All settings of a project (None: of none). Never raises: what is wrong is in `problems` and does not count.

    overrides: dotted keys with values, or with text as on a command line.
    """
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    sources = dict.fromkeys(keys(), DEFAULT)
    for path in _files(layout, environ):
        right, more = read_file(path)
        problems += more
        for key, value in right.items():
            values[key], sources[key] = value, path
    for layer in (_environment(environ), _command_line(overrides or {})):
        for key, value, source in layer:
            if isinstance(value, Problem):
                problems.append(value)
            else:
                values[key], sources[key] = value, source
    return Loaded(_made(values), problems, sources)


def _files(layout: Layout | None, environ: Mapping[str, str]) -> list[str]:
    """The files to read, the one that wins last; a project in the home folder has one and the same for both."""
    user = user_config(environ)
    if layout is None:
        return [user]
    same = os.path.realpath(user) == os.path.realpath(layout.config)
    return [layout.config] if same else [user, layout.config]


def read_file(path: str) -> tuple[dict[str, Any], list[Problem]]:
    """(dotted key to value, problems) of one settings file; nothing when it is not there."""
    try:
        data = atomic.read(path)
    except OSError as error:
        return {}, [Problem(path, None, "", error.strerror or str(error), "a file that can be read")]
    if data is None:
        return {}, []
    text, table, problem = parse(data, path)
    if problem is not None:
        return {}, [problem]
    lines = tomllines.key_lines(text)
    right, problems = checked.read_table(
        Settings, table, path, lambda where: tomllines.line_of(lines, where), hints=_HINTS
    )
    return _flattened(right), [_elsewhere(one) for one in problems]


def parse(data: bytes, path: str) -> tuple[str, dict[str, Any], Problem | None]:
    """(text, table, what makes it no TOML) of a settings file. A BOM and CRLF are taken as they come."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return "", {}, Problem(path, line, "", f"byte {data[error.start]:#04x}", "text in UTF-8")
    try:
        return text, tomllib.loads(text), None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return text, {}, Problem(path, _line_in(str(error), text), "", f"no TOML: {error}", "TOML")


def _line_in(message: str, text: str) -> int | None:
    _before, found, rest = message.partition("at line ")
    number = rest.partition(",")[0]
    if found and number.isdecimal():
        return int(number)
    return text.count("\n") + 1 if "end of document" in message else None


def _elsewhere(problem: Problem) -> Problem:
    """An unknown key that is known under another table is said so."""
    if problem.severity == ERROR or problem.suggest or problem.key in _HINTS:
        return problem
    name = problem.key.rpartition(".")[2]
    for known in keys():
        if name in (known.rpartition(".")[2], known.replace(".", "_")):
            return problem.replace(suggest=known)
    return problem


def _flattened(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict):
            values |= _flattened(value, f"{key}.")
        else:
            values[key] = value
    return values


def _environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    for key, (model, name) in keys().items():
        if key == "verify.sections":
            continue
        for variable in variables(key):
            text = environ.get(variable, "")
            if text.strip():
                yield key, _from_text(model, name, key, text, f"environment variable {variable}"), variable
                break


def _command_line(overrides: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    for given, value in overrides.items():
        try:
            key = canonical(given)
        except KeyError as error:
            yield given, Problem(COMMAND_LINE, None, given, "unknown key", "", ERROR, error.args[0]), COMMAND_LINE
            continue
        yield key, checked_value(key, value, COMMAND_LINE), COMMAND_LINE


def checked_value(key: str, value: Any, source: str) -> Any:
    """A value for a known key as it will count, or the Problem with it. Text is read as on a command line."""
    if _is_section(key):
        return value if isinstance(value, str) else Problem(source, None, key, checked.found(value), "string")
    model, name = keys()[key]
    if isinstance(value, str):
        return _from_text(model, name, key, value, source)
    right, problems = checked.read_table(model, {name: value}, source, lambda _path: None)
    return problems[0].replace(key=key) if problems else right[name]


def _from_text(model: type[BaseModel], name: str, key: str, text: str, source: str) -> Any:
    try:
        return checked.parse_text(model, name, text)
    except ValueError as error:
        return Problem(source, None, key, checked.found(text), str(error))


def _made(values: Mapping[str, Any]) -> Settings:
    nested: dict[str, Any] = {}
    for key, value in values.items():
        parts = parts_of(key)
        table = nested
        for part in parts[:-1]:
            table = table.setdefault(part, {})
        table[parts[-1]] = value
    return Settings.model_validate(nested)
