"""Instants: the calendar of ours agrees with the standard library's, and what people write is read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coleo.model.instant import iso, parse, utc_date

SECONDS = st.integers(0, 4_102_444_800_000).map(lambda millis: millis / 1000)


@given(SECONDS)
def test_iso_and_back_is_the_same_millisecond(at: float) -> None:
    back = parse(iso(at))
    assert back is not None
    assert abs(back - at) < 0.0011


@given(SECONDS)
def test_the_calendar_agrees_with_datetime(at: float) -> None:
    whole = float(int(at))
    expected = datetime.fromtimestamp(whole, UTC)
    assert iso(whole) == expected.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    assert utc_date(whole) == expected.strftime("%Y-%m-%d")
    assert parse(expected.isoformat()) == whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-12-01T03:04:05Z", "2026-12-01T03:04:05.000Z"),
        ("2026-12-01 03:04:05", "2026-12-01T03:04:05.000Z"),
        ("2026-12-01T03:04:05.5+01:00", "2026-12-01T02:04:05.500Z"),
        ("2026-12-01T03:04:05-0530", "2026-12-01T08:34:05.000Z"),
    ],
)
def test_what_people_and_programs_write_is_read(text: str, expected: str) -> None:
    at = parse(text)
    assert at is not None
    assert iso(at) == expected


@pytest.mark.parametrize("text", ["", "now", "2026-13-01T00:00:00Z", "2026-12-01T25:00:00Z", "2026-12-01", "12"])
def test_what_is_no_instant_is_none(text: str) -> None:
    assert parse(text) is None
