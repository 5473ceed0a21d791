"""Who works on what: arms follow claims, claims that nobody will fulfil are released, marked tasks are handed out.

Claims are facts in files; an arm's state is derived from them. A claim has no wall-clock end after its
acknowledgement and is never taken away because a line vanished from the plan (DESIGN.md sections 4 and 5).
"""

from __future__ import annotations

from coleo.brain.effects import Assign, Block, Effect, Release, Reopen, Tell
from coleo.brain.facts import Facts, SeatFacts, Work
from coleo.brain.lifecycle import apply
from coleo.model.arm import Arm, ArmEvent, ArmState

_FINAL = frozenset({"done", "withdrawn"})


def follow(arm: Arm, seat: SeatFacts, work: tuple[Work, ...], now: float) -> tuple[Arm, tuple[Effect, ...]]:
    """The arm's state after what its claims say; `seat.arm` is the arm of the last cycle."""
    if arm.state not in (ArmState.IDLE, ArmState.TASK_ASSIGNED, ArmState.WORKING):
        return arm, ()
    held = [item for item in work if item.claim is not None and item.claim.seat == seat.name]
    ids = tuple(item.id for item in held)
    accepted = any(item.claim is not None and item.claim.acknowledged_at is not None for item in held)
    effects: tuple[Effect, ...] = ()
    if held and accepted and arm.state is not ArmState.WORKING:
        arm, effects = apply(arm, ArmEvent.TASK_ACKNOWLEDGED, now, f"works on {', '.join(ids)}")
        arm = arm.replace(nudges=0, offered=())
    elif held and not accepted and arm.state is ArmState.IDLE:
        arm, effects = apply(arm, ArmEvent.TASK_ASSIGNED, now, f"assigned {', '.join(ids)}")
    elif not held and arm.state is not ArmState.IDLE:
        event, reason = _how_it_ended(arm, work)
        arm, effects = apply(arm, event, now, reason)
        arm = arm.replace(nudges=0, offered=())
    if arm.state is ArmState.WORKING and not arm.next:
        arm = arm.replace(next="it completes or fails its task", next_at=None)
    return arm.replace(tasks=ids), effects


def _how_it_ended(arm: Arm, work: tuple[Work, ...]) -> tuple[ArmEvent, str]:
    status = {item.id: item.status for item in work}
    ends = [(task, status.get(task, "withdrawn")) for task in arm.tasks]
    if any(state == "done" for _task, state in ends):
        return ArmEvent.TASK_COMPLETED, ", ".join(f"{task} is {state}" for task, state in ends)
    if any(state in ("failed", "blocked") for _task, state in ends):
        return ArmEvent.TASK_FAILED, ", ".join(f"{task} is {state}" for task, state in ends)
    return ArmEvent.TASK_RELEASED, ", ".join(f"{task} is {state}" for task, state in ends) or "it holds no task"


def tidy(facts: Facts, arms: dict[str, Arm]) -> tuple[Effect, ...]:
    """Releases, second chances and blocks that are due."""
    effects: list[Effect] = []
    for item in facts.work:
        if item.claim is not None:
            released = _released(item, facts, arms)
            if released is not None:
                effects.append(released)
        elif item.attempts >= facts.rules.max_attempts and item.status in ("open", "failed"):
            effects.append(Block(item.id, item.reasons))
        elif is_free(item) and item.declined and not _takers(item, facts):
            text = f"no seat can take task {item.id}: declined by {', '.join(item.declined)}"
            effects.append(Tell(f"declined-{item.id}-{len(item.declined)}", text, task=item.id))
        elif item.status == "failed" and item.attempts:
            effects.append(Reopen(item.id, f"attempt {item.attempts} of {facts.rules.max_attempts} failed"))
    return tuple(effects)


def _takers(item: Work, facts: Facts) -> list[str]:
    """The seats that may still take a free task."""
    names = [seat.name for seat in facts.seats if seat.enabled and item.seat in (None, seat.name)]
    return [name for name in names if name not in item.declined]


def _released(item: Work, facts: Facts, arms: dict[str, Arm]) -> Release | None:
    claim = item.claim
    if claim is None:
        return None
    if item.status in _FINAL:
        return Release(item.id, claim.seat, claim.token, f"the task is {item.status}", attempt=False)
    if item.status in ("failed", "blocked") and claim.acknowledged_at is not None:
        return Release(item.id, claim.seat, claim.token, f"the task is {item.status}", attempt=False)
    arm = arms.get(claim.seat)
    if arm is not None and claim.claimed_at <= arm.freed_at:
        return Release(item.id, claim.seat, claim.token, arm.freed, attempt=arm.freed_counts)
    since_at = max(claim.claimed_at, facts.woke_at)
    if claim.acknowledged_at is None and facts.now - since_at >= facts.rules.acknowledge_s:
        within = f"within {facts.rules.acknowledge_s / 60:g} min"
        if _untold(item, claim.seat, facts):
            # The seat has not seen it: no failure of the seat, and three of these must not block the task.
            return Release(item.id, claim.seat, claim.token, f"it could not be told {within}", attempt=False)
        return Release(item.id, claim.seat, claim.token, f"not acknowledged {within}")
    return None


def _untold(item: Work, name: str, facts: Facts) -> bool:
    """Whether the assignment still waits, in the seat's inbox or before its terminal, and was never typed."""
    mine = [seat for seat in facts.seats if seat.name == name]
    letters = any(
        letter.kind == "assignment" and letter.task == item.id and not letter.attempts
        for seat in mine
        for letter in seat.letters
    )
    prefix = f"{item.id}-assignment-"
    return letters or any(
        not flight.typed and message.startswith(prefix)
        for seat in mine
        for flight in seat.flights
        for message in flight.messages
    )


def assign(facts: Facts, arms: dict[str, Arm]) -> tuple[Effect, ...]:
    """Tasks marked ``@seat`` go to that seat by an assignment, one at a time, when it is idle and may be prompted."""
    effects: list[Effect] = []
    for seat in facts.seats:
        arm = arms[seat.name]
        if not can_be_given_work(seat, arm, facts):
            continue
        mine = [
            item for item in facts.work if item.seat == seat.name and is_free(item) and seat.name not in item.declined
        ]
        if mine:
            first = min(mine, key=lambda item: (item.rank, item.order))
            effects.append(Assign(seat.name, first.id))
    return tuple(effects)


def can_be_given_work(seat: SeatFacts, arm: Arm, facts: Facts) -> bool:
    """Idle, its turn over, nothing on its way to it, and coleo may prompt it."""
    if arm.state is not ArmState.IDLE or seat.seen.screen != "ready" or seat.flights or seat.letters:
        return False
    return may_prompt(seat, arm, facts)


def is_free(item: Work) -> bool:
    """Open, its dependencies done, held by nobody."""
    return item.status == "open" and item.ready and item.claim is None


def may_prompt(seat: SeatFacts, arm: Arm, facts: Facts) -> bool:
    """Whether coleo may give this arm something to do on its own account: up, not paused, grace over, not stopping."""
    if seat.paused or seat.stopped or arm.stopping or facts.stopping or not seat.seen.reachable:
        return False
    return not in_grace(arm, facts)


def in_grace(arm: Arm, facts: Facts) -> bool:
    """An arm that was found running is left alone for a while (setting ``arm_grace_period_minutes``)."""
    return arm.detected_at is not None and facts.now < arm.detected_at + facts.rules.grace_s
