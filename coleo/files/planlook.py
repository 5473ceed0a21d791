"""One look at one file of the plan: its bytes, whether they can be believed, and whether they were still.

Cases c04, c12; DESIGN.md section 4: half a file is not believed at once, conflict markers keep the last good tasks,
new words count when the file was still and no editor holds unsaved changes of it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from hashlib import sha256

from coleo.files.editorlock import unsaved
from coleo.model.plan import FileState
from coleo.model.record import Record

DOUBT_S = 2.0
UNSAVED_S = 60.0
"""What an editor left on the disk for so long is taken even while it holds newer changes (case c08)."""
MAX_BYTES = 64 * 1024 * 1024

CONFLICT = "conflict markers: the last good tasks stay until they are resolved"
HALF = "empty, or shorter than half of what it was: not believed until it stays so for 2 seconds"
MISSING = "there is no such file"
UNREADABLE = "cannot be read: the last good tasks stay"
UNSAVED = "an editor has unsaved changes: new lines wait"

_OURS = re.compile(rb"(?:\A|[\r\n])<{7}[ \r\n]")
_MIDDLE = re.compile(rb"[\r\n]={7}(?=[\r\n])")
_THEIRS = re.compile(rb"[\r\n]>{7}(?:[ \r\n]|\Z)")


class Look(Record):
    """What was seen of one file. data: None when there is no such file, or it cannot be read (`problem` says why).

    believed: its lines may replace what is known. settled: new and changed words count. why: the warning that goes
    with it, and its text. again_at: when to look again even without an event.
    """

    state: FileState
    data: bytes | None
    believed: bool
    settled: bool
    why: str = ""
    text: str = ""
    again_at: float | None = None


def look(path: str, before: FileState | None, had_tasks: bool, now: float, settle_s: float) -> Look:
    """Look at the file at `path`. before: what the last look at it gave; had_tasks: it held some then."""
    old = before or FileState()
    try:
        data, info = read_regular(path)
    except FileNotFoundError:
        return _absent(before, had_tasks, now)
    except OSError as error:
        return Look(old, None, False, False, UNREADABLE, os.strerror(error.errno or 0))
    sha = sha256(data).hexdigest()
    same = before is not None and before.sha == sha
    since = min(now, old.since_at) if same else _since(before, info.st_mtime_ns / 1e9, now)
    state = old.replace(
        mtime_ns=info.st_mtime_ns, size=info.st_size, ino=info.st_ino, sha=sha, read_at=now, since_at=since,
        conflict=in_conflict(data),
    )  # fmt: skip
    if state.conflict:
        return Look(state, data, False, False, CONFLICT)
    if had_tasks and len(data) * 2 < old.good_size and now - since < DOUBT_S:
        return Look(state, data, False, False, HALF, again_at=since + DOUBT_S)
    state = state.replace(good_size=len(data))
    if before is not None and old.settled_sha == sha:
        return Look(state.replace(settled_at=now), data, True, True)
    if now - since < settle_s:
        return Look(state, data, True, False, again_at=since + settle_s)
    lock = unsaved(path) if now - since < UNSAVED_S else None
    if lock is not None:
        return Look(state, data, True, False, UNSAVED, lock, now + max(settle_s, 0.5))
    return Look(state.replace(settled_at=now, settled_sha=sha), data, True, True)


def in_conflict(data: bytes) -> bool:
    """Whether git's conflict markers stand in it, in their order, each on a line of its own."""
    ours = _OURS.search(data) if b"<<<<<<<" in data else None
    middle = _MIDDLE.search(data, ours.end() - 1) if ours else None
    return middle is not None and _THEIRS.search(data, middle.end()) is not None


def _absent(before: FileState | None, had_tasks: bool, now: float) -> Look:
    old = before or FileState()
    since = old.since_at if before is not None and not old.sha else now
    state = FileState(read_at=now, since_at=since, settled_at=old.settled_at, good_size=old.good_size)
    if had_tasks and old.good_size and now - since < DOUBT_S:
        return Look(state, None, False, False, HALF, again_at=since + DOUBT_S)
    return Look(state.replace(good_size=0, settled_at=now), None, True, True, MISSING)


def _since(before: FileState | None, changed_at: float, now: float) -> float:
    """Since when new content is there: the file's own time where it can be true, else now, as it is seen now."""
    if changed_at > now or (before is not None and changed_at < before.read_at):
        return now
    return changed_at


def read_regular(path: str) -> tuple[bytes, os.stat_result]:
    """All bytes of a regular file, and what it was when they were read. Raises OSError; never waits for a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(info.st_mode) else errno.EINVAL, "not a regular file", path)
        if info.st_size > MAX_BYTES:
            raise OSError(errno.EFBIG, "too large", path)
        parts = []
        while part := os.read(descriptor, 1 << 20):
            parts.append(part)
        return b"".join(parts), os.fstat(descriptor)
    finally:
        os.close(descriptor)
