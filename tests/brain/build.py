"""Facts for tests of the brain, with everything unsaid at its usual value."""

from __future__ import annotations

from typing import Any, TypeVar

from coleo.brain.decide import Decision, decide
from coleo.brain.effects import Effect
from coleo.brain.facts import Claimed, Facts, Letter, Rules, SeatFacts, Seen, Work
from coleo.model.arm import Arm, ArmState

T = TypeVar("T", bound=Effect)
NOW = 1_796_000_000.0
READY = Seen(host_alive=True, reachable=True, child_alive=True, screen="ready", screen_since_at=NOW - 100, at=NOW)
GONE = Seen()


def arm(state: ArmState = ArmState.IDLE, **more: Any) -> Arm:
    """An arm of generation 1 that was spawned 100 s ago."""
    return Arm("rand", state, **{"since_at": NOW - 100, "generation": 1, "spawned_at": NOW - 100, **more})


def seat(of: Arm | None = None, seen: Seen = READY, **more: Any) -> SeatFacts:
    """A seat with this arm."""
    of = of or arm()
    return SeatFacts(of.seat, of, seen, **more)


def facts(*seats: SeatFacts, **more: Any) -> Facts:
    """One cycle's facts at NOW."""
    return Facts(**{"now": NOW, "tick": False, "rules": Rules(), "seats": seats, **more})


def run(*seats: SeatFacts, **more: Any) -> Decision:
    """Facts decided."""
    return decide(facts(*seats, **more))


def of_kind(decision: Decision, kind: type[T]) -> list[T]:
    """The effects of one kind, in order."""
    return [effect for effect in decision.effects if isinstance(effect, kind)]


def task(task_id: str = "t-aaaaaa", **more: Any) -> Work:
    """An open task."""
    return Work(task_id, "Do it", **more)


def claim(age_s: float = 10.0, *, acknowledged: bool = True, seat: str = "rand", **more: Any) -> Claimed:
    """A claim that is `age_s` old."""
    at = NOW - age_s
    return Claimed(seat, "token", at, at if acknowledged else None, **more)


def letter(message: str = "m-1", **more: Any) -> Letter:
    """A message from seat bob."""
    return Letter(message, **{"sender": "bob", "kind": "message", "priority": 2, **more})
