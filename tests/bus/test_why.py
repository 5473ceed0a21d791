"""The explanations of `coleo why`: pure, so each rule is shown with the story that calls for it."""

from __future__ import annotations

import pytest

from coleo.bus.story import Held, Limits, SeatStory, TaskStory, Waiting
from coleo.bus.why import NO_BRAIN, Why, explain_seat, explain_task
from coleo.model.arm import Arm, ArmState, ProcessId

NOW = 1_800_000_000.0
PROCESS = ProcessId(4711, 99, "boot")


def seat(arm: Arm | None = None, **more: object) -> Why:
    return explain_seat(SeatStory(**{"seat": "ada", "now": NOW, "brain": 1, "arm": arm, **more}))  # type: ignore[arg-type]


def task(**more: object) -> Why:
    return explain_task(TaskStory(**{"task": "t-aaaaaa", "title": "Do it", "now": NOW, "brain": 1, **more}))  # type: ignore[arg-type]


def arm(state: ArmState, since_s: float = 10.0, **more: object) -> Arm:
    return Arm(**{"seat": "ada", "state": state, "since_at": NOW - since_s, **more})  # type: ignore[arg-type]


def said(why: Why) -> str:
    return "\n".join([*why.because, *why.evidence, *(f"{step.text} {step.rule}" for step in why.next)])


def test_without_a_brain_every_answer_says_that_nothing_happens_until_up() -> None:
    """Otherwise a person waits for a deadline that nobody keeps."""
    assert seat(None, brain=None).next[0] == NO_BRAIN
    assert task(brain=None).next[0] == NO_BRAIN


def test_a_seat_that_never_had_an_arm_says_so() -> None:
    why = seat(None)
    assert why.state == "stopped"
    assert "no arm was started" in said(why)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"enabled": False}, "enabled: false"),
        ({"stopped": True}, "coleo seat start ada"),
        ({"problem": "seat.md:3: no such harness"}, "no such harness"),
    ],
)
def test_a_seat_that_nobody_wants_up_names_who_said_so_and_what_mends_it(wish: dict[str, object], words: str) -> None:
    why = seat(arm(ArmState.STOPPED), **wish)
    assert words in said(why)
    assert "nothing until a person acts" in why.next[0].text


def test_start_up_names_its_deadline() -> None:
    why = seat(arm(ArmState.STARTING, since_s=20, host=PROCESS, child=PROCESS, generation=3))
    assert why.since_at == NOW - 20
    assert why.next[0].at == NOW + 40
    assert "4711" in said(why)
    assert "generation 3" in said(why)


def test_an_unacknowledged_assignment_names_the_three_minutes() -> None:
    held = Held("t-aaaaaa", "Do it", "ada", claimed_at=NOW - 60, by="brain")
    why = seat(arm(ArmState.TASK_ASSIGNED), held=(held,))
    assert [step.at for step in why.next] == [NOW + 120]
    assert "3 min" in why.next[0].rule
    assert "not acknowledged" in said(why)


def test_a_working_arm_has_no_deadline() -> None:
    held = Held("t-aaaaaa", "Do it", "ada", claimed_at=NOW - 6000, acknowledged_at=NOW - 5990)
    why = seat(arm(ArmState.WORKING), held=(held,))
    assert all(step.at is None for step in why.next)
    assert "no end by the clock" in said(why)


def test_a_lost_host_gets_five_minutes_or_ten_when_it_was_working() -> None:
    idle = seat(arm(ArmState.DISCONNECTED, before=ArmState.IDLE))
    working = seat(arm(ArmState.DISCONNECTED, before=ArmState.WORKING))
    assert idle.next[0].at == NOW - 10 + 300
    assert working.next[0].at == NOW - 10 + 600
    assert "it was working" in said(working)


def test_a_parked_seat_says_what_parked_it_and_how_to_go_on() -> None:
    why = seat(arm(ArmState.FAILED, parked="6 deaths within 60 s of their start", deaths=6))
    assert why.because[0] == "parked: 6 deaths within 60 s of their start"
    assert "coleo resume ada" in why.next[0].text


def test_back_off_names_the_instant_of_the_next_start() -> None:
    why = seat(arm(ArmState.STOPPED, retry_at=NOW + 4, deaths=3))
    assert why.next[0].at == NOW + 4
    assert "sixth" in why.next[0].rule


def test_a_seat_above_max_arms_waits_for_a_place() -> None:
    why = seat(arm(ArmState.STOPPED, waiting="max_arms (2) are up"), limits=Limits(max_arms=2))
    assert why.next[0].rule == "max_arms = 2"


def test_pause_and_grace_say_who_may_still_reach_the_arm() -> None:
    paused = seat(arm(ArmState.IDLE), paused=True)
    assert "coleo resume" in said(paused)
    grace = seat(arm(ArmState.IDLE, detected_at=NOW - 100))
    assert grace.next[-1].at == NOW + 200
    assert "arm_grace_period_minutes = 5" in grace.next[-1].rule


def test_mail_that_waits_is_evidence_with_its_reason() -> None:
    letters = tuple(Waiting(f"m-{n}", "bob", "normal", "inbox") for n in range(7))
    why = seat(arm(ArmState.IDLE, waiting="mail waits: its screen is dialog: trust this folder?"), waiting=letters)
    assert "trust this folder?" in said(why)
    assert "and 2 more messages" in said(why)


def test_a_reminder_is_told_with_its_instant_once() -> None:
    why = seat(arm(ArmState.IDLE, next="reminded of its tasks", next_at=NOW + 20), free_tasks=1)
    assert [(step.text, step.at) for step in why.next] == [("reminded of its tasks", NOW + 20)]


def test_an_arm_that_is_being_stopped_says_for_what() -> None:
    why = seat(arm(ArmState.WORKING, stopping="restart asked for"))
    assert "restart asked for" in said(why)
    assert "KILL" in said(why)


def test_an_open_task_says_what_it_waits_for() -> None:
    assert "it waits for t-bbbbbb" in said(task(unmet=("t-bbbbbb",)))
    assert "assigned to bob" in said(task(wanted_by="bob"))
    assert "ada, bob" in said(task(idle_seats=("ada", "bob")))
    assert "a seat claims it" in said(task())


def test_a_held_task_names_its_holder_since_when_and_what_ends_it() -> None:
    fresh = Held("t-aaaaaa", "Do it", "ada", claimed_at=NOW - 30, by="brain")
    why = task(status="claimed", held=fresh)
    assert why.since_at == NOW - 30
    assert why.next[0].at == NOW + 150
    taken = fresh.replace(acknowledged_at=NOW - 20)
    why = task(status="in_progress", held=taken, holder=arm(ArmState.STOPPED))
    assert why.since_at == NOW - 20
    assert "the claim stays" in said(why)


def test_failed_and_blocked_tasks_give_the_reasons_of_all_attempts() -> None:
    failed = task(status="failed", attempts=1, reasons=("exit code 3",))
    assert "attempt 1: exit code 3" in failed.evidence
    assert failed.next[0].text == "it is open again"
    blocked = task(status="blocked", attempts=3, reasons=("a", "b", "c"))
    assert blocked.because[0] == "3 attempts failed"
    assert "coleo task reopen t-aaaaaa" in said(blocked)
    last = task(status="failed", attempts=3, reasons=("a", "b", "c"))
    assert "blocked and a person is told" in said(last)


def test_done_says_whether_the_box_is_ticked() -> None:
    assert task(status="done", ticked=True, where="plan.md:3").next == ()
    assert "not ticked" in said(task(status="done"))


def test_a_vanished_line_is_withdrawn_only_after_a_second_look() -> None:
    assert "two reads" in said(task(missing_since_at=NOW - 1))
    assert "comes back" in said(task(status="withdrawn"))
