"""Markdown as a plan: the tasks of any bytes, with the place of each box. Never raises, never writes.

Rules: DESIGN.md section 4 (Markdown rules), cases d01 to d24. A file is cut where its parse cannot depend on what
stands above: before headings and bulleted tasks in column 0 (parts that end inside a fence or an HTML block are
joined with what follows). Parts are kept by their bytes, so that one changed line of 10,000 costs one part.
"""

from __future__ import annotations

import codecs
import re
from zlib import crc32

from coleo.files.markdown_blocks import PlanBlocks
from coleo.files.markdown_items import Item, Part, read_part, split_lines
from coleo.model.plan import PLAN, Heading, Line, PlanWarning, changed, title_key
from coleo.model.record import Record
from coleo.model.titles import SHOWN_LENGTH

_CUT = re.compile(rb"[\r\n](?=#{1,6}[ \t\r\n]|[-*+] {1,4}\[[ xX]\][ \t])")
_BOXED = re.compile(rb"[-*+] +\[[ xX]\][ \t]+\S")
_RULE = re.compile(rb"---[ \t]*")
_FRONT_END = re.compile(rb"(?:---|\.\.\.)[ \t]*")
_OTHER_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

NOT_UTF8 = "not UTF-8"
IN_FRONT_MATTER = "checkbox inside front matter"
FAILED = "cannot be read as Markdown: the last good tasks stay"


class Parsed(Record):
    """All that one file says. links: ``.md`` paths as written. failed: it could not be read, `lines` mean nothing.

    begin: 1-based line behind the front matter.
    """

    lines: tuple[Line, ...]
    warnings: tuple[PlanWarning, ...]
    links: tuple[str, ...] = ()
    failed: bool = False
    headings: tuple[Heading, ...] = ()
    begin: int = 1


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

    def parse(self, data: bytes, seats: frozenset[str] = frozenset()) -> Parsed:
        """The tasks of `data`. seats: names that count after ``@``."""
        if seats != self._seats:
            self._seats, self._parts, self._placed = seats, {}, {}
        try:
            return self._parse(data)
        except RecursionError:
            return Parsed((), (PlanWarning(self.file, None, FAILED),), failed=True)

    def _parse(self, data: bytes) -> Parsed:
        offset, begin, notes = _content_start(data)
        line = begin
        warnings = [PlanWarning(self.file, number, why, text) for number, why, text in notes]
        links: dict[str, None] = {}
        used: dict[bytes, Part] = {}
        placed: dict[bytes, tuple[_Place, tuple[Line, ...]]] = {}
        numbers: dict[tuple[str | None, str], int] = {}
        lines: list[Line] = []
        headings: list[Heading] = []
        section: str | None = None
        for chunk, part in self._read_parts(data, offset, used):
            if part.items:
                place = (line, offset, section, len(lines))
                made = self._lines(chunk, place, part, numbers)
                placed[chunk] = (place, made)
                lines += made
            for row, why in part.warnings:
                warnings.append(PlanWarning(self.file, line + row, why, _row(chunk, row)))
            links.update((link, None) for link in part.links)
            if part.headings:
                headings += [Heading(line + row, level, text) for row, level, text in part.headings]
                section = part.headings[-1][2]
            line, offset = line + part.lines, offset + len(chunk)
        self._parts, self._placed = used, placed
        return Parsed(tuple(lines), tuple(warnings), tuple(links), False, tuple(headings), begin)

    def _read_parts(self, data: bytes, begin: int, used: dict[bytes, Part]) -> list[tuple[bytes, Part]]:
        cuts, known = _cuts(data, begin), self._parts
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

    def _lines(
        self, chunk: bytes, place: _Place, part: Part, numbers: dict[tuple[str | None, str], int]
    ) -> tuple[Line, ...]:
        """The lines of a part at its place; the very same objects as last time where nothing moved."""
        counted = []
        above = place[2] if place[2] is None else title_key(place[2])
        for item in part.items:
            key = (above if item.section is None else title_key(item.section), item.key)
            numbers[key] = number = numbers.get(key, 0) + 1
            counted.append(number)
        before, lines = self._placed.get(chunk, (None, ()))
        if before is None or before[2] != place[2] or [line.number for line in lines] != counted:
            return tuple([self._line(item, place, number) for item, number in zip(part.items, counted, strict=True)])
        if before == place:
            return lines
        down, right, later = place[0] - before[0], place[1] - before[1], place[3] - before[3]
        return tuple([_moved(line, down, right, later) for line in lines])

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


def _cuts(data: bytes, begin: int) -> list[int]:
    """Where parts begin, and the end. Lists are cut at about every sixteenth task, by a sum over its words, so that
    the same cuts are found again when lines were added above; every 64 tasks at the latest."""
    cuts, tasks = [begin], 0
    for found in _CUT.finditer(data, begin):
        pos = found.end()
        tasks += 1
        if data[pos] == 35 or tasks >= 64 or not crc32(data[pos + 5 : pos + 60]) & 15:
            cuts.append(pos)
            tasks = 0
    return [*cuts, len(data)]


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
