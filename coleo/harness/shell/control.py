"""How the two threads of the worker meet: wishes for the job that runs, and things for the terminal to show."""

from __future__ import annotations

import os
import select
from collections import deque
from contextlib import contextmanager

from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: More than so many things to show are not kept.
MANY_EVENTS = 256


class Show(Record):
    """Lines for the screen, above the status row."""

    lines: tuple[str, ...]


class Status(Record):
    """The status row. busy: whether a job is being worked on."""

    text: str
    busy: bool


class Leave(Record):
    """The worker is to end with this exit code."""

    code: int = 0


class Control:
    """Wishes go one way (`wish`, `wish_fd`), events the other (`events`, `event_fd`); both ends wake by a pipe."""

    def __init__(self) -> None:
        #: Lines that were dropped because the terminal's thread was behind.
        self.left_out = 0
        self.in_verb = False
        self.events: deque[Show | Status | Leave] = deque()
        self._wish = ""
        self.event_fd, self._event_in = _pipe()
        self.wish_fd, self._wish_in = _pipe()

    @property
    def wish(self) -> str:
        """ "" or why the job that runs is to end: ``interrupted`` (by a person), ``stopped`` (the worker ends)."""
        return self._wish

    @contextmanager
    def child_of_a_verb(self) -> Iterator[None]:
        """A verb runs that may start a command of its own (a verification): a wish ends the worker's children."""
        self.in_verb = True
        try:
            yield
        finally:
            self.in_verb = False

    @property
    def wakeup_fd(self) -> int:
        """For `signal.set_wakeup_fd`: a byte here wakes the terminal's thread."""
        return self._event_in

    def interrupt(self) -> None:
        """A person wants the running command to end. The worker goes on."""
        if not self._wish:
            self._wish = "interrupted"
        _ring(self._wish_in)

    def stop(self) -> None:
        """The worker ends. Nothing takes this back."""
        self._wish = "stopped"
        _ring(self._wish_in)

    def interrupt_done(self) -> None:
        """The job has ended on its interrupt: the next one is not concerned."""
        drain(self.wish_fd)
        if self._wish == "interrupted":
            self._wish = ""

    def wait(self, seconds: float) -> bool:
        """Wait for a wish; whether there is one."""
        if not self._wish:
            select.select([self.wish_fd], [], [], seconds)
        return bool(self._wish)

    def tell(self, event: Show | Status | Leave) -> None:
        """Hand an event to the terminal's thread; when that is far behind, lines are only counted."""
        if isinstance(event, Show) and len(self.events) > MANY_EVENTS:
            self.left_out += len(event.lines)
        else:
            self.events.append(event)
        _ring(self._event_in)

    def close(self) -> None:
        """Close the pipes."""
        for fd in (self.event_fd, self._event_in, self.wish_fd, self._wish_in):
            os.close(fd)


def drain(fd: int) -> None:
    """Empty a pipe that only wakes."""
    try:
        while os.read(fd, 4096):
            pass
    except BlockingIOError:
        pass


def _pipe() -> tuple[int, int]:
    ends = os.pipe()
    for fd in ends:
        os.set_blocking(fd, False)
    return ends


def _ring(fd: int) -> None:
    try:
        os.write(fd, b"!")
    except BlockingIOError:
        pass
