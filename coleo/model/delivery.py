"""What a host tells of its arm: the state of its screen, and where each prompt stands on its way in.

The brain decides on these, the host writes them, the client carries them; DESIGN.md section 6 has the rules.
"""

from __future__ import annotations

from enum import StrEnum

from coleo.model.arm import ProcessId
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class ScreenState(StrEnum):
    """What the screen of an arm shows.

    starting: no composer yet. ready: it waits for input. busy: a turn runs. dialog: it asks something, an Enter
    would answer it. draft: the composer holds text. unknown: none of these, or the screen cannot be read.
    lost: the process lives without its terminal.
    """

    STARTING = "starting"
    READY = "ready"
    BUSY = "busy"
    DIALOG = "dialog"
    DRAFT = "draft"
    UNKNOWN = "unknown"
    LOST = "lost"


class DeliveryState(StrEnum):
    """Where a prompt stands.

    waiting: at the gate, nothing typed (reason: why). pasted: its text was written, Enter not yet. entered: Enter
    was written. submitted: the composer emptied after Enter (or a line was written to a line reader), or a receipt
    came. unsent: typed, and it stands in the composer or was swallowed: no key will be pressed for it any more.
    failed: it ended before or while its text was written (`DeliveryStatus.pastes` 0: nothing was typed).
    """

    WAITING = "waiting"
    PASTED = "pasted"
    ENTERED = "entered"
    SUBMITTED = "submitted"
    UNSENT = "unsent"
    FAILED = "failed"


#: States that a delivery does not leave.
FINAL = frozenset({DeliveryState.SUBMITTED, DeliveryState.UNSENT, DeliveryState.FAILED})


class DeliveryStatus(Record):
    """One prompt on its way. pastes: 0 or 1, how often its text went out; enters: how often Enter did.

    receipt: None, ``weak`` (the composer emptied), ``typed`` or ``turn`` (told by whoever reads the agent's files).
    at: when `state` was reached.
    """

    id: str
    state: DeliveryState
    reason: str = ""
    pastes: int = 0
    enters: int = 0
    at: float = 0.0
    receipt: str | None = None

    @property
    def typed(self) -> bool:
        """Whether any byte of it may have reached the agent."""
        return self.pastes > 0

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DeliveryStatus:
        """Of the values that `as_dict` gives."""
        return cls(**{**data, "state": DeliveryState(data["state"])})


class Exit(Record):
    """How a process ended: its exit code, or the signal that killed it."""

    code: int | None = None
    signal: int | None = None

    def __str__(self) -> str:
        return f"signal {self.signal}" if self.signal is not None else f"exit code {self.code}"


class HostStatus(Record):
    """Everything that a host knows of its arm right now.

    evidence: which rule matched which row, or the last rows of a screen that no rule knows. typed_at: when a
    person last typed. icanon: the terminal is in line mode. left: processes of the arm that still have to end.
    stopping: why a stop is under way ("" when none is). failure: why the arm could not be started.
    """

    seat: str
    generation: int
    host: ProcessId
    child: ProcessId | None
    alive: bool
    exit: Exit | None
    state: ScreenState
    evidence: str
    since_at: float
    started_at: float
    last_output_at: float | None
    attached: int
    typed_at: float | None
    bytes_out: int
    screen_known: bool
    icanon: bool
    stopping: str = ""
    left: int = 0
    failure: str = ""

    def as_json(self) -> dict[str, Any]:
        """As JSON values: nested records become objects."""
        values = self.as_dict()
        for name in ("host", "child", "exit"):
            values[name] = values[name] and values[name].as_dict()
        return values

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> HostStatus:
        """Of the values that `as_json` gives."""
        values = dict(data)
        values["host"] = ProcessId(**values["host"])
        values["child"] = ProcessId(**values["child"]) if values["child"] else None
        values["exit"] = Exit(**values["exit"]) if values["exit"] else None
        values["state"] = ScreenState(values["state"])
        return cls(**values)
