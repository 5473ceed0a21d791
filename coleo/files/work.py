"""What happens to a task: claim, acknowledge, progress, complete, fail, release, block, reopen.

Each act is a short row of writes under the lock ``task-<id>``, in an order that a kill can cut anywhere:

    claim      claim file (exclusive create) · task file says held, with the token · log
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
from coleo.files.layout import Layout
from coleo.model.errors import BadInput, CannotBeDone, Taken
from coleo.model.instant import iso, parse
from coleo.model.plan import Task
from coleo.model.record import Record
from coleo.model.task import MAX_ATTEMPTS, TaskFile, TaskStatus

ENDED_KEPT = 12
_HELD = (TaskStatus.CLAIMED, TaskStatus.IN_PROGRESS)


class Lost(Taken):
    """The caller does not hold the task (any more): nothing was changed."""


class Done(Record):
    """What an act left: the task's file, and the claim that it made, used or ended."""

    file: TaskFile
    claim: Claim | None


def holder(layout: Layout, task_id: str, file: TaskFile | None = None) -> Claim | None:
    """Who holds a task: by its claim, or by its file when the claim was lost with ``run/``."""
    there = claims.read(layout, task_id)
    if there is not None:
        return there
    file = file or taskfile.read(layout, task_id)
    return claim_in(file) if file else None


def claim_in(file: TaskFile) -> Claim | None:
    """The claim that a task's file remembers; None when it says that nobody holds it."""
    if file.status not in _HELD or not file.seat or not file.token or file.token in file.ended:
        return None
    at = parse(file.claimed_at) or parse(file.updated_at) or 0.0
    yes = parse(file.acknowledged_at) if file.acknowledged_at else None
    return Claim(file.id, file.seat, file.token, at, yes, file.generation, file.by or "seat")


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
        file = taskfile.read(layout, task.id)
        there = holder(layout, task.id, file)
        if there is not None:
            if there.seat == seat:
                return Done(_entered(layout, task, there, now), _made_again(layout, there))
            _made_again(layout, there)
            raise claims.taken(layout, task.id)
        _check_free(task.id, file, max_attempts)
        made = claims.claim(layout, task.id, seat, now, by, generation=generation)
        try:
            file = _entered(layout, task, made, now)
        except BaseException:
            claims.release(layout, task.id, made.token)
            raise
        yes = made.acknowledged_at is not None
        activity.append(
            layout, "claim_task", now=now, seat=seat, task=task.id, title=task.title, by=by, acknowledged=yes,
            claim=made.token[:8],
        )  # fmt: skip
        return Done(file, made)


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


def held_values(made: Claim) -> dict[str, str | int | None]:
    """The front matter of a task that is held by this claim."""
    yes = made.acknowledged_at
    return {
        "status": (TaskStatus.CLAIMED if yes is None else TaskStatus.IN_PROGRESS).value,
        "seat": made.seat,
        "token": made.token,
        "claimed_at": iso(made.claimed_at),
        "acknowledged_at": None if yes is None else iso(yes),
        "by": made.by,
        "generation": made.generation or None,
    }


def _made_again(layout: Layout, there: Claim) -> Claim:
    """The claim with its file in place."""
    if claims.read(layout, there.task) is None:
        claims.claim(
            layout, there.task, there.seat, there.claimed_at, there.by, generation=there.generation,
            token=there.token, acknowledged=there.acknowledged_at is not None,
        )  # fmt: skip
    return there


def own(layout: Layout, task_id: str, seat: str, token: str | None = None) -> tuple[Claim, TaskFile | None]:
    """The claim of this seat (and this token, when one is brought) on a task. Raises Lost. The lock is held."""
    file = taskfile.read(layout, task_id)
    there = holder(layout, task_id, file)
    if there is None:
        state = f"it is {file.status.value}" if file else "nobody has claimed it"
        raise Lost(
            f"you do not hold task {task_id}", found=state, todo=f"claim it first: coleo bus claim-task {task_id}"
        )  # fmt: skip
    if there.seat != seat:
        raise Lost(
            f"you do not hold task {task_id} any more",
            found=f"held by {there.seat} since {iso(there.claimed_at)}",
            todo="take another one: coleo bus get-full-briefing",
        )
    if token is not None and token != there.token:
        raise Lost(
            f"this token of task {task_id} is an old one", found=f"a newer claim of {iso(there.claimed_at)}",
            todo="leave the token out to act for the claim that you hold now",
        )  # fmt: skip
    return _made_again(layout, there), file


def check_own(layout: Layout, task_id: str, seat: str, token: str | None = None) -> Done:
    """Whether the seat holds the task (with this token); changes nothing. Raises Lost."""
    with taskfile.lock(layout, task_id):
        mine, file = own(layout, task_id, seat, token)
        return Done(file or TaskFile(task_id), mine)


def acknowledge(layout: Layout, task_id: str, seat: str, now: float, *, token: str | None = None) -> Done:
    """The seat says yes to an assignment; a second time changes nothing. Raises Lost."""
    with taskfile.lock(layout, task_id):
        mine, file = own(layout, task_id, seat, token)
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
        mine, file = own(layout, task_id, seat, token)
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
        mine, file = own(layout, task_id, seat, token)
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
        mine, file = own(layout, task_id, seat, token)
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
        file = taskfile.read(layout, task_id)
        there = holder(layout, task_id, file)
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


def ended_values(file: TaskFile | None, mine: Claim) -> dict[str, str | int | tuple[str, ...] | None]:
    """The front matter of a claim that is over: its token can change nothing any more."""
    before = tuple(token for token in (file.ended if file else ()) if token != mine.token)
    gone: dict[str, str | int | tuple[str, ...] | None] = dict.fromkeys(
        ("token", "claimed_at", "acknowledged_at", "by", "generation", "progress")
    )
    return {**gone, "ended": (*before, mine.token)[-ENDED_KEPT:]}


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
        file = taskfile.touch(layout, task, now, locked=True)
        if file.status in (TaskStatus.DONE, TaskStatus.WITHDRAWN):
            raise CannotBeDone(f"task {task.id} is {file.status.value}", todo=f"first: coleo task reopen {task.id}")
        there = holder(layout, task.id, file)
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
        file = taskfile.touch(layout, task, now, locked=True)
        there = holder(layout, task.id, file)
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
        file = taskfile.read(layout, task.id)
        there = holder(layout, task.id, file)
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
