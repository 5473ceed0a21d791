"""Who is who among processes: identity, session, descent, and signals that reach only who was meant.

A process is its pid, its kernel start time and the boot; no signal is ever sent on a pid alone (DESIGN.md section
3, cases b13 and h09). On Linux everything is read from ``/proc``; elsewhere psutil, which the host loads only there.
"""

from __future__ import annotations

import os
import sys

from coleo.model.arm import ProcessId
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LINUX = sys.platform == "linux"
_MAX_PID = 1 << 22


class Process(Record):
    """One row of the process table. state: ``Z`` for one that has ended and is not reaped yet."""

    pid: int
    parent: int
    group: int
    session: int
    start: int
    state: str


def boot_id() -> str:
    """What names this run of the machine; "" where the kernel gives none."""
    if _LINUX:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    import psutil

    return f"boot-{int(psutil.boot_time())}"


def look(pid: int) -> Process | None:
    """The process with this pid now, None when there is none."""
    if not _LINUX:
        return _look_elsewhere(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            data = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in brackets may hold anything, also brackets and blanks: what counts begins after the last one.
    fields = data[data.rindex(b")") + 2 :].split()
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]), fields[0].decode())


def _look_elsewhere(pid: int) -> Process | None:
    import psutil

    try:
        one = psutil.Process(pid)
        with one.oneshot():
            state = "Z" if one.status() == psutil.STATUS_ZOMBIE else "S"
            return Process(pid, one.ppid(), os.getpgid(pid), os.getsid(pid), int(one.create_time() * 100), state)
    except (psutil.Error, OSError):
        return None


def table() -> list[Process]:
    """Every process that can be seen."""
    if _LINUX:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    else:
        import psutil

        pids = psutil.pids()
    return [process for process in map(look, pids) if process]


def identity(pid: int) -> ProcessId | None:
    """Who the process with this pid is now; None when there is none, or it has ended."""
    process = look(pid)
    if process is None or process.state == "Z":
        return None
    return ProcessId(pid, process.start, boot_id())


def same(process: ProcessId) -> bool:
    """Whether exactly this process still runs."""
    return identity(process.pid) == process


def signal_process(process: ProcessId, number: int) -> bool:
    """Sends a signal to exactly this process; False when it is gone, or is the caller, or no process can be meant."""
    pid = process.pid
    if type(pid) is not int or not 1 < pid <= _MAX_PID or pid == os.getpid():
        return False
    if hasattr(os, "pidfd_open"):
        try:
            fd = os.pidfd_open(pid)
        except OSError:
            return False
        try:
            # Looked at after the descriptor was opened: from here on it cannot become another process.
            return same(process) and _pidfd_signal(fd, number)
        finally:
            os.close(fd)
    if not same(process):
        return False
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def _pidfd_signal(fd: int, number: int) -> bool:
    import signal

    try:
        signal.pidfd_send_signal(fd, number)
    except OSError:
        return False
    return True


def signal_group(group: int, number: int) -> bool:
    """Sends a signal to a process group; never to the caller's own, to every process, or to init's (case b13)."""
    if type(group) is not int or not 1 < group <= _MAX_PID or group == os.getpgid(0):
        return False
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def descendants(root: int, processes: Iterable[Process] | None = None) -> list[Process]:
    """Everything below `root` by parent, without `root`; orphans too when `root` is their reaper (`adopt_orphans`)."""
    children: dict[int, list[Process]] = {}
    for process in table() if processes is None else processes:
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    todo = [root]
    while todo:
        below = children.pop(todo.pop(), [])
        found += below
        todo += [process.pid for process in below]
    return found


def adopt_orphans() -> bool:
    """Makes the calling process the parent of all orphans among its descendants, so that none is ever lost.

    prctl(PR_SET_CHILD_SUBREAPER), Linux only; False where there is no such thing.
    """
    if not _LINUX:
        return False
    import ctypes

    return bool(ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0) == 0)
