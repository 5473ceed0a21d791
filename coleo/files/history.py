"""The activity log, read: its end, or everything since an instant, in bounded memory (cases g05, g13).

Reading never raises for what is in a file. Lines that are torn, no JSON, no object or absurdly long are skipped and
counted; everything around them is read.
"""

from __future__ import annotations

import json
import os
import re
from collections import deque

from coleo.files import atomic
from coleo.files.layout import Layout
from coleo.model.instant import parse, utc_date

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Entry = dict[str, Any]
    Match = Callable[[Entry], bool]

#: Lines longer than this are nobody's: `activity` writes at most 64 KiB.
LONGEST_LINE = 1 << 20

_BLOCK = 1 << 16
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)\.jsonl")
#: Writers take the time before they wait for the lock, so that lines may be out of order by as much.
_DISORDER_S = 60.0


class Skipped:
    """How much was passed over: `lines` that are no entries, and `blank` ones."""

    def __init__(self) -> None:
        self.lines = 0
        self.blank = 0


def tail(
    layout: Layout,
    count: int,
    *,
    match: Match | None = None,
    within: int | None = None,
    skipped: Skipped | None = None,
) -> list[Entry]:
    """The last `count` entries (that match), oldest first, over all day files.

    within: look at no more than so many bytes; for searches that may well find nothing in a log of a gigabyte.
    """
    passed = skipped or Skipped()
    found: list[Entry] = []
    left = within
    for path in reversed(days(layout)):
        for line, size in _backwards(path):
            if len(found) >= count or (left is not None and left <= 0):
                return found[::-1]
            left = left if left is None else left - size
            entry = _entry(line, passed)
            if entry is not None and (match is None or match(entry)):
                found.append(entry)
    return found[::-1]


def since(layout: Layout, at: float, *, match: Match | None = None, skipped: Skipped | None = None) -> Iterator[Entry]:
    """Entries of `at` (seconds since the epoch) and later (that match), in the order of the file."""
    passed = skipped or Skipped()
    first = f"{utc_date(at)}.jsonl"
    for path in days(layout):
        name = os.path.basename(path)
        if name < first:
            continue
        for line in _forwards(path, _place_of(path, at - _DISORDER_S) if name == first else 0):
            entry = _entry(line, passed)
            if entry is None or (match is not None and not match(entry)):
                continue
            stamp = _at(entry)
            if stamp is None or stamp >= at:
                yield entry


def read(path: str, skipped: Skipped | None = None) -> Iterator[Entry]:
    """All entries of one file, in its order."""
    passed = skipped or Skipped()
    for line in _forwards(path, 0):
        entry = _entry(line, passed)
        if entry is not None:
            yield entry


def days(layout: Layout) -> list[str]:
    """The paths of the day files, oldest first."""
    try:
        names = os.listdir(layout.activity)
    except OSError:
        return []
    return [os.path.join(layout.activity, name) for name in sorted(names) if _DAY.fullmatch(name)]


def prune(layout: Layout, keep_days: int, now: float) -> list[str]:
    """Remove the day files that are older than `keep_days` days; their names. 0 keeps all."""
    removed: list[str] = []
    if keep_days <= 0:
        return removed
    oldest = f"{utc_date(now - keep_days * 86400)}.jsonl"
    for path in days(layout):
        name = os.path.basename(path)
        if name >= oldest:
            break
        try:
            os.unlink(path)
        except OSError:
            continue
        removed.append(name)
    return removed


def _entry(line: bytes | None, skipped: Skipped) -> Entry | None:
    if line is not None and not line.strip():
        skipped.blank += 1
        return None
    try:
        found = None if line is None else json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    skipped.lines += 1
    return None


def _at(entry: Entry) -> float | None:
    stamp = entry.get("ts")
    return parse(stamp) if isinstance(stamp, str) else None


def _backwards(path: str) -> Iterator[tuple[bytes | None, int]]:
    """(line, its bytes) from the last to the first, without line ends; None for a line that is too long.

    A block at a time: what is held never exceeds the longest line and a block.
    """
    fd = _open(path)
    if fd is None:
        return
    try:
        at = os.fstat(fd).st_size
        parts: deque[bytes] = deque()
        size = 0
        last = True
        while at > 0:
            begin = max(at - _BLOCK, 0)
            block = os.pread(fd, at - begin, begin)
            at = begin
            *before, rest = block.split(b"\n")
            # `block` ends where the line that is collected begins; read from its end, each LF completes one line.
            for piece in [rest, *reversed(before)][: len(before)]:
                yield from _whole(parts, size, piece, last)
                parts, size, last = deque(), 0, False
            first = before[0] if before else rest
            size += len(first)
            if size <= LONGEST_LINE:
                parts.appendleft(first)
            else:
                parts.clear()
        yield from _whole(parts, size, b"", last)
    finally:
        os.close(fd)


def _whole(parts: deque[bytes], size: int, piece: bytes, last: bool) -> Iterator[tuple[bytes | None, int]]:
    """The line that consists of `piece` and the `parts` after it; nothing after the last line feed is no line."""
    size += len(piece)
    if last and not size:
        return
    yield (None if size > LONGEST_LINE else piece + b"".join(parts)), size + 1


def _forwards(path: str, offset: int) -> Iterator[bytes | None]:
    """Lines from `offset` on, without line ends; None for a line that is too long."""
    fd = _open(path)
    if fd is None:
        return
    with open(fd, "rb", buffering=1 << 18) as file:
        file.seek(offset)
        while line := file.readline(LONGEST_LINE + 1):
            if len(line) <= LONGEST_LINE or line.endswith(b"\n"):
                yield line.removesuffix(b"\n")
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)
            yield None


def _open(path: str) -> int | None:
    try:
        return atomic.open_regular(path)
    except OSError:
        return None


def _place_of(path: str, at: float) -> int:
    """The offset of a line before which everything is older than `at`, found by halving; 0 in doubt."""
    try:
        low, high = 0, os.path.getsize(path)
        with open(path, "rb") as file:
            while high - low > LONGEST_LINE:
                middle = (low + high) // 2
                file.seek(middle)
                file.readline(LONGEST_LINE)
                begin = file.tell()
                stamp = _stamp_of(file.readline(LONGEST_LINE))
                if begin >= high or stamp is None:
                    return low
                low, high = (begin, high) if stamp < at else (low, middle)
        return low
    except OSError:
        return 0


def _stamp_of(line: bytes) -> float | None:
    entry = _entry(line, Skipped())
    return None if entry is None else _at(entry)
