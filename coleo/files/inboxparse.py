"""What an inbox says: items, groups, and text that makes no task (DESIGN.md section 4 "Inbox rules", case d18).

``## Header`` plus its text is a task with a description; a header of which the body is only task items is a group;
``- [ ] text`` is a task with what is indented below it. Everything else is text that nobody claims. HTML comments
are the template's own: an inbox that holds nothing else is empty.
"""

from __future__ import annotations

import re

from coleo.files.markdown import PlanParser
from coleo.files.markdown_rows import dedent, split_lines
from coleo.files.planadd import PlanItem, block
from coleo.model.plan import Heading, Line, PlanWarning, title_key
from coleo.model.record import Record

_ATX = re.compile(rb" {0,3}#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(rb" {0,3}(?:=+|-+)[ \t]*")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_BOX = re.compile(rb"(?:[ \t>*+-]|\d{1,9}[.)])*\[[ xX]\][ \t]+")
_TITLE = "inbox"


class InboxItem(Record):
    """One task of an inbox. line, end: 1-based, of the item with what belongs to it. section: the header above.

    raw: as it is written into the plan. title, description: as the plan's parser reads them.
    """

    title: str
    line: int
    end: int
    section: str | None
    description: str
    raw: PlanItem


class InboxRead(Record):
    """What an inbox holds. unclaimed: (line, text) of lines that make no task. nested: sub-tasks of the items."""

    items: tuple[InboxItem, ...]
    unclaimed: tuple[tuple[int, str], ...]
    warnings: tuple[PlanWarning, ...]
    nested: tuple[Line, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Nothing to take: white space, the title ``# Inbox``, comments."""
        return not self.items and not self.unclaimed


def parse(data: bytes, seats: frozenset[str] = frozenset()) -> InboxRead:
    """Read any bytes as an inbox. Never raises."""
    return _Inbox(data, seats).read()


class _Inbox:
    def __init__(self, data: bytes, seats: frozenset[str]) -> None:
        self.parser = PlanParser("inbox.md")
        self.parsed = self.parser.parse(data, seats)
        self.seats = seats
        rows = split_lines(data)[0]
        self.rows = [rows[0].removeprefix(b"\xef\xbb\xbf"), *rows[1:]] if rows else []
        self.tops = [line for line in self.parsed.lines if line.parent is None]
        self.taken = {row for line in self.tops for row in range(line.line, line.end + 1)}
        self.items: list[InboxItem] = []
        self.unclaimed: list[tuple[int, str]] = []

    def read(self) -> InboxRead:
        """Section by section; sections of the third level and below belong to the header above them."""
        heads: list[Heading | None] = [None]
        for heading in self.parsed.headings:
            if heading.level <= 2 or heads[-1] is None or heads[-1].level != 2:
                heads.append(heading)
        bounds = [1, *(head.line for head in heads if head), len(self.rows) + 1]
        for head, start, end in zip(heads, bounds, bounds[1:], strict=False):
            self._section(head, start, end)
        self._check()
        nested = tuple(line for line in self.parsed.lines if line.parent is not None)
        items = tuple(sorted(self.items, key=lambda item: item.line))
        return InboxRead(items, tuple(sorted(self.unclaimed)), self.parsed.warnings, nested)

    def _section(self, head: Heading | None, start: int, end: int) -> None:
        body = start + self._height(head) if head else start
        left = [row for row in range(body, end) if row not in self.taken]
        tasks = [line for line in self.tops if start <= line.line < end]
        section = head.text if head and not (head.level == 1 and title_key(head.text).casefold() == _TITLE) else None
        self.items += [self._item(line, section) for line in tasks]
        text = self._text(left)
        if head and head.level > 1 and head.text and (text or not tasks):
            raw = PlanItem(self._title(start, body), tuple(self._trimmed(left)))
            line = self.parser.parse(block([raw]), self.seats).rows
            last = max([row for row, _text in text], default=body - 1)
            self.items.append(
                InboxItem(line[0].title if line else "", start, last, None, line[0].description if line else "", raw)
            )
            return
        if head and section and not (head.level > 1 and tasks):
            self.unclaimed.append((start, section))
        self.unclaimed += text

    def _height(self, head: Heading) -> int:
        """How many rows a heading takes."""
        if _ATX.fullmatch(self.rows[head.line - 1]):
            return 1
        row = head.line
        while row < len(self.rows) and not _UNDERLINE.fullmatch(self.rows[row]):
            row += 1
        return row + 2 - head.line

    def _title(self, start: int, body: int) -> bytes:
        found = _ATX.fullmatch(self.rows[start - 1])
        if found:
            return (found[1] or b"").strip()
        return b" ".join(row.strip() for row in self.rows[start - 1 : body - 2])

    def _text(self, rows: list[int]) -> list[tuple[int, str]]:
        """The rows that say something: not blank, not inside a comment."""
        whole = "\n".join(self.rows[row - 1].decode("utf-8", "replace") for row in rows)
        bare = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), whole).split("\n")
        return [(row, text.strip()) for row, text in zip(rows, bare, strict=False) if text.strip()]

    def _trimmed(self, rows: list[int]) -> list[bytes]:
        """The rows without blank ones at both ends, several between as they are."""
        kept = [self.rows[row - 1] for row in rows]
        while kept and not kept[0].strip():
            kept.pop(0)
        while kept and not kept[-1].strip():
            kept.pop()
        return kept

    def _item(self, line: Line, section: str | None) -> InboxItem:
        row = self.rows[line.line - 1]
        box = _BOX.match(row)
        at = box.end() if box else 0
        column = len(row[: row.index(b"[")].decode("latin-1").expandtabs(4))
        body = [dedent(below.decode("latin-1"), column).encode("latin-1") for below in self.rows[line.line : line.end]]
        raw = PlanItem(row[at:].rstrip(b" \t"), tuple(body), line.done)
        return InboxItem(line.title, line.line, line.end, section, line.description, raw)

    def _check(self) -> None:
        """What would be no task in a plan (a title of a comment only) is text that makes none."""
        good = []
        for item in self.items:
            lines = self.parser.parse(block([item.raw]), self.seats).rows
            if lines and lines[0].line == 1 and title_key(lines[0].title) == title_key(item.title):
                good.append(item)
                continue
            self.unclaimed += self._text(list(range(item.line, item.end + 1)))
        self.items = good
