"""What an explanation is made of, collected from the files: the input of `coleo.bus.why`."""

from __future__ import annotations

from coleo.bus import overview, tasks
from coleo.bus.tasks import TaskView
from coleo.files import arms, desired, history, mailbox
from coleo.files.claims import Claim
from coleo.files.layout import Layout
from coleo.model.arm import Arm, ArmState
from coleo.model.errors import ColeoError
from coleo.model.instant import parse
from coleo.model.message import PRIORITIES
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORDS = {number: word for word, number in PRIORITIES.items()}
#: How many bytes of the log are looked through for the last entry about a seat or a task.
LOOK_BACK = 4 << 20
#: How many characters of that entry are told.
LAST_SHOWN = 160


class Limits(Record):
    """The settings that decide what comes next, in seconds and counts."""

    acknowledge_s: float = 180.0
    grace_s: float = 300.0
    max_attempts: int = 3
    max_arms: int = 8


class Held(Record):
    """A claim as it is explained: who holds which task, since when, by whose hand."""

    task: str
    title: str
    seat: str
    claimed_at: float
    acknowledged_at: float | None = None
    by: str = "seat"


class Waiting(Record):
    """A message that has no turn receipt yet; folder: inbox or inflight."""

    id: str
    sender: str
    priority: str
    folder: str
    attempts: int = 0
    typed_at: float | None = None
    reason: str = ""


class SeatStory(Record):
    """Everything that an explanation of a seat is made of. brain: pid of the running one, None without."""

    seat: str
    now: float
    brain: int | None = None
    arm: Arm | None = None
    enabled: bool = True
    stopped: bool = False
    paused: bool = False
    restart_at: float = 0.0
    held: tuple[Held, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    dead: int = 0
    quarantined: int = 0
    free_tasks: int = 0
    last: str = ""
    last_at: float | None = None
    problem: str = ""
    limits: Limits = Limits()


class TaskStory(Record):
    """Everything that an explanation of a task is made of.

    unmet: the dependencies that it waits for. wanted_by: the seat that it is marked for. reasons: of its attempts.
    blocked: the note with which it was blocked last.
    """

    task: str
    title: str
    now: float
    brain: int | None = None
    status: str = "open"
    updated_at: float | None = None
    where: str = ""
    ticked: bool = False
    missing_since_at: float | None = None
    held: Held | None = None
    holder: Arm | None = None
    unmet: tuple[str, ...] = ()
    wanted_by: str | None = None
    declined: tuple[str, ...] = ()
    attempts: int = 0
    reasons: tuple[str, ...] = ()
    blocked: str = ""
    idle_seats: tuple[str, ...] = ()
    similar_to: str | None = None
    result: str = ""
    last: str = ""
    last_at: float | None = None
    limits: Limits = Limits()


def of_seat(layout: Layout, seat: str, now: float) -> SeatStory:
    """Collect what is known of a seat."""
    board = tasks.board(layout, now)
    wishes = desired.read(layout)
    wish = wishes.of(seat)
    enabled, problem = _configuration(layout, seat)
    last, last_at = _last(layout, "seat", seat)
    return SeatStory(
        seat,
        now,
        brain=_brain(layout),
        arm=arms.read(layout, seat),
        enabled=enabled,
        stopped=wish.stopped,
        paused=wishes.paused(seat),
        restart_at=wish.restart_at,
        held=tuple(_held(one) for one in board.of_seat(seat)),
        waiting=tuple(_waiting(layout, seat)),
        dead=len(mailbox.undelivered(layout, seat)),
        quarantined=len(mailbox.names(mailbox.folder(layout, seat, "quarantine"))),
        free_tasks=len(board.free_for(seat)),
        last=last,
        last_at=last_at,
        problem=problem,
        limits=limits(layout),
    )


def of_task(layout: Layout, view: TaskView, now: float) -> TaskStory:
    """Collect what is known of a task."""
    recorded = arms.read_all(layout)
    last, last_at = _last(layout, "task", view.id)
    file = view.file
    idle = [name for name, arm in recorded.items() if arm.state is ArmState.IDLE and view.fits(name)]
    return TaskStory(
        view.id,
        view.title,
        now,
        brain=_brain(layout),
        status=view.status.value,
        updated_at=parse(file.updated_at) if file else None,
        where=f"{view.task.file}:{view.task.line}" if view.in_plan and view.task.line else "",
        ticked=view.task.done,
        missing_since_at=view.task.missing_since_at,
        held=_held(view) if view.claim is not None else None,
        holder=recorded.get(view.holder or ""),
        unmet=view.waiting_for,
        wanted_by=view.seat,
        declined=view.declined,
        attempts=view.attempts,
        reasons=view.reasons,
        blocked=next((note for note in reversed(file.notes) if "blocked: " in note), "") if file else "",
        idle_seats=tuple(idle),
        similar_to=view.task.similar_to,
        result=view.result,
        last=last,
        last_at=last_at,
        limits=limits(layout),
    )


def limits(layout: Layout) -> Limits:
    """The settings that count here; the defaults when the settings cannot be read (`coleo check` says why)."""
    from coleo.files import settings

    try:
        brain = settings.load(layout).settings.brain
    except ColeoError:
        return Limits()
    return Limits(
        acknowledge_s=brain.claim_ack_minutes * 60.0,
        grace_s=brain.arm_grace_period_minutes * 60.0,
        max_attempts=brain.max_attempts,
        max_arms=brain.max_arms,
    )


def _brain(layout: Layout) -> int | None:
    facts = overview.brain(layout)
    return (facts["pid"] or 0) if facts["running"] else None


def _configuration(layout: Layout, seat: str) -> tuple[bool, str]:
    from coleo.files import seatfile

    try:
        return seatfile.read(layout, seat).enabled, ""
    except ColeoError as error:
        return True, str(error)


def _held(view: TaskView) -> Held:
    claim = view.claim or Claim(view.id, view.holder or "?", "", 0.0)
    return Held(view.id, view.title, claim.seat, claim.claimed_at, claim.acknowledged_at, claim.by)


def _waiting(layout: Layout, seat: str) -> list[Waiting]:
    found = []
    for box in ("inflight", "inbox"):
        for message in mailbox.read_all(layout, seat, box):
            word = _WORDS.get(message.priority, "low")
            found.append(
                Waiting(message.id, message.sender, word, box, message.attempts, message.typed_at, message.reason)
            )
    return found


def _last(layout: Layout, field: str, value: str) -> tuple[str, float | None]:
    """The last entry of the log about it, as words."""

    def about(entry: dict[str, Any]) -> bool:
        return entry.get(field) == value

    found = history.tail(layout, 1, match=about, within=LOOK_BACK)
    if not found:
        return "", None
    entry = found[0]
    rest = ", ".join(str(entry[name]) for name in ("task", "title", "text", "reason") if entry.get(name))
    rest = rest if len(rest) <= LAST_SHOWN else rest[:LAST_SHOWN] + "…"
    at = parse(str(entry.get("ts", "")))
    return f"last in the log: {entry.get('action', '?')}" + (f" ({rest})" if rest else ""), at
