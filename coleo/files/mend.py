"""What a kill, a deleted ``run/`` or a hand edit left between a claim and the task's file, set right.

Whoever takes the project calls `mend`: the brain at its start and in each cycle, an agent's verb when no brain lives.
Each rule looks at files only, so it can be cut by a kill and run again (the windows are listed in
`coleo.files.work`).
"""

from __future__ import annotations

from coleo.files import activity, atomic, claims, holding, locks, taskfile
from coleo.files.claims import Claim
from coleo.files.layout import Layout
from coleo.model.errors import ColeoError
from coleo.model.plan import Task
from coleo.model.record import Record
from coleo.model.task import TaskFile, TaskStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_HELD = (TaskStatus.CLAIMED, TaskStatus.IN_PROGRESS)
_LOG_OF = {
    TaskStatus.DONE: "complete_task",
    TaskStatus.FAILED: "fail_task",
    TaskStatus.BLOCKED: "fail_task",
    TaskStatus.OPEN: "release_task",
}


class Mended(Record):
    """One thing set right. what: for a person. seat, task: whom it concerns."""

    what: str
    task: str
    seat: str = ""


def mend(layout: Layout, tasks: Mapping[str, Task], files: Mapping[str, TaskFile], now: float) -> list[Mended]:
    """Bring claims and task files into step. tasks: the plan's; files: `taskfile.read_all`. What was done.

    Lines that a kill kept out of the activity log are written here; that something was mended is the caller's to log.

    A file that cannot be read is left alone: its claim stays as it is.
    """
    done: list[Mended] = []
    held = {claim.task: claim for claim in claims.held(layout)}
    for claim in held.values():
        try:
            one = _claim(layout, claim, files.get(claim.task), tasks.get(claim.task), now)
        except (ColeoError, OSError):
            continue
        if one is not None:
            done.append(one)
    for file in files.values():
        if not file.pending and (file.id in held or file.status not in _HELD):
            continue
        try:
            one = pending(layout, file.id, now) if file.pending else _lost(layout, file.id)
        except (ColeoError, OSError):
            continue
        if one is not None:
            done.append(one)
    return done


def _claim(layout: Layout, claim: Claim, file: TaskFile | None, task: Task | None, now: float) -> Mended | None:
    """A claim that its task's file does not tell of, or tells of as over."""
    if file is not None and file.token == claim.token and file.status in _HELD:
        return None
    with taskfile.lock(layout, claim.task):
        current = claims.read(layout, claim.task)
        file = taskfile.read(layout, claim.task)
        if current is None or current.token != claim.token:
            return None
        if file is not None and holding.is_over(claim, file):
            return put_away(layout, claim, file, now)
        if file is not None and file.token == claim.token:
            return None
        if file is None and task is None:
            return None
        if file is None and task is not None:
            taskfile.touch(layout, task, now, locked=True)
        if not _told(layout, "claim_task", claim):
            activity.append(
                layout, "claim_task", now=now, seat=claim.seat, task=claim.task, by=claim.by,
                claim=claim.token[:8], mended=True,
            )  # fmt: skip
        taskfile.update(layout, claim.task, holding.held_values(claim), now, locked=True)
        return Mended(f"the claim of {claim.seat} on {claim.task} is in the task's file again", claim.task, claim.seat)


def put_away(layout: Layout, claim: Claim, file: TaskFile, now: float) -> Mended:
    """Remove a claim that is over (`holding.is_over`). The task's lock is held."""
    return _over(layout, claim, file, now) if claim.token in file.ended else _by_hand(layout, claim, file, now)


def _over(layout: Layout, claim: Claim, file: TaskFile, now: float) -> Mended:
    """The task's file says that this claim has ended; only its removal is missing, and perhaps its log line."""
    action = _LOG_OF.get(file.status, "release_task")
    if not _told(layout, action, claim):
        activity.append(
            layout, action, now=now, seat=claim.seat, task=claim.task, claim=claim.token[:8], mended=True
        )  # fmt: skip
    claims.release(layout, claim.task, claim.token)
    return Mended(f"the ended claim of {claim.seat} on {claim.task} is removed", claim.task, claim.seat)


def _by_hand(layout: Layout, claim: Claim, file: TaskFile, now: float) -> Mended:
    """A person wrote another status into the file of a task in work: that counts, the claim ends."""
    reason = f"a person set the task to {file.status.value}"
    taskfile.update(layout, claim.task, holding.ended_values(file, claim), now, locked=True)
    activity.append(
        layout, "release_task", now=now, seat=claim.seat, task=claim.task, reason=reason, counts=False,
        claim=claim.token[:8],
    )  # fmt: skip
    from coleo.files import mail

    claims.release(layout, claim.task, claim.token, reason)
    text = f"You no longer hold task {claim.task}: {reason}. What you have done so far stays where it is."
    mail.send(
        layout, claim.seat, "brain", text, kind="notice", message_id=f"{claim.task}-taken-{claim.token[:8]}",
        task=claim.task, now=now,
    )  # fmt: skip
    return Mended(f"{reason}: {claim.seat} does not hold {claim.task} any more", claim.task, claim.seat)


def _lost(layout: Layout, task_id: str) -> Mended | None:
    """A task file that says held, and no claim: it was lost with ``run/``, or taken by ``git clean``."""
    with taskfile.lock(layout, task_id):
        file = taskfile.read(layout, task_id)
        there = holding.claim_in(file) if file else None
        if there is None or claims.read(layout, task_id) is not None:
            return None
        claims.claim(
            layout, task_id, there.seat, there.claimed_at, there.by, generation=there.generation,
            token=there.token, acknowledged=there.acknowledged_at is not None,
        )  # fmt: skip
    return Mended(f"the claim of {there.seat} on {task_id} is made again from the task's file", task_id, there.seat)


def pending(layout: Layout, task_id: str, now: float) -> Mended | None:
    """A task that a seat made, whose line did not get into the plan: it is written now, once.

    Raises Taken while its maker is still at it, CannotBeDone when nothing can be added to the plan.
    """
    with locks.hold(layout.lock(f"task-{task_id}"), wait_s=0, note="task"):
        file = taskfile.read(layout, task_id)
        if file is None or not file.pending:
            return None
        into_plan(layout, file, now)
    return Mended(f"task {task_id} is in the plan now", task_id)


def into_plan(layout: Layout, file: TaskFile, now: float) -> None:
    """Write the pending line of a task at the end of the plan, unless its id stands there. The task's lock is held."""
    from coleo.files import plan
    from coleo.files.planadd import PlanItem

    mark = f"^{file.id}".encode()
    words = (atomic.read(layout.plan) or b"").split()
    if mark not in words:
        plan.add_items(layout, [PlanItem(file.pending.encode("utf-8", "replace"))])
    taskfile.update(layout, file.id, {"pending": None}, now, locked=True)


def _told(layout: Layout, action: str, claim: Claim) -> bool:
    """Whether the log has the line already; looked up only after a kill, in the last lines."""
    from coleo.files import history

    def fits(entry: dict[str, object]) -> bool:
        same = entry.get("task") == claim.task and entry.get("seat") == claim.seat
        return same and entry.get("action") == action and entry.get("claim") == claim.token[:8]

    return bool(history.tail(layout, 1, match=fits))
