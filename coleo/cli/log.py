"""``coleo log``: the activity log, from its end. Loads neither typer nor rich; quick also on a gigabyte of log."""

from __future__ import annotations

import os
import time
from collections import deque

from coleo.cli import ages, out
from coleo.files import history
from coleo.files.layout import Layout, find
from coleo.model.errors import BadInput
from coleo.model.instant import parse, utc_date
from coleo.model.text import show as safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Entry = dict[str, Any]

DEFAULT = 20
#: Fields that have a place of their own in a line, and those that are shown first after it.
_PLACED = ("ts", "action", "seat", "from_state", "to_state")
_FIRST = ("task", "message", "title", "text", "reason", "evidence")
_BARE = ("task", "message", "title", "text")


def show(
    *,
    count: int | None = None,
    follow: bool = False,
    seat: str | None = None,
    task: str | None = None,
    action: str | None = None,
    since: str | None = None,
    json: bool = False,
) -> None:
    """Print the last entries that match, and with `follow` every one that comes. JSON is one object per line."""
    layout = find()
    at = out.now()
    if count is not None and count < 0:
        raise BadInput("not a number of entries", found=str(count), wanted="0 or more")
    wanted = matcher(seat=seat, task=task, action=action)
    start = _position(layout, at)
    shown: deque[Entry] = deque(maxlen=1000)
    for entry in _found(layout, count, ages.instant(since, at) if since is not None else None, wanted):
        _print(entry, json)
        if follow:
            shown.append(entry)
    if follow:
        for entry in following(layout, start, wanted):
            if entry in shown:
                shown.remove(entry)
            else:
                _print(entry, json)


def _found(
    layout: Layout, count: int | None, since_at: float | None, wanted: Callable[[Entry], bool]
) -> Iterator[Entry]:
    """The entries to begin with, oldest first. A count is taken from the end, so that a long log is not read whole."""
    if count is None and since_at is not None:
        yield from history.since(layout, since_at, match=wanted)
        return
    for entry in history.tail(layout, DEFAULT if count is None else count, match=wanted):
        stamp = parse(str(entry.get("ts", "")))
        if since_at is None or stamp is None or stamp >= since_at:
            yield entry


def matcher(*, seat: str | None, task: str | None, action: str | None) -> Callable[[Entry], bool]:
    """Whether an entry is about this seat, this task and this action (None: any)."""

    def wanted(entry: Entry) -> bool:
        if action is not None and entry.get("action") != action:
            return False
        if task is not None and entry.get("task") != task:
            return False
        return seat is None or seat in (entry.get("seat"), entry.get("sender"), entry.get("to"))

    return wanted


def row(entry: Entry) -> str:
    """An entry as one line: local time, seat, action, what changed, the rest by name."""
    at = parse(str(entry.get("ts", "")))
    when = out.when(at) if at is not None else str(entry.get("ts", "?"))
    parts = [f"{entry.get('seat', '-'):<10}", f"{entry.get('action', '?'):<18}"]
    if "from_state" in entry or "to_state" in entry:
        before = f"{entry['from_state']} " if entry.get("from_state") else ""
        parts.append(f"{before}→ {entry.get('to_state', '?')}")
    rest = [name for name in _FIRST if name in entry]
    rest += [name for name in entry if name not in _FIRST and name not in _PLACED]
    parts += [_field(name, entry[name]) for name in rest if entry[name] not in (None, "", [], {})]
    return f"{safe(when)}  " + out.title(" ".join(parts), 1000)


def _field(name: str, value: object) -> str:
    text = str(value)
    return text if name in _BARE else f"{name}={text!r}" if " " in text else f"{name}={text}"


def _print(entry: Entry, json: bool) -> None:
    if json:
        out.emit(entry, compact=True)
    else:
        out.raw(row(entry) + "\n")


def _position(layout: Layout, at: float) -> tuple[str, int]:
    path = _day_file(layout, at)
    try:
        return path, os.path.getsize(path)
    except OSError:
        return path, 0


def _day_file(layout: Layout, at: float) -> str:
    return os.path.join(layout.activity, utc_date(at) + ".jsonl")


def following(
    layout: Layout,
    start: tuple[str, int],
    wanted: Callable[[Entry], bool],
    *,
    clock: Callable[[], float] = out.now,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Entry]:
    """Entries written after `start` (day file, offset), for ever; goes over to the next day's file by itself."""
    path, offset = start
    rest = b""
    while True:
        today = _day_file(layout, clock())
        data = _read_from(path, offset)
        offset += len(data)
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        for line in lines:
            entry = _entry(line)
            if entry is not None and wanted(entry):
                yield entry
        if data:
            continue
        if today != path:
            path, offset, rest = today, 0, b""
            continue
        pause(0.2)


def _read_from(path: str, offset: int) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(1 << 20)
    except OSError:
        return b""


def _entry(line: bytes) -> Entry | None:
    import json

    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
