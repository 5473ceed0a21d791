"""What the brain is told in one cycle. All instants are seconds since the epoch, UTC."""

from __future__ import annotations

from coleo.model.arm import Arm
from coleo.model.record import Record


class Rules(Record):
    """The numbers that decisions use; they come from the settings (DESIGN.md sections 5 and 10)."""

    max_arms: int = 8
    grace_s: float = 300.0
    acknowledge_s: float = 180.0
    max_attempts: int = 3
    max_deliveries: int = 5
    nudge_steps_s: tuple[float, ...] = (30.0, 120.0, 300.0, 900.0)
    crash_delays_s: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0)
    early_death_s: float = 60.0
    healthy_s: float = 600.0


class Seen(Record):
    """What is seen of an arm's processes and screen right now; `at` is when the host last said so."""

    host_alive: bool = False
    reachable: bool = False
    child_alive: bool = False
    exit: str = ""
    failure: str = ""
    screen: str = "unknown"
    screen_since_at: float = 0.0
    evidence: str = ""
    at: float = 0.0


class Letter(Record):
    """A message that waits in a seat's inbox. size: bytes it adds to a block; task: that it is about, or ""."""

    id: str
    sender: str
    kind: str
    priority: int
    attempts: int = 0
    expires_at: float | None = None
    size: int = 0
    task: str = ""


class Flight(Record):
    """A block of messages on its way into a terminal.

    messages: ids of the block; generation: of the arm it was typed for; state: what the host says (waiting,
    pasted, entered, submitted, unsent, failed, unknown: the host does not know the id); receipts: "typed" or
    "turn" by message id, as the agent's own files show.
    """

    id: str
    messages: tuple[str, ...]
    generation: int
    state: str = "waiting"
    reason: str = ""
    typed: bool = False
    receipts: tuple[tuple[str, str], ...] = ()
    attempts: int = 0
    since_at: float = 0.0


class SeatFacts(Record):
    """One seat: what people want of it, what is recorded of its arm, what is seen, what waits for it."""

    name: str
    arm: Arm
    seen: Seen
    enabled: bool = True
    stopped: bool = False
    paused: bool = False
    restart_at: float = 0.0
    unpark_at: float = 0.0
    problem: str = ""
    config_key: str = ""
    startup_delay_s: float = 0.0
    max_crashes: int = 5
    deliver_busy: bool = False
    weak_receipts: bool = False
    letters: tuple[Letter, ...] = ()
    flights: tuple[Flight, ...] = ()


class Claimed(Record):
    """Who holds a task: `acknowledged_at` is None until the seat said yes; by: seat, brain or human."""

    seat: str
    token: str
    claimed_at: float
    acknowledged_at: float | None = None
    by: str = "seat"


class Work(Record):
    """A task as plan, task file and claim together tell it.

    status: of the task's file, "open" for an untouched one. ready: dependencies are done and nothing blocks it.
    declined: seats that answered that they cannot take it.
    """

    id: str
    title: str
    status: str = "open"
    seat: str | None = None
    rank: int = 1
    order: int = 0
    ready: bool = True
    claim: Claimed | None = None
    attempts: int = 0
    reasons: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()


class Facts(Record):
    """Everything that one cycle decides on.

    tick: a periodic cycle (reminders come only on these); others are set off by a change. woke_at: when the machine
    last woke from sleep: deadlines that ran meanwhile begin anew.
    stopping: "" or why the brain is going down; keep_arms: it goes alone.
    """

    now: float
    tick: bool
    rules: Rules
    seats: tuple[SeatFacts, ...] = ()
    work: tuple[Work, ...] = ()
    stopping: str = ""
    keep_arms: bool = False
    woke_at: float = 0.0
