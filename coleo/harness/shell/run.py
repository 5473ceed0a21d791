"""One block, run as a command: own session, nothing to read, a time limit, a bounded memory of what it said.

The command leads a session of its own, so a signal for its group reaches everything that it started and nothing
else. Whatever of that session is left when the command ends, is interrupted or runs out of time is ended too; a
program that is meant to go on makes a session of its own (``setsid``). A guard process watches the worker: if the
worker is killed, the guard's pipe closes and the guard ends the command's group.
"""

from __future__ import annotations

import os
import select
import signal
import time

from coleo.files import process
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence

#: What is kept of a command's output, in bytes from its end.
TAIL_BYTES = 64 << 10
#: Between the polite signal and KILL.
GRACE_S = 2.0
#: How often the end of the command is looked for where the kernel does not tell of it (no pidfd).
POLL_S = 0.05
#: How long output may still come from others after the command itself has ended.
DRAIN_S = 0.3

#: Reads the number of a group, waits for the end of its input, and ends the group.
_GUARD = 'read group || exit; read _ || { kill -TERM -"$group"; sleep 1; kill -KILL -"$group"; } 2>/dev/null'
#: Begins the command once the guard knows of it; a worker that dies before that begins nothing.
_GO = 'read _ || exit 125; exec "$@" </dev/null'


class Ran(Record):
    """How a command ended.

    exit: its exit code, or minus the signal that ended it; None when it could not be started (`why` says it).
    why: "" when it ended by itself, else ``time limit``, ``interrupted``, ``stopped`` or the error of the start.
    tail: the last bytes of its output; total_bytes: how many there were. left: processes ended after it.
    """

    exit: int | None
    duration_s: float
    why: str = ""
    tail: bytes = b""
    total_bytes: int = 0
    left: int = 0

    @property
    def good(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.exit == 0 and not self.why


class Tail:
    """The last bytes of a stream."""

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._limit = limit
        self._kept = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes; only the end is kept."""
        self.total += len(data)
        self._kept += data
        if len(self._kept) > 2 * self._limit:
            del self._kept[: -self._limit]

    @property
    def data(self) -> bytes:
        """What is kept: at most `limit` bytes."""
        return bytes(self._kept[-self._limit :])


def run(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    limit_s: float,
    wish: Callable[[], str],
    wish_fd: int,
    on_output: Callable[[bytes], None],
    on_time: Callable[[float], float],
) -> Ran:
    """Run a command to its end, its limit, or a wish (`Control`).

    on_output gets each piece of output as it comes. on_time is called with the seconds so far and says at which
    second it wants to be called next (progress, heartbeats).
    """
    import subprocess

    begin = time.monotonic()
    missing = _missing(argv[0], env)
    if missing:
        return Ran(None, 0.0, f"it could not be started: {missing}")
    guard = _guard()
    try:
        child = subprocess.Popen(
            ["/bin/sh", "-c", _GO, "sh", *argv],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError) as error:
        _dismiss(guard)
        return Ran(None, time.monotonic() - begin, f"it could not be started: {error}")
    _tell(guard, b"%d\n" % child.pid)
    _tell(child, b"\n", close=True)
    tail = Tail()
    end_fd = _end_fd(child.pid)
    try:
        why = _watch(child, begin, limit_s, wish, (wish_fd, end_fd), tail, on_output, on_time)
        duration_s = time.monotonic() - begin
    finally:
        left = _end_session(child.pid)
        code = child.wait()
        if end_fd is not None:
            os.close(end_fd)
        if child.stdout is not None:
            child.stdout.close()
        _dismiss(guard)
    return Ran(code, duration_s, why, tail.data, tail.total, left)


def _watch(
    child: subprocess.Popen[bytes],
    begin: float,
    limit_s: float,
    wish: Callable[[], str],
    fds: tuple[int, int | None],
    tail: Tail,
    on_output: Callable[[bytes], None],
    on_time: Callable[[float], float],
) -> str:
    """Read until the command is over; "" when it ended by itself, else why it was ended."""
    assert child.stdout is not None
    never = float("inf")
    out, (wish_fd, end_fd) = child.stdout.fileno(), fds
    reading = {fd for fd in (out, wish_fd, end_fd) if fd is not None}
    why, kill_at, drained_at = "", never, never
    next_call = on_time(0.0)
    while True:
        now = time.monotonic() - begin
        if drained_at == never and _has_ended(child):
            drained_at = now + DRAIN_S
            reading.discard(end_fd or -1)
        if drained_at <= now or (out not in reading and drained_at < never):
            return why
        if not why:
            why = wish() or ("time limit" if now >= limit_s else "")
            if why:
                _signal_group(child.pid, signal.SIGINT if why == "interrupted" else signal.SIGTERM)
                kill_at = now + GRACE_S
                reading.discard(wish_fd)
        if now >= kill_at:
            _signal_group(child.pid, signal.SIGKILL)
            kill_at = never
        if now >= next_call:
            next_call = on_time(now)
        wake_at = min(limit_s if not why else never, kill_at, next_call, drained_at)
        if end_fd is None:
            wake_at = min(wake_at, now + POLL_S)
        ready = select.select(list(reading), [], [], None if wake_at == never else max(wake_at - now, 0.0))[0]
        if out in ready:
            data = os.read(out, 1 << 16)
            if data:
                tail.add(data)
                on_output(data)
            else:
                reading.discard(out)


def _end_fd(pid: int) -> int | None:
    """A descriptor that becomes readable when the command is over; None where the kernel has none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether the command itself is over. It stays a zombie where possible, so that its group's number stays taken."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return child.poll() is not None


def _signal_group(group: int, number: int) -> bool:
    """Signal the command's group; False when nobody is in it any more."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _end_session(session: int) -> int:
    """End what is left of a command's session: TERM, then KILL; how many processes there were."""
    if not os.path.isdir("/proc/self"):
        return int(_signal_group(session, signal.SIGKILL))
    left = _members(session)
    if not left:
        return 0
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in _members(session):
            identity = process.identity(pid)
            if identity is not None and pid in _members(session):
                process.send(identity, number)
        deadline = time.monotonic() + GRACE_S
        while _members(session) and time.monotonic() < deadline:
            time.sleep(0.02)
    return len(left)


def _members(session: int) -> list[int]:
    """Pids of a session's living processes, from /proc."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 3 and fields[3] == b"%d" % session and fields[0] not in (b"Z", b"X"):
            found.append(int(name))
    return found


def _missing(program: str, env: Mapping[str, str]) -> str:
    """Why a program cannot be run; "" when it is there."""
    if os.sep in program:
        places = [program]
    else:
        places = [os.path.join(folder, program) for folder in env.get("PATH", os.defpath).split(os.pathsep) if folder]
    if any(os.path.isfile(place) and os.access(place, os.X_OK) for place in places):
        return ""
    return f"no program {program} on this machine (PATH is {env.get('PATH', os.defpath)})"


def _guard() -> subprocess.Popen[bytes]:
    """A process that ends the group it is told of when this one is gone: nobody else has the end of its pipe."""
    import subprocess

    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "coleo-guard"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        bufsize=0,
    )


def _tell(child: subprocess.Popen[bytes], data: bytes, *, close: bool = False) -> None:
    assert child.stdin is not None
    try:
        child.stdin.write(data)
    except BrokenPipeError:
        pass
    if close:
        child.stdin.close()


def _dismiss(guard: subprocess.Popen[bytes]) -> None:
    guard.kill()
    guard.wait()
    if guard.stdin is not None:
        guard.stdin.close()


def end_children() -> None:
    """KILL the groups of all children of this process: what still runs when the worker has to go."""
    for pid in list(process.pids()):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            if int(fields[1]) == os.getpid() and int(fields[2]) == pid:
                _signal_group(pid, signal.SIGKILL)
        except (OSError, IndexError):
            continue
