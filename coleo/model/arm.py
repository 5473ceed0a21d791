"""The life of an arm, as one table.

An arm is the agent process that sits in a seat. The brain feeds events to `next_state`; a pair that is not
in the table changes nothing and is logged. The rows are those of the first source document, plus process
death, time-outs and parking (DESIGN.md section 5). Deadlines are kept as stored instants, never as timers:
a restarted brain finds them in ``run/arms/<seat>.json``.

``disconnected`` goes back to the state before it (`Arm.before`), so the table says ``None`` there.
"""

from __future__ import annotations

from enum import StrEnum

from coleo.model.record import Record


class ArmState(StrEnum):
    """Where an arm stands. ``stuck``, ``paused`` and ``intervention`` are conditions, not states."""

    SPAWNING = "spawning"
    STARTING = "starting"
    IDLE = "idle"
    TASK_ASSIGNED = "task_assigned"
    WORKING = "working"
    DISCONNECTED = "disconnected"
    STOPPED = "stopped"
    FAILED = "failed"


class ArmEvent(StrEnum):
    """What can happen to an arm."""

    SPAWN = "SPAWN"
    PROCESS_STARTED = "PROCESS_STARTED"
    HARNESS_CONNECTED = "HARNESS_CONNECTED"
    TASK_ASSIGNED = "TASK_ASSIGNED"
    TASK_ACKNOWLEDGED = "TASK_ACKNOWLEDGED"
    TASK_COMPLETED = "TASK_COMPLETED"
    TASK_FAILED = "TASK_FAILED"
    TASK_RELEASED = "TASK_RELEASED"
    TIMEOUT = "TIMEOUT"
    CONNECTION_LOST = "CONNECTION_LOST"
    CONNECTION_RESTORED = "CONNECTION_RESTORED"
    PROCESS_DIED = "PROCESS_DIED"
    STOP = "STOP"
    PARK = "PARK"


ALIVE = frozenset(
    {
        ArmState.SPAWNING,
        ArmState.STARTING,
        ArmState.IDLE,
        ArmState.TASK_ASSIGNED,
        ArmState.WORKING,
        ArmState.DISCONNECTED,
    }
)

_S, _E = ArmState, ArmEvent

TABLE: dict[tuple[ArmState, ArmEvent], ArmState | None] = {
    (_S.STOPPED, _E.SPAWN): _S.SPAWNING,
    (_S.FAILED, _E.SPAWN): _S.SPAWNING,
    (_S.SPAWNING, _E.PROCESS_STARTED): _S.STARTING,
    (_S.SPAWNING, _E.TIMEOUT): _S.FAILED,
    (_S.STARTING, _E.HARNESS_CONNECTED): _S.IDLE,
    (_S.STARTING, _E.TIMEOUT): _S.FAILED,
    (_S.IDLE, _E.TASK_ASSIGNED): _S.TASK_ASSIGNED,
    (_S.IDLE, _E.TASK_ACKNOWLEDGED): _S.WORKING,
    (_S.IDLE, _E.CONNECTION_LOST): _S.DISCONNECTED,
    (_S.TASK_ASSIGNED, _E.TASK_ACKNOWLEDGED): _S.WORKING,
    (_S.TASK_ASSIGNED, _E.TASK_COMPLETED): _S.IDLE,
    (_S.TASK_ASSIGNED, _E.TASK_FAILED): _S.IDLE,
    (_S.TASK_ASSIGNED, _E.TASK_RELEASED): _S.IDLE,
    (_S.TASK_ASSIGNED, _E.TIMEOUT): _S.IDLE,
    (_S.TASK_ASSIGNED, _E.CONNECTION_LOST): _S.DISCONNECTED,
    (_S.WORKING, _E.TASK_COMPLETED): _S.IDLE,
    (_S.WORKING, _E.TASK_FAILED): _S.IDLE,
    (_S.WORKING, _E.TASK_RELEASED): _S.IDLE,
    (_S.WORKING, _E.CONNECTION_LOST): _S.DISCONNECTED,
    (_S.DISCONNECTED, _E.CONNECTION_RESTORED): None,
    (_S.DISCONNECTED, _E.TASK_COMPLETED): _S.DISCONNECTED,
    (_S.DISCONNECTED, _E.TIMEOUT): _S.STOPPED,
    **{(state, _E.PROCESS_DIED): _S.STOPPED for state in sorted(ALIVE)},
    **{(state, _E.STOP): _S.STOPPED for state in sorted(ALIVE | {_S.FAILED})},
    (_S.STOPPED, _E.PARK): _S.FAILED,
}

START_TIMEOUT_S = 60.0
ACKNOWLEDGE_TIMEOUT_S = 180.0
RECONNECT_TIMEOUT_S = 300.0
RECONNECT_WORKING_TIMEOUT_S = 600.0


def next_state(state: ArmState, event: ArmEvent, before: ArmState | None = None) -> ArmState | None:
    """The state after `event`, or None when the table has no such pair (change nothing, log it).

    before: the state that a disconnected arm had; it returns there (idle when unknown).
    """
    if (state, event) not in TABLE:
        return None
    return TABLE[state, event] or before or ArmState.IDLE


def deadline_s(state: ArmState, before: ArmState | None = None) -> float | None:
    """Seconds that an arm may stay in `state` before TIMEOUT is its next event; None for no limit."""
    match state:
        case ArmState.SPAWNING | ArmState.STARTING:
            return START_TIMEOUT_S
        case ArmState.TASK_ASSIGNED:
            return ACKNOWLEDGE_TIMEOUT_S
        case ArmState.DISCONNECTED:
            return RECONNECT_WORKING_TIMEOUT_S if before is ArmState.WORKING else RECONNECT_TIMEOUT_S
        case ArmState.IDLE | ArmState.WORKING | ArmState.STOPPED | ArmState.FAILED:
            return None


class ProcessId(Record):
    """What a process is: pid, kernel start time in clock ticks since boot, boot id. A pid alone is nobody."""

    pid: int
    start: int
    boot: str


class Arm(Record):
    """What is recorded of a seat's arm: the content of ``run/arms/<seat>.json``, written by the brain only.

    before: the state to return to after `disconnected`. detected_at: when an arm was found running (grace counts
    from there). deaths: early deaths since the last healthy stretch; retry_at: no spawn before. parked: why no spawn
    happens until a person acts or the seat's settings change. stopping: why its end was asked for ("" when it was
    not); final: that end releases its task. freed_at: claims older than this are released, with `freed` as the
    reason, as a failed attempt if `freed_counts`. tasks: what it held when last seen. nudges: prompts in a row
    without progress; offered: the tasks they named. waiting, next, next_at: what it waits for and what comes next.
    """

    seat: str
    state: ArmState = ArmState.STOPPED
    since_at: float = 0.0
    before: ArmState | None = None
    generation: int = 0
    host: ProcessId | None = None
    child: ProcessId | None = None
    spawned_at: float | None = None
    detected_at: float | None = None
    evidence: str = ""
    reason: str = ""
    deaths: int = 0
    retry_at: float | None = None
    parked: str = ""
    parked_at: float | None = None
    config_key: str = ""
    stopping: str = ""
    final: bool = False
    stop_asked_at: float | None = None
    freed_at: float = 0.0
    freed: str = ""
    freed_counts: bool = False
    tasks: tuple[str, ...] = ()
    nudges: int = 0
    prompted_at: float | None = None
    offered: tuple[str, ...] = ()
    waiting: str = ""
    next: str = ""
    next_at: float | None = None

    @property
    def alive(self) -> bool:
        """Whether a process is believed to sit in the seat."""
        return self.state in ALIVE
