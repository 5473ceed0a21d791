"""What coleo itself wrote into people's plans: from which content to which, by hash (``run/cache/writes``).

A plan is committed for a person only when every difference from the last commit is coleo's own (``gitwork.py``):
when the committed content leads to the content now by steps that all stand here. Contents are compared, not times, so
nothing that a person changed can hide among them. Without the file (``run/`` was deleted) nothing is known to be
ours, and the plan is left to the person.
"""

from __future__ import annotations

import hashlib
import os

from coleo.files import atomic
from coleo.files.layout import Layout, make_private

NAME = "writes"
LARGEST = 1 << 20

_last: tuple[str, bytes] = ("", b"")


def note(layout: Layout, before: bytes, after: bytes) -> None:
    """Say that `before` is about to become `after` by coleo's hand. Never raises: then the step is merely not known.

    Called before the write, so that a kill in between loses no step; one that was not taken harms nobody.
    """
    global _last
    step = _hash(before) + b" " + _hash(after) + b"\n"
    path = os.path.join(layout.cache, NAME)
    if (path, step) == _last:
        return
    try:
        make_private(layout.cache)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, step)
            full = os.fstat(descriptor).st_size > LARGEST
        finally:
            os.close(descriptor)
        if full:
            os.replace(path, f"{path}.old")
    except OSError:
        return
    _last = (path, step)


def only_ours(layout: Layout, before: bytes, after: bytes) -> bool:
    """Whether coleo's own writes lead from the content `before` to the content `after`."""
    steps: dict[bytes, set[bytes]] = {}
    for name in (f"{NAME}.old", NAME):
        try:
            data = atomic.read(os.path.join(layout.cache, name)) or b""
        except OSError:
            continue
        for row in data.splitlines():
            start, _, end = row.partition(b" ")
            steps.setdefault(start, set()).add(end)
    wanted = _hash(after)
    seen = {_hash(before)}
    ahead = list(seen)
    while ahead:
        here = ahead.pop()
        if here == wanted:
            return True
        new = steps.get(here, set()) - seen
        seen |= new
        ahead += new
    return False


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest()[:32].encode()
