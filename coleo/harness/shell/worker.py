"""The thread that owns the terminal: keys in, lines out, and never a wait for anything else.

What is submitted goes to the queue of `jobs`; what jobs have to show comes back through `Control`. So a person can
type, and prompts are received, while a command runs.
"""

from __future__ import annotations

import os
import select
import signal
import time

from coleo.harness.shell.composer import Composer, End, Interrupt, Submit
from coleo.harness.shell.control import Control, Leave, Show, Status, drain
from coleo.harness.shell.jobs import Jobs
from coleo.harness.shell.run import end_children
from coleo.harness.shell.screen import Screen
from coleo.harness.shell.transcript import prompt_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

#: From a TERM to the end: the host waits five seconds before it sends KILL.
STOP_S = 4.0
#: How many lines of a prompt are shown.
SHOWN_LINES = 12

READY = "[coleo] ready"


class Worker:
    """The main loop. `fd_in` and `fd_out` are the terminal, in raw mode already."""

    def __init__(self, jobs: Jobs, control: Control, fd_in: int, fd_out: int) -> None:
        self._jobs, self._control = jobs, control
        self._in, self._out = fd_in, fd_out
        self._composer = Composer()
        self._screen = Screen(*_size(fd_out))
        self._busy = False
        self._code: int | None = None
        self._stopping_at: float | None = None
        self._resized = False
        self._signalled = False
        self._hung_up = False

    def run(self) -> int:
        """Until the worker is told to end; the exit code."""
        self._jobs.start()
        self._screen.status(READY)
        while self._code is None:
            self._step()
        self._screen.close()
        self._write()
        return self._code

    def stop(self) -> None:
        """TERM, hang-up or a person's ``exit``: end what runs, then leave."""
        if self._stopping_at is None:
            self._stopping_at = time.monotonic()
            self._screen.status("[coleo] ending")
            self._control.stop()
            self._end_verification()
            self._jobs.end()

    def _end_verification(self) -> None:
        if self._control.in_verb:
            end_children()

    def _step(self) -> None:
        reading = [self._control.event_fd, *([] if self._hung_up else [self._in])]
        writing = [self._out] if self._screen.waiting and not self._hung_up else []
        timeout = None
        if self._stopping_at is not None:
            timeout = self._stopping_at + STOP_S - time.monotonic()
            if timeout <= 0:
                self._code = 1
                return
        ready, writable, _ = select.select(reading, writing, [], timeout)
        if self._signalled:
            self.stop()
        if self._in in ready:
            self._read()
        if self._control.event_fd in ready:
            drain(self._control.event_fd)
            self._events()
        if self._resized:
            self._resized = False
            self._screen.resize(*_size(self._out))
        if writable:
            self._write()

    def _read(self) -> None:
        try:
            data = os.read(self._in, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._hung_up = True
            self.stop()
            return
        for event in self._composer.feed(data):
            match event:
                case Submit(text):
                    self._submit(text)
                case Interrupt():
                    self._interrupt()
                case End():
                    self.stop()
        self._screen.composer(self._composer.shown())

    def _interrupt(self) -> None:
        if self._busy:
            self._screen.lines(["^C"])
            self._control.interrupt()
            self._end_verification()
        else:
            self._composer.clear()

    def _submit(self, text: str) -> None:
        lines = text.split("\n")
        more = [f"  ... {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
        self._screen.lines([f"> {lines[0]}", *(f"  {line}" for line in lines[1:SHOWN_LINES]), *more])
        ids = prompt_ids(text)
        if not ids and text.strip() == "exit":
            self.stop()
            return
        if ids and not self._busy:
            self._busy = True
            self._screen.status("[coleo] looking for work")
        self._jobs.put(text.strip(), ids)

    def _events(self) -> None:
        lost, self._control.left_out = self._control.left_out, 0
        if lost:
            self._screen.left_out(lost)
        while self._control.events:
            match self._control.events.popleft():
                case Show(lines):
                    self._screen.lines(lines)
                case Status(text, busy):
                    self._busy = busy
                    if self._stopping_at is None:
                        self._screen.status(text or READY)
                case Leave(code):
                    self._code = code

    def _write(self) -> None:
        """As much as the terminal takes now."""
        try:
            while self._screen.waiting:
                self._screen.taken(os.write(self._out, self._screen.take(1 << 14)))
        except BlockingIOError:
            pass
        except OSError:
            self._hung_up = True
            self.stop()

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """TERM, HUP, INT and WINCH. They come between any two steps, so they are only noted here."""
        if number == signal.SIGWINCH:
            self._resized = True
        else:
            self._signalled = True


def _size(fd: int) -> tuple[int, int]:
    """Rows and columns; 24 x 80 where nobody says."""
    try:
        columns, rows = os.get_terminal_size(fd)
    except OSError:
        return 24, 80
    return (rows or 24), (columns or 80)
