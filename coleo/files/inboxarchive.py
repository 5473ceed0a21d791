"""``archive/inbox-<utc date>.md``: every byte that ``inbox.md`` ever held, in the order in which it was taken.

A record is a line that says how many bytes follow, those bytes as they were, and a line that ends it; a second line,
written when the inbox was cleared, says that the record is done. Records are found by their length, so nothing that
somebody writes into an inbox can pass for one; what a kill left half written stays, and the next record begins below.
"""

from __future__ import annotations

import hashlib
import os
import re

from coleo.files import atomic
from coleo.files.layout import Layout, make_private
from coleo.model.instant import iso, utc_date
from coleo.model.instant import parse as instant
from coleo.model.record import Record

_HEAD = re.compile(
    rb"<!-- taken (?P<at>\S+): (?P<size>\d+) bytes, sha256 (?P<sha>[0-9a-f]{64}), inode (?P<ino>\d+),"
    rb" batch (?P<id>b-[0-9a-f]{12}) -->\n"
)
_DONE = re.compile(rb"<!-- done (b-[0-9a-f]{12}) -->\n")
_NAME = re.compile(r"inbox-\d{4}-\d\d-\d\d\.md")


class Archived(Record):
    """One record. line: where its bytes begin in the archive file (1-based); done: the inbox was cleared of them."""

    id: str
    at: float
    ino: int
    sha: str
    data: bytes
    file: str
    line: int
    done: bool


def new_id(data: bytes, at: float, ino: int) -> str:
    """The id of a record: from what is taken, when, and from which file."""
    return "b-" + hashlib.sha256(f"{iso(at)} {ino} ".encode() + data).hexdigest()[:12]


def add(layout: Layout, data: bytes, at: float, ino: int) -> str:
    """Write a record and flush it; its id. Raises OSError, and then nothing may be taken."""
    known = new_id(data, at, ino)
    sha = hashlib.sha256(data).hexdigest()
    head = f"<!-- taken {iso(at)}: {len(data)} bytes, sha256 {sha}, inode {ino}, batch {known} -->\n"
    _append(layout, at, head.encode() + data + f"\n<!-- end {known} -->\n".encode())
    return known


def finish(layout: Layout, known: str, at: float) -> None:
    """Say that the inbox was cleared of a record. at: when it was taken (its file is of that day)."""
    _append(layout, at, f"<!-- done {known} -->\n".encode())


def _append(layout: Layout, at: float, data: bytes) -> None:
    """One write at the end, below a line end, flushed."""
    make_private(layout.archive)
    path = os.path.join(layout.archive, f"inbox-{utc_date(at)}.md")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if not size:
        atomic.sync_folder(layout.archive)


def files(layout: Layout) -> list[str]:
    """The archive files, oldest first, as paths."""
    try:
        names = sorted(name for name in os.listdir(layout.archive) if _NAME.fullmatch(name))
    except OSError:
        return []
    return [os.path.join(layout.archive, name) for name in names]


def records(path: str) -> list[Archived]:
    """The whole records of one archive file. Raises OSError."""
    data = atomic.read(path) or b""
    done = {found[1].decode() for found in _DONE.finditer(data)}
    found, pos = [], 0
    while head := _HEAD.search(data, pos):
        known, start = head["id"].decode(), head.end()
        body = data[start : start + int(head["size"])]
        if not data.startswith(f"\n<!-- end {known} -->\n".encode(), start + len(body)) or not _is(body, head["sha"]):
            pos = start
            continue
        line = data.count(b"\n", 0, start) + 1
        at = instant(head["at"].decode()) or 0.0
        found.append(
            Archived(known, at, int(head["ino"]), head["sha"].decode(), body, path, line, known in done)
        )  # fmt: skip
        pos = start + len(body)
    return found


def _is(data: bytes, sha: bytes) -> bool:
    return hashlib.sha256(data).hexdigest().encode() == sha


def unfinished(layout: Layout, data: bytes, ino: int) -> Archived | None:
    """The newest record, if it holds just these bytes of just this file and the inbox was not cleared of it."""
    for path in reversed(files(layout)):
        there = records(path)
        if there:
            last = there[-1]
            return last if not last.done and last.ino == ino and last.data == data else None
    return None
