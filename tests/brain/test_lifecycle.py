"""The life of an arm: start, death, back-off, parking, restart, adoption."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coleo.brain.effects import Launch, SetArm, Stop, Tell
from coleo.brain.facts import Rules, Seen
from coleo.brain.lifecycle import step
from coleo.model.arm import TABLE, Arm, ArmEvent, ArmState, ProcessId, next_state
from tests.brain.build import GONE, NOW, READY, arm, of_kind, run, seat

HOST = ProcessId(4242, 1, "boot")


def die(of: Arm, lived_s: float, how: str = "code 1", **more: object) -> Arm:
    """The arm after its process ended `lived_s` after its spawn."""
    now = (of.spawned_at or 0.0) + lived_s
    return step(seat(of, Seen(exit=how), **more), now, Rules(), free_place=True).arm


def respawn(of: Arm) -> Arm:
    """The arm after its retry came, up and idle."""
    at = of.retry_at or of.since_at
    up = step(seat(of, GONE), at, Rules(), free_place=True).arm
    assert up.state is ArmState.SPAWNING
    return up.replace(state=ArmState.IDLE)


def test_b09_six_early_deaths_park_the_seat_with_one_notice() -> None:
    of = arm(spawned_at=NOW)
    delays, notices = [], []
    for _death in range(6):
        at = (of.spawned_at or 0) + 0.2
        result = step(seat(of, Seen(exit="code 1")), at, Rules(), free_place=True)
        notices += [effect for effect in result.effects if isinstance(effect, Tell)]
        if result.arm.state is ArmState.FAILED:
            break
        delays.append(round((result.arm.retry_at or 0) - at, 3))
        of = respawn(result.arm)
    assert delays == [1, 2, 4, 8, 16]
    assert result.arm.state is ArmState.FAILED
    assert len(notices) == 1
    later = run(seat(result.arm, GONE, config_key=of.config_key))
    assert not of_kind(later, Launch)


def test_b10_a_spawn_does_not_reset_the_counter() -> None:
    of = arm(spawned_at=NOW)
    for _ in range(5):
        of = respawn(die(of, 5.0))
    assert die(of, 5.0).state is ArmState.FAILED


def test_ten_healthy_minutes_reset_the_counter() -> None:
    of = arm(deaths=5, spawned_at=NOW - 601)
    assert run(seat(of)).arms["rand"].deaths == 0
    assert run(seat(of.replace(spawned_at=NOW - 599))).arms["rand"].deaths == 5


def test_a_death_between_one_and_ten_minutes_neither_counts_nor_forgives() -> None:
    assert die(arm(deaths=3, spawned_at=NOW), 300.0).deaths == 3


@pytest.mark.parametrize("change", ["config", "person"])
def test_a_parked_seat_comes_back_when_a_person_acts(change: str) -> None:
    parked = arm(ArmState.FAILED, parked="died six times", parked_at=NOW - 50, deaths=6, config_key="a")
    if change == "config":
        decision = run(seat(parked, GONE, config_key="b"))
    else:
        decision = run(seat(parked, GONE, config_key="a", unpark_at=NOW - 1))
    assert of_kind(decision, Launch)
    assert decision.arms["rand"].deaths == 0


def test_a_crash_keeps_the_claim_and_a_final_stop_frees_it() -> None:
    crashed = die(arm(spawned_at=NOW), 5.0)
    assert crashed.freed_at == 0.0
    stopped = die(arm(spawned_at=NOW, stopping="stopped by a person", final=True), 5.0)
    assert stopped.freed_at == NOW + 5.0
    assert stopped.retry_at is None
    restarted = die(arm(spawned_at=NOW, stopping="restart asked for"), 5.0)
    assert restarted.freed_at == 0.0


def test_a_disabled_seat_is_stopped_once() -> None:
    first = run(seat(enabled=False))
    assert len(of_kind(first, Stop)) == 1
    assert not of_kind(run(seat(first.arms["rand"], enabled=False)), Stop)


def test_a_seat_above_max_arms_waits_and_says_so() -> None:
    up = [seat(Arm(f"s{n}", ArmState.IDLE, since_at=NOW)) for n in range(2)]
    decision = run(*up, seat(arm(ArmState.STOPPED), GONE), rules=Rules(max_arms=2))
    assert not of_kind(decision, Launch)
    assert "max_arms" in decision.arms["rand"].waiting


def test_places_are_counted_within_one_cycle() -> None:
    empty = [seat(Arm(f"s{n}"), GONE) for n in range(3)]
    assert len(of_kind(run(*empty, rules=Rules(max_arms=2)), Launch)) == 2


def test_start_is_given_up_after_sixty_seconds_with_the_screen_as_evidence() -> None:
    starting = arm(ArmState.STARTING, since_at=NOW - 60, host=HOST)
    seen = READY.replace(screen="dialog", evidence="row 12: Trust this folder?")
    decision = run(seat(starting, seen))
    assert decision.arms["rand"].state is ArmState.FAILED
    assert "Trust this folder" in decision.arms["rand"].evidence
    assert of_kind(decision, Stop)


def test_a_lost_host_is_not_a_dead_arm_until_its_time_is_over() -> None:
    lost = READY.replace(reachable=False)
    of = arm(ArmState.WORKING, host=HOST)
    away = run(seat(of, lost)).arms["rand"]
    assert (away.state, away.before) == (ArmState.DISCONNECTED, ArmState.WORKING)
    back = run(seat(away)).arms["rand"]
    assert back.state is ArmState.WORKING or back.reason == "it holds no task"
    late = run(seat(away.replace(since_at=NOW - 600), lost)).arms["rand"]
    assert late.state is ArmState.STOPPED


def test_a_live_arm_without_a_record_is_adopted_not_started_again() -> None:
    decision = run(seat(Arm("rand"), READY))
    assert not of_kind(decision, Launch)
    assert decision.arms["rand"].state is ArmState.IDLE
    assert decision.arms["rand"].detected_at == NOW


def test_a_host_that_was_found_and_not_asked_yet_keeps_its_seat_from_a_second_arm() -> None:
    decision = run(seat(Arm("rand"), Seen(host_alive=True)))
    assert not of_kind(decision, Launch)
    assert "being asked" in decision.arms["rand"].waiting


def test_a_launch_is_recorded_before_it_is_asked_for() -> None:
    decision = run(seat(Arm("rand"), GONE))
    kinds = [type(effect) for effect in decision.effects]
    assert kinds.index(SetArm) < kinds.index(Launch)
    recorded = of_kind(decision, SetArm)[0].arm
    assert recorded.generation == of_kind(decision, Launch)[0].generation == 1


def test_going_down_stops_every_arm_unless_they_are_to_stay() -> None:
    assert of_kind(run(seat(), stopping="down"), Stop)
    assert not of_kind(run(seat(), stopping="down", keep_arms=True), Stop)


@given(st.lists(st.sampled_from(sorted(ArmEvent)), max_size=30))
def test_no_sequence_of_events_leaves_the_table(events: list[ArmEvent]) -> None:
    state, before = ArmState.STOPPED, None
    for event in events:
        following = next_state(state, event, before)
        if following is None:
            assert (state, event) not in TABLE
            continue
        before = state if following is ArmState.DISCONNECTED and state is not ArmState.DISCONNECTED else before
        state = following
        assert state in ArmState


def test_a_start_up_delay_is_waited_for_and_can_be_called_off() -> None:
    first = run(seat(Arm("rand"), GONE, startup_delay_s=20.0))
    assert not of_kind(first, Launch)
    waiting = first.arms["rand"]
    assert waiting.next_at == NOW + 20
    assert not of_kind(run(seat(waiting, GONE, startup_delay_s=20.0), now=NOW + 19), Launch)
    assert of_kind(run(seat(waiting, GONE, startup_delay_s=20.0), now=NOW + 20), Launch)
    called_off = run(seat(waiting, GONE, startup_delay_s=20.0, stopped=True)).arms["rand"]
    assert called_off.retry_at is None


def test_deadlines_begin_anew_when_the_machine_wakes() -> None:
    starting = arm(ArmState.STARTING, since_at=NOW - 3600, host=HOST)
    seen = READY.replace(screen="starting")
    assert run(seat(starting, seen), woke_at=NOW - 5).arms["rand"].state is ArmState.STARTING
    assert run(seat(starting, seen)).arms["rand"].state is ArmState.FAILED


def test_h09_a_record_without_a_host_holds_neither_the_seat_nor_the_end_of_the_brain() -> None:
    """pid 0 or -1 in a record is no host: nothing lives there, so a new arm may start, and `coleo down` may end."""
    for state in (ArmState.IDLE, ArmState.TASK_ASSIGNED, ArmState.WORKING, ArmState.DISCONNECTED):
        decision = run(seat(arm(state, host=None), GONE))
        assert not decision.arms["rand"].alive, state
        assert not of_kind(decision, Stop), state
        assert not run(seat(arm(state, host=None), GONE), stopping="coleo goes down").arms["rand"].alive, state
    starting = arm(ArmState.SPAWNING, host=None, since_at=NOW - 1, spawned_at=NOW - 1)
    assert run(seat(starting, GONE)).arms["rand"].alive, "a host takes a moment to start"
