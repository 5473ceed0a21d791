"""The arm as the host sees it: output comes in, questions are answered, and on demand the screen is read.

When output was faster than it could be drawn, the screen is got anew: the window is made one column narrower and
back, and every full-screen program draws itself again (DESIGN.md section 3). Not while a person is attached: their
window must not twitch.
"""

from __future__ import annotations

from coleo.model.delivery import ScreenState
from coleo.model.harness import Harness
from coleo.terminal.loop import Loop
from coleo.terminal.pty import Terminal
from coleo.terminal.queries import Queries
from coleo.terminal.reading import Reader, Reading, last_rows
from coleo.terminal.screen import Screen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Output is taken for a whole picture when it has paused for so long, or has gone on for `LONGEST_S`.
QUIET_S = 0.03
LONGEST_S = 0.25
_CALM_S = 0.15
_REDRAW_S = 1.0
_ALIVE = frozenset({ScreenState.READY, ScreenState.BUSY, ScreenState.DRAFT})


class View:
    """One arm's output. state, evidence: as of the last `read`; ready_once: a composer or the like was seen before.

    changed: called after a redraw, when there is something new to read.
    """

    def __init__(
        self, harness: Harness, size: tuple[int, int], terminal: Terminal, loop: Loop, changed: Callable[[], None]
    ) -> None:
        self.screen = Screen(*size)
        self.queries = Queries()
        self.state = ScreenState.STARTING
        self.evidence = "nothing was written yet"
        self.ready_once = False
        self.attached = 0
        self.bytes_out = 0
        self.output_at: float | None = None
        self._harness, self._terminal, self._loop, self._changed = harness, terminal, loop, changed
        self._reader = Reader(harness)
        self._redraw = ""
        self._mark = 0
        self._began = 0.0
        self._tried = -1
        self._drew = False

    @property
    def looks(self) -> bool:
        """Whether this harness has rules for its screen."""
        return self._reader.looks

    def output(self, data: bytes) -> None:
        """Takes what the program wrote; questions to the terminal are answered unless a person's terminal does it."""
        self.bytes_out += len(data)
        self.output_at = self._loop.now()
        start = 0
        for asked in self.queries.find(data):
            if self.attached:
                continue
            if asked.kind == "cursor":
                self.screen.add(data[start : asked.end])
                start = asked.end
                self.screen.catch_up()
            cursor = self.screen.cursor if self.screen.asked and self.screen.known else (0, 0)
            self._terminal.outbox.add(self.queries.answer(asked, cursor, self.screen.size))
        if start < len(data):
            self.screen.add(data[start:])

    def read(self) -> tuple[Reading, bool]:
        """What the screen means, and whether that is known now. Sets `state` and `evidence`.

        The caller has read the terminal and let the screen catch up as far as it wants to.
        """
        if self.state is ScreenState.LOST:
            return Reading(self.state, "unseen", self.evidence), False
        if not self._reader.looks:
            self.state = ScreenState.READY if self._harness.composer == "none" else ScreenState.UNKNOWN
            self.evidence = "this harness does not look at the screen"
            return Reading(self.state, "unseen", self.evidence), True
        known = self._known()
        reading = self._reader.read(self.screen.rows(), self.screen.cursor, self.screen.title)
        state = reading.state
        if not known or state is None:
            state = ScreenState.UNKNOWN if self.ready_once or not self.screen.known else ScreenState.STARTING
        self.ready_once |= state in _ALIVE
        self.state, self.evidence = state, reading.evidence
        if not self.screen.known:
            self.evidence = "output was faster than it could be drawn, and nothing has drawn it anew yet"
            self.want_redraw()
        return reading.replace(evidence=self.evidence), known

    def _known(self) -> bool:
        screen = self.screen
        if not screen.known or screen.behind or self._redraw:
            return False
        age_s = self._loop.now() - self.output_at if self.output_at is not None else _REDRAW_S
        if screen.mid_frame and age_s < _REDRAW_S:
            self._loop.after("frame", _REDRAW_S - age_s, self._changed)
            return False
        return True

    def resize(self, rows: int, cols: int) -> None:
        """Another window size for the program and the screen."""
        self._redraw = ""
        self._loop.cancel("redraw")
        self.screen.resize(rows, cols)
        self._terminal.resize(rows, cols)

    def last_text(self) -> tuple[str, ...]:
        """The rows at the end of an arm's life, drawn from what is kept if need be."""
        if not self.screen.known:
            self.screen.from_tail()
        self.screen.catch_up()
        return self.screen.rows()

    def want_redraw(self) -> None:
        """Has the program draw its screen anew, once it is calm and nobody is attached."""
        lines = self._harness.composer == "none"
        if self._redraw or self.screen.known or (not lines and (self.attached or self._tried == self.bytes_out)):
            return
        now = self._loop.now()
        if self.output_at is not None and now - self.output_at < _CALM_S:
            self._loop.again("redraw", _CALM_S, self.want_redraw)
            return
        if lines:
            self.screen.from_tail()
            self._changed()
            return
        rows, cols = self.screen.size
        self.screen.size = (rows, cols - 1)
        self._drew = False
        self._phase("narrow", rows, cols - 1)

    def _phase(self, name: str, rows: int, cols: int) -> None:
        self._redraw, self._mark, self._began = name, self.bytes_out, self._loop.now()
        self._terminal.resize(rows, cols)
        self._loop.again("redraw", _CALM_S, self._check)

    def _check(self) -> None:
        """One step of a redraw: on when the program has drawn and is calm, or has not answered for a second."""
        now = self._loop.now()
        drew = self.bytes_out > self._mark
        calm = self.output_at is not None and now - self.output_at >= QUIET_S * 3
        if not (drew and calm) and now - self._began < _REDRAW_S:
            self._loop.again("redraw", QUIET_S, self._check)
            return
        self._drew |= drew
        if self._redraw == "narrow":
            rows, cols = self.screen.size
            self.screen.size = (rows, cols + 1)
            self.screen.restart()
            self._phase("back", rows, cols + 1)
            return
        self._redraw = ""
        if not self._drew:
            self.screen.known = False
            self._tried = self.bytes_out
        self._changed()

    def lost(self, why: str) -> None:
        """The program lives without its terminal."""
        self.state, self.evidence = ScreenState.LOST, why

    def summary(self) -> str:
        """The last rows as one line."""
        return last_rows(self.last_text())
