"""On which line each key of a TOML text stands: readers of TOML say what is wrong and not where."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

Path = tuple[str | int, ...]

_KEY = re.compile(r"""[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*""")
_OPAQUE = re.compile(
    r""""{3}(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*""",
    re.DOTALL,
)
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")


def key_lines(text: str) -> dict[Path, int]:
    """Path of each key and table (``("brain", "max_arms")``, ``("rules", 0, "kind")``) to its 1-based line.

    Keys of inline tables and items of arrays have the line of the key that holds them: see `line_of`. `text` is TOML
    that a reader has accepted; of any other text it tells as much as it understands.
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    at = 0
    while True:
        at = _after(_BLANK, text, at)
        if at >= len(text):
            return found
        line = bisect_right(starts, at)
        header = text[at] == "["
        array = text.startswith("[[", at)
        names, end = _dotted(text, at + (2 if array else 1 if header else 0))
        if not names:
            return found
        if header:
            table = _resolve((*names,), counts, array)
            _note(found, table, 1, line)
            at = text.find("]", end)
            at = len(text) if at < 0 else at + (2 if array else 1)
        else:
            _note(found, (*table, *names), len(table) + 1, line)
            at = _after_value(text, end)


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of a path, or of the nearest thing around it that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _note(found: dict[Path, int], path: Path, least: int, line: int) -> None:
    """The line of a path, and of what it brings into being on its way (``[brain.stuck]`` makes ``brain``)."""
    for length in range(least, len(path) + 1):
        found.setdefault(path[:length], line)


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _dotted(text: str, at: int) -> tuple[list[str], int]:
    names = []
    while found := _KEY.match(text, at):
        names.append(_plain(found[1]))
        at = found.end()
        if not text.startswith(".", at):
            break
        at += 1
    return names, at


def _plain(name: str) -> str:
    if name[0] == '"' and "\\" in name:
        try:
            return str(tomllib.loads(f"name = {name}")["name"])
        except tomllib.TOMLDecodeError:
            return name
    return name[1:-1] if name[0] in "\"'" else name


def _resolve(names: tuple[str, ...], counts: dict[Path, int], array: bool) -> Path:
    """The path of a header: arrays of tables that lie on the way stand for their last table."""
    path: Path = ()
    for number, name in enumerate(names):
        path = (*path, name)
        if array and number == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _after_value(text: str, at: int) -> int:
    """Where the line ends on which the value ends that begins after `at`."""
    depth = 0
    while at < len(text):
        opaque = _OPAQUE.match(text, at)
        if opaque:
            at = opaque.end()
            continue
        letter = text[at]
        if letter == "\n" and depth <= 0:
            return at
        depth += (letter in "[{") - (letter in "]}")
        at += 1
    return at
