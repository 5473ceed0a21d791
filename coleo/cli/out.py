"""What people see: text, tables, JSON and errors, all of it safe to show (case h02).

Plain text and JSON need nothing but the standard library; rich is imported only for a table on a real terminal. A
reader that goes away (``| head``) raises `ReaderGone`, which ends the command quietly.
"""

from __future__ import annotations

import os
import sys
import time

from coleo.model.errors import ColeoError
from coleo.model.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TextIO

    from rich.table import Table

    #: The text of a cell, or the text and a style of rich.
    Cell = str | tuple[str, str]

#: Titles and texts in a table are cut after this many characters (case d22); JSON holds them whole.
WIDEST = 200

STYLES = {
    "working": "green",
    "idle": "cyan",
    "starting": "yellow",
    "spawning": "yellow",
    "task_assigned": "yellow",
    "disconnected": "magenta",
    "failed": "bold red",
    "stopped": "dim",
    "done": "green",
    "in_progress": "green",
    "claimed": "yellow",
    "blocked": "bold red",
    "withdrawn": "dim",
    "error": "bold red",
    "warning": "yellow",
}

#: JSON leaves DEL, C1 and bidi overrides as they are, and Python leaves lone surrogates; all of it is in strings.
_MAYBE_HIDDEN = [*range(0x0A), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x2028, 0x2030), *range(0x2060, 0x2070)]
_IN_JSON = {code: f"\\u{code:04x}" for code in _MAYBE_HIDDEN if show(chr(code)) != chr(code)}


class ReaderGone(Exception):
    """Nobody reads our output any more: stop, it is no error."""


def now() -> float:
    """The machine's clock, read here and nowhere else in the commands for people. Seconds since the epoch."""
    return time.time()


def prepare() -> None:
    """Make the output streams unable to fail on a character that the terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def line(text: str = "", *, lines: bool = False) -> None:
    """One line on standard output; with `lines` the line feeds in it are kept."""
    raw(show(text, lines=lines) + "\n")


def raw(text: str) -> None:
    """Text that is safe already, as it is."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        let_go()
        raise ReaderGone from None


def flush() -> None:
    """Hand over what is still in the buffer."""
    raw("")


def let_go() -> None:
    """Point standard output at nothing, so that the interpreter's last flush does not complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        pass


def emit(obj: object, *, compact: bool = False) -> None:
    """An object as JSON; `compact` is one line of a stream of objects."""
    raw(as_json(obj, compact=compact) + "\n")


def as_json(obj: object, *, compact: bool = False) -> str:
    """JSON in which no character can steer a terminal: what JSON itself lets through raw is escaped (case h02)."""
    import json

    wide = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(obj, ensure_ascii=not wide, indent=None if compact else 2, default=_plain)
    return text.translate(_IN_JSON)


def note(text: str) -> None:
    """A remark for the person that is not part of the answer: standard error."""
    _say(sys.stderr, show(text, lines=True) + "\n")


def error(problem: ColeoError, *, as_object: bool = False) -> None:
    """An error that a person can mend, on standard error: as text, or as ``{"error": {...}}``."""
    if as_object:
        _say(sys.stderr, as_json({"error": problem.as_dict()}) + "\n")
    else:
        _say(sys.stderr, show(f"coleo: {problem}", lines=True) + "\n")


def _say(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except (BrokenPipeError, ValueError):
        pass


def title(text: str, limit: int = WIDEST) -> str:
    """A title or a text in one row: line feeds become spaces, control characters visible, the rest is cut."""
    head = text[: limit * 8]
    shown = show(head.replace("\r\n", " ").replace("\n", " ").replace("\t", " "))
    return shown if len(shown) <= limit and len(head) == len(text) else shown[: limit - 1] + "…"


def span(seconds: float) -> str:
    """How long: ``12 s``, ``3 min``, ``2 h 5 min``, ``4 d``."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86400:
        hours, rest = divmod(whole, 3600)
        return f"{hours} h {rest // 60} min" if rest >= 60 else f"{hours} h"
    return f"{whole // 86400} d"


def ago(at: float | None, now_at: float) -> str:
    """How long ago an instant was; ``-`` for none."""
    return "-" if not at else span(now_at - at)


def when(at: float) -> str:
    """An instant in the person's local time, to the second."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], *, wide: str = "") -> None:
    """Rows under a head. On a terminal coloured and fitted to its width, `wide` is the column that gives way."""
    cells = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows]
    if is_terminal():
        _rich_table(head, cells, wide)
    else:
        raw(plain_table(head, [[text for text, _style in row] for row in cells]))


def is_terminal() -> bool:
    """Whether a person looks at standard output."""
    try:
        return sys.stdout.isatty()
    except ValueError:
        return False


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table as lines of text, columns two spaces apart; wide characters count as two."""
    shown = [list(head), *([title(cell) for cell in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*shown, strict=True)]
    lines = []
    for row in shown:
        padded = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines) + "\n"


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _rich_table(head: Sequence[str], rows: list[list[tuple[str, str]]], wide: str) -> None:
    from rich.console import Console

    try:
        Console(highlight=False).print(rich_table(head, rows, wide))
    except BrokenPipeError:
        let_go()
        raise ReaderGone from None


def rich_table(head: Sequence[str], rows: Sequence[Sequence[tuple[str, str]]], wide: str = "") -> Table:
    """The same table for rich. Cells are `Text`, so markup in them is shown, never obeyed."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in head:
        made.add_column(name, no_wrap=True, overflow="ellipsis", ratio=1 if name == wide else None)
    for row in rows:
        made.add_row(*(Text(title(text), style=style) for text, style in row))
    return made


def _plain(value: object) -> object:
    """What JSON does not know: records as tables, sets and tuples as lists, the rest as text."""
    as_dict = getattr(value, "as_dict", None)
    if callable(as_dict):
        return as_dict()
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)
