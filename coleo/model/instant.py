"""Instants: seconds since the epoch (float, UTC) in memory, ISO 8601 with milliseconds and ``Z`` in files.

Local time exists only where a person reads it. `parse` accepts what people and other programs write
(offsets, no fraction); it does not use ``datetime``, whose import agents' verbs cannot afford.
"""

from __future__ import annotations

import re
from time import gmtime

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\s*(Z|z|[+-]\d\d:?\d\d)?")


def iso(at: float) -> str:
    """`at` in seconds since the epoch, as ``2026-12-01T03:04:05.678Z`` (milliseconds, rounded down)."""
    millis = int(at * 1000)
    seconds, rest = divmod(millis, 1000)
    t = gmtime(seconds)
    return f"{t[0]:04d}-{t[1]:02d}-{t[2]:02d}T{t[3]:02d}:{t[4]:02d}:{t[5]:02d}.{rest:03d}Z"


def utc_date(at: float) -> str:
    """``2026-12-01``: names of activity and archive files."""
    t = gmtime(at)
    return f"{t[0]:04d}-{t[1]:02d}-{t[2]:02d}"


def parse(text: str) -> float | None:
    """Seconds since the epoch, or None for what is no instant. No offset means UTC."""
    found = _ISO.fullmatch(text.strip())
    if not found:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        return None
    at = float(_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second)
    if found[7]:
        at += int(found[7]) / 10 ** len(found[7])
    zone = found[8]
    if zone and zone not in "Zz":
        sign = -1 if zone[0] == "+" else 1
        at += sign * (int(zone[1:3]) * 3600 + int(zone[-2:]) * 60)
    return at


def _days(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date of the Gregorian calendar (``calendar.timegm`` would import ``datetime``)."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
