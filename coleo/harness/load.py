"""Harness files into records: found, checked, and every problem said with file, key, found and wanted.

A name is looked for in the project (``.coleo/harness/``), then the user's folder (``~/.coleo/harness/``), then among
the built-in ones. The first file decides alone; nothing is mixed.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from coleo.model import harness as model
from coleo.model.errors import BadInput, CannotBeDone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What ``{...}`` in argv, env and paths of a harness file may name.
PLACEHOLDERS = ("python", "project", "seat", "seat_dir", "model", "run", "transcript", "home")

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
BUILT_IN = os.path.dirname(os.path.abspath(__file__))

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_LINE_IN_MESSAGE = re.compile(r"\(at line (\d+), column \d+\)")


def _placeholders(value: object) -> object:
    for name in _PLACEHOLDER.findall(value) if isinstance(value, str) else ():
        if name not in PLACEHOLDERS:
            known = " ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ValueError(f"no such placeholder as {{{name}}}; wanted one of {known}")
    return value


def _pattern(value: object) -> object:
    if isinstance(value, str):
        try:
            re.compile(value, re.MULTILINE)
        except re.error as error:
            where = "" if error.pos is None else f" at character {error.pos + 1}"
            raise ValueError(f"a regular expression, but {error.msg}{where}") from None
    return value


def _region(value: object) -> object:
    if isinstance(value, str) and not model.REGION.fullmatch(value):
        raise ValueError("all, composer, cursor, title, last:N or first:N")
    return value


class Place(Protocol):
    """What is needed of `coleo.files.layout.Layout`."""

    @property
    def coleo(self) -> str:
        """The project's ``.coleo`` folder."""


Filled = Annotated[str, BeforeValidator(_placeholders)]
Pattern = Annotated[str, BeforeValidator(_pattern)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RuleFile(_Strict):
    """One ``[[rules]]`` table."""

    kind: Literal["dialog", "busy", "draft", "composer_empty", "ready"]
    pattern: Annotated[Pattern, Field(min_length=1)]
    region: Annotated[str, BeforeValidator(_region)] = "all"
    priority: Annotated[int, Field(ge=0, le=1000)] = 0


class ReceiptsFile(_Strict):
    """The ``[receipts]`` table."""

    kind: Literal["jsonl", "none"] = "none"
    path: Filled = ""
    typed: Pattern = ""
    turn: Pattern = ""


class HarnessFile(_Strict):
    """A whole harness file; the fields of `coleo.model.harness.Harness`, which explains them."""

    summary: str = ""
    argv: list[Filled] = []
    env: dict[str, Filled] = {}
    composer: Literal["screen", "none"] = "screen"
    paste: bool = True
    rules: list[RuleFile] = []
    composer_begin: Pattern = ""
    composer_end: Pattern = ""
    settle_ms: Annotated[int, Field(ge=0, le=60_000)] = 150
    enter: Annotated[str, Field(min_length=1, max_length=16)] = "\r"
    receipts: ReceiptsFile = ReceiptsFile()
    weak_receipts: bool = False
    deliver_busy: bool = False
    exit_keys: list[str] = []
    interrupt_keys: list[str] = []
    quiet_s: Annotated[float, Field(ge=0, le=3600, strict=False)] = 30.0
    checked_with: str = ""


def folders(layout: Place | None, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Where harness files lie, the one that wins first."""
    found = [os.path.join(layout.coleo, "harness")] if layout is not None else []
    home = environ.get("HOME") or os.path.expanduser("~")
    return [*found, os.path.join(home, ".coleo", "harness"), BUILT_IN]


def names(layout: Place | None, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Every harness that can be named, with the path of the file that counts."""
    found: dict[str, str] = {}
    for folder in folders(layout, environ):
        try:
            entries = sorted(os.listdir(folder))
        except OSError:
            continue
        for entry in entries:
            name, ending = os.path.splitext(entry)
            if ending == ".toml" and NAME.fullmatch(name):
                found.setdefault(name, os.path.join(folder, entry))
    return dict(sorted(found.items()))


def load(name: str, layout: Place | None = None, environ: Mapping[str, str] = os.environ) -> model.Harness:
    """The harness called `name`. BadInput when there is none, or with the first problem of its file."""
    if not NAME.fullmatch(name):
        raise BadInput("not a harness name", found=repr(name), wanted="letters a-z, digits, - and _, at most 64")
    known = names(layout, environ)
    if name not in known:
        raise BadInput(
            "no such harness",
            found=name,
            wanted="one of " + ", ".join(known),
            todo=f"write {name}.toml in {folders(layout, environ)[0]}, or name another harness in seat.md",
        )
    harness, problems = read(known[name])
    if harness is None:
        first = problems[0]
        if len(problems) > 1:
            first.message += f" (and {len(problems) - 1} more problems in this file)"
        raise first
    return harness


def read(path: str) -> tuple[model.Harness | None, list[BadInput]]:
    """One file: the harness, or None and everything that is wrong with it."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
        data = tomllib.loads(text.replace("\r\n", "\n"))
    except OSError as error:
        return None, [BadInput(f"cannot be read: {error.strerror}", file=path)]
    except UnicodeDecodeError as error:
        return None, [BadInput("not UTF-8", file=path, found=f"byte {error.object[error.start]:#04x} at {error.start}")]
    except tomllib.TOMLDecodeError as error:
        line = _LINE_IN_MESSAGE.search(str(error))
        return None, [BadInput(f"not TOML: {error}", file=path, line=int(line[1]) if line else None)]
    try:
        parsed = HarnessFile.model_validate(data)
    except ValidationError as error:
        return None, [_problem(path, text, dict(item)) for item in error.errors()]
    made = _record(os.path.splitext(os.path.basename(path))[0], parsed)
    wrong = model.check(made)
    return (None if wrong else made), [BadInput(sentence, file=path) for sentence in wrong]


def _record(name: str, file: HarnessFile) -> model.Harness:
    values: dict[str, Any] = dict(file)
    values["argv"] = tuple(file.argv)
    values["env"] = tuple(file.env.items())
    values["rules"] = tuple(model.Rule(**dict(rule)) for rule in file.rules)
    values["receipts"] = model.Receipts(**dict(file.receipts))
    values["exit_keys"] = tuple(file.exit_keys)
    values["interrupt_keys"] = tuple(file.interrupt_keys)
    return model.Harness(name=name, **values)


def _problem(path: str, text: str, item: dict[str, Any]) -> BadInput:
    """One finding of pydantic as an error for people."""
    where: tuple[int | str, ...] = item["loc"]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).lstrip(".")
    line = _line_of(text, where)
    if item["type"] == "extra_forbidden":
        return BadInput(f"unknown key {key}", file=path, line=line, found=key, wanted=_keys_beside(where))
    found = repr(item["input"]) if item["type"] != "missing" else "nothing"
    wanted = str(item["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    return BadInput(f"{key} is wrong", file=path, line=line, found=found[:200], wanted=wanted)


def _keys_beside(where: tuple[int | str, ...]) -> str:
    tables: dict[object, type[_Strict]] = {"rules": RuleFile, "receipts": ReceiptsFile}
    table = tables.get(where[0], HarnessFile) if where[1:] else HarnessFile
    return "one of " + ", ".join(table.model_fields)


def _line_of(text: str, where: tuple[int | str, ...]) -> int | None:
    """The line where a key stands, looked for in the text (TOML readers tell none); None when it is not seen."""
    at, lines = 0, text.split("\n")
    best: int | None = None
    for part, following in zip(where, [*where[1:], ""], strict=True):
        if isinstance(part, int):
            continue
        nth = following if isinstance(following, int) else 0
        wanted = re.compile(rf"""\s*(?:\[\[?\s*["']?{re.escape(part)}["']?\s*\]\]?|["']?{re.escape(part)}["']?\s*=)""")
        hits = [number for number in range(at, len(lines)) if wanted.match(lines[number])]
        if not hits:
            return best
        at = hits[min(nth, len(hits) - 1)]
        best = at + 1
    return best


def values(
    *, project: str, seat: str, seat_dir: str, transcript: str, run: str, model: str = "", home: str = ""
) -> dict[str, str]:
    """What the placeholders stand for, for one seat."""
    return {
        "python": sys.executable,
        "project": project,
        "seat": seat,
        "seat_dir": seat_dir,
        "transcript": transcript,
        "run": run,
        "model": model,
        "home": home or os.environ.get("HOME", ""),
    }


def fill(text: str, known: Mapping[str, str]) -> str:
    """`text` with its placeholders replaced; other braces stay."""
    return _PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), text)


def argv(words: Sequence[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """A command line with its placeholders replaced.

    A word with a placeholder that stands for nothing (``--model={model}`` in a seat without a model) is left out.
    """
    kept = [
        word for word in words if all(known.get(name) for name in _PLACEHOLDER.findall(word) if name in PLACEHOLDERS)
    ]
    return tuple(fill(word, known) for word in kept)


def program(words: Sequence[str], environ: Mapping[str, str], cwd: str, harness: str = "") -> str:
    """The absolute path of the program that a command line starts. CannotBeDone when this machine does not have it."""
    what = f"harness {harness}: " if harness else ""
    if not words or not words[0]:
        raise CannotBeDone(f"{what}no program to start", todo="set `command` in seat.md or `argv` in the harness file")
    path = environ.get("PATH", os.defpath)
    named = words[0] if os.sep not in words[0] else os.path.join(cwd, words[0])
    found = shutil.which(named, path=path)
    if found is None:
        raise CannotBeDone(
            f"{what}the program {words[0]} is not there or cannot be run",
            found=f"nothing of that name in {path}" if os.sep not in words[0] else named,
            wanted="a program that this user may run",
            todo=f"install {words[0]}, or put its folder into PATH where the brain is started",
        )
    return os.path.abspath(found)
