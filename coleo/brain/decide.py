"""One cycle: read (the facts), decide (here), act (the effects, in order).

The order is that of DESIGN.md section 5: arms first, then what is known of tasks and letters, prompts last, so
that an arm is never told something that a file read in the same cycle contradicts.
"""

from __future__ import annotations

from coleo.brain import claims, delivery, lifecycle, prompting
from coleo.brain.effects import Assign, Effect
from coleo.brain.facts import Facts
from coleo.model.arm import Arm
from coleo.model.record import Record


class Decision(Record):
    """Every arm as it is after the cycle, and what is to be done, in order."""

    arms: dict[str, Arm]
    effects: tuple[Effect, ...]


def decide(facts: Facts) -> Decision:
    """The whole brain. Pure: the same facts give the same decision."""
    arms: dict[str, Arm] = {}
    effects: list[Effect] = []
    up = sum(seat.arm.alive for seat in facts.seats)
    leaving = bool(facts.stopping) and not facts.keep_arms
    for seat in facts.seats:
        if facts.stopping and facts.keep_arms:
            arms[seat.name] = seat.arm
            continue
        step = lifecycle.step(
            seat,
            facts.now,
            facts.rules,
            free_place=up < facts.rules.max_arms,
            going_down=leaving,
            woke_at=facts.woke_at,
        )
        up += step.arm.alive - seat.arm.alive
        arms[seat.name] = step.arm
        effects += step.effects
    for seat in facts.seats:
        arms[seat.name], more = claims.follow(arms[seat.name], seat, facts.work, facts.now)
        effects += more
    effects += claims.tidy(facts, arms)
    for seat in facts.seats:
        effects += delivery.outcomes(seat, arms[seat.name], facts)
    assigned = claims.assign(facts, arms)
    effects += assigned
    taken = frozenset(effect.task for effect in assigned if isinstance(effect, Assign))
    changed, nudges = prompting.prompt(facts, arms, taken)
    arms.update(changed)
    effects += nudges
    for seat in facts.seats:
        arms[seat.name], more = delivery.choose(seat, arms[seat.name], facts)
        effects += more
    return Decision(arms, tuple(effects))
