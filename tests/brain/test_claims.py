"""Arms follow claims; claims that nobody fulfils are released; attempts end in a block."""

from __future__ import annotations

from coleo.brain.effects import Assign, Block, Nudge, Release, Reopen, Tell
from coleo.brain.facts import Flight
from coleo.model.arm import Arm, ArmState
from tests.brain.build import NOW, READY, arm, claim, letter, of_kind, run, seat, task


def test_an_acknowledged_claim_makes_the_arm_work_and_its_end_makes_it_idle() -> None:
    working = run(seat(), work=(task(status="in_progress", claim=claim()),)).arms["rand"]
    assert (working.state, working.tasks) == (ArmState.WORKING, ("t-aaaaaa",))
    done = run(seat(working), work=(task(status="done"),)).arms["rand"]
    assert done.state is ArmState.IDLE
    assert "done" in done.reason


def test_an_assignment_that_is_not_acknowledged_is_released_after_three_minutes() -> None:
    given_ = arm(ArmState.TASK_ASSIGNED, tasks=("t-aaaaaa",))
    young = run(seat(given_), work=(task(status="claimed", claim=claim(179, acknowledged=False, by="brain")),))
    assert not of_kind(young, Release)
    old = run(seat(given_), work=(task(status="claimed", claim=claim(180, acknowledged=False, by="brain")),))
    assert [effect.attempt for effect in of_kind(old, Release)] == [True]


def test_an_assignment_that_was_never_typed_goes_back_without_counting_as_an_attempt() -> None:
    """A draft in the composer, or a long turn, for ten minutes must not block a task that nobody was told of."""
    work = (task(status="claimed", claim=claim(180, acknowledged=False, by="human")),)
    told = letter("t-aaaaaa-assignment-1", kind="assignment", task="t-aaaaaa")
    given_ = arm(ArmState.TASK_ASSIGNED, tasks=("t-aaaaaa",))
    for held in (
        seat(given_, READY.replace(screen="draft"), letters=(told,)),
        seat(given_, flights=(Flight("d-1", ("t-aaaaaa-assignment-1",), 1, reason="a draft"),)),
    ):
        released = of_kind(run(held, work=work), Release)
        assert [(effect.attempt, "could not be told" in effect.reason) for effect in released] == [(False, True)]
    typed = seat(given_, flights=(Flight("d-1", ("t-aaaaaa-assignment-1",), 1, state="submitted", typed=True),))
    assert [effect.attempt for effect in of_kind(run(typed, work=work), Release)] == [True]


def test_a_laptop_that_slept_gives_the_seat_its_three_minutes_again() -> None:
    work = (task(status="claimed", claim=claim(8 * 3600, acknowledged=False, by="brain")),)
    assert not of_kind(run(seat(arm(ArmState.TASK_ASSIGNED)), work=work, woke_at=NOW - 1), Release)


def test_an_acknowledged_claim_has_no_end_by_the_clock() -> None:
    assert not of_kind(run(seat(), work=(task(status="in_progress", claim=claim(10**7)),)), Release)


def test_claims_of_a_freed_arm_are_released_also_after_a_restart_of_the_brain() -> None:
    freed = Arm("rand", ArmState.STOPPED, freed_at=NOW - 5, freed="stopped by a person")
    decision = run(seat(freed, stopped=True), work=(task(status="in_progress", claim=claim(10)),))
    assert [effect.attempt for effect in of_kind(decision, Release)] == [False]
    later = run(seat(freed, stopped=True), work=(task(status="in_progress", claim=claim(1)),))
    assert not of_kind(later, Release), "a claim made after the stop belongs to somebody else"


def test_three_failed_attempts_block_the_task_with_the_reasons() -> None:
    decision = run(seat(), work=(task(status="failed", attempts=3, reasons=("a", "b", "c")),))
    assert of_kind(decision, Block) == [Block("t-aaaaaa", ("a", "b", "c"))]
    assert not of_kind(decision, Reopen)


def test_a_first_failure_gets_another_attempt() -> None:
    assert of_kind(run(seat(), work=(task(status="failed", attempts=1),)), Reopen)


def test_a_failure_written_by_a_person_is_left_alone() -> None:
    decision = run(seat(), work=(task(status="failed", attempts=0),))
    assert not of_kind(decision, Reopen)
    assert not of_kind(decision, Block)


def test_a_marked_task_is_assigned_to_its_seat_only_and_one_at_a_time() -> None:
    work = (task("t-a", seat="rand", order=1), task("t-b", seat="rand", rank=0, order=2), task("t-c", seat="bob"))
    assert of_kind(run(seat(), work=work), Assign) == [Assign("rand", "t-b")]
    assert not of_kind(run(seat(), work=(*work, task("t-d", status="claimed", claim=claim()))), Assign)


def test_new_work_goes_to_as_many_idle_arms_as_there_are_tasks() -> None:
    seats = [seat(Arm(name, ArmState.IDLE, since_at=NOW)) for name in ("a", "b", "c")]
    decision = run(*seats, work=(task("t-1"), task("t-2")))
    assert sorted(nudge.seat for nudge in of_kind(decision, Nudge)) == ["a", "b"]


def test_an_offer_that_is_a_second_old_is_not_made_to_another_arm() -> None:
    told = seat(Arm("a", ArmState.IDLE, since_at=NOW, prompted_at=NOW - 1, offered=("t-1",), nudges=1))
    fresh = seat(Arm("b", ArmState.IDLE, since_at=NOW))
    assert not of_kind(run(told, fresh, work=(task("t-1"),)), Nudge)
    much_later = seat(told.arm.replace(prompted_at=NOW - 31))
    assert [nudge.seat for nudge in of_kind(run(much_later, fresh, work=(task("t-1"),)), Nudge)] == ["b"]


def test_reminders_come_on_ticks_at_growing_distances_and_then_end() -> None:
    of = arm(prompted_at=NOW, offered=("t-aaaaaa",), nudges=1)
    times = []
    for second in range(0, 4000, 10):
        now = NOW + second
        decision = run(seat(of), work=(task(),), now=now, tick=True)
        if of_kind(decision, Nudge):
            times.append(second)
        of = decision.arms["rand"]
    assert times == [30, 150, 450, 1350]
    assert not of_kind(run(seat(arm(prompted_at=NOW - 60, offered=("t-aaaaaa",), nudges=1)), work=(task(),)), Nudge)


def test_nobody_is_prompted_in_grace_paused_busy_or_with_mail_on_the_way() -> None:
    work = (task(),)
    assert of_kind(run(seat(), work=work), Nudge)
    for closed in (
        seat(arm(detected_at=NOW - 299)),
        seat(paused=True),
        seat(seen=seat().seen.replace(screen="busy")),
        seat(seen=seat().seen.replace(screen="dialog")),
        seat(letters=(letter(),)),
        seat(arm(ArmState.STARTING), seen=seat().seen.replace(screen="starting")),
    ):
        assert not of_kind(run(closed, work=work), Nudge), closed


def test_a_seat_that_declined_is_not_asked_again() -> None:
    assert not of_kind(run(seat(), work=(task(declined=("rand",)),)), Nudge)


def test_waiting_for_file_changes_is_logged_once() -> None:
    first = run(seat())
    assert [note.action for note in first.effects if hasattr(note, "action")] == ["waiting_for_changes"]
    assert not run(seat(first.arms["rand"])).effects


def test_a_task_that_every_seat_declined_is_told_to_a_person() -> None:
    both = (seat(), seat(Arm("bob", ArmState.IDLE, since_at=NOW)))
    assert not of_kind(run(*both, work=(task(declined=("rand",)),)), Tell)
    assert of_kind(run(*both, work=(task(declined=("rand", "bob")),)), Tell)
    assert of_kind(run(*both, work=(task(seat="rand", declined=("rand",)),)), Tell)
