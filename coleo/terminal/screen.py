"""What an arm has written, and what its screen shows: the last MiB as it came, and an emulator fed on demand.

Output is only stored when it comes. It is drawn when somebody looks, in slices, so that reading goes on in between;
never more than 256 KiB wait to be drawn. When output is faster than that, nothing is drawn and the screen is not
known any more, until the program has drawn it anew (`redraw`), or, for a line reader, from the last lines.
"""

from __future__ import annotations

from collections import deque

from coleo.terminal.filter import Filter
from coleo.terminal.protocol import ScreenShot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coleo.terminal.emulator import Emulator

RING = 1 << 20
BEHIND = 256 << 10
SLICE = 16 << 10
_TAIL = 64 << 10


class Screen:
    """The output of one arm.

    known: what `rows` gives is what the program drew (once nothing is `behind`). behind: bytes not drawn yet.
    """

    def __init__(self, rows: int, cols: int) -> None:
        self.size = (rows, cols)
        self.known = True
        self._ring: deque[bytes] = deque()
        self._ring_bytes = 0
        self._waiting: deque[bytes] = deque()
        self.behind = 0
        self._filter = Filter()
        self._emulator: Emulator | None = None

    @property
    def asked(self) -> bool:
        """Whether anybody has looked at the screen so far."""
        return self._emulator is not None

    @property
    def mid_frame(self) -> bool:
        """Whether the program is in the middle of drawing, as far as it is drawn here."""
        return self._emulator is not None and self._emulator.mid_frame

    @property
    def title(self) -> str:
        """The window title that the program set."""
        return self._filter.title

    def add(self, data: bytes) -> None:
        """Output as it was read."""
        _append(self._ring, data)
        self._ring_bytes += len(data)
        while self._ring_bytes - len(self._ring[0]) >= RING:
            self._ring_bytes -= len(self._ring.popleft())
        if not self.known:
            return
        _append(self._waiting, data)
        self.behind += len(data)
        if self.behind > BEHIND:
            self._waiting.clear()
            self.behind = 0
            self.known = False

    def feed(self) -> bool:
        """Draws one slice of what waits. True when nothing is left."""
        if not self.behind:
            return True
        emulator = self._emulator or self._start()
        parts, size = [], 0
        while self._waiting and size < SLICE:
            part = self._waiting.popleft()
            if size + len(part) > SLICE:
                self._waiting.appendleft(part[SLICE - size :])
                part = part[: SLICE - size]
            parts.append(part)
            size += len(part)
        self.behind -= size
        emulator.feed(self._filter.feed(b"".join(parts)))
        return not self.behind

    def catch_up(self) -> None:
        """Draws everything that waits: at most 256 KiB, some 0.2 s."""
        while not self.feed():
            pass

    def rows(self) -> tuple[str, ...]:
        """The rows as drawn so far, without trailing blanks."""
        return (self._emulator or self._start()).rows()

    @property
    def cursor(self) -> tuple[int, int]:
        """(row, column) from 0, as drawn so far."""
        cursor = (self._emulator or self._start()).cursor
        return min(cursor.y, self.size[0] - 1), min(cursor.x, self.size[1] - 1)

    def shot(self, *, colours: bool = False) -> ScreenShot:
        """What is drawn so far; with `colours` also how."""
        emulator = self._emulator or self._start()
        return ScreenShot(
            rows=emulator.rows(),
            cursor=self.cursor,
            size=self.size,
            known=self.known and not self.behind,
            title=self.title,
            cursor_shown=emulator.cursor_shown,
            skipped=self._filter.skipped + emulator.faults,
            runs=emulator.runs() if colours else (),
        )

    def resize(self, rows: int, cols: int) -> None:
        """The program was told another size; what it wrote before is drawn in the old one."""
        if self._emulator is not None:
            self.catch_up()
            self._emulator.resize(rows, cols)
        self.size = (rows, cols)

    def restart(self) -> None:
        """An empty screen, for a program that is about to draw everything anew: from now on it is known again."""
        self._waiting.clear()
        self.behind = 0
        self._emulator = None
        self._filter = Filter(self._filter.skipped, self._filter.title)
        self.known = True
        self._start()

    def from_tail(self) -> None:
        """An empty screen and the last lines: right for a program that only ever writes lines."""
        self.restart()
        tail = self.tail(_TAIL)
        if self._ring_bytes > _TAIL:
            tail = tail[tail.find(b"\n") + 1 :]
        self._waiting.append(tail)
        self.behind = len(tail)

    def tail(self, limit: int) -> bytes:
        """The last `limit` bytes, at most what is kept."""
        parts: list[bytes] = []
        size = 0
        for part in reversed(self._ring):
            parts.append(part)
            size += len(part)
            if size >= limit:
                break
        return b"".join(reversed(parts))[-limit:] if limit > 0 else b""

    def _start(self) -> Emulator:
        from coleo.terminal.emulator import Emulator

        self._emulator = Emulator(*self.size)
        return self._emulator


def _append(parts: deque[bytes], data: bytes) -> None:
    """Joins small pieces: a spinner writes a few bytes at a time, for days."""
    if parts and len(parts[-1]) + len(data) <= 4096:
        parts[-1] += data
    else:
        parts.append(data)
