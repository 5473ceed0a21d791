"""TOML files of people: read with every fault at its line, never changed here (`settings_edit` does that)."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from coleo.files import atomic
from coleo.model.problem import Problem
from coleo.model.record import Record

_LINE_IN_MESSAGE = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)")
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_TABLE = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]\]?")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=(.*)", re.DOTALL)


class TomlFile(Record):
    """What a TOML file holds. lines: the line of each table and key, by its dotted name. exists: there is a file."""

    data: dict[str, Any]
    lines: dict[str, int]
    problems: tuple[Problem, ...] = ()
    exists: bool = True


def read(path: str) -> TomlFile:
    """Read the file; never raises for what is in it. A BOM is taken; what is no TOML is one problem, with its line."""
    try:
        raw = atomic.read(path)
    except OSError as error:
        return TomlFile({}, {}, (Problem(path, None, "", f"cannot be read: {error.strerror}", "a file of yours"),))
    return TomlFile({}, {}, exists=False) if raw is None else parse(raw, path)


def parse(raw: bytes, path: str) -> TomlFile:
    """`read` for bytes."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return TomlFile({}, {}, (Problem(path, line, "", "bytes that are not UTF-8", "a file saved as UTF-8"),))
    try:
        return TomlFile(tomllib.loads(text), line_numbers(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _LINE_IN_MESSAGE.search(str(error))
        place = (int(found[1]) if found[1] else text.rstrip().count("\n") + 1) if found else None
        message = _LINE_IN_MESSAGE.sub("", str(error)) if isinstance(error, tomllib.TOMLDecodeError) else "too deep"
        return TomlFile({}, {}, (Problem(path, place, "", f"not TOML: {message}", "TOML (https://toml.io)"),))


def line_numbers(text: str) -> dict[str, int]:
    """The 1-based line of each table and key in valid TOML; the elements of ``[[name]]`` as ``name[0]`` and so on."""
    found: dict[str, int] = {}
    counts: dict[str, int] = {}
    prefix = ""
    inside = ""
    depth = 0
    for number, line in enumerate(text.split("\n"), 1):
        if inside:
            inside = "" if inside in line else inside
            continue
        table, key = _TABLE.match(line), _KEY.match(line)
        if depth <= 0 and table:
            prefix = _plain(table[2])
            if table[1] == "[[":
                counts[prefix] = counts.get(prefix, -1) + 1
                prefix = f"{prefix}[{counts[prefix]}]"
            found.setdefault(prefix, number)
        elif depth > 0 or key:
            rest = line
            if depth <= 0 and key:
                name = _plain(key[1])
                found.setdefault(f"{prefix}.{name}" if prefix else name, number)
                rest = key[2]
            inside, depth = _open_after(rest, max(depth, 0))
    return found


def _open_after(text: str, depth: int) -> tuple[str, int]:
    """What is still open at the end of a line: the quotes of a long string, and how many brackets of arrays."""
    at = 0
    while at < len(text):
        if text[at] == "#":
            break
        if text[at] in "\"'":
            quote = text[at] * 3 if text.startswith(text[at] * 3, at) else text[at]
            end = _end_of_string(text, at + len(quote), quote)
            if end < 0:
                return (quote if len(quote) == 3 else ""), depth
            at = end
            continue
        depth += (text[at] in "[{") - (text[at] in "]}")
        at += 1
    return "", depth


def _end_of_string(text: str, at: int, quote: str) -> int:
    while at < len(text):
        if text[at] == "\\" and quote[0] == '"':
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        else:
            at += 1
    return -1


def _plain(dotted: str) -> str:
    """A dotted name without quotes and blanks."""
    parts = re.findall(_PART, dotted)
    return ".".join(part[1:-1] if part[0] in "\"'" else part for part in parts)
