"""What was dropped into the inbox, made no task, and was not looked at yet: ``run/cache/inbox-unread.json``.

Everything stands in the archive; when the list is lost (``run/`` was deleted) it is made again from there, and then
holds also what somebody has seen before.
"""

from __future__ import annotations

import os

from coleo.files import atomic
from coleo.files.layout import Layout, make_private
from coleo.model.instant import iso
from coleo.model.record import Record

NAME = "inbox-unread.json"


class Unread(Record):
    """One line. at: when it was taken; line: in the inbox, as it was then; batch: the record in the archive."""

    at: str
    line: int
    text: str
    batch: str


def unread(layout: Layout) -> tuple[Unread, ...]:
    """The lines, oldest first."""
    try:
        data = atomic.read_json(_path(layout))
        if data is not None:
            return tuple(Unread(**{name: row[name] for name in Unread.__match_args__}) for row in data)
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return _from_archive(layout)


def add(layout: Layout, batch: str, at: float, lines: list[tuple[int, str]]) -> None:
    """Put lines of a batch on the list, once. Raises OSError."""
    there = [row for row in unread(layout) if row.batch != batch]
    if lines or not os.path.exists(_path(layout)):
        _write(layout, [*there, *(Unread(iso(at), line, text, batch) for line, text in lines)])


def mark_seen(layout: Layout) -> None:
    """Somebody has looked. Raises OSError."""
    _write(layout, [])


def _path(layout: Layout) -> str:
    return os.path.join(layout.cache, NAME)


def _write(layout: Layout, rows: list[Unread]) -> None:
    make_private(layout.cache)
    atomic.write_json(_path(layout), [row.as_dict() for row in rows])


def _from_archive(layout: Layout) -> tuple[Unread, ...]:
    if not os.path.isdir(layout.archive):
        return ()
    from coleo.files import inboxarchive
    from coleo.files.inboxparse import parse

    found = []
    for path in inboxarchive.files(layout):
        try:
            there = inboxarchive.records(path)
        except OSError:
            continue
        for record in there:
            found += [Unread(iso(record.at), line, text, record.id) for line, text in parse(record.data).unclaimed]
    return tuple(found)
