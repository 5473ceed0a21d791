"""Changes of people's files in place, under a kernel file lease (DESIGN.md section 4 "Writing").

A lease is granted only while nobody else has the file open, and who opens it meanwhile waits until it is given back;
so between the last look at the bytes and the change no editor can have written. Nothing is ever renamed over such a
file: symlink, inode, owner and mode stay, and a writer that holds it open writes into the same file as before.

A change of one byte and a truncation are one system call. Longer changes are first written to a journal in ``run/``,
so that a kill half-way through the write leaves something to finish it with (`recover`). Where the file system has no
leases (macOS, network file systems) the same is done without; `uses_leases` tells.
"""

from __future__ import annotations

import fcntl
import os
import time

from coleo.files import journal as journals
from coleo.files.journal import Changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

__all__ = ["Busy", "Changed", "append", "clear", "recover", "replace", "retrying", "set_byte", "uses_leases"]

_SET_LEASE = 1024
_SET_SIGNAL = 10
_SIGURG = 23
_WRITE, _READ, _NONE = fcntl.F_WRLCK, fcntl.F_RDLCK, fcntl.F_UNLCK
_BUSY = 11
"""EAGAIN: somebody has the file open."""

recover = journals.recover


class Busy(Exception):
    """Somebody has the file open for writing: try again soon."""


class _Opened:
    """The file, opened for a change: content verified, under a lease where there are leases."""

    def __init__(self, path: str, expected: bytes, flags: int = 0) -> None:
        self.path = path
        self.descriptor = _open(path, flags)
        self.leased = False
        try:
            self._lease(flags)
            if journals.read_all(self.descriptor) != expected:
                raise Changed(path)
            self.check_place()
        except BaseException:
            self.close()
            raise

    def _lease(self, flags: int) -> None:
        granted = _set_lease(self.descriptor, _WRITE)
        if granted is False:
            os.close(self.descriptor)
            self.descriptor = -1
            if not _only_readers(self.path):
                raise Busy(self.path)
            self.descriptor = _open(self.path, flags)
        self.leased = granted is True

    def check_place(self) -> None:
        """The path still leads to this file. Raises Changed when another one took its place."""
        ours = os.fstat(self.descriptor)
        try:
            there = os.stat(self.path)
        except OSError:
            raise Changed(self.path) from None
        if (ours.st_dev, ours.st_ino) != (there.st_dev, there.st_ino):
            raise Changed(self.path)

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the lease back by closing."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def set_byte(path: str, expected: bytes, offset: int, byte: int) -> None:
    """Change one byte of a file that holds exactly `expected`. Raises Changed, Busy, OSError."""
    with _Opened(path, expected) as opened:
        os.pwrite(opened.descriptor, bytes((byte,)), offset)
        os.fdatasync(opened.descriptor)
        opened.check_place()


def append(path: str, expected: bytes, addition: bytes, journal: str) -> None:
    """Add to the end of a file that holds exactly `expected`. Raises Changed, Busy, OSError."""
    entry = journals.begin(journal, path, expected, expected + addition)
    try:
        with _Opened(path, expected, os.O_APPEND) as opened:
            _write(opened.descriptor, addition, None)
            os.fdatasync(opened.descriptor)
            opened.check_place()
    except (Changed, Busy):
        journals.end(entry)
        raise
    except OSError:
        _undo(path, expected, expected + addition, entry)
        raise
    journals.end(entry)


def replace(path: str, expected: bytes, new: bytes, journal: str) -> None:
    """Put `new` in the place of exactly `expected`, in the same file. Raises Changed, Busy, OSError.

    No write happens when they are equal.
    """
    if expected == new:
        return
    entry = journals.begin(journal, path, expected, new)
    try:
        with _Opened(path, expected) as opened:
            _overwrite(opened.descriptor, expected, new)
            opened.check_place()
    except (Changed, Busy):
        journals.end(entry)
        raise
    except OSError:
        _undo(path, expected, new, entry)
        raise
    journals.end(entry)


def clear(path: str, expected: bytes) -> None:
    """Empty a file that holds exactly `expected`. Raises Changed, Busy, OSError."""
    with _Opened(path, expected) as opened:
        os.ftruncate(opened.descriptor, 0)
        os.fsync(opened.descriptor)
        opened.check_place()


def retrying(
    change: Callable[[bytes], T],
    path: str,
    deadline_s: float = 10.0,
    *,
    monotonic: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> T:
    """Read the file, call `change` with its bytes, and again with fresh ones while it raises Changed or Busy.

    After `deadline_s` the last Changed or Busy is raised. Raises OSError as reading does.
    """
    end = monotonic() + deadline_s
    wait_s = 0.001
    while True:
        with open(path, "rb", buffering=0) as file:
            data = file.readall()
        try:
            return change(data)
        except (Changed, Busy):
            if monotonic() + wait_s >= end:
                raise
        pause(wait_s)
        wait_s = min(wait_s * 2, 0.1)


def uses_leases(path: str) -> bool:
    """Whether changes of this file happen under a lease; False on file systems that have none."""
    try:
        descriptor = _open(path, 0)
    except (OSError, Busy):
        return False
    try:
        return _set_lease(descriptor, _WRITE) is not None
    finally:
        os.close(descriptor)


def _undo(path: str, old: bytes, new: bytes, entry: str) -> None:
    """A write failed half-way (a full disk): the old content again, if that is possible now; else the journal stays."""
    try:
        descriptor = _open(path, 0)
    except (OSError, Busy):
        return
    try:
        if journals.is_torn(journals.read_all(descriptor), old, new):
            _overwrite(descriptor, new, old)
        if journals.read_all(descriptor) == old:
            journals.end(entry)
    except OSError:
        return
    finally:
        os.close(descriptor)


def _overwrite(descriptor: int, old: bytes, new: bytes) -> None:
    """From the first byte that differs to the new end."""
    same = journals.common_start(old, new)
    _write(descriptor, new[same:], same)
    if len(new) < len(old):
        os.ftruncate(descriptor, len(new))
    os.fdatasync(descriptor)


def _write(descriptor: int, data: bytes, offset: int | None) -> None:
    """One write, and more only for what a short one left. offset None: at the end (O_APPEND)."""
    view, done = memoryview(data), 0
    while done < len(view):
        if offset is None:
            done += os.write(descriptor, view[done:])
        else:
            done += os.pwrite(descriptor, view[done:], offset + done)


def _open(path: str, flags: int) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    except BlockingIOError:
        raise Busy(path) from None


def _only_readers(path: str) -> bool:
    """Whether nobody has the file open for writing: a reader such as ``tail -f`` refuses only the write lease."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except BlockingIOError:
        return False
    try:
        return _set_lease(descriptor, _READ) is True
    finally:
        os.close(descriptor)


def _set_lease(descriptor: int, kind: int) -> bool | None:
    """True: granted. False: somebody has the file open. None: there are no leases here.

    Who opens the file meanwhile makes the kernel send a signal; it is SIGURG, which nothing dies of (SIGIO would end
    the process).
    """
    try:
        fcntl.fcntl(descriptor, _SET_SIGNAL, _SIGURG)
        fcntl.fcntl(descriptor, _SET_LEASE, kind)
    except OSError as error:
        return False if error.errno == _BUSY else None
    return True
