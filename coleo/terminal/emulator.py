"""pyte, completed and guarded: what real programs use and it lacks, and what it gets wrong.

Scrolling (SU, SD), repetition (REP), back tabs and the alternate screen are added; saved cursors no longer pile up;
a character without width joins the one before it instead of ending the drawing; an exception in a handler is counted
and the rest goes on. Drawing is done here, with one cell object for equal cells: it is most of pyte's time and memory.

This module is loaded when a screen is first asked for, never before: it costs 7 MiB.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, cast

import pyte
from pyte.charsets import LAT1_MAP
from pyte.modes import DECAWM, DECTCEM, IRM
from pyte.screens import Char, Margins, StaticDefaultDict
from wcwidth import wcwidth

from coleo.terminal.protocol import Style

_ALTERNATE = (47, 1047, 1049)
_SYNC = 2026 << 5
_FIRST_WIDE = "\u1100"

Line = StaticDefaultDict[int, Char]


class Emulator(pyte.Screen):
    """A screen of some rows and columns, fed with text that `filter.Filter` let through.

    faults: handlers that raised so far.
    """

    def __init__(self, rows: int, cols: int) -> None:
        self.faults = 0
        self._looks: dict[Char, dict[str, Char]] = {}
        self._cells: dict[str, Char] = {}
        self._cells_of: Char | None = None
        self._last = ""
        self._other: tuple[dict[int, Line], int, int] | None = None
        self._rows: dict[int, str] = {}
        super().__init__(cols, rows)
        self._stream = _Stream()
        self._stream.attach(cast(pyte.Screen, _Guard(self)))
        # Line drawing characters (ESC ( 0) are looked up by pyte only without this.
        self._stream.use_utf8 = False

    def feed(self, text: str) -> None:
        """Draws `text`."""
        self._stream.feed(text)

    @property
    def mid_frame(self) -> bool:
        """Whether the program has said that it is in the middle of drawing (mode 2026)."""
        return _SYNC in self.mode

    @property
    def cursor_shown(self) -> bool:
        """Whether the program wants its cursor seen."""
        return DECTCEM in self.mode

    def rows(self) -> tuple[str, ...]:
        """The text of all rows, without trailing blanks."""
        for y in self.dirty:
            self._rows.pop(y, None)
        self.dirty.clear()
        return tuple(self._row(y) for y in range(self.lines))

    def _row(self, y: int) -> str:
        row = self._rows.get(y)
        if row is None:
            line = self.buffer.get(y)
            row = ""
            if line:
                last = min(max(line), self.columns - 1)
                row = "".join([line[x].data for x in range(last + 1)])
                if not row.isascii() or len(row) != last + 1:
                    row = "".join(text for _, text, _ in self.cells(y))
            row = self._rows[y] = row.rstrip(" ")
        return row

    def cells(self, y: int) -> list[tuple[int, str, Char]]:
        """The cells of a row as (columns, text, cell); half a wide character counts as a blank."""
        line = self.buffer.get(y)
        if line is None:
            return [(self.columns, " " * self.columns, self.default_char)]
        cells: list[tuple[int, str, Char]] = []
        wide = False
        for x in range(self.columns):
            cell = line[x]
            text = cell.data
            if wide:
                cells.append((2, line[x - 1].data, line[x - 1]))
                wide = False
            elif text and text < _FIRST_WIDE:
                cells.append((1, text, cell))
            elif text and _width(text[0]) == 2:
                wide = x + 1 < self.columns and not line[x + 1].data
                if not wide:
                    cells.append((1, " ", cell))
            else:
                cells.append((1, text or " ", cell))
        return cells

    def runs(self) -> tuple[tuple[tuple[int, str, Style], ...], ...]:
        """All rows as parts of equal style: (columns, text, style)."""
        return tuple(tuple(_runs(self.cells(y))) for y in range(self.lines))

    # What follows are handlers that pyte calls.

    def draw(self, data: str) -> None:
        """Puts characters at the cursor and moves it."""
        charset = self.g1_charset if self.charset else self.g0_charset
        if charset is not LAT1_MAP:
            data = data.translate(charset)
        insert, wrap, columns = IRM in self.mode, DECAWM in self.mode, self.columns
        cursor = self.cursor
        line = self.buffer[cursor.y]
        for char in data:
            width = 1 if " " <= char <= "~" else _width(char)
            if width <= 0:
                if width == 0:
                    self._join(char)
                continue
            if cursor.x + width > columns:
                if wrap:
                    self.dirty.add(cursor.y)
                    self.carriage_return()
                    self.linefeed()
                    line = self.buffer[cursor.y]
                else:
                    cursor.x = max(0, columns - width)
            if insert:
                self.insert_characters(width)
            line[cursor.x] = self._cell(char)
            if width == 2:
                line[cursor.x + 1] = self._cell("")
            cursor.x += width
            self._last = char
        self.dirty.add(cursor.y)

    def _cell(self, char: str) -> Char:
        attrs = self.cursor.attrs
        if attrs is not self._cells_of:
            if len(self._looks) > 256:
                self._looks.clear()
            self._cells_of, self._cells = attrs, self._looks.setdefault(attrs, {})
        cell = self._cells.get(char)
        if cell is None:
            cell = self._cells[char] = attrs._replace(data=char)
        return cell

    def _join(self, char: str) -> None:
        line = self.buffer[self.cursor.y]
        x = self.cursor.x - 1
        if x > 0 and line[x].data == "":
            x -= 1
        if x >= 0 and len(line[x].data) < 16:
            line[x] = line[x]._replace(data=unicodedata.normalize("NFC", line[x].data + char))
            self.dirty.add(self.cursor.y)

    def reset(self) -> None:
        """As after switching on."""
        super().reset()
        self._other = None
        self._looks.clear()
        self._cells_of = None

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        """To the end of the row, to its start, or all of it."""
        x = self.cursor.x
        if how in (0, 1, 2):
            self._erase((self.cursor.y,), 0 if how else x, x + 1 if how == 1 else self.columns)

    def erase_in_display(self, how: int = 0, *_other: Any, **_more: Any) -> None:
        """Below and behind the cursor, above and before it, or everything."""
        y = self.cursor.y
        rows = {0: range(y + 1, self.lines), 1: range(y)}.get(how, range(self.lines) if how in (2, 3) else range(0))
        self._erase(rows, 0, self.columns)
        if how in (0, 1):
            self.erase_in_line(how)

    def _erase(self, rows: Iterable[int], start: int, end: int) -> None:
        """Of the style only the background stays; plain blanks are forgotten, not filled: this happens all the time."""
        plain = self.default_char
        blank = plain._replace(bg=self.cursor.attrs.bg)
        for y in rows:
            line = self.buffer.get(y)
            if blank != plain:
                self.buffer[y].update(dict.fromkeys(range(start, end), blank))
            elif not line:
                continue
            elif end - start >= self.columns:
                line.clear()
            else:
                for x in [x for x in line if start <= x < end]:
                    del line[x]
            self.dirty.add(y)

    def delete_lines(self, count: int | None = None) -> None:
        """pyte leaves a row in its place when the one that should come there was never written to."""
        for y in range(self.lines):
            self.buffer[y]
        super().delete_lines(count)

    def repeat(self, count: int = 1, **_other: Any) -> None:
        """REP: the last character again."""
        if self._last:
            self.draw(self._last * min(count or 1, self.columns * self.lines))

    def scroll_up(self, count: int = 1, **_other: Any) -> None:
        """SU: the scrolling region moves up, blank rows come in below."""
        self._scroll(self.delete_lines, count)

    def scroll_down(self, count: int = 1, **_other: Any) -> None:
        """SD: the scrolling region moves down, blank rows come in above."""
        self._scroll(self.insert_lines, count)

    def _scroll(self, move: Callable[[int], None], count: int) -> None:
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = (self.margins or Margins(0, self.lines - 1)).top
        move(min(count or 1, self.lines))
        self.cursor.x, self.cursor.y = x, y

    def back_tab(self, count: int = 1, **_other: Any) -> None:
        """CBT: to the tab stop before."""
        for _ in range(min(count or 1, self.columns)):
            self.cursor.x = max((stop for stop in self.tabstops if stop < self.cursor.x), default=0)

    def save_cursor(self, *_other: Any, **_more: Any) -> None:
        """One place, as terminals have; pyte keeps every one ever saved."""
        self.savepoints.clear()
        super().save_cursor()

    def restore_cursor(self, *_other: Any, **_more: Any) -> None:
        """The saved place stays saved."""
        kept = list(self.savepoints)
        super().restore_cursor()
        if kept:
            self.save_cursor()

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        """Entering the alternate screen keeps the other one."""
        super().set_mode(*modes, **kwargs)
        if kwargs.get("private") and self._other is None and any(mode in _ALTERNATE for mode in modes):
            self._other = (dict(self.buffer), self.cursor.x, self.cursor.y)
            self.buffer.clear()
            self.dirty.update(range(self.lines))

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        """Leaving the alternate screen shows the other one again."""
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and self._other is not None and any(mode in _ALTERNATE for mode in modes):
            lines, x, y = self._other
            self._other = None
            self.buffer.clear()
            self.buffer.update(lines)
            self.cursor.x, self.cursor.y = min(x, self.columns - 1), min(y, self.lines - 1)
            self.dirty.update(range(self.lines))

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Another size. Rows below the text go first, then those at the top, as terminals do it."""
        lines = lines or self.lines
        if lines < self.lines:
            up = max(0, self.cursor.y - lines + 1)
            kept = {y - up: line for y, line in self.buffer.items() if up <= y < up + lines}
            self.buffer.clear()
            self.buffer.update(kept)
            self.cursor.y -= up
        self.lines = lines
        super().resize(lines, columns)
        self.set_margins()
        self._rows.clear()
        self.cursor.x, self.cursor.y = min(self.cursor.x, self.columns - 1), min(self.cursor.y, self.lines - 1)


class _Stream(pyte.Stream):
    """pyte's parser with the sequences that it leaves out."""

    csi = {**pyte.Stream.csi, "S": "scroll_up", "T": "scroll_down", "b": "repeat", "Z": "back_tab"} | {
        "s": "save_cursor",
        "u": "restore_cursor",
    }


class _Guard:
    """The screen as the parser sees it: handlers that cannot raise into the parser, which would lose its place."""

    def __init__(self, screen: Emulator) -> None:
        self._screen = screen

    def __getattr__(self, name: str) -> Callable[..., None]:
        handler = getattr(self._screen, name)

        def call(*args: Any, **kwargs: Any) -> None:
            try:
                handler(*args, **kwargs)
            except Exception:
                self._screen.faults += 1

        # Found as an attribute from now on: `draw` is called for every piece of text.
        self.__dict__[name] = call
        return call


_widths: dict[str, int] = {}


def _width(char: str) -> int:
    """Columns of a character, -1 for a control character."""
    width = _widths.get(char)
    if width is None:
        if len(_widths) > 4096:
            _widths.clear()
        width = _widths[char] = wcwidth(char)
    return width


def _runs(cells: list[tuple[int, str, Char]]) -> list[tuple[int, str, Style]]:
    runs: list[tuple[int, str, Style]] = []
    before: Char | None = None
    for cols, text, cell in cells:
        if before is not None and cell[1:] == before[1:]:
            runs[-1] = (runs[-1][0] + cols, runs[-1][1] + text, runs[-1][2])
        else:
            runs.append((cols, text, _style(cell)))
        before = cell
    return runs


def _style(cell: Char) -> Style:
    # pyte's table has a slip of the pen for one of the colours.
    bg = "brightmagenta" if cell.bg == "bfightmagenta" else cell.bg
    return Style(cell.fg, bg, cell.bold, cell.italics, cell.underscore, cell.strikethrough, cell.reverse)
