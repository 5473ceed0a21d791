"""Kernel locks in ``run/locks/``: held by a living process or by nobody (DESIGN.md section 4 "Writing").

They are ``flock`` locks, as ``filelock.FileLock`` takes them: both exclude each other on the same file. A lock ends
with its holder, however that ends, so there is nothing to clean up, and the files are never unlinked. What is written
in the file (`holder`) is a courtesy to whoever has to wait and decides nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
from _thread import get_ident
from time import monotonic, sleep

from coleo.files import process
from coleo.files.layout import make_private
from coleo.model.errors import Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

#: A look by `is_held` takes a shared lock for some microseconds; nobody may be turned away for that.
_LEAST_WAIT_S = 0.02
_PAUSE_S, _LONGEST_PAUSE_S = 0.0005, 0.02

#: The label of a holder has a fixed size: cutting the file each time would cost a millisecond of the journal.
LABEL_BYTES = 256

_held: set[tuple[str, int]] = set()


class hold:
    """Hold the lock at `path` while a ``with`` block runs. Its folder is made when it is missing.

    wait_s: seconds to wait before Taken is raised, which names the holder; None waits for as long as it takes (and
    is RuntimeError where this thread holds it already, for that would be for ever). note: why, for whoever waits.
    """

    def __init__(self, path: str, *, wait_s: float | None = None, note: str = "") -> None:
        self.path = path
        self.wait_s = wait_s
        self.note = note
        self._fd = -1
        self._key = (path, 0)

    def __enter__(self) -> hold:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock. Raises Taken."""
        self._key = (self.path, get_ident())
        if self.wait_s is None and self._key in _held:
            raise RuntimeError(f"this thread holds {self.path} and would wait for itself")
        self._fd = self._take(None if self.wait_s is None else monotonic() + max(self.wait_s, _LEAST_WAIT_S))
        _held.add(self._key)
        self._say_who()

    def release(self) -> None:
        """Let go; harmless when it is not held."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            _held.discard(self._key)
            os.close(fd)

    def still_there(self) -> bool:
        """Whether the held file still lies at its path; somebody who deleted ``run/`` has opened the way for others."""
        return self._fd >= 0 and _is_at(self._fd, self.path)

    def _take(self, deadline: float | None) -> int:
        pause = _PAUSE_S
        while True:
            fd = _open(self.path)
            try:
                if _lock(fd, wait=deadline is None) and _is_at(fd, self.path):
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
            if deadline is not None and monotonic() >= deadline:
                raise _taken(self.path)
            sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    def _say_who(self) -> None:
        who = process.own()
        data = json.dumps({"pid": who.pid, "start": who.start, "boot": who.boot, "note": self.note[:80]})
        try:
            os.pwrite(self._fd, data.encode().ljust(LABEL_BYTES - 1) + b"\n", 0)
        except OSError:
            pass  # a full disk: the lock is the kernel's, only its label is missing


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_private(os.path.dirname(path))
        return os.open(path, flags, 0o600)


def _lock(fd: int, *, wait: bool) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _is_at(fd: int, path: str) -> bool:
    """Whether the locked file is the one at `path`: somebody may have deleted it while we waited."""
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(fd), there)


def _taken(path: str) -> Taken:
    who = holder(path) or {}
    name = os.path.basename(path).removesuffix(".lock")
    note = f" ({who['note']})" if who.get("note") else ""
    return Taken(
        f"the lock {name} is held by another process",
        file=path,
        found=f"pid {who.get('pid', 'unknown')}{note}",
        todo="try again when it has ended",
    )


def is_held(path: str) -> bool:
    """Whether somebody holds the lock now, this process included. Never waits."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def holder(path: str) -> dict[str, Any] | None:
    """Who holds the lock: ``{"pid", "start", "boot", "note"}``. None when nobody does, {} when it does not say."""
    if not is_held(path):
        return None
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(4096))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
