"""Crash points of the inbox: no word lost, no task doubled, whatever happens between two calls and afterwards."""

from __future__ import annotations

import pytest

from tests.crash.running import CrashRun

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("name", ["inbox", "inbox_goes_on", "inbox_without_run"])
def test_each_word_is_taken_once(crash: CrashRun, name: str) -> None:
    """Restarted as it is; with a line that somebody added before the restart; with all of run/ deleted."""
    crash.survives(f"scenarios_inbox:{name}")


def test_the_first_cycles_of_a_brain_can_be_cut_anywhere(crash: CrashRun) -> None:
    """Recover, read, take the inbox, tick, make a claim again: killed at any call, the next brain does the rest."""
    crash.survives("scenarios_inbox:brain_start")
