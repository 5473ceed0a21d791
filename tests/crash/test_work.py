"""Crash points of tasks and mail: after every cut there is one claim, one result, one place for each message."""

from __future__ import annotations

import pytest

from tests.crash.running import CrashRun

TASKS = ["claim", "complete", "fail", "release", "note", "note_again"]
MAIL = ["send", "send_with_id", "take", "typed", "finish", "return", "bury"]
VERBS = ["create_task", "claim_task", "complete_task", "send_message", "check_inbox"]

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_held_by_one_and_done_once(crash: CrashRun, name: str) -> None:
    """Claim and file agree, no result, note, attempt or log line is lost or doubled, box and file say the same."""
    crash.survives(f"scenarios_work:{name}")


@pytest.mark.parametrize("name", MAIL)
def test_a_message_is_in_exactly_one_place(crash: CrashRun, name: str) -> None:
    """From sent to processed: whole, once, and where its facts say."""
    crash.survives(f"scenarios_work:{name}")


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_can_be_cut_anywhere(crash: CrashRun, name: str) -> None:
    """What agents call, as they call it, with no brain alive."""
    crash.survives(f"scenarios_verbs:{name}")
