"""Which letters are typed now, and what became of those that were.

A message is processed when the agent's own files name it (a turn receipt), not when bytes were written. It is
typed a second time only with the proof that the first is nowhere: the block was never typed, or the process that
got it is gone and its files do not name it, or the agent is idle again and its files do not name it (DESIGN.md
section 6, cases a01, a13, a14, a15, a17, f14).
"""

from __future__ import annotations

from coleo.brain.claims import in_grace
from coleo.brain.effects import Bury, Deliver, Effect, Finish, GiveBack, Settle, Tell, Withdraw
from coleo.brain.facts import Facts, Flight, Letter, SeatFacts
from coleo.model.arm import Arm, ArmState

URGENT = 0
BLOCK_MESSAGES = 20
BLOCK_BYTES = 8192
LOST_AFTER_S = 10.0
JOINED = frozenset({"message", "human", "notice"})


def outcomes(seat: SeatFacts, arm: Arm, facts: Facts) -> tuple[Effect, ...]:
    """What is known now of the blocks on their way."""
    effects: list[Effect] = []
    for flight in seat.flights:
        receipts = dict(flight.receipts)
        proved = [message for message in flight.messages if receipts.get(message) == "turn"]
        open_ = [message for message in flight.messages if message not in proved]
        effects += [Finish(seat.name, message, "turn") for message in proved]
        if open_:
            effects += _unproved(seat, arm, facts, flight, open_)
        else:
            effects.append(Settle(seat.name, flight.id))
    return tuple(effects)


def _unproved(seat: SeatFacts, arm: Arm, facts: Facts, flight: Flight, messages: list[str]) -> list[Effect]:
    gone = flight.generation != arm.generation or not arm.alive
    if gone:
        return [*_back(seat, messages, "the arm that it was typed for has ended"), Settle(seat.name, flight.id)]
    match flight.state:
        case "submitted" if seat.weak_receipts:
            return [*(Finish(seat.name, message, "weak") for message in messages), Settle(seat.name, flight.id)]
        case "submitted" if _idle_without_it(seat, facts, flight):
            reason = "the agent is idle again and none of its files names it"
            return [*_back(seat, messages, reason), Settle(seat.name, flight.id)]
        case "unknown" if not flight.typed:
            return _back(seat, messages, "it never reached the host")
        case "failed" if not flight.typed:
            return [*_back(seat, messages, flight.reason or "it was not typed"), Settle(seat.name, flight.id)]
        case "waiting" if seat.paused or seat.stopped or facts.stopping:
            return [Withdraw(seat.name, flight.id, "paused")]
        case "unsent" | "failed":
            text = f"seat {seat.name}: a prompt stands unsent in its composer: {flight.reason}"
            return [Tell(f"unsent-{flight.id}", text, seat=seat.name)]
        case _:
            return []


def _back(seat: SeatFacts, messages: list[str], reason: str) -> list[Effect]:
    return [GiveBack(seat.name, message, reason) for message in messages]


def _idle_without_it(seat: SeatFacts, facts: Facts, flight: Flight) -> bool:
    """Submitted, the turn is over, and some time passed for its files to be written."""
    receipts = dict(flight.receipts)
    if seat.seen.screen != "ready" or any(receipts.values()):
        return False
    return facts.now - max(flight.since_at, seat.seen.screen_since_at) >= LOST_AFTER_S


def choose(seat: SeatFacts, arm: Arm, facts: Facts) -> tuple[Arm, tuple[Effect, ...]]:
    """The next block for this seat, if it may be typed into; expired and hopeless letters leave the queue.

    Returns the arm with `waiting` saying why its mail waits.
    """
    effects: list[Effect] = []
    letters: list[Letter] = []
    for letter in seat.letters:
        if letter.expires_at is not None and facts.now >= letter.expires_at:
            effects.append(Bury(seat.name, letter.id, "expired before it could be delivered", tell=False))
        elif letter.attempts >= facts.rules.max_deliveries:
            effects.append(Bury(seat.name, letter.id, f"typed {letter.attempts} times without a receipt"))
        elif letter.kind == "assignment" and not _still_assigned(letter, seat, facts):
            effects.append(Bury(seat.name, letter.id, "the task is not assigned to this seat any more", tell=False))
        else:
            letters.append(letter)
    if seat.flights:
        # A person who left words in the composer has to be able to see that these hold the mail up.
        held = next((flight.reason for flight in seat.flights if flight.state == "waiting" and flight.reason), "")
        return arm.replace(waiting=f"mail waits: {_steady(held)}" if held else ""), tuple(effects)
    if not letters:
        return arm, tuple(effects)
    why = _closed(seat, arm, facts)
    ready = [] if why else [letter for letter in letters if _may_go(letter, seat, arm, facts)]
    if not ready:
        return arm.replace(waiting=f"mail waits: {why or _not_yet(seat, arm, facts)}"), tuple(effects)
    block = _block(ready)
    return arm.replace(waiting=""), (*effects, Deliver(seat.name, tuple(letter.id for letter in block)))


def _steady(reason: str) -> str:
    """A host's reason without what changes while nothing happens: the record of the arm is written on each change."""
    return "a person is typing" if reason.startswith("a person typed") else reason


def _not_yet(seat: SeatFacts, arm: Arm, facts: Facts) -> str:
    if seat.seen.screen == "busy":
        return "the arm is busy; it is typed when the turn ends"
    if in_grace(arm, facts):
        return "the arm was found running and is left alone for a while (brain.arm_grace_period_minutes)"
    return "the arm cannot take it now"


def _still_assigned(letter: Letter, seat: SeatFacts, facts: Facts) -> bool:
    claims = [item.claim for item in facts.work if item.id == letter.task]
    return any(claim is not None and claim.seat == seat.name for claim in claims)


def _closed(seat: SeatFacts, arm: Arm, facts: Facts) -> str:
    if facts.stopping or arm.stopping:
        return "the arm is being stopped"
    if seat.paused:
        return "paused by a person"
    if arm.state not in (ArmState.IDLE, ArmState.TASK_ASSIGNED, ArmState.WORKING):
        return f"the arm is {arm.state.value}"
    if not seat.seen.reachable:
        return "its host does not answer"
    if seat.seen.screen in ("dialog", "draft", "unknown", "lost", "starting"):
        return f"its screen is {seat.seen.screen}: {seat.seen.evidence}"
    return ""


def _may_go(letter: Letter, seat: SeatFacts, arm: Arm, facts: Facts) -> bool:
    """Nudges wait for the end of the turn; in grace only what a person or an urgent sender says goes through."""
    if in_grace(arm, facts) and letter.sender != "human" and letter.priority != URGENT:
        return False
    if seat.seen.screen == "busy":
        return seat.deliver_busy and letter.kind != "nudge"
    return True


def _block(letters: list[Letter]) -> list[Letter]:
    """Messages that stand next to each other go in one paste, as many as fit; every other prompt goes alone (a02)."""
    first, *rest = letters
    block, size = [first], first.size
    for letter in rest:
        size += letter.size
        if len(block) == BLOCK_MESSAGES or size > BLOCK_BYTES or not {first.kind, letter.kind} <= JOINED:
            break
        block.append(letter)
    return block
