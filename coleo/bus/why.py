"""Why a seat or a task is as it is: state, since when, by which evidence, and what will happen next.

`explain_seat` and `explain_task` are pure: everything they say follows from the story they are given, so a rule
can be tested without a project. Deadlines are computed from stored instants, as the brain computes them (DESIGN.md
section 2.3), so the answer is right with no brain running, and says so.
"""

from __future__ import annotations

from coleo.bus.story import Held, Limits, SeatStory, TaskStory
from coleo.model.arm import Arm, ArmState, deadline_s
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Step(Record):
    """Something that will happen: what, when (None: when its cause comes), and the rule that says so."""

    text: str
    at: float | None = None
    rule: str = ""


class Why(Record):
    """The answer. since_at: of the state. because: reasons, the first counts most. evidence: what shows it."""

    kind: str
    subject: str
    state: str
    title: str = ""
    since_at: float | None = None
    because: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    next: tuple[Step, ...] = ()


NO_BRAIN = Step("no brain runs: nothing below happens until `coleo up`")


def explain_seat(story: SeatStory) -> Why:
    """Why the arm of a seat is in its state, why its mail waits, and what comes next."""
    arm = story.arm
    steps = [] if story.brain is not None else [NO_BRAIN]
    if arm is None:
        because = [_unwanted(story) or "no arm was started in this seat yet"]
        steps += [Step("its first arm is started")] if not _unwanted(story) else []
        return Why(
            "seat", story.seat, "stopped", because=tuple(because), evidence=_seat_evidence(story), next=tuple(steps)
        )
    steps += _seat_steps(story, arm)
    return Why(
        "seat",
        story.seat,
        arm.state.value,
        since_at=arm.since_at or None,
        because=tuple(_seat_because(story, arm)),
        evidence=_seat_evidence(story),
        next=tuple(steps),
    )


def _unwanted(story: SeatStory) -> str:
    if story.problem:
        return story.problem
    if not story.enabled:
        return "seat.md says `enabled: false`"
    return "stopped by a person (`coleo seat stop`)" if story.stopped else ""


def _seat_because(story: SeatStory, arm: Arm) -> Iterator[str]:
    if arm.reason:
        yield arm.reason
    if arm.parked:
        yield f"parked: {arm.parked}"
    unwanted = _unwanted(story)
    if unwanted and not arm.alive:
        yield unwanted
    if arm.stopping:
        yield f"it is being stopped: {arm.stopping}"
    if story.paused:
        yield "paused by a person: nothing is typed into it"
    if arm.state is ArmState.DISCONNECTED and arm.before is not None:
        yield f"before that it was {arm.before.value}"
    if arm.waiting and arm.waiting not in (arm.parked, unwanted):
        yield arm.waiting
    if arm.deaths:
        yield f"{arm.deaths} early {'death' if arm.deaths == 1 else 'deaths'} since it was last healthy"


def _seat_evidence(story: SeatStory) -> tuple[str, ...]:
    found: list[str] = []
    arm = story.arm
    if arm is not None:
        if arm.evidence:
            found.append(arm.evidence)
        if arm.alive:
            found.append(_processes(arm))
    for held in story.held:
        accepted = "acknowledged" if held.acknowledged_at is not None else "not acknowledged"
        found.append(f"holds {held.task} ({accepted}, claimed by the {held.by}): {held.title}")
    for letter in story.waiting[:5]:
        typed = "typed, no receipt yet" if letter.typed_at is not None else "not typed yet"
        again = f", typed {letter.attempts} times" if letter.attempts > 1 else ""
        back = f" ({letter.reason})" if letter.reason else ""
        found.append(f"message {letter.id} from {letter.sender} ({letter.priority}): {typed}{again}{back}")
    if len(story.waiting) > 5:
        found.append(f"and {len(story.waiting) - 5} more messages")
    if story.dead or story.quarantined:
        found.append(f"{story.dead} undeliverable and {story.quarantined} unreadable messages: `coleo mail list`")
    if story.last:
        found.append(story.last)
    return tuple(found)


def _processes(arm: Arm) -> str:
    child = f"agent pid {arm.child.pid}" if arm.child is not None else "no agent process known"
    host = f"host pid {arm.host.pid}" if arm.host is not None else "no host known"
    return f"generation {arm.generation}: {child}, {host}"


def _seat_steps(story: SeatStory, arm: Arm) -> list[Step]:
    if arm.stopping:
        return [Step("its processes are ended: its own way out, TERM, KILL, 5 s each")]
    if not arm.alive:
        return _gone_steps(story, arm)
    steps: list[Step] = []
    unwanted = _unwanted(story)
    if unwanted:
        steps.append(Step(f"it is ended, its task goes back to open: {unwanted}"))
    elif story.restart_at > (arm.spawned_at or 0.0):
        steps.append(Step("it is restarted, as asked; its claim stays"))
    steps += _state_steps(story, arm)
    if story.paused:
        steps.append(Step("messages and prompts wait until `coleo resume`"))
    elif arm.detected_at is not None and story.now < arm.detected_at + story.limits.grace_s:
        rule = f"arm_grace_period_minutes = {story.limits.grace_s / 60:g}"
        steps.append(
            Step(
                "its grace ends; until then only people and urgent messages reach it",
                arm.detected_at + story.limits.grace_s,
                rule,
            )
        )
    if arm.next and not any(step.at == arm.next_at and step.at is not None for step in steps):
        steps.append(Step(arm.next, arm.next_at))
    return steps


def _state_steps(story: SeatStory, arm: Arm) -> list[Step]:
    limit = deadline_s(arm.state, arm.before)
    due_at = arm.since_at + limit if limit is not None else None
    match arm.state:
        case ArmState.SPAWNING | ArmState.STARTING:
            return [
                Step("if its screen is not ready by then the seat is parked", due_at, f"start-up takes {limit:g} s")
            ]
        case ArmState.DISCONNECTED:
            rule = f"a host may be silent for {(limit or 0) / 60:g} min"
            return [Step("if its host does not answer by then it is stopped and its task is open again", due_at, rule)]
        case ArmState.TASK_ASSIGNED:
            return [_acknowledge(held, story.limits) for held in story.held if held.acknowledged_at is None]
        case ArmState.WORKING:
            return [Step("it completes or fails its task; a claim has no end by the clock once it is acknowledged")]
        case ArmState.IDLE if not story.free_tasks and not story.waiting:
            return [Step("nothing to do: it is prompted when a plan, an inbox or a message brings something")]
        case _:
            return []


def _gone_steps(story: SeatStory, arm: Arm) -> list[Step]:
    unwanted = _unwanted(story)
    if unwanted:
        todo = "`coleo check` shows it" if story.problem else "`coleo seat enable`"
        todo = f"`coleo seat start {story.seat}`" if story.stopped and not story.problem else todo
        return [Step(f"nothing until a person acts: {todo}")]
    if arm.state is ArmState.FAILED:
        return [Step(f"parked until `coleo resume {story.seat}` or a change of its seat.md")]
    if arm.retry_at is not None and arm.retry_at > story.now:
        return [Step("it is started again", arm.retry_at, "after an early death: 1, 2, 4, 8, 16 s; the sixth parks it")]
    if arm.waiting.startswith("max_arms"):
        return [Step("it is started when another arm ends", None, f"max_arms = {story.limits.max_arms}")]
    return [Step("it is started in the next cycle")]


def _acknowledge(held: Held, limits: Limits) -> Step:
    rule = f"an assignment is acknowledged within {limits.acknowledge_s / 60:g} min"
    return Step(
        f"if {held.seat} has not acknowledged {held.task} by then it is open again",
        held.claimed_at + limits.acknowledge_s,
        rule,
    )


def explain_task(story: TaskStory) -> Why:
    """Why a task has its status, who could take it, and what comes next."""
    steps = [] if story.brain is not None else [NO_BRAIN]
    since_at = story.updated_at
    if story.held is not None:
        since_at = story.held.acknowledged_at or story.held.claimed_at
    return Why(
        "task",
        story.task,
        story.status,
        title=story.title,
        since_at=since_at,
        because=tuple(_task_because(story)),
        evidence=tuple(_task_evidence(story)),
        next=(*steps, *_task_steps(story)),
    )


def _task_because(story: TaskStory) -> Iterator[str]:
    held = story.held
    if held is not None:
        accepted = "and acknowledged it" if held.acknowledged_at is not None else "and has not acknowledged it yet"
        yield f"{held.seat} holds it {accepted} (claimed by the {held.by})"
    match story.status:
        case "open" if story.unmet:
            yield "it waits for " + ", ".join(story.unmet)
        case "open" if held is None:
            yield "nobody has claimed it"
        case "done":
            yield "its box is ticked" if story.ticked else "it was completed; its box is not ticked (yet)"
        case "blocked":
            yield f"{story.attempts} attempts failed" if story.attempts else "it was blocked by hand"
            if story.blocked:
                yield story.blocked
        case "withdrawn":
            yield "its line is gone from the plan"
        case _:
            pass
    if story.missing_since_at is not None:
        yield "its line is missing in the plan"
    if story.wanted_by is not None:
        yield f"it is marked for @{story.wanted_by} only"
    for seat in story.declined:
        yield f"{seat} said that it cannot take it"
    if story.similar_to is not None:
        yield f"its title is much like that of {story.similar_to}"


def _task_evidence(story: TaskStory) -> Iterator[str]:
    if story.where:
        yield f"{story.where}, box {'ticked' if story.ticked else 'open'}"
    for number, reason in enumerate(story.reasons, 1):
        yield f"attempt {number}: {reason}"
    if story.holder is not None:
        yield f"the arm of {story.holder.seat} is {story.holder.state.value}"
    if story.result:
        yield f"result: {story.result}"
    if story.last:
        yield story.last


def _task_steps(story: TaskStory) -> list[Step]:
    held = story.held
    if held is not None:
        if held.acknowledged_at is None:
            return [_acknowledge(held, story.limits)]
        if story.holder is not None and not story.holder.alive and not story.holder.parked:
            return [Step(f"the arm of {held.seat} is started again and goes on with it; the claim stays")]
        return [Step(f"{held.seat} completes, fails or releases it")]
    match story.status:
        case "done":
            return [] if story.ticked else [Step("its box is ticked when its file is still and not open elsewhere")]
        case "withdrawn":
            return [Step("if the line comes back it is the same task again")]
        case "blocked":
            return [Step(f"nothing until a person acts: `coleo task reopen {story.task}`")]
        case "failed":
            left = story.limits.max_attempts - story.attempts
            rule = f"max_attempts = {story.limits.max_attempts}"
            return [Step("it is open again" if left > 0 else "it is blocked and a person is told", None, rule)]
        case _:
            return _open_steps(story)


def _open_steps(story: TaskStory) -> list[Step]:
    if story.missing_since_at is not None:
        return [Step("it is withdrawn if a second read finds no line either", None, "two reads at least 10 s apart")]
    if story.unmet:
        return [
            Step(
                "it can be claimed when "
                + ", ".join(story.unmet)
                + (" is" if len(story.unmet) == 1 else " are")
                + " done"
            )
        ]
    if story.wanted_by is not None:
        return [Step(f"it is assigned to {story.wanted_by} as soon as that seat is idle")]
    if story.idle_seats:
        return [Step(f"an idle seat is prompted: {', '.join(story.idle_seats)}")]
    return [Step("a seat claims it when it is free")]
