"""The life of one arm: when it is started, when it counts as up, what its death means.

Theory of operation. A person's wish (enabled, not stopped) is compared with the recorded state and with what is
seen of the processes; the difference gives at most one step along `coleo.model.arm.TABLE` per event, and an effect.
Back-off (DESIGN.md section 5, cases b09 and b10): a death within 60 s of its spawn counts; delays 1, 2, 4, 8, 16 s;
the sixth parks the seat; the count falls only after ten healthy minutes and is stored, so no restart forgets it.
"""

from __future__ import annotations

from coleo.brain.effects import Effect, Launch, Note, SetArm, Stop, Tell
from coleo.brain.facts import Rules, SeatFacts
from coleo.model.arm import Arm, ArmEvent, ArmState, deadline_s, next_state
from coleo.model.record import Record


class Step(Record):
    """The arm after a step, and what has to be done for it."""

    arm: Arm
    effects: tuple[Effect, ...] = ()


def apply(arm: Arm, event: ArmEvent, now: float, reason: str, evidence: str = "") -> tuple[Arm, tuple[Effect, ...]]:
    """One event applied by the table; a pair that is not in it changes nothing and is logged."""
    state = next_state(arm.state, event, arm.before)
    if state is None:
        what = (("seat", arm.seat), ("state", arm.state.value), ("event", event.value), ("reason", reason))
        return arm, (Note("arm_event_ignored", what),)
    before = arm.state if state is ArmState.DISCONNECTED else None
    if arm.state is ArmState.DISCONNECTED and state is ArmState.DISCONNECTED:
        before = ArmState.IDLE
    moved = arm.replace(
        state=state,
        since_at=now,
        before=before,
        reason=reason,
        evidence=evidence,
        waiting="",
        next="",
        next_at=None,
    )
    return moved, (SetArm(moved, event.value),)


def step(
    seat: SeatFacts, now: float, rules: Rules, *, free_place: bool, going_down: bool = False, woke_at: float = 0.0
) -> Step:
    """What the arm's life asks for now.

    free_place: fewer than ``max_arms`` arms are up. going_down: the brain stops and takes its arms along. woke_at: no
    deadline counts from before it.
    """
    if seat.arm.alive:
        return _living(seat, now, rules, going_down, woke_at)
    return _gone(seat, now, rules, free_place, going_down)


def _wanted(seat: SeatFacts, going_down: bool) -> str:
    """Empty when the seat should have an arm, else the reason why not."""
    if going_down:
        return "coleo goes down"
    if seat.stopped:
        return "stopped by a person"
    if not seat.enabled:
        return "not enabled in seat.md"
    return ""


_PAST_START = frozenset({ArmState.IDLE, ArmState.TASK_ASSIGNED, ArmState.WORKING, ArmState.DISCONNECTED})


def _gone(seat: SeatFacts, now: float, rules: Rules, free_place: bool, going_down: bool) -> Step:
    arm = seat.arm
    if seat.seen.child_alive and seat.seen.reachable and arm.state is not ArmState.FAILED:
        return _adopt(seat, now)
    if seat.seen.host_alive:
        return Step(arm.replace(waiting="a host of this seat lives; it is being asked", next="", next_at=None))
    unwanted = _wanted(seat, going_down)
    if unwanted:
        return Step(arm.replace(waiting=unwanted, retry_at=None, next="", next_at=None))
    if arm.state is ArmState.FAILED:
        mended = seat.config_key != arm.config_key or seat.unpark_at > (arm.parked_at or 0.0)
        if not mended:
            return Step(arm.replace(waiting=arm.parked, next="a person resumes it or changes seat.md", next_at=None))
        arm = arm.replace(deaths=0, parked="", parked_at=None, retry_at=None)
    if seat.problem:
        return Step(arm.replace(waiting=seat.problem, next="it starts when that is mended", next_at=None))
    if arm.retry_at is None and seat.startup_delay_s > 0:
        arm = arm.replace(retry_at=now + seat.startup_delay_s)
    if arm.retry_at is not None and now < arm.retry_at:
        why = "backing off after a crash" if arm.deaths else "its start-up delay runs"
        return Step(arm.replace(waiting=why, next="spawn", next_at=arm.retry_at))
    if not free_place:
        return Step(
            arm.replace(waiting=f"max_arms ({rules.max_arms}) are up", next="spawn when one ends", next_at=None)
        )
    arm, effects = apply(arm, ArmEvent.SPAWN, now, "the seat is enabled and empty")
    arm = arm.replace(
        generation=arm.generation + 1,
        host=None,
        child=None,
        spawned_at=now,
        detected_at=None,
        retry_at=None,
        config_key=seat.config_key,
        stopping="",
        final=False,
        stop_asked_at=None,
        nudges=0,
        prompted_at=None,
        offered=(),
        waiting="",
    )
    return Step(arm, (*effects[:-1], SetArm(arm, ArmEvent.SPAWN.value), Launch(seat.name, arm.generation)))


def _adopt(seat: SeatFacts, now: float) -> Step:
    """A live arm where none was recorded: the record was lost, the arm was not."""
    arm = seat.arm.replace(
        state=ArmState.IDLE,
        since_at=now,
        detected_at=now,
        spawned_at=seat.arm.spawned_at or now,
        reason="found running",
        evidence=seat.seen.evidence,
        config_key=seat.config_key,
        parked="",
        retry_at=None,
        stopping="",
        final=False,
        waiting="",
    )
    return Step(arm, (SetArm(arm, "ADOPTED"),))


def _living(seat: SeatFacts, now: float, rules: Rules, going_down: bool, woke_at: float) -> Step:
    arm, seen = seat.arm, seat.seen
    if seen.failure:
        return _park_start(seat, now, seen.failure)
    if seen.exit:
        return _dead(seat, now, rules, seen.exit)
    if not seen.host_alive and (arm.host is not None or arm.state in _PAST_START):
        # A record without a host that can be one (case h09) must neither hold the seat for ever nor `coleo down`.
        return _dead(seat, now, rules, "its host is gone")
    effects: tuple[Effect, ...] = ()
    unwanted = _wanted(seat, going_down)
    restart = seat.restart_at > (arm.spawned_at or 0.0)
    if (unwanted or restart) and not arm.stopping:
        reason = unwanted or "restart asked for"
        arm = arm.replace(stopping=reason, final=bool(unwanted), stop_asked_at=now)
        effects = (SetArm(arm, "STOP_ASKED"), Stop(seat.name, reason))
    arm, more = _observe(arm, seat, now)
    effects += more
    limit = deadline_s(arm.state, arm.before)
    if limit is not None and arm.state is not ArmState.TASK_ASSIGNED and not arm.stopping:
        due_at = max(arm.since_at, woke_at) + limit
        if now >= due_at:
            return _overdue(seat, arm, now, effects)
        arm = arm.replace(next=f"TIMEOUT of {arm.state.value}", next_at=due_at)
    healthy = arm.deaths and arm.spawned_at is not None and now - arm.spawned_at >= rules.healthy_s
    if healthy:
        arm = arm.replace(deaths=0)
        effects += (SetArm(arm, "HEALTHY"),)
    return Step(arm, effects)


def _observe(arm: Arm, seat: SeatFacts, now: float) -> tuple[Arm, tuple[Effect, ...]]:
    """Events that the processes and the screen tell."""
    seen = seat.seen
    effects: tuple[Effect, ...] = ()
    if arm.state is ArmState.SPAWNING and seen.child_alive:
        arm, effects = apply(arm, ArmEvent.PROCESS_STARTED, now, "the host started it", seen.evidence)
    if arm.state is ArmState.STARTING and seen.screen in ("ready", "busy"):
        arm, more = apply(arm, ArmEvent.HARNESS_CONNECTED, now, f"screen: {seen.screen}", seen.evidence)
        effects = (*effects, *more)
    lost = arm.host is not None and not seen.reachable
    if lost and arm.state in (ArmState.IDLE, ArmState.TASK_ASSIGNED, ArmState.WORKING):
        arm, more = apply(arm, ArmEvent.CONNECTION_LOST, now, "its host does not answer", seen.evidence)
        effects = (*effects, *more)
    elif arm.state is ArmState.DISCONNECTED and seen.reachable:
        arm, more = apply(arm, ArmEvent.CONNECTION_RESTORED, now, "its host answers again", seen.evidence)
        effects = (*effects, *more)
    return arm, effects


def _overdue(seat: SeatFacts, arm: Arm, now: float, effects: tuple[Effect, ...]) -> Step:
    """A state lasted longer than it may: a start is given up, a lost arm is stopped."""
    if arm.state is ArmState.DISCONNECTED:
        arm = arm.replace(stopping="its host did not answer in time", final=True, stop_asked_at=now)
        moved, more = apply(arm, ArmEvent.TIMEOUT, now, "its host did not answer in time", seat.seen.evidence)
        moved = _free(moved, now, moved.reason, counts=True)
        return Step(moved, (*effects, *more[:-1], SetArm(moved, "TIMEOUT"), Stop(seat.name, moved.reason)))
    evidence = seat.seen.evidence or "nothing was seen"
    reason = f"not ready after 60 s (screen: {seat.seen.screen})"
    return _park_start(seat.replace(arm=arm), now, reason, evidence=evidence, before=effects)


def _park_start(
    seat: SeatFacts, now: float, reason: str, *, evidence: str = "", before: tuple[Effect, ...] = ()
) -> Step:
    """It could not start: the seat is parked with the reason, its letters stay where they are."""
    arm = seat.arm.replace(
        state=ArmState.FAILED,
        since_at=now,
        before=None,
        reason=reason,
        evidence=evidence or seat.seen.evidence,
        parked=reason,
        parked_at=now,
        retry_at=None,
        next="a person resumes it or changes seat.md",
        next_at=None,
    )
    arm = _free(arm, now, reason, counts=True)
    tell = Tell(f"start-{seat.name}-{arm.generation}", f"seat {seat.name} could not start: {reason}", seat=seat.name)
    effects: tuple[Effect, ...] = (*before, SetArm(arm, "TIMEOUT"), Stop(seat.name, reason), tell)
    return Step(arm, effects)


def _free(arm: Arm, now: float, reason: str, *, counts: bool) -> Arm:
    """The arm will not go on with its tasks: its claims up to now are to be released."""
    return arm.replace(freed_at=now, freed=reason, freed_counts=counts)


def _dead(seat: SeatFacts, now: float, rules: Rules, how: str) -> Step:
    """The process ended: as asked, or it crashed and is started again after a delay, or is parked."""
    asked, final = seat.arm.stopping, seat.arm.final
    event = ArmEvent.STOP if asked else ArmEvent.PROCESS_DIED
    said = f"{how}; its last words: {seat.seen.evidence}" if seat.seen.evidence else how
    arm, effects = apply(seat.arm, event, now, asked or f"ended by itself: {how}", said)
    arm = arm.replace(host=None, child=None, stopping="", final=False, stop_asked_at=None, next="", next_at=None)
    if asked:
        arm = _free(arm, now, asked, counts=False) if final else arm
        return Step(arm, (*effects[:-1], SetArm(arm, event.value)))
    lived = now - (arm.spawned_at if arm.spawned_at is not None else now)
    deaths = 0 if lived >= rules.healthy_s else arm.deaths
    deaths += lived < rules.early_death_s
    limit = min(seat.max_crashes, len(rules.crash_delays_s))
    if deaths > limit:
        reason = f"{deaths} deaths within {rules.early_death_s:.0f} s of their start; the last: {said}"
        arm = arm.replace(deaths=deaths, parked=reason, parked_at=now, retry_at=None)
        parked, more = apply(_free(arm, now, reason, counts=True), ArmEvent.PARK, now, reason, said)
        tell = Tell(f"parked-{seat.name}-{arm.generation}", f"seat {seat.name} is parked: {reason}", seat=seat.name)
        return Step(parked, (*effects, *more, tell))
    delay = rules.crash_delays_s[max(0, min(deaths, len(rules.crash_delays_s)) - 1)]
    arm = arm.replace(deaths=deaths, retry_at=now + delay, next="spawn", next_at=now + delay)
    return Step(arm, (*effects[:-1], SetArm(arm, event.value)))
