"""The body of a task's file: title, description, ``## Notes``, ``## Attempts``, ``## Result``.

People write in it too, in any way they like: parsing never fails, and an addition puts its lines at the end of its
section and leaves every other byte alone. What is added is indented below its list item, so no text of an agent can
begin a heading or an item of its own.
"""

from __future__ import annotations

import re

from coleo.model.record import Record
from coleo.model.text import sanitise

NOTES, ATTEMPTS, RESULT = "Notes", "Attempts", "Result"
_SECTION = re.compile(r"##[ \t]+(Notes|Attempts|Result)[ \t]*#*[ \t]*", re.IGNORECASE)
_HEADING = re.compile(r"#{1,2}(?:[ \t]|$)")
_FENCE = re.compile(r"`{3,}|~{3,}")
_ROW = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")


class Body(Record):
    """The parts of a body: `title` (None: no ``# `` line), `description`, and the items of the three sections."""

    title: str | None = None
    description: str = ""
    notes: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()
    result: str = ""


def parse(text: str) -> Body:
    """The parts of `text`; headings inside fenced code are text."""
    title: str | None = None
    current = ""
    parts: dict[str, list[str]] = {"": [], NOTES: [], ATTEMPTS: [], RESULT: []}
    for line, heading in _lines(text):
        if heading and (section := _SECTION.fullmatch(line)):
            current = section[1].capitalize()
        elif heading and title is None and not current and line.startswith("# ") and not "".join(parts[""]).strip():
            title = line[2:].strip()
        else:
            parts[current].append(line)
    return Body(
        title,
        "\n".join(parts[""]).strip("\n"),
        _items(parts[NOTES]),
        _items(parts[ATTEMPTS]),
        "\n".join(parts[RESULT]).strip("\n"),
    )


def _lines(text: str) -> list[tuple[str, bool]]:
    """(line, whether it can be a heading) for each line; not inside fenced code.

    Only fences at the left edge count: one inside a list item ends with its item. One that is never closed is text.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    inside: set[int] = set()
    fence, opened = "", 0
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if not fence and mark:
            fence, opened = mark[0], number
        elif fence and mark and mark[0].startswith(fence) and not line[len(mark[0]) :].strip():
            inside.update(range(opened, number + 1))
            fence = ""
    return [(line, number not in inside and bool(_HEADING.match(line))) for number, line in enumerate(lines)]


def _items(lines: list[str]) -> tuple[str, ...]:
    """The list items of a section, markers and indents taken off; text before the first item is an item too."""
    items: list[list[str]] = []
    indent = 0
    for line in lines:
        mark = _ITEM.match(line)
        if mark:
            indent = len(mark[0])
            items.append([line[indent:]])
        elif items:
            items[-1].append(line[indent:] if not line[:indent].strip() else line)
        elif line.strip():
            items.append([line])
    return tuple("\n".join(item).strip("\n") for item in items)


def new(title: str, description: str) -> str:
    """The body of a fresh file. Lines of the description that would begin one of our sections are escaped."""
    lines = [f"\\{line}" if _SECTION.fullmatch(line) else line for line in sanitise(description).split("\n")]
    text = "\n".join(lines).strip("\n")
    return f"# {title}\n" + (f"\n{text}\n" if text else "")


def note(at: str, author: str, text: str) -> str:
    """A list item of ``## Notes``."""
    return _indent(f"- {at} {author}: ", text, "  ")


def attempt(number: int, at: str, seat: str, how: str, reason: str) -> str:
    """A list item of ``## Attempts``."""
    return _indent(f"{number}. ", f"{at} {seat} {how}: {reason}", "   ")


def _indent(first: str, text: str, indent: str) -> str:
    head, *rest = sanitise(text).split("\n")
    return "\n".join([first + head, *(indent + line if line else "" for line in rest)])


def result(at: str, author: str, text: str, output: str) -> str:
    """A list item of ``## Result``: what the seat says, and the output of the verification as a code block below."""
    item = _indent(f"- {at} {author}: ", text or "done", "  ")
    block = (
        "\n".join("      " + line if line else "" for line in sanitise(output).split("\n")) if output.strip() else ""
    )
    return f"{item}\n\n{block}\n" if block else item


def add(body: str, section: str, text: str) -> str:
    """`body` with `text` at the end of a section; the section is made at the end of the file when it is missing."""
    end = "\r\n" if "\r\n" in body else "\n"
    addition = text.replace("\n", end) + end
    rows = _ROW.findall(body)
    flags = [heading for _line, heading in _lines("".join(rows))][: len(rows)]
    names = [row.rstrip("\r\n") for row in rows]
    start = next(
        (
            n
            for n, (name, flag) in enumerate(zip(names, flags, strict=False))
            if flag and (m := _SECTION.fullmatch(name)) and m[1].capitalize() == section
        ),
        None,
    )
    if start is None:
        gap = "" if not body else end if body.endswith(("\n", "\r")) else end * 2
        return f"{body}{gap}## {section}{end}{end}{addition}"
    stop = next((n for n in range(start + 1, len(rows)) if flags[n]), len(rows))
    while stop > start + 1 and not names[stop - 1].strip():
        stop -= 1
    before, after = "".join(rows[:stop]), "".join(rows[stop:])
    if not before.endswith(("\n", "\r")):
        before += end
    if stop == start + 1:
        before += end
    return before + addition + after
