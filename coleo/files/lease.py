"""A person's file, opened for a change while nobody else can change it (DESIGN.md section 4 "Writing").

The kernel grants a write lease only while nobody else has the file open, and makes whoever opens it meanwhile wait
until the lease is given back. So between the last look at the bytes and the change no editor can have written. It is
held for some microseconds: an editor that saves at that moment notices nothing.

- The signal that tells the holder of somebody who waits would end the process (SIGIO). It is set to SIGURG, of which
  nothing dies, whatever thread this runs in.
- Readers refuse a write lease too. One who reads in order to write (``sed -i``) is gone in a moment, so that is
  waited for. One who stays (``tail -f``) is told from a writer by a read lease, which is granted only when nobody
  writes; then the file is changed without a lease, after one more look immediately before.
- Where there are no leases (macOS, network file systems, files of another user) it is the same, and `used_fallback`
  says so. Processes of coleo still exclude each other, by ``flock``.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from time import monotonic, sleep

from coleo.model.errors import CannotBeDone

_LINUX = sys.platform == "linux"
_SET_LEASE, _SET_SIGNAL, _SIGURG = 1024, 10, 23

#: The kernel ends a lease 45 s after somebody asked for the file; who was stopped for so long must not write.
_LONGEST_S = 1.0

#: A file that is only read for so long is one that somebody watches, not one that is about to be written.
_READERS_S, _PAUSE_S = 0.05, 0.001

#: Bytes around a single byte that must be as they were when there is no lease.
_AROUND = 2048

#: File systems (by device) on which a change was made without a lease; and whether a device has leases at all.
_without: set[int] = set()
_has_leases: dict[int, bool] = {}


class Changed(CannotBeDone):
    """The file is not what was read (or another file is at its path now): read again and start over."""

    def __init__(self, path: str) -> None:
        super().__init__("the file was changed by somebody else", file=path, todo="try again")


class Busy(CannotBeDone):
    """Somebody has the file open for writing: try again soon."""

    def __init__(self, path: str) -> None:
        super().__init__("another program has the file open", file=path, todo="try again, or close it there")


class Opened:
    """The file at `path`, held for a change: a context manager that ends by closing it, and the lease with it.

    Raises Busy when somebody has it open for writing, OSError when it cannot be opened or is no regular file.
    """

    def __init__(self, path: str, *, append: bool = False) -> None:
        self.path = path
        self.leased = False
        self._flags = os.O_RDWR | (os.O_APPEND if append else 0)
        self._expected: bytes | None = None
        self._fd = -1
        try:
            self._take(monotonic() + _READERS_S)
            _exclude_ourselves(self._fd, path)
        except BaseException:
            self.close()
            raise
        self._since = monotonic()

    def _take(self, patient_until: float) -> None:
        while True:
            self._fd = _open(self.path, self._flags)
            granted = _lease(self._fd, fcntl.F_WRLCK)
            if granted is not False:
                break
            # Our own descriptor is open for writing, too: it must not be there while we look for others.
            self.close()
            if not _leases_work(self.path):
                granted = None
            elif _somebody_writes(self.path):
                raise Busy(self.path)
            if granted is None or monotonic() >= patient_until:
                self._fd = _open(self.path, self._flags)
                break
            sleep(_PAUSE_S)
        self.leased = granted is True
        if granted is None:
            _without.add(os.fstat(self._fd).st_dev)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; harmless when that has happened."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def verify(self, expected: bytes) -> None:
        """Raise Changed unless the file holds exactly `expected` and still is the one at its path."""
        if self.size() != len(expected) or self.read() != expected:
            raise Changed(self.path)
        self._verify_place()
        if monotonic() - self._since > _LONGEST_S:
            raise Busy(self.path)
        self._expected = None if self.leased else expected

    def _look_again(self, data: bytes, offset: int) -> None:
        """Without a lease, immediately before the first change: is everything as it was that this change relies on?"""
        expected, self._expected = self._expected, None
        if expected is None:
            return
        if self.size() != len(expected):
            raise Changed(self.path)
        if self._flags & os.O_APPEND:
            return
        around = slice(max(offset - _AROUND, 0), offset + _AROUND) if len(data) == 1 else slice(0, len(expected))
        if os.pread(self._fd, around.stop - around.start, around.start) != expected[around]:
            raise Changed(self.path)

    def _verify_place(self) -> None:
        try:
            there = os.stat(self.path)
        except OSError:
            raise Changed(self.path) from None
        if not os.path.samestat(os.fstat(self._fd), there):
            raise Changed(self.path)

    def size(self) -> int:
        """Bytes in the file now."""
        return os.fstat(self._fd).st_size

    def read(self) -> bytes:
        """All bytes of the file now."""
        parts, at = [], 0
        while part := os.pread(self._fd, 1 << 20, at):
            parts.append(part)
            at += len(part)
        return b"".join(parts)

    def write(self, data: bytes, offset: int) -> None:
        """One write at `offset` (at the end for a file opened to append), and more only for what a short one left."""
        self._look_again(data, offset)
        rest = memoryview(data)
        while rest:
            done = os.write(self._fd, rest) if self._flags & os.O_APPEND else os.pwrite(self._fd, rest, offset)
            if done <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
            rest, offset = rest[done:], offset + done

    def truncate(self, size: int) -> None:
        """Cut the file at `size` bytes."""
        self._look_again(b"", size)
        os.ftruncate(self._fd, size)

    def sync(self) -> None:
        """Give the lease back (nobody is to wait for a disk), then make what was written last.

        Raises Changed when another file has taken the place of this one: what was written is in nobody's sight.
        """
        self._verify_place()
        if _LINUX:
            _lease(self._fd, fcntl.F_UNLCK)
            os.fdatasync(self._fd)
        else:
            os.fsync(self._fd)


def _open(path: str, flags: int) -> int:
    # Without O_NONBLOCK, a lease that another process of coleo holds would make us wait; with it, we are told.
    try:
        fd = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except BlockingIOError:
        raise Busy(path) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return fd


def _lease(fd: int, kind: int) -> bool | None:
    """True: granted. False: somebody has the file open. None: no leases here."""
    if not _LINUX:
        return None
    try:
        fcntl.fcntl(fd, _SET_SIGNAL, _SIGURG)
        fcntl.fcntl(fd, _SET_LEASE, kind)
    except OSError as error:
        return False if error.errno == errno.EAGAIN else None
    return True


def _exclude_ourselves(fd: int, path: str) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Busy(path) from None
    except OSError:
        return  # a file system without locks


def _somebody_writes(path: str) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except BlockingIOError:
        return True
    try:
        return _lease(fd, fcntl.F_RDLCK) is False
    finally:
        os.close(fd)


def _leases_work(path: str) -> bool:
    """Whether a refused lease means anything here: some file systems refuse every one with the same error."""
    folder = os.path.dirname(os.path.realpath(path))
    device = os.stat(folder).st_dev
    if device not in _has_leases:
        _has_leases[device] = lease_available(folder)
    return _has_leases[device]


def lease_available(folder: str) -> bool:
    """Whether files in `folder` can be changed under a lease, tried on a file of our own (which every scan skips)."""
    probe = os.path.join(folder, f".coleo.{os.urandom(6).hex()}.tmp")
    try:
        fd = os.open(probe, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return _LINUX
    try:
        return _lease(fd, fcntl.F_WRLCK) is True
    finally:
        os.close(fd)
        os.unlink(probe)


def used_fallback() -> bool:
    """Whether this process has changed a file without a lease because there was none to be had: worth one log line."""
    return bool(_without)
