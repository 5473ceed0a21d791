"""Markdown as a plan: the tasks of any bytes, with the place of each box. Never raises, never writes.

Rules: DESIGN.md section 4 (Markdown rules), cases d01 to d24. A file is cut where its parse cannot depend on what
stands above: before headings and bulleted tasks in column 0 (parts that end inside a fence or an HTML block are
joined with what follows). Parts are kept by their bytes, so that one changed line of 10,000 costs one part.
"""

from __future__ import annotations

import codecs
import re

from coleo.files.markdown_blocks import PlanBlocks
from coleo.files.markdown_cuts import cuts_again
from coleo.files.markdown_items import Item, Part, read_part
from coleo.files.markdown_rows import split_lines
from coleo.model.plan import PLAN, Heading, Line, PlanWarning, changed, title_key
from coleo.model.record import Record
from coleo.model.titles import SHOWN_LENGTH

_BOXED = re.compile(rb"[-*+] +\[[ xX]\][ \t]+\S")
_RULE = re.compile(rb"---[ \t]*")
_FRONT_END = re.compile(rb"(?:---|\.\.\.)[ \t]*")
_OTHER_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

NOT_UTF8 = "not UTF-8"
IN_FRONT_MATTER = "checkbox inside front matter"
FAILED = "cannot be read as Markdown: the last good tasks stay"


class Parsed(Record):
    """All that one file says. links: ``.md`` paths as written. failed: it could not be read, `lines` mean nothing.

    rows: the tasks, where unchanged the very objects of the parse before; shifts: what to add to their line, offset
    and parent now. `lines` are the same with this done. begin: 1-based line behind the front matter.
    """

    rows: tuple[Line, ...]
    shifts: tuple[Shift, ...]
    warnings: tuple[PlanWarning, ...]
    links: tuple[str, ...] = ()
    failed: bool = False
    headings: tuple[Heading, ...] = ()
    begin: int = 1

    @property
    def lines(self) -> tuple[Line, ...]:
        """The tasks with their places."""
        return tuple(
            [_moved(row, *shift) if any(shift) else row for row, shift in zip(self.rows, self.shifts, strict=True)]
        )

    def place(self, row: Line) -> Line:
        """One of the rows with its place."""
        index = next(index for index, other in enumerate(self.rows) if other is row)
        return _moved(row, *self.shifts[index])


Shift = tuple[int, int, int]
# line, offset, section above, index of the first task: where a part stands.
_Place = tuple[int, int, str | None, int]


class PlanParser:
    """Reads one file again and again, fast. Holds what it made of the parts of the last content."""

    def __init__(self, file: str = PLAN) -> None:
        self.file = file
        self._blocks = PlanBlocks()
        self._seats: frozenset[str] = frozenset()
        self._parts: dict[bytes, Part] = {}
        self._placed: dict[bytes, tuple[_Place, tuple[Line, ...]]] = {}
        self._cut: tuple[bytes, list[int]] = (b"", [])

    def parse(self, data: bytes, seats: frozenset[str] = frozenset()) -> Parsed:
        """The tasks of `data`. seats: names that count after ``@``."""
        if seats != self._seats:
            self._seats, self._parts, self._placed = seats, {}, {}
        try:
            return self._parse(data)
        except RecursionError:
            return Parsed((), (), (PlanWarning(self.file, None, FAILED),), failed=True)

    def _parse(self, data: bytes) -> Parsed:
        offset, begin, notes = _content_start(data)
        line = begin
        warnings = [PlanWarning(self.file, number, why, text) for number, why, text in notes]
        links: dict[str, None] = {}
        used: dict[bytes, Part] = {}
        placed: dict[bytes, tuple[_Place, tuple[Line, ...]]] = {}
        numbers: dict[str | None, dict[str, int]] = {}
        rows: list[Line] = []
        shifts: list[Shift] = []
        headings: list[Heading] = []
        section: str | None = None
        for chunk, part in self._read_parts(data, offset, used):
            if part.items:
                place = (line, offset, section, len(rows))
                first, made = placed[chunk] = self._rows(chunk, place, part, numbers)
                rows += made
                shifts += [(line - first[0], offset - first[1], place[3] - first[3])] * len(made)
            for row, why in part.warnings:
                warnings.append(PlanWarning(self.file, line + row, why, _row(chunk, row)))
            links.update((link, None) for link in part.links)
            if part.headings:
                headings += [Heading(line + row, level, text) for row, level, text in part.headings]
                section = part.headings[-1][2]
            line, offset = line + part.lines, offset + len(chunk)
        self._parts, self._placed = used, placed
        return Parsed(tuple(rows), tuple(shifts), tuple(warnings), tuple(links), False, tuple(headings), begin)

    def _read_parts(self, data: bytes, begin: int, used: dict[bytes, Part]) -> list[tuple[bytes, Part]]:
        cuts, known = cuts_again(data, begin, *self._cut), self._parts
        self._cut = (data, cuts)
        found: list[tuple[bytes, Part]] = []
        i, last = 0, len(cuts) - 1
        while i < last:
            end, step = i + 1, 1
            while True:
                chunk = data[cuts[i] : cuts[end]]
                part = used.get(chunk) or known.get(chunk) or read_part(chunk, self._seats, self._blocks)
                used[chunk] = part
                if not part.unclosed or end == last:
                    break
                end, step = min(last, end + step), step * 2
            found.append((chunk, part))
            i = end
        return found

    def _rows(
        self, chunk: bytes, place: _Place, part: Part, numbers: dict[str | None, dict[str, int]]
    ) -> tuple[_Place, tuple[Line, ...]]:
        """The tasks of a part, and the place that they were made for: those of last time where words are the same."""
        before, rows = self._placed.get(chunk, (None, ()))
        counted = _count(place[2], part, numbers)
        if before and before[2] == place[2] and [row.number for row in rows] == counted:
            return before, rows
        return place, tuple([self._line(item, place, n) for item, n in zip(part.items, counted, strict=True)])

    def _line(self, item: Item, place: _Place, number: int) -> Line:
        return Line(
            item.title,
            item.done,
            place[0] + item.line,
            place[1] + item.offset,
            place[2] if item.section is None else item.section,
            item.depth,
            None if item.parent is None else place[3] + item.parent,
            item.description,
            item.comments,
            item.seat,
            item.priority,
            item.after,
            item.fixed_id,
            number,
            self.file,
            item.verify,
            item.blocks,
            place[0] + item.end,
        )


def _count(above: str | None, part: Part, numbers: dict[str | None, dict[str, int]]) -> list[int]:
    """Each item's number among the equals of its section."""

    def so_far(section: str | None) -> dict[str, int]:
        name = above if section is None else section
        return numbers.setdefault(name if name is None else title_key(name), {})

    known = so_far(part.items[0].section)
    if part.names is not None and known.keys().isdisjoint(part.names):
        known.update(part.names)
        return [1] * len(part.items)
    counted = []
    for item in part.items:
        known = so_far(item.section)
        known[item.key] = number = known.get(item.key, 0) + 1
        counted.append(number)
    return counted


def _moved(line: Line, down: int, right: int, later: int) -> Line:
    """The same line at another place."""
    parent = None if line.parent is None else line.parent + later
    place = {"line": line.line + down, "offset": line.offset + right, "parent": parent, "end": line.end + down}
    return changed(line, place)


def _row(chunk: bytes, row: int) -> str:
    """A line of a part, for a warning."""
    rows = split_lines(chunk)[0]
    return rows[row].decode("utf-8", "replace").strip()[:SHOWN_LENGTH] if row < len(rows) else ""


def parse(data: bytes, file: str = PLAN, seats: frozenset[str] = frozenset()) -> tuple[list[Line], list[PlanWarning]]:
    """The tasks of any bytes, and what a person should look at. Never raises.

    `PlanParser` does the same faster for a file that is read again.
    """
    parsed = PlanParser(file).parse(data, seats)
    return list(parsed.lines), list(parsed.warnings)


def parser_of(path: str, file: str = PLAN) -> PlanParser:
    """The parser of the file at `path` in this process: it remembers the parts of its last content."""
    if path not in _parsers:
        if len(_parsers) >= _MOST_PARSERS:
            _parsers.clear()
        _parsers[path] = PlanParser(file)
    return _parsers[path]


_parsers: dict[str, PlanParser] = {}
_MOST_PARSERS = 1000


def _content_start(data: bytes) -> tuple[int, int, list[tuple[int | None, str, str]]]:
    """(byte offset, 1-based line) behind BOM and front matter, and warnings about the file as a whole."""
    notes: list[tuple[int | None, str, str]] = []
    begin = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    if data.startswith(_OTHER_BOMS):
        notes.append((1, NOT_UTF8, "saved as UTF-16"))
    elif not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = len(split_lines(data[: error.start + 1])[0])
            notes.append((line, NOT_UTF8, f"byte {data[error.start]:#04x}"))
    if not data.startswith(b"---", begin):
        return begin, 1, notes
    rows, starts = split_lines(data[begin:])
    if _RULE.fullmatch(rows[0]):
        for number in range(1, len(rows)):
            if _FRONT_END.fullmatch(rows[number]):
                end = starts[number + 1] if number + 1 < len(rows) else len(data) - begin
                boxed = [row for row in range(1, number) if _BOXED.match(rows[row])]
                notes += [(row + 1, IN_FRONT_MATTER, "") for row in boxed[:1]]
                return begin + end, number + 2, notes
    return begin, 1, notes
