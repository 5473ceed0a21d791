"""Who a process is: pid, kernel start time and boot, never a pid alone (DESIGN.md section 3, case h09).

State files name processes; whatever they say, no signal is sent before the kernel confirms that this very process
still runs. On Linux everything is read from ``/proc``; elsewhere psutil.
"""

from __future__ import annotations

import os
import sys

from coleo.model.arm import ProcessId

_LINUX = sys.platform == "linux"

#: PID_MAX_LIMIT of 64-bit Linux; macOS ends at 99998.
_MAX_PID = 1 << 22

_boot = ""


def boot_id() -> str:
    """What names this run of the machine."""
    global _boot
    if not _boot:
        if _LINUX:
            with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
                _boot = file.read().strip()
        else:
            import psutil

            _boot = f"boot-{int(psutil.boot_time())}"
    return _boot


def valid_pid(value: object) -> int | None:
    """A pid that a state file may name: an integer above 1 that is not the caller's own; None for all else (h09)."""
    if type(value) is not int or not 1 < value <= _MAX_PID or value == os.getpid():
        return None
    return value


def identity(pid: int) -> ProcessId | None:
    """Who has this pid now; None when nobody has, or who had it has ended and only waits to be reaped."""
    if type(pid) is not int or not 0 < pid <= _MAX_PID:
        return None
    start = _start(pid)
    return None if start is None else ProcessId(pid, start, boot_id())


def own() -> ProcessId:
    """The identity of the calling process."""
    found = identity(os.getpid())
    assert found is not None, "a process that runs has an identity"
    return found


def same(process: ProcessId) -> bool:
    """Whether exactly this process still runs."""
    return identity(process.pid) == process


def send(process: ProcessId, signal: int) -> bool:
    """Send a signal to exactly this process. False when it is gone, is the caller, or can be no process at all."""
    pid = valid_pid(process.pid)
    if pid is None:
        return False
    if sys.platform == "linux":
        try:
            fd = os.pidfd_open(pid)
        except OSError:
            return False
        try:
            # Looked at after the descriptor was opened: from here on the pid cannot become another process's.
            return same(process) and _send_to_descriptor(fd, signal)
        finally:
            os.close(fd)
    if not same(process):
        return False
    try:
        os.kill(pid, signal)
    except OSError:
        return False
    return True


def _send_to_descriptor(fd: int, number: int) -> bool:
    import signal

    try:
        signal.pidfd_send_signal(fd, number)
    except OSError:
        return False
    return True


def _start(pid: int) -> int | None:
    if not _LINUX:
        return _start_elsewhere(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            data = file.read()
    except OSError:
        return None
    # The name in brackets may hold anything, also brackets and blanks: what counts begins after the last one.
    fields = data[data.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def _start_elsewhere(pid: int) -> int | None:
    import psutil

    try:
        one = psutil.Process(pid)
        if one.status() == psutil.STATUS_ZOMBIE:
            return None
        return int(one.create_time() * 100)
    except psutil.Error:
        return None


def pids() -> list[int]:
    """The pids of all processes that can be seen."""
    if _LINUX:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    import psutil

    return psutil.pids()


def environ(pid: int) -> dict[str, str]:
    """The environment that a process was started with; empty for one that is gone or another user's."""
    if not _LINUX:
        import psutil

        try:
            return psutil.Process(pid).environ()
        except (psutil.Error, OSError):
            return {}
    found = {}
    for part in _proc(pid, "environ").split(b"\0"):
        name, equals, value = part.partition(b"=")
        if equals:
            found[os.fsdecode(name)] = os.fsdecode(value)
    return found


def command_line(pid: int) -> list[str]:
    """The words of a process's command line; empty for one that is gone or another user's."""
    if not _LINUX:
        import psutil

        try:
            return psutil.Process(pid).cmdline()
        except (psutil.Error, OSError):
            return []
    words = _proc(pid, "cmdline").split(b"\0")
    return [os.fsdecode(word) for word in words[:-1]]


def _proc(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""
