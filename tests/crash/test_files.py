"""Crash points of the files room: at every call the file is the old one or the new one, and nothing else."""

from __future__ import annotations

import pytest

from tests.crash.running import CrashRun


@pytest.mark.parametrize("name", ["write", "create", "replace", "append"])
def test_old_or_new_at_every_call(crash: CrashRun, name: str) -> None:
    """Killed before it, in the middle of a write, a failing disk, a full one, killed again while recovering."""
    crash.survives(f"scenarios_files:{name}")


@pytest.mark.parametrize("name", ["clear", "tick"])
def test_one_call_changes_all(crash: CrashRun, name: str) -> None:
    """A truncation and a single byte are never half done."""
    crash.survives(f"scenarios_files:{name}", no_writes=True)
