"""The journal of changes that are longer than one byte: what a kill in the middle of a write leaves to finish it with.

An entry says which file is changed, how much of it stays, and what comes after that before and after the change. It
is synced before the file is touched and removed when the change is complete. Whoever makes the change holds a kernel
lock on its entry, so that an entry without a lock is one whose maker is dead.
"""

from __future__ import annotations

import fcntl
import json
import os
from binascii import crc32

from coleo.files import atomic
from coleo.files.layout import make_private
from coleo.model.record import Record

_END = ".change"


class Change(Record):
    """What becomes of a file: `same` bytes stay (`check` is their CRC), then `old` becomes `new`."""

    path: str
    same: int
    check: int
    old: bytes
    new: bytes

    def is_at(self, now: bytes) -> str:
        """What a file that holds `now` shows: ``old``, ``new``, ``torn`` (in the middle of the change) or ``other``."""
        rest = now[self.same :]
        if len(now) < self.same or crc32(now[: self.same]) != self.check:
            return "other"
        if rest == self.old:
            return "old"
        if rest == self.new:
            return "new"
        written = common_start(rest, self.new)
        return "torn" if rest == self.new[:written] + self.old[written:] else "other"


def change(path: str, old: bytes, new: bytes) -> Change:
    """The change of a whole file from `old` to `new`."""
    same = common_start(old, new)
    return Change(os.path.realpath(path), same, crc32(old[:same]), old[same:], new[same:])


class Entry:
    """One entry in the journal, locked for as long as this object is open."""

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self._fd = fd

    def close(self, *, done: bool) -> None:
        """Unlock it; `done` removes it: the change is complete, or did not happen."""
        try:
            if done:
                _forget(self._fd, self.path)
        finally:
            os.close(self._fd)


def begin(folder: str, what: Change) -> Entry:
    """Write an entry and hold it. Raises OSError; then nothing has been changed."""
    make_private(folder)
    head = {"path": what.path, "same": what.same, "check": what.check, "old": len(what.old), "new": len(what.new)}
    data = json.dumps(head).encode() + b"\n" + what.old + what.new
    while True:
        path = os.path.join(folder, os.urandom(8).hex() + _END)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            atomic.write_all(fd, data)
            os.fsync(fd)
            atomic.sync_folder(folder)
        except BaseException:
            Entry(path, fd).close(done=True)
            raise
        if os.fstat(fd).st_nlink:
            return Entry(path, fd)
        os.close(fd)  # `pending` of another process came before our lock and took it for a dead one's


def pending(folder: str) -> list[tuple[Entry, Change]]:
    """The entries whose makers are dead, now held by us. What was never written whole is removed: nothing had begun."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_END))
    except OSError:
        return []
    found = []
    for name in names:
        entry = _hold(os.path.join(folder, name))
        if entry is None:
            continue
        what = _parse(entry[1])
        if what is None:
            entry[0].close(done=True)
        else:
            found.append((entry[0], what))
    return found


def keep(entry: Entry) -> str:
    """Put an entry aside for a person to look at; where it is now."""
    kept = entry.path.removesuffix(_END) + ".kept"
    os.rename(entry.path, kept)
    entry.close(done=False)
    return kept


def _hold(path: str) -> tuple[Entry, bytes] | None:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_nlink:
            with open(fd, "rb", closefd=False) as file:
                return Entry(path, fd), file.read()
    except BlockingIOError:
        pass  # its maker is alive
    except BaseException:
        os.close(fd)
        raise
    os.close(fd)
    return None


def _parse(data: bytes) -> Change | None:
    line, _, rest = data.partition(b"\n")
    try:
        head = json.loads(line)
        what = Change(
            head["path"],
            head["same"],
            head["check"],
            rest[: head["old"]],
            rest[head["old"] : head["old"] + head["new"]],
        )
        whole = len(rest) == head["old"] + head["new"] and isinstance(what.path, str)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return what if whole else None


def _forget(fd: int, path: str) -> None:
    """Emptied first: should the name stay (a failing disk), there is nothing left in it that could be done again."""
    try:
        os.ftruncate(fd, 0)
    except OSError:
        pass
    try:
        os.unlink(path)
    except OSError:
        pass


def common_start(one: bytes, other: bytes) -> int:
    """How many bytes the two share at their start."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
