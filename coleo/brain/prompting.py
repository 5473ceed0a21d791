"""Telling idle arms that there is work.

New work is told at once, to as many idle arms as there are free tasks, the one that waited longest first.
After that an arm that does nothing is reminded on ticks only, 30 s, 2, 5 and 15 min after the prompt before;
then it is left alone until something new turns up (DESIGN.md section 5).
"""

from __future__ import annotations

from coleo.brain.claims import can_be_given_work, is_free
from coleo.brain.effects import Effect, Note, Nudge
from coleo.brain.facts import Facts, Work
from coleo.model.arm import Arm

QUIET = "waiting for file changes"


def prompt(facts: Facts, arms: dict[str, Arm], taken: frozenset[str]) -> tuple[dict[str, Arm], tuple[Effect, ...]]:
    """The arms with their prompt counters after this cycle, and the nudges. `taken`: tasks assigned in this cycle."""
    changed: dict[str, Arm] = {}
    effects: list[Effect] = []
    idle = [seat for seat in facts.seats if can_be_given_work(seat, arms[seat.name], facts)]
    pool = [item for item in facts.work if is_free(item) and item.id not in taken]
    for seat in idle:
        arm = arms[seat.name]
        if arm.prompted_at is not None and facts.now - arm.prompted_at < facts.rules.nudge_steps_s[0] and arm.offered:
            _promise(pool, seat.name)
    for seat in sorted(idle, key=lambda seat: (arms[seat.name].prompted_at or 0.0, seat.name)):
        arm = arms[seat.name]
        mine = tuple(item.id for item in facts.work if _suits(item, seat.name) and item.id not in taken)
        if not mine:
            if arm.waiting != QUIET:
                changed[seat.name] = arm.replace(
                    waiting=QUIET, offered=(), nudges=0, next="a file changes", next_at=None
                )
                effects.append(Note("waiting_for_changes", (("seat", seat.name),)))
            continue
        new = set(mine) - set(arm.offered)
        if new and _promise(pool, seat.name):
            nudges = 1
        elif not new and _reminder_due(arm, facts):
            nudges = arm.nudges + 1
        else:
            changed[seat.name] = _looking_ahead(arm, facts)
            continue
        changed[seat.name] = _looking_ahead(
            arm.replace(nudges=nudges, prompted_at=facts.now, offered=mine, waiting=""), facts
        )
        effects.append(Nudge(seat.name, mine, nudges))
    return changed, tuple(effects)


def _suits(item: Work, seat: str) -> bool:
    return is_free(item) and item.seat in (None, seat) and seat not in item.declined


def _promise(pool: list[Work], seat: str) -> bool:
    """Take one task that suits the seat out of the pool: one arm is told of it. False when none is left."""
    for at, item in enumerate(pool):
        if _suits(item, seat):
            del pool[at]
            return True
    return False


def _reminder_due(arm: Arm, facts: Facts) -> bool:
    steps = facts.rules.nudge_steps_s
    if not facts.tick or arm.prompted_at is None or arm.nudges > len(steps):
        return False
    return facts.now >= arm.prompted_at + steps[max(arm.nudges, 1) - 1]


def _looking_ahead(arm: Arm, facts: Facts) -> Arm:
    steps = facts.rules.nudge_steps_s
    if arm.prompted_at is None or arm.nudges > len(steps):
        return arm.replace(next="prompted again when there is new work", next_at=None)
    return arm.replace(next="reminded of its tasks", next_at=arm.prompted_at + steps[max(arm.nudges, 1) - 1])
