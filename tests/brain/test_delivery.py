"""Which letters are typed, and what counts as delivered."""

from __future__ import annotations

from typing import Any

from coleo.brain.effects import Bury, Deliver, Finish, GiveBack, Tell, Withdraw
from coleo.brain.facts import Flight
from coleo.model.arm import ArmState
from tests.brain.build import NOW, READY, arm, claim, letter, of_kind, run, seat, task


def flight(**more: Any) -> Flight:
    """A block with one message, typed for generation 1."""
    return Flight(**{"id": "d-1", "messages": ("m-1",), "generation": 1, "since_at": NOW - 60, **more})


def test_letters_go_in_one_block_in_order() -> None:
    decision = run(seat(letters=(letter("m-1", size=100), letter("m-2", size=100))))
    assert of_kind(decision, Deliver) == [Deliver("rand", ("m-1", "m-2"))]


def test_a_block_is_cut_at_the_paste_limit() -> None:
    decision = run(seat(letters=(letter("m-1", size=8000), letter("m-2", size=500))))
    assert of_kind(decision, Deliver) == [Deliver("rand", ("m-1",))]


def test_one_block_at_a_time() -> None:
    assert not of_kind(run(seat(letters=(letter("m-2"),), flights=(flight(),))), Deliver)


def test_what_holds_a_block_before_the_terminal_is_said() -> None:
    """A draft that a person left there stops all mail of the seat: `coleo status` and `coleo why` name it."""
    waits = flight(reason="the composer holds text: row 50: > hello there")
    assert run(seat(flights=(waits,))).arms["rand"].waiting == f"mail waits: {waits.reason}"
    counting = [run(seat(flights=(flight(reason=f"a person typed {s} s ago"),))).arms["rand"] for s in (3, 4)]
    assert counting[0].waiting == counting[1].waiting == "mail waits: a person is typing"
    gone_out = run(seat(arm(waiting="mail waits: x"), flights=(flight(state="submitted", typed=True),)))
    assert gone_out.arms["rand"].waiting == ""


def test_nothing_is_typed_into_a_dialog_a_draft_or_an_unknown_screen() -> None:
    for screen in ("dialog", "draft", "unknown", "lost", "starting"):
        decision = run(seat(seen=READY.replace(screen=screen, evidence="row 3"), letters=(letter(priority=0),)))
        assert not of_kind(decision, Deliver), screen
        assert screen in decision.arms["rand"].waiting


def test_a_busy_arm_is_typed_into_only_where_its_harness_allows_and_never_nudged() -> None:
    busy = READY.replace(screen="busy")
    assert not of_kind(run(seat(seen=busy, letters=(letter(),))), Deliver)
    assert of_kind(run(seat(seen=busy, letters=(letter(),), deliver_busy=True)), Deliver)
    assert not of_kind(run(seat(seen=busy, letters=(letter(kind="nudge"),), deliver_busy=True)), Deliver)


def test_in_grace_only_a_person_or_an_urgent_sender_gets_through() -> None:
    found = arm(detected_at=NOW - 10)
    letters = (letter("m-1"), letter("m-2", sender="human"), letter("m-3", priority=0))
    assert of_kind(run(seat(found, letters=letters)), Deliver) == [Deliver("rand", ("m-2", "m-3"))]


def test_a_turn_receipt_and_nothing_less_makes_a_message_processed() -> None:
    assert of_kind(run(seat(flights=(flight(receipts=(("m-1", "turn"),)),))), Finish)
    assert not of_kind(
        run(seat(flights=(flight(state="submitted", receipts=(("m-1", "typed"),), typed=True),))), Finish
    )
    weak = run(seat(flights=(flight(state="submitted", typed=True),), weak_receipts=True))
    assert of_kind(weak, Finish) == [Finish("rand", "m-1", "weak")]


def test_f14_a_message_waits_as_long_as_its_agent_is_busy() -> None:
    long_ago = flight(state="submitted", typed=True, since_at=NOW - 20 * 60)
    decision = run(seat(seen=READY.replace(screen="busy"), flights=(long_ago,)))
    assert not of_kind(decision, GiveBack)


def test_an_idle_agent_whose_files_do_not_name_it_has_lost_it() -> None:
    lost = flight(state="submitted", typed=True)
    assert of_kind(run(seat(seen=READY.replace(screen_since_at=NOW - 11), flights=(lost,))), GiveBack)
    assert not of_kind(run(seat(seen=READY.replace(screen_since_at=NOW - 9), flights=(lost,))), GiveBack)


def test_a01_a_dead_generation_gives_its_letters_back() -> None:
    for state in ("waiting", "pasted", "entered", "submitted", "unknown"):
        back = run(seat(arm(generation=2), flights=(flight(state=state, typed=True),)))
        assert [effect.message for effect in of_kind(back, GiveBack)] == ["m-1"], state


def test_a_receipt_outlives_the_arm_that_gave_it() -> None:
    decision = run(seat(arm(ArmState.STOPPED, retry_at=NOW + 9), flights=(flight(receipts=(("m-1", "turn"),)),)))
    assert of_kind(decision, Finish)
    assert not of_kind(decision, GiveBack)


def test_a15_an_unsent_prompt_is_reported_and_not_typed_again() -> None:
    decision = run(seat(flights=(flight(state="unsent", typed=True, reason="three Enters"),)))
    assert of_kind(decision, Tell)
    assert not of_kind(decision, GiveBack)


def test_a_host_that_never_heard_of_it_proves_that_it_was_not_typed() -> None:
    assert of_kind(run(seat(flights=(flight(state="unknown"),))), GiveBack)
    assert not of_kind(run(seat(flights=(flight(state="unknown", typed=True),))), GiveBack)


def test_pause_takes_back_what_still_waits_at_the_gate() -> None:
    assert of_kind(run(seat(paused=True, flights=(flight(state="waiting"),))), Withdraw)
    assert not of_kind(run(seat(paused=True, flights=(flight(state="pasted", typed=True),))), Withdraw)


def test_expired_letters_leave_quietly_and_hopeless_ones_are_told() -> None:
    decision = run(seat(letters=(letter("m-1", expires_at=NOW), letter("m-2", attempts=5), letter("m-3"))))
    assert [(bury.message, bury.tell) for bury in of_kind(decision, Bury)] == [("m-1", False), ("m-2", True)]
    assert of_kind(decision, Deliver) == [Deliver("rand", ("m-3",))]


def test_an_assignment_that_was_taken_back_is_not_typed_any_more() -> None:
    told = letter(kind="assignment", task="t-aaaaaa")
    held = (task(status="claimed", claim=claim(acknowledged=False, by="brain")),)
    assert of_kind(run(seat(arm(ArmState.TASK_ASSIGNED), letters=(told,)), work=held), Deliver)
    gone = run(seat(letters=(told,)), work=(task(status="open"),))
    assert not of_kind(gone, Deliver)
    assert [bury.tell for bury in of_kind(gone, Bury)] == [False]
