"""What the brain can ask for. Each effect says why; the daemon carries it out and logs it."""

from __future__ import annotations

from coleo.model.arm import Arm
from coleo.model.record import Record


class SetArm(Record):
    """Write ``run/arms/<seat>.json``; a changed state is one line in the activity log."""

    arm: Arm
    event: str = ""


class Launch(Record):
    """Start a host for this generation of the arm."""

    seat: str
    generation: int


class Stop(Record):
    """End the arm's processes: its own way out, TERM, KILL, each with five seconds."""

    seat: str
    reason: str


class Deliver(Record):
    """Take these messages from the seat's inbox and have them typed as one block."""

    seat: str
    messages: tuple[str, ...]


class Withdraw(Record):
    """Take back a block that still waits at the gate."""

    seat: str
    flight: str
    reason: str


class Finish(Record):
    """The agent has it: the message is processed. receipt: what proves it."""

    seat: str
    message: str
    receipt: str


class GiveBack(Record):
    """The message is back in the inbox: it is proved that the agent has it nowhere."""

    seat: str
    message: str
    reason: str


class Bury(Record):
    """The message cannot be delivered; it goes to ``dead/`` and, unless it only expired, a person is told."""

    seat: str
    message: str
    reason: str
    tell: bool = True


class Settle(Record):
    """Tell the host that a block has its receipt (it stops pressing Enter), or forget a finished one."""

    seat: str
    flight: str


class Assign(Record):
    """Claim a task for a seat and send the assignment."""

    seat: str
    task: str


class Release(Record):
    """Take a claim back: the task is open again, the attempt counts when `attempt` is true."""

    task: str
    seat: str
    token: str
    reason: str
    attempt: bool = True


class Reopen(Record):
    """A failed task gets another attempt."""

    task: str
    reason: str


class Block(Record):
    """Attempts are used up: the task is blocked with its reasons, a person is told."""

    task: str
    reasons: tuple[str, ...]


class Nudge(Record):
    """Put the standard prompt about waiting tasks into the seat's inbox."""

    seat: str
    tasks: tuple[str, ...]
    number: int


class Tell(Record):
    """Tell a person, once per `key`."""

    key: str
    text: str
    seat: str = ""
    task: str = ""


class Note(Record):
    """One line in the activity log."""

    action: str
    fields: tuple[tuple[str, object], ...] = ()


Effect = (
    SetArm
    | Launch
    | Stop
    | Deliver
    | Withdraw
    | Finish
    | GiveBack
    | Bury
    | Settle
    | Assign
    | Release
    | Reopen
    | Block
    | Nudge
    | Tell
    | Note
)
