"""The activity log: ``.coleo/activity/<utc date>.jsonl``, one whole line per act, never rewritten.

A line is one ``os.write`` on an ``O_APPEND`` descriptor under a lock; a torn tail that a crash left gets its line feed
first (cases g01, g03). Strings are cut at 16 KiB (case g05), secrets are masked (case g10). A full disk is never the
caller's trouble: the line is dropped and counted.
"""

from __future__ import annotations

import json
import os

from coleo.files import locks
from coleo.files.layout import Layout, make_private
from coleo.files.redact import redact_value
from coleo.model.instant import iso, utc_date

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STRING_LIMIT = 16 * 1024
LINE_LIMIT = 64 * 1024
LOCK_WAIT_S = 5.0

dropped = 0
"""Lines that this process could not write."""


def path_of(layout: Layout, now: float) -> str:
    """The file of the day."""
    return os.path.join(layout.activity, f"{utc_date(now)}.jsonl")


def append(layout: Layout, action: str, *, now: float, **fields: object) -> bool:
    """Write one line ``{"ts", "action", ...fields}``; fields that are None are left out. False when it was dropped."""
    global dropped
    said = {name: value for name, value in fields.items() if value is not None}
    entry: dict[str, Any] = {"ts": iso(now), "action": action, **_cut(redact_value(said))}
    line = _line(entry)
    try:
        make_private(layout.activity)
        with locks.hold(layout.lock("activity"), wait_s=LOCK_WAIT_S, note="activity"):
            _append(path_of(layout, now), line)
    except Exception:  # the log must never stop what it tells of
        dropped += 1
        return False
    return True


def _line(entry: dict[str, Any]) -> bytes:
    data = json.dumps(entry, ensure_ascii=False, separators=(", ", ": ")).encode("utf-8", "backslashreplace") + b"\n"
    if len(data) <= LINE_LIMIT:
        return data
    short = {name: value for name, value in entry.items() if len(json.dumps(value)) <= 1024}
    short["cut"] = f"the line had {len(data)} bytes"
    return json.dumps(short, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _append(path: str, line: bytes) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        status = os.fstat(descriptor)
        if status.st_size == 0:
            os.fchmod(descriptor, 0o600)
        elif os.pread(descriptor, 1, status.st_size - 1) != b"\n":
            line = b"\n" + line
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) <= STRING_LIMIT:
            return value
        return f"{value[:STRING_LIMIT]}… [{len(value)} characters]"
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cut(inner) for inner in value]
    return value
