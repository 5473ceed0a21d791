"""What happens to a task: claim, acknowledge, progress, complete, fail, release, block, reopen.

Each act is a short row of writes under the lock ``task-<id>``, in an order that a kill can cut anywhere:

    claim      task file is there · claim file (exclusive create) · log · task file says held, with the token
    complete   task file says done, the token is among `ended` · log · claim file removed · box ticked (by the caller)
    fail, release   task file says failed or open, attempt and reason in it, token among `ended` · log · claim removed
    others     task file · log

What a cut leaves, and who mends it (`coleo.files.mend`): a claim whose token the task file does not know is entered
there; a claim whose token has `ended` is removed, and the log line written if it is missing; a task file that says
held without a claim gets its claim again (that is also how claims come back after ``run/`` was deleted); a done task
with an open box is ticked. So the claim file decides who may act, and the task file what is true afterwards.

An old token changes nothing: `Lost` is raised, with who holds the task now, and the caller keeps the text as a note.
"""

from __future__ import annotations

from coleo.files import activity, claims, taskfile
from coleo.files.claims import Claim
from coleo.files.holding import (
    Done,
    Lost,
    claim_in,
    ended_values,
    held_values,
    holder,
    is_over,
    made_again,
    own,
    settled,
)
from coleo.files.layout import Layout
from coleo.model.errors import BadInput, CannotBeDone, Taken
from coleo.model.instant import iso
from coleo.model.plan import Task
from coleo.model.task import MAX_ATTEMPTS, TaskFile, TaskStatus

__all__ = [
    "Done",
    "Lost",
    "acknowledge",
    "block",
    "check_own",
    "check_reason",
    "claim_in",
    "complete",
    "decline",
    "fail",
    "held_values",
    "holder",
    "is_over",
    "keep_text",
    "progress",
    "release",
    "reopen",
    "take",
    "ticked",
]

_HELD = (TaskStatus.CLAIMED, TaskStatus.IN_PROGRESS)


def take(
    layout: Layout,
    task: Task,
    seat: str,
    now: float,
    *,
    by: str = "seat",
    generation: int = 0,
    max_attempts: int = MAX_ATTEMPTS,
) -> Done:
    """Claim a task for a seat. Raises Taken (held), CannotBeDone (done, blocked, withdrawn, out of attempts).

    Dependencies and the ``@seat`` mark are the caller's to check. A seat that claims what it holds already gets its
    claim again.
    """
    with taskfile.lock(layout, task.id):
        there, file = settled(layout, task.id, now)
        if there is not None:
            if there.seat == seat:
                return Done(_entered(layout, task, there, now), made_again(layout, there))
            made_again(layout, there)
            raise claims.taken(layout, task.id)
        _check_free(task.id, file, max_attempts)
        taskfile.touch(layout, task, now, locked=True)
        made = claims.claim(layout, task.id, seat, now, by, generation=generation)
        yes, short = made.acknowledged_at is not None, made.token[:8]
        activity.append(
            layout, "claim_task", now=now, seat=seat, task=task.id, title=task.title, by=by, acknowledged=yes,
            claim=short,
        )  # fmt: skip
        try:
            return Done(_entered(layout, task, made, now), made)
        except BaseException as error:
            claims.release(layout, task.id, made.token)
            why = f"its file could not be written: {type(error).__name__}"
            activity.append(
                layout, "release_task", now=now, seat=seat, task=task.id, reason=why, counts=False, claim=short
            )  # fmt: skip
            raise


def _check_free(task_id: str, file: TaskFile | None, max_attempts: int) -> None:
    if file is None:
        return
    match file.status:
        case TaskStatus.OPEN:
            return
        case TaskStatus.FAILED if file.attempts < max_attempts:
            return
        case TaskStatus.CLAIMED | TaskStatus.IN_PROGRESS:
            raise Taken(
                f"task {task_id} is {file.status.value}", found=f"its file says so, for {file.seat or 'a person'}"
            )
        case _:
            why = f"; the last attempt: {file.reasons[-1]}" if file.reasons else ""
            raise CannotBeDone(
                f"task {task_id} is {file.status.value}{why}", file=file.path,
                todo=f"a person can open it again: coleo task reopen {task_id}",
            )  # fmt: skip


def _entered(layout: Layout, task: Task, made: Claim, now: float) -> TaskFile:
    """The task's file after the claim stands in it. The lock is held."""
    taskfile.touch(layout, task, now, locked=True)
    return taskfile.update(layout, task.id, held_values(made), now, locked=True)


def check_own(layout: Layout, task_id: str, seat: str, now: float, token: str | None = None) -> Done:
    """Whether the seat holds the task (with this token); changes nothing. Raises Lost."""
    with taskfile.lock(layout, task_id):
        mine, file = own(layout, task_id, seat, now, token)
        return Done(file or TaskFile(task_id), mine)


def acknowledge(layout: Layout, task_id: str, seat: str, now: float, *, token: str | None = None) -> Done:
    """The seat says yes to an assignment; a second time changes nothing. Raises Lost."""
    with taskfile.lock(layout, task_id):
        mine, file = own(layout, task_id, seat, now, token)
        if mine.acknowledged_at is not None and file is not None and file.status is TaskStatus.IN_PROGRESS:
            return Done(file, mine)
        mine = claims.acknowledge(layout, task_id, mine.token, now) or mine
        file = taskfile.update(layout, task_id, held_values(mine), now, locked=True)
        activity.append(layout, "acknowledge_task", now=now, seat=seat, task=task_id)
        return Done(file, mine)


def progress(
    layout: Layout, task_id: str, seat: str, text: str, now: float, *, status: str = "", token: str | None = None
) -> Done:
    """A note of the holder, with a status word; it acknowledges an assignment too. Raises Lost."""
    with taskfile.lock(layout, task_id):
        mine, file = own(layout, task_id, seat, now, token)
        values: dict[str, str | int | None] = {}
        if mine.acknowledged_at is None:
            mine = claims.acknowledge(layout, task_id, mine.token, now) or mine
            values = held_values(mine)
            activity.append(layout, "acknowledge_task", now=now, seat=seat, task=task_id)
        if status:
            values["progress"] = status
        file = taskfile.update(
            layout, task_id, values, now, note=(seat, f"[{status}] {text}" if status else text), locked=True
        )  # fmt: skip
        activity.append(layout, "task_progress", now=now, seat=seat, task=task_id, status=status or None, text=text)
        return Done(file, mine)


def complete(
    layout: Layout, task_id: str, seat: str, text: str, now: float, *, output: str = "", token: str | None = None
) -> Done:
    """The holder did it; its verification (`output`) has passed. Raises Lost. The caller ticks the box."""
    with taskfile.lock(layout, task_id):
        mine, file = own(layout, task_id, seat, now, token)
        ended = ended_values(file, mine)
        file = taskfile.update(
            layout, task_id, {**ended, "status": "done", "seat": seat, "done_at": iso(now)}, now,
            result=(seat, text, output), locked=True,
        )  # fmt: skip
        activity.append(layout, "complete_task", now=now, seat=seat, task=task_id, text=text, claim=mine.token[:8])
        claims.release(layout, task_id, mine.token, "done")
        return Done(file, mine)


def fail(
    layout: Layout, task_id: str, seat: str, reason: str, now: float, *, token: str | None = None, final: bool = False
) -> Done:
    """The holder gives up: an attempt counts, the reason is kept. final: blocked at once. Raises Lost."""
    with taskfile.lock(layout, task_id):
        mine, file = own(layout, task_id, seat, now, token)
        attempts = (file.attempts if file else 0) + 1
        values = {
            **ended_values(file, mine),
            "status": "blocked" if final else "failed",
            "seat": None,
            "attempts": attempts,
        }
        file = taskfile.update(layout, task_id, values, now, attempt=(seat, "failed", reason), locked=True)
        activity.append(
            layout, "fail_task", now=now, seat=seat, task=task_id, reason=reason, attempt=attempts,
            claim=mine.token[:8],
        )  # fmt: skip
        claims.release(layout, task_id, mine.token, reason)
        return Done(file, mine)


def release(
    layout: Layout,
    task_id: str,
    reason: str,
    now: float,
    *,
    seat: str | None = None,
    token: str | None = None,
    counts: bool = True,
    declined: bool = False,
) -> Done | None:
    """Take a claim back: the task is open again. None when it is not held (by that seat, with that token).

    counts: as an attempt. declined: the seat cannot do it; others are asked. A status that a person or a completion
    has set meanwhile stays as it is.
    """
    with taskfile.lock(layout, task_id):
        there, file = settled(layout, task_id, now)
        if there is None or seat not in (None, there.seat) or token not in (None, there.token):
            return None
        values: dict[str, str | int | tuple[str, ...] | None] = dict(ended_values(file, there))
        if file is not None:
            if file.status in _HELD:
                values |= {"status": "open", "seat": None}
            if counts:
                values["attempts"] = file.attempts + 1
            if declined and there.seat not in file.declined:
                values["declined"] = (*file.declined, there.seat)
            how = "declined" if declined else "released"
            attempt = (there.seat, how, reason) if counts or declined else None
            file = taskfile.update(layout, task_id, values, now, attempt=attempt, locked=True)
        activity.append(
            layout, "release_task", now=now, seat=there.seat, task=task_id, reason=reason, counts=counts,
            claim=there.token[:8],
        )  # fmt: skip
        claims.release(layout, task_id, there.token, reason)
        return Done(file or TaskFile(task_id), there)


def decline(layout: Layout, task: Task, seat: str, reason: str, now: float) -> TaskFile:
    """A seat that does not hold a task says that it cannot do it: it is left to the others, the reason is a note."""
    with taskfile.lock(layout, task.id):
        file = taskfile.touch(layout, task, now, locked=True)
        if seat not in file.declined:
            values = {"declined": (*file.declined, seat)}
            file = taskfile.update(layout, task.id, values, now, note=(seat, f"declined: {reason}"), locked=True)
            activity.append(layout, "decline_task", now=now, seat=seat, task=task.id, reason=reason)
        return file


def block(layout: Layout, task: Task, reason: str, now: float, *, by: str = "human") -> TaskFile:
    """Nobody is to take it until a person opens it again. A claim on it ends. Raises CannotBeDone when it is done."""
    with taskfile.lock(layout, task.id):
        there, _file = settled(layout, task.id, now)
        file = taskfile.touch(layout, task, now, locked=True)
        if file.status in (TaskStatus.DONE, TaskStatus.WITHDRAWN):
            raise CannotBeDone(f"task {task.id} is {file.status.value}", todo=f"first: coleo task reopen {task.id}")
        values = {**(ended_values(file, there) if there else {}), "status": "blocked", "seat": None}
        file = taskfile.update(layout, task.id, values, now, note=(by, f"blocked: {reason}"), locked=True)
        activity.append(layout, "block_task", now=now, task=task.id, reason=reason, by=by)
        if there:
            claims.release(layout, task.id, there.token, reason)
        return file


def reopen(layout: Layout, task: Task, reason: str, now: float, *, by: str = "human", forget: bool = True) -> TaskFile:
    """Open again what failed, is blocked, done or withdrawn. forget: attempts and refusals count from nothing again.

    Raises CannotBeDone for what a seat holds.
    """
    with taskfile.lock(layout, task.id):
        there, _file = settled(layout, task.id, now)
        taskfile.touch(layout, task, now, locked=True)
        if there is not None:
            raise CannotBeDone(
                f"task {task.id} is held by {there.seat}", todo=f"take it back: coleo task block {task.id}"
            )
        values: dict[str, str | int | tuple[str, ...] | None] = {"status": "open", "seat": None}
        values |= dict.fromkeys(("done_at", "ticked_at", "token", "claimed_at", "acknowledged_at", "by"))
        if forget:
            values |= {"attempts": None, "declined": None}
        file = taskfile.update(layout, task.id, values, now, note=(by, f"opened again: {reason}"), locked=True)
        activity.append(layout, "reopen_task", now=now, task=task.id, reason=reason, by=by)
        return file


def ticked(layout: Layout, task: Task, reason: str, now: float) -> Done | None:
    """The box was ticked by a person: the file says done, a claim ends. None when nobody ever touched the task."""
    with taskfile.lock(layout, task.id):
        there, file = settled(layout, task.id, now)
        if file is None and there is None:
            return None
        file = taskfile.touch(layout, task, now, locked=True)
        if file.status is TaskStatus.DONE and there is None:
            return Done(file, None)
        ended = ended_values(file, there) if there else {}
        file = taskfile.update(
            layout, task.id, {**ended, "status": "done", "done_at": iso(now)}, now, note=("human", reason), locked=True
        )  # fmt: skip
        if there:
            activity.append(
                layout, "release_task", now=now, seat=there.seat, task=task.id, reason=reason, counts=False,
                claim=there.token[:8],
            )  # fmt: skip
            claims.release(layout, task.id, there.token, reason)
        return Done(file, there)


def keep_text(layout: Layout, task: Task, seat: str, text: str, now: float) -> None:
    """No word is lost: what a seat said about a task that it does not hold is a note of that task."""
    if text.strip():
        taskfile.add_note(layout, task, seat, f"(does not hold this task) {text}", now)


def check_reason(reason: str) -> str:
    """The reason itself, or BadInput for none."""
    if not reason.strip():
        raise BadInput("a reason is needed", found=repr(reason), wanted="what went wrong, in a sentence")
    return reason.strip()
