"""Locks between processes: ``fcntl.flock`` on a file in ``run/locks``, the same lock that filelock takes.

Lock files are never unlinked; should somebody else sweep one away, the inode is compared after locking, so two
holders never both believe that they are alone. The holder is written into the file for whoever has to wait.
"""

from __future__ import annotations

import fcntl
import os
import time

from coleo.files.layout import make_private
from coleo.model.errors import Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

_STEP_S = 0.002


class hold:  # noqa: N801 - reads as a verb: ``with hold(path):``
    """Hold the lock at `path` for the length of a ``with`` block.

    wait_s: None waits for ever, 0 does not wait. note: what it is held for. Raises Taken, naming the holder, when it
    could not be had in time.
    """

    def __init__(self, path: str, *, wait_s: float | None = None, note: str = "") -> None:
        self.path = path
        self.wait_s = wait_s
        self.note = note
        self.descriptor = -1

    def __enter__(self) -> hold:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock. Raises Taken."""
        end = None if self.wait_s is None else time.monotonic() + self.wait_s
        while True:
            descriptor = self._open()
            if self._lock(descriptor, end):
                if _same_file(descriptor, self.path):
                    self.descriptor = descriptor
                    self._sign()
                    return
                os.close(descriptor)
                continue
            os.close(descriptor)
            raise self._taken()

    def release(self) -> None:
        """Let go; harmless when it is not held."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def still_there(self) -> bool:
        """Whether the held lock file still lies at its path (a sweep takes it away under its holder)."""
        return self.descriptor >= 0 and _same_file(self.descriptor, self.path)

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            make_private(os.path.dirname(self.path))
            return os.open(self.path, flags, 0o600)

    def _lock(self, descriptor: int, end: float | None) -> bool:
        if end is None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            return True
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= end:
                    return False
                time.sleep(_STEP_S)

    def _sign(self) -> None:
        from coleo.files import process

        me = process.identity(os.getpid())
        who = f"{os.getpid()} {me.start if me else 0} {me.boot if me else '-'} {self.note}\n"
        try:
            os.ftruncate(self.descriptor, 0)
            os.pwrite(self.descriptor, who.encode("utf-8", "replace"), 0)
        except OSError:
            return

    def _taken(self) -> Taken:
        by = holder(self.path)
        found = f"held by process {by['pid']} ({by['note']})" if by else "held by another process"
        return Taken(f"{os.path.basename(self.path)} is held", file=self.path, found=found, todo="try again later")


def holder(path: str) -> dict[str, Any] | None:
    """Who wrote itself into the lock file: ``{"pid", "start", "boot", "note"}``; None when nobody legible did."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            parts = file.readline(4096).rstrip("\n").split(" ", 3)
    except OSError:
        return None
    if len(parts) < 3 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        return None
    return {"pid": int(parts[0]), "start": int(parts[1]), "boot": parts[2], "note": parts[3] if parts[3:] else ""}


def is_held(path: str) -> bool:
    """Whether some process holds the lock now. Takes it for an instant when it is free."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _same_file(descriptor: int, path: str) -> bool:
    ours = os.fstat(descriptor)
    try:
        there = os.stat(path)
    except OSError:
        return False
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)
