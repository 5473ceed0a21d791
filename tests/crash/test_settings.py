"""Crash points of settings: old or new, and never half a file."""

from __future__ import annotations

import pytest

from tests.crash.running import CrashRun


@pytest.mark.parametrize("name", ["config_set", "config_made", "seat_key"])
def test_old_or_new(crash: CrashRun, name: str) -> None:
    """Comments, order and every other key stay; the file can be read at all times."""
    crash.survives(f"scenarios_settings:{name}")
