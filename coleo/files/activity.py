"""The activity log, written: one line of JSON for each thing that happened (DESIGN.md sections 2.8 and 4).

Every process of the project appends to ``.coleo/activity/<utc date>.jsonl``: one write of one whole line under a
lock, after whatever a crash has left there (cases g01, g03). Secrets are masked, long strings are cut (g05, g10).
The log is a record and no state: when it cannot be written, the work goes on and the lines are counted.
"""

from __future__ import annotations

import json
import os

from coleo.files import envfile, locks, redact
from coleo.files.layout import Layout, make_private
from coleo.model.errors import ColeoError
from coleo.model.instant import iso, utc_date

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

#: Longest string in a field, and longest line, in bytes.
STRING_LIMIT = 16 * 1024
LINE_LIMIT = 64 * 1024
LOCK_WAIT_S = 5.0

#: A line that is too long even with strings of this size has too many of them.
_LEAST = 64

dropped = 0
"""Lines that this process could not write."""


def path_of(layout: Layout, now: float) -> str:
    """The file of the day."""
    return os.path.join(layout.activity, f"{utc_date(now)}.jsonl")


def append(layout: Layout, action: str, *, now: float, **fields: Any) -> bool:
    """Write one line ``{"ts", "action", ...fields}``; fields that are None are left out.

    False when the line could not be written (full disk, no right to, a value that is nested without end): it is
    counted in `dropped`, never raised.
    """
    global dropped
    try:
        data = line(action, now, fields, envfile.known_secrets(layout))
        _write(layout, data, path_of(layout, now))
    except (OSError, ColeoError, ValueError, RecursionError):
        dropped += 1
        return False
    return True


def line(action: str, now: float, fields: dict[str, Any], secrets: Iterable[str] = ()) -> bytes:
    """The bytes of one line, its line feed included: masked, and cut so that it is shorter than `LINE_LIMIT`."""
    known = tuple(secrets)
    limit = STRING_LIMIT
    while limit >= _LEAST:
        data = _encoded(action, now, {name: _tidy(name, value, limit, known) for name, value in fields.items()})
        if len(data) <= LINE_LIMIT:
            return data
        limit //= 4
    return _encoded("notice", now, {"text": f"a line {action[:100]!r} of {len(data)} bytes was left out"})


def _encoded(action: str, now: float, fields: dict[str, Any]) -> bytes:
    entry = {"ts": iso(now), "action": action}
    entry.update((name, value) for name, value in fields.items() if value is not None)
    return json.dumps(entry, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace") + b"\n"


def _tidy(name: str, value: Any, limit: int, secrets: tuple[str, ...]) -> Any:
    # Masked before it is cut, or half a secret might stay; but of twelve megabytes only what can be shown is looked at.
    room = limit + max((len(secret) for secret in secrets), default=0) + 4096
    masked = redact.redact_value({name: _shorten(value, room)}, secrets)
    return _cut(next(iter(masked.values())), limit, value)


def _shorten(value: Any, room: int) -> Any:
    if isinstance(value, str):
        return value[:room]
    if isinstance(value, dict):
        return {str(name): _shorten(item, room) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shorten(item, room) for item in value]
    return value


def _cut(value: Any, limit: int, whole: Any) -> Any:
    """`value` with strings of at most `limit` bytes; a marker tells the length of the whole."""
    if isinstance(value, str):
        data = value.encode("utf-8", "replace")
        if len(data) <= limit:
            return value
        full = len(whole.encode("utf-8", "replace")) if isinstance(whole, str) else len(data)
        marker = f"… [cut: {full} bytes]"
        return data[: max(limit - len(marker) - 2, 0)].decode("utf-8", "ignore") + marker
    if isinstance(value, dict):
        wholes = {str(name): item for name, item in whole.items()} if isinstance(whole, dict) else {}
        return {name: _cut(item, limit, wholes.get(name, item)) for name, item in value.items()}
    if isinstance(value, list):
        wholes_list = list(whole) if isinstance(whole, list | tuple) else value
        return [_cut(item, limit, there) for item, there in zip(value, wholes_list, strict=False)]
    return value


def _write(layout: Layout, data: bytes, path: str) -> None:
    with locks.hold(layout.lock("activity"), wait_s=LOCK_WAIT_S, note="activity"):
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            fd = os.open(path, flags, 0o600)
        except FileNotFoundError:
            make_private(layout.activity)
            fd = os.open(path, flags, 0o600)
        try:
            size = os.fstat(fd).st_size
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            _write_whole(fd, b"\n" + data if torn else data, size)
        finally:
            os.close(fd)


def _write_whole(fd: int, data: bytes, size: int) -> None:
    """One write; what a full disk cuts short is taken back, so that no torn line stays."""
    try:
        done = os.write(fd, data)
        while done < len(data):
            more = os.write(fd, data[done:])
            if not more:
                raise OSError("no more could be written")
            done += more
    except OSError:
        if os.fstat(fd).st_size > size:
            os.ftruncate(fd, size)
        raise
