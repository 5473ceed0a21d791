"""Processes by identity: pid + kernel start time + boot id. A pid alone is nobody (DESIGN.md section 3, case h09)."""

from __future__ import annotations

import os
import sys

from coleo.model.arm import ProcessId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LINUX = sys.platform == "linux"
_MAX_PID = 1 << 22
_boot = ""


def valid_pid(value: object) -> int | None:
    """The pid that a file names, when it could be somebody else's process: a plain integer above 1, not our own."""
    if type(value) is not int or not 1 < value <= _MAX_PID or value in (os.getpid(), os.getppid()):
        return None
    return value


def boot_id() -> str:
    """What tells one boot of the machine from another."""
    global _boot
    if not _boot:
        if _LINUX:
            with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
                _boot = file.read().strip()
        else:
            import psutil

            _boot = str(int(psutil.boot_time()))
    return _boot


def identity(pid: int) -> ProcessId | None:
    """Who has this pid now; None when nobody has it, or only a zombie."""
    if pid <= 0:
        return None
    start = _start_linux(pid) if _LINUX else _start_psutil(pid)
    return None if start is None else ProcessId(pid, start, boot_id())


def _start_linux(pid: int) -> int | None:
    """Field 22 of ``/proc/<pid>/stat``: clock ticks since boot. None for a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def _start_psutil(pid: int) -> int | None:
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else int(process.create_time() * 100)
    except psutil.Error:
        return None


def same(who: ProcessId) -> bool:
    """Whether exactly this process lives."""
    return identity(who.pid) == who


def send(who: ProcessId, signal: int) -> bool:
    """Send a signal to exactly this process; False when it is gone. Never to pid 1, a group, or ourselves."""
    if valid_pid(who.pid) is None:
        return False
    if hasattr(os, "pidfd_open"):
        try:
            descriptor = os.pidfd_open(who.pid)
        except OSError:
            return False
        try:
            if not same(who):
                return False
            import signal as signals

            signals.pidfd_send_signal(descriptor, signal)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True
    if not same(who):
        return False
    try:
        os.kill(who.pid, signal)
    except OSError:
        return False
    return True


def pids() -> Iterator[int]:
    """All pids of the machine."""
    if _LINUX:
        for name in os.listdir("/proc"):
            if name.isdecimal():
                yield int(name)
        return
    import psutil

    yield from psutil.pids()


def environ(pid: int) -> dict[str, str]:
    """The environment with which a process was started. Raises OSError when it may not be read or is gone."""
    if not _LINUX:
        import psutil

        try:
            return dict(psutil.Process(pid).environ())
        except psutil.Error as error:
            raise ProcessLookupError(str(error)) from error
    with open(f"/proc/{pid}/environ", "rb") as file:
        parts = file.read().split(b"\0")
    pairs = (part.partition(b"=") for part in parts if part)
    return {os.fsdecode(name): os.fsdecode(value) for name, _equals, value in pairs}


def command_line(pid: int) -> tuple[str, ...]:
    """The arguments of a process; () when it is gone."""
    if not _LINUX:
        import psutil

        try:
            return tuple(psutil.Process(pid).cmdline())
        except psutil.Error:
            return ()
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return tuple(os.fsdecode(part) for part in file.read().split(b"\0")[:-1])
    except OSError:
        return ()
