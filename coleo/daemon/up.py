"""One brain per project, from its lock to its end: what ``coleo up`` runs.

The lock is held for the brain's whole life, before anything is read. It is two: the file ``run/locks/brain.lock``,
which names the holder, and the folder ``.project`` itself, which no sweep takes away. SIGTERM and SIGINT end the brain
and leave its arms alone (they outlive it); SIGHUP makes it read everything again, or ends it when its terminal is
gone; SIGUSR1 and the doorbell make it look at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Mapping

from coleo.daemon.clock import Clock, SystemClock
from coleo.daemon.committer import Committer
from coleo.daemon.doorbell import Doorbell
from coleo.daemon.hosts import Hosts
from coleo.daemon.loop import Brain
from coleo.daemon.terminals import Terminals
from coleo.daemon.watch import EventSource, Watcher, areas_of, system_events
from coleo.files import locks
from coleo.files.layout import Layout, make_private
from coleo.model.errors import CannotBeDone, Taken

GONE_S = 10.0


class BrainLock:
    """The right to be this project's brain. Raises Taken (exit 3) with the pid of the one that is."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._file = locks.hold(layout.lock("brain"), wait_s=0, note="brain")
        self._folder = -1
        self._gone_since: float | None = None

    def acquire(self) -> None:
        """Take both locks or none."""
        folder = os.open(self._layout.project, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.acquire()
        except (BlockingIOError, Taken):
            os.close(folder)
            raise self._taken() from None
        except BaseException:
            os.close(folder)
            raise
        self._folder = folder

    def release(self) -> None:
        """Let go of both."""
        self._file.release()
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def keep(self, at: float) -> None:
        """Call at each tick: a lock file that was swept away is made and taken again. at: seconds, monotonic.

        Raises Taken, and CannotBeDone when the project was away at two looks at least 10 s apart.
        """
        if os.path.isdir(self._layout.project):
            self._gone_since = None
        elif self._gone_since is None:
            self._gone_since = at
        elif at - self._gone_since >= GONE_S:
            raise CannotBeDone("the project is gone", file=self._layout.project, todo="arms go on; start coleo again")
        if not self._file.still_there():
            self._file.release()
            self._file.acquire()

    def _taken(self) -> Taken:
        by = locks.holder(self._layout.lock("brain"))
        pid = f"process {by['pid']}" if by else "another process"
        return Taken(
            f"a brain of this project runs already: {pid}",
            file=self._layout.root,
            found=f"its lock is held by {pid}",
            todo="look at it with `coleo status`, end it with `coleo down`",
        )


def up(
    layout: Layout,
    *,
    overrides: Mapping[str, str] | None = None,
    ready: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
    source: EventSource = system_events,
    environ: Mapping[str, str] = os.environ,
) -> str:
    """Be the brain of a project until asked to end. Returns why it ended.

    ready: called once the first cycle is done. Raises Taken (exit 3), BadInput (settings, exit 2), CannotBeDone.
    """
    make_private(layout.run)
    lock = BrainLock(layout)
    lock.acquire()
    try:
        return asyncio.run(_live(layout, lock, overrides or {}, ready, clock or SystemClock(), source, environ))
    finally:
        lock.release()


async def _live(
    layout: Layout,
    lock: BrainLock,
    overrides: Mapping[str, str],
    ready: Callable[[], None],
    clock: Clock,
    source: EventSource,
    environ: Mapping[str, str],
) -> str:
    def make_terminals(on_change: Callable[[str], None]) -> Terminals:
        return Hosts(layout, clock, on_change)

    brain = Brain(layout, clock, make_terminals, overrides, environ)
    bell = Doorbell(layout.brain_socket, lambda text: brain.hint(*areas_of(text)))
    watcher = Watcher(
        layout, clock, lambda areas: brain.hint(*areas), lambda text: brain.log("warning", text=text), source
    )
    committer = Committer(brain)

    def at_tick() -> None:
        lock.keep(clock.monotonic())
        keep_log(layout)
        bell.keep()
        watcher.keep()
        committer.keep()

    brain.at_tick = at_tick
    with _signals(brain):
        bell.open()
        try:
            brain.start()
            brain.on_first_cycle = ready
            await brain.run()
        finally:
            await committer.close()
            await brain.close()
            await watcher.close()
            bell.close()
    return brain.stopping


def keep_log(layout: Layout) -> None:
    """A brain in the background whose ``run/brain.log`` was swept away writes into a new one."""
    try:
        told = os.fstat(1)
        if not stat.S_ISREG(told.st_mode) or told.st_nlink:
            return
        log = os.open(os.path.join(layout.run, "brain.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)


@contextlib.contextmanager
def _signals(brain: Brain) -> Iterator[None]:
    """What signals mean, for as long as the loop runs."""
    loop = asyncio.get_running_loop()
    had_terminal = _has_terminal()

    def end(name: str) -> None:
        brain.ask_to_stop(name, keep_arms=True)

    def hang_up() -> None:
        if had_terminal and not _has_terminal():
            brain.ask_to_stop("SIGHUP: its terminal is gone", keep_arms=True)
        else:
            brain.hint()

    loop.add_signal_handler(signal.SIGTERM, end, "SIGTERM")
    loop.add_signal_handler(signal.SIGINT, end, "SIGINT")
    loop.add_signal_handler(signal.SIGHUP, hang_up)
    loop.add_signal_handler(signal.SIGUSR1, brain.hint)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            loop.remove_signal_handler(number)


def _has_terminal() -> bool:
    """Whether standard input is a terminal that still is one: after its window was closed it is not."""
    try:
        return sys.stdin is not None and os.isatty(sys.stdin.fileno())
    except (OSError, ValueError):
        return False
