"""The journal of changes that are longer than one byte: what to finish when a kill came half-way.

An entry holds the path, the bytes before and the bytes after. It is written before the change and removed after it.
`recover` finishes a change that is torn, drops one that is complete or was not begun, and keeps aside, with a sentence
for the log, one whose file somebody has changed since.
"""

from __future__ import annotations

import os
from binascii import a2b_base64, b2a_base64

from coleo.files import atomic, locks
from coleo.files.layout import make_private

LOCK = "recover.lock"


class Changed(Exception):
    """The file is not what was read (or another file is at its path now): read again and start over."""


def begin(folder: str, path: str, old: bytes, new: bytes) -> str:
    """Write an entry; its path. Raises OSError, and then nothing was changed."""
    make_private(folder)
    name = os.path.join(folder, f"{os.getpid()}-{os.urandom(6).hex()}.change")
    parts = (os.fsencode(os.path.realpath(path)), old, new)
    atomic.create(name, b"".join(b2a_base64(part, newline=True) for part in parts))
    return name


def end(entry: str) -> None:
    """The change is complete, or did not happen."""
    try:
        os.unlink(entry)
    except FileNotFoundError:
        return


def recover(folder: str) -> list[str]:
    """Finish what a kill interrupted; one sentence for each that is worth a line in the log.

    Entries of processes that are at it right now are not touched: whoever has an entry of its own is alive.
    """
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".change") and name[0] != ".")
    except OSError:
        return []
    if not names:
        return []
    notes = []
    with locks.hold(os.path.join(folder, LOCK), wait_s=30.0, note="recovering"):
        for name in names:
            if _writer_lives(name):
                continue
            note = _recover_one(os.path.join(folder, name))
            if note:
                notes.append(note)
    return notes


def _writer_lives(name: str) -> bool:
    """Whether the process that wrote the entry may still be busy with it (its pid is in the name)."""
    pid = name.partition("-")[0]
    if not pid.isdecimal() or int(pid) == os.getpid():
        return False
    return os.path.exists(f"/proc/{pid}") if os.path.isdir("/proc/self") else _answers(int(pid))


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _recover_one(entry: str) -> str:
    data = atomic.read(entry)
    if data is None:
        return ""
    try:
        path, old, new = (a2b_base64(line) for line in data.split(b"\n")[:3])
    except ValueError:
        os.rename(entry, f"{entry}.unreadable")
        return f"{entry}.unreadable is no journal entry"
    where = os.fsdecode(path)
    try:
        descriptor = os.open(where, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        os.rename(entry, f"{entry}.kept")
        return f"{where} was being changed when coleo was ended and cannot be opened now ({error}); see {entry}.kept"
    try:
        now = read_all(descriptor)
        if now in (old, new):
            end(entry)
            return ""
        if not is_torn(now, old, new):
            os.rename(entry, f"{entry}.kept")
            return f"{where} was being changed when coleo was ended, and somebody changed it since; see {entry}.kept"
        same = common_start(now, new)
        rest, done = memoryview(new)[same:], 0
        while done < len(rest):
            done += os.pwrite(descriptor, rest[done:], same + done)
        os.ftruncate(descriptor, len(new))
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)
    end(entry)
    return f"a change of {where} that was interrupted is complete now"


def is_torn(now: bytes, old: bytes, new: bytes) -> bool:
    """Whether `now` is what a kill in the middle of the change from `old` to `new` leaves behind."""
    written = common_start(now, new)
    if written < common_start(old, new) or now in (old, new):
        return False
    return now == new[:written] + old[written:]


def common_start(one: bytes, other: bytes) -> int:
    """How many bytes the two share at their start."""
    if one == other:
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def read_all(descriptor: int) -> bytes:
    """The whole content of an open file, from its start."""
    parts, at = [], 0
    while part := os.pread(descriptor, 1 << 20, at):
        parts.append(part)
        at += len(part)
    return b"".join(parts)
