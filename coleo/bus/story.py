"""What an explanation is made of, collected from the files: the input of `coleo.bus.why`."""

from __future__ import annotations

from coleo.model.arm import Arm
from coleo.model.record import Record


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
    idle_seats: tuple[str, ...] = ()
    similar_to: str | None = None
    result: str = ""
    last: str = ""
    last_at: float | None = None
    limits: Limits = Limits()
