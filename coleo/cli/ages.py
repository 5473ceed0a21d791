"""Spans and instants as people type them: ``90s``, ``15min``, ``2h``, ``7d``; ``10:30``; ``2026-12-01T09:00``."""

from __future__ import annotations

import re
import time

from coleo.model.errors import BadInput
from coleo.model.instant import parse

UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_SPAN = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([a-z]*)")


def seconds(text: str) -> float:
    """A span in seconds; a number alone is seconds. BadInput for anything else."""
    found = _SPAN.fullmatch(text.strip().lower())
    if not found or (found[2] and found[2] not in UNITS):
        raise BadInput("not a span of time", found=repr(text), wanted="a number and s, min, h, d or w: 90s, 2h, 7d")
    return float(found[1]) * UNITS[found[2] or "s"]


def instant(text: str, now: float) -> float:
    """An instant in seconds since the epoch: a span ago, a time of today, a date, or ISO. BadInput otherwise.

    Without an offset it is local time: that is what a person reads in the log.
    """
    word = text.strip()
    if _SPAN.fullmatch(word.lower()):
        return now - seconds(word)
    today = time.strftime("%Y-%m-%d", time.localtime(now))
    for shape, value in (
        ("%Y-%m-%d %H:%M:%S", word.replace("T", " ")),
        ("%Y-%m-%d %H:%M", word.replace("T", " ")),
        ("%Y-%m-%d", word),
        ("%Y-%m-%d %H:%M", f"{today} {word}"),
        ("%Y-%m-%d %H:%M:%S", f"{today} {word}"),
    ):
        try:
            return time.mktime(time.strptime(value, shape))
        except (ValueError, OverflowError):
            continue
    at = parse(word)
    if at is None:
        raise BadInput("not a time", found=repr(text), wanted="2h (ago), 10:30, 2026-12-01, or 2026-12-01T10:30:00Z")
    return at
