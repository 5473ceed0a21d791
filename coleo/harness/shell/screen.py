"""The worker's screen: output scrolls, a status row and the composer stand below it.

Nothing here waits: bytes go out as the terminal takes them. When a command writes faster than the terminal reads,
lines are left out of the *screen* and counted; the kept tail of the output is not concerned (`run.Tail`).
Each change is one write that ends with the composer drawn, so whoever reads the screen finds it complete.
"""

from __future__ import annotations

from collections import deque

from coleo.model.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PROMPT = "> "
#: Bytes that may wait for the terminal before lines are left out.
WAITING_LIMIT = 128 << 10
#: Lines kept to draw the whole screen again when its size changes.
KEPT_LINES = 200

_BEGIN, _END = "\x1b[?2004h", "\x1b[?2004l\x1b[?25h"
_ERASE = "\r\x1b[1A\x1b[J"


class Screen:
    """What is shown. `take` gives the bytes for the terminal; rows and columns come from `resize`."""

    def __init__(self, rows: int, columns: int) -> None:
        self._rows, self._columns = rows, columns
        self._status = ""
        self._composer = ""
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._left_out = 0
        self._out = bytearray()
        self._put(_BEGIN + self._footer())

    def lines(self, texts: Iterable[str]) -> None:
        """Print lines above the status row; each is made safe and takes as many rows as it needs."""
        fresh: list[str] = []
        room = WAITING_LIMIT - len(self._out)
        for text in texts:
            if room < 0:
                self._left_out += 1
                continue
            if self._left_out:
                fresh.append(f"[... {self._left_out} lines not shown ...]")
                self._left_out = 0
            fresh.append(show(text.expandtabs(8)))
            room -= len(text)
        if not fresh:
            return
        self._lines.extend(fresh)
        self._put(_ERASE + "".join(line + "\r\n" for line in fresh) + self._footer())

    def left_out(self, lines: int) -> None:
        """So many lines were dropped before they came here; the next one that is shown says so."""
        self._left_out += lines

    def status(self, text: str) -> None:
        """Change the status row."""
        if text != self._status:
            self._status = text
            self._put(_ERASE + self._footer())

    def composer(self, text: str) -> None:
        """Change what stands in the composer (`Composer.shown`)."""
        if text != self._composer:
            self._composer = text
            self._put(_ERASE + self._footer())

    def resize(self, rows: int, columns: int) -> None:
        """Draw everything anew: a reader that lost track of the screen gets it whole."""
        self._rows, self._columns = rows, columns
        seen: list[str] = []
        room = rows - 2
        for line in reversed(self._lines):
            room -= max(1, -(-cells(line) // columns))
            if room < 0:
                break
            seen.append(line)
        text = "".join(line + "\r\n" for line in reversed(seen))
        self._put("\x1b[H\x1b[2J" + text + self._footer())

    def close(self) -> None:
        """Leave the footer and switch off what was switched on."""
        self._put(_ERASE + _END)

    def take(self, count: int) -> bytes:
        """The next bytes for the terminal, at most `count`; they stay until `taken`."""
        return bytes(self._out[:count])

    def taken(self, count: int) -> None:
        """The terminal took so many bytes."""
        del self._out[:count]

    @property
    def waiting(self) -> bool:
        """Whether bytes wait for the terminal."""
        return bool(self._out)

    def _footer(self) -> str:
        width = max(self._columns - 1, 8)
        return f"{fit(self._status, width)}\r\n{PROMPT}{fit_end(self._composer, width - len(PROMPT))}"

    def _put(self, text: str) -> None:
        self._out += text.encode("utf-8", "replace")


def cells(text: str) -> int:
    """Terminal columns that `text` takes: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(_cells_of(unicodedata.east_asian_width(char), unicodedata.combining(char)) for char in text)


def _cells_of(width: str, combining: int) -> int:
    return 0 if combining else 2 if width in "WF" else 1


def fit(text: str, width: int) -> str:
    """`text` as one row of at most `width` columns, its beginning kept."""
    text = show(text)
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[: min(len(text) - 1, width)]
    return text + "…"


def fit_end(text: str, width: int) -> str:
    """`text` as one row of at most `width` columns, its end kept: where a person types."""
    if cells(text) <= width:
        return text
    text = text[-width:]
    while text and cells(text) > width - 1:
        text = text[1:]
    return "…" + text
