"""The host's loop: descriptors, named timers, signals. It sleeps until one of them has something: no periodic work."""

from __future__ import annotations

import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Where `poll` cannot be trusted with terminals (macOS), `select` is used.
_POLL = sys.platform == "linux"


class Loop:
    """Single-threaded. fault: called with an exception that a callback raised; the loop goes on."""

    def __init__(self, fault: Callable[[BaseException], None]) -> None:
        self._fault = fault
        self._readers: dict[int, Callable[[], None]] = {}
        self._writers: dict[int, Callable[[], None]] = {}
        self._timers: dict[str, tuple[float, Callable[[], None]]] = {}
        self._signals: dict[int, Callable[[], None]] = {}
        self._running = True
        self.wakeups = 0
        self._wake_in, self._wake_out = os.pipe()
        for fd in (self._wake_in, self._wake_out):
            os.set_blocking(fd, False)
        self.read(self._wake_in, self._on_signals)

    @staticmethod
    def now() -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def read(self, fd: int, call: Callable[[], None] | None) -> None:
        """Call when `fd` can be read or has ended; None: no more."""
        if call is None:
            self._readers.pop(fd, None)
        else:
            self._readers[fd] = call

    def write(self, fd: int, call: Callable[[], None] | None) -> None:
        """Call when `fd` can be written; None: no more."""
        if call is None:
            self._writers.pop(fd, None)
        else:
            self._writers[fd] = call

    def after(self, name: str, seconds: float, call: Callable[[], None]) -> None:
        """Call once in `seconds`; one timer of a name at a time: an earlier one is kept, a later one is replaced."""
        due = self.now() + max(0.0, seconds)
        if name not in self._timers or due < self._timers[name][0]:
            self._timers[name] = (due, call)

    def again(self, name: str, seconds: float, call: Callable[[], None]) -> None:
        """As `after`, but the timer of this name is replaced in any case."""
        self._timers[name] = (self.now() + max(0.0, seconds), call)

    def cancel(self, name: str) -> None:
        """Forget a timer."""
        self._timers.pop(name, None)

    def timers(self) -> list[str]:
        """What is pending; [] when only a descriptor or a signal can wake it."""
        return sorted(self._timers)

    def on_signals(self, calls: dict[int, Callable[[], None]]) -> None:
        """Handle these signals in the loop; a handler, unlike SIG_IGN, does not go on to programs that are started."""
        self._signals.update(calls)
        signal.set_wakeup_fd(self._wake_out, warn_on_full_buffer=False)
        for number in calls:
            signal.signal(number, _nothing)

    def stop(self) -> None:
        """Leave `run` after this round."""
        self._running = False

    def run(self) -> None:
        """Until `stop`."""
        while self._running:
            for fd, can_read, can_write in self._wait():
                if can_read and fd in self._readers:
                    self._call(self._readers[fd])
                if can_write and fd in self._writers:
                    self._call(self._writers[fd])
            now = self.now()
            for name in [name for name, (due, _) in self._timers.items() if due <= now]:
                if name in self._timers:
                    self._call(self._timers.pop(name)[1])

    def _wait(self) -> Iterable[tuple[int, bool, bool]]:
        timeout = None
        if self._timers:
            timeout = max(0.0, min(due for due, _ in self._timers.values()) - self.now())
        fds = self._readers.keys() | self._writers.keys()
        self.wakeups += 1
        if not _POLL:
            readable, writable, _ = select.select(self._readers, self._writers, [], timeout)
            return [(fd, fd in readable, fd in writable) for fd in fds]
        poll = select.poll()
        for fd in fds:
            poll.register(
                fd, (select.POLLIN if fd in self._readers else 0) | (select.POLLOUT if fd in self._writers else 0)
            )
        # Rounded up: a timer that is asked for half a millisecond too early would be asked for again and again.
        found = poll.poll(None if timeout is None else int(timeout * 1000 + 0.999))
        ended = select.POLLHUP | select.POLLERR | select.POLLNVAL
        return [
            (fd, bool(event & (select.POLLIN | ended)), bool(event & (select.POLLOUT | ended))) for fd, event in found
        ]

    def _on_signals(self) -> None:
        try:
            numbers = set(os.read(self._wake_in, 512))
        except BlockingIOError:
            return
        for number in sorted(numbers):
            if number in self._signals:
                self._signals[number]()

    def _call(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as error:
            self._fault(error)

    def close(self) -> None:
        """Gives back what it holds; signals have no handler afterwards."""
        signal.set_wakeup_fd(-1)
        for number in self._signals:
            signal.signal(number, signal.SIG_DFL)
        os.close(self._wake_in)
        os.close(self._wake_out)


def _nothing(_number: int, _frame: object) -> None:
    """The loop learns of the signal through its pipe."""
