"""A task in work: statuses, what may follow what, and what its file remembers.

Theory of operation. Of a task, the plan owns the words and the box, ``run/claims`` who holds it, and its file in
``tasks/`` everything else: last known status, attempts with their reasons, notes, result. `next_status` is the one
table of what an event does to a status; a pair that is not in it changes nothing and is refused with a word.

``failed`` says how the last attempt ended; the brain opens the task again (or, after `max_attempts`, blocks it with
the reasons), and with no brain alive a claim does the same. A person may write any status into the file by hand.
"""

from __future__ import annotations

from enum import StrEnum

from coleo.model.record import Record

MAX_ATTEMPTS = 3


class TaskStatus(StrEnum):
    """Where a task stands."""

    OPEN = "open"
    CLAIMED = "claimed"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DONE = "done"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"


class TaskEvent(StrEnum):
    """What can happen to a task."""

    CLAIM = "claim"
    ACKNOWLEDGE = "acknowledge"
    COMPLETE = "complete"
    FAIL = "fail"
    RELEASE = "release"
    BLOCK = "block"
    REOPEN = "reopen"
    TICK = "tick"
    UNTICK = "untick"
    WITHDRAW = "withdraw"
    RETURN = "return"


_S, _E = TaskStatus, TaskEvent
_HELD = (_S.CLAIMED, _S.IN_PROGRESS)

TABLE: dict[tuple[TaskStatus, TaskEvent], TaskStatus] = {
    (_S.OPEN, _E.CLAIM): _S.CLAIMED,
    (_S.FAILED, _E.CLAIM): _S.CLAIMED,
    (_S.CLAIMED, _E.ACKNOWLEDGE): _S.IN_PROGRESS,
    (_S.IN_PROGRESS, _E.ACKNOWLEDGE): _S.IN_PROGRESS,
    **{(status, _E.COMPLETE): _S.DONE for status in _HELD},
    **{(status, _E.FAIL): _S.FAILED for status in _HELD},
    **{(status, _E.RELEASE): _S.OPEN for status in _HELD},
    **{(status, _E.BLOCK): _S.BLOCKED for status in _S if status not in (_S.DONE, _S.WITHDRAWN)},
    **{(status, _E.REOPEN): _S.OPEN for status in (_S.FAILED, _S.BLOCKED, _S.DONE, _S.WITHDRAWN)},
    **{(status, _E.TICK): _S.DONE for status in _S if status is not _S.DONE},
    (_S.DONE, _E.UNTICK): _S.OPEN,
    **{(status, _E.WITHDRAW): _S.WITHDRAWN for status in _S if status not in (*_HELD, _S.DONE, _S.WITHDRAWN)},
    (_S.WITHDRAWN, _E.RETURN): _S.OPEN,
}


def next_status(status: TaskStatus, event: TaskEvent) -> TaskStatus | None:
    """The status after `event`; None when the table has no such pair (a claim is never withdrawn, done stays done)."""
    return TABLE.get((status, event))


class TaskFile(Record):
    """What the file of a touched task remembers.

    id, title, section, file, number: the identity that keeps the id for good. status: last known. seat: who holds it
    or, when done, who did it. token, claimed_at, acknowledged_at, by, generation: the claim, so that a lost
    ``run/claims`` can be made again from here. ended: tokens that changed the task for the last time (an old token
    changes nothing). attempts: how many count; reasons: of all of them, oldest first. declined: seats that cannot do
    it. origin: ``plan``, ``inbox`` or ``seat:<name>`` (who wrote it). pending: the words of its line while that is
    still to be written into the plan. progress: the last status word of task-progress. Times as in the file (ISO, UTC).
    description, notes, result: from the body. path: of the file. partial: read from an
    index that leaves these three out.
    """

    id: str
    title: str = ""
    section: str | None = None
    file: str = "plan.md"
    number: int = 1
    status: TaskStatus = TaskStatus.OPEN
    seat: str | None = None
    token: str = ""
    claimed_at: str = ""
    acknowledged_at: str = ""
    by: str = ""
    generation: int = 0
    ended: tuple[str, ...] = ()
    origin: str = "plan"
    attempts: int = 0
    reasons: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    progress: str = ""
    pending: str = ""
    created_at: str = ""
    updated_at: str = ""
    done_at: str = ""
    ticked_at: str = ""
    description: str = ""
    notes: tuple[str, ...] = ()
    result: str = ""
    path: str = ""
    partial: bool = False
