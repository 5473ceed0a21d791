"""Crash points of the files room: at every call the file is the old one or the new one, and nothing else."""

from __future__ import annotations

import pytest

from tests.crash.running import CrashRun

MODES = ["before", "fail", "again"]
WITH_WRITES = ["half", "short", "full"]
NO_WRITES = {"clear", "tick"}  # a truncation, a single byte


@pytest.mark.parametrize("mode", MODES + WITH_WRITES)
@pytest.mark.parametrize("name", ["write", "create", "replace", "append", "clear", "tick"])
def test_old_or_new_at_every_call(crash: CrashRun, name: str, mode: str) -> None:
    """Killed before it, in the middle of a write, a failing disk, a full one, killed again while recovering."""
    if name in NO_WRITES and mode in WITH_WRITES:
        assert crash(f"scenarios_files:{name}", mode)["faults"] == []
    else:
        crash.survives(f"scenarios_files:{name}", mode)
