"""Verbs about tasks: claim, acknowledge, progress, complete, fail, release.

Completing is a row of steps that a kill may cut anywhere: verify (changes nothing), then `work.complete` (see there),
then the box. With a brain alive the brain ticks it; without one it is ticked here, and what a kill left unticked is
ticked by the next brain, or by the next verb that finds it.
"""

from __future__ import annotations

from coleo.bus import doorbell, planread, tasks, verify
from coleo.bus.context import Context, Reply
from coleo.bus.tasks import Board, TaskView
from coleo.files import taskfile, work
from coleo.files.work import Lost
from coleo.model.errors import BadInput, CannotBeDone, Taken
from coleo.model.instant import iso
from coleo.model.names import check_task
from coleo.model.prompt import one_line, quote
from coleo.model.task import MAX_ATTEMPTS, TaskStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SHOWN_LINES = 10
"""Lines of a passed verification's output that the agent is shown; its file has more."""

HOW = (
    "Say where it stands:  coleo bus task-progress {id} '<what was done>' --status on_track\n"
    "When it is done:      coleo bus complete-task {id} '<what was done>'\n"
    "When you cannot:      coleo bus fail-task {id} '<why>'"
)


def known(board: Board, task_id: str) -> TaskView:
    """The task with this id, or BadInput with ids that are alike."""
    found = board.get(check_task(task_id))
    if found is not None:
        if found.problem:
            raise BadInput(f"the file of task {task_id} cannot be read", found=found.problem, todo="a person mends it")
        return found
    from difflib import get_close_matches

    near = get_close_matches(task_id, [*board.tasks, *board.files], n=3, cutoff=0.6)
    wanted = " or ".join(near) or "an id as coleo bus get-full-briefing shows it"
    raise BadInput(f"there is no task {one_line(task_id)}", wanted=wanted)


def claim_task(ctx: Context, task: str) -> Reply:
    """Take a task for the calling seat; the claim is acknowledged at once. Raises Taken, CannotBeDone, BadInput."""
    me = ctx.me()
    board = tasks.mended_board(ctx.layout, ctx.now)
    one = known(board, task)
    if one.holder != me:
        _check_free(board, one, me)
    done = work.take(ctx.layout, one.task, me, ctx.now, generation=ctx.generation)
    doorbell.ring(ctx.layout, "claims")
    one = one.replace(file=done.file, claim=done.claim, status=TaskStatus.IN_PROGRESS)
    text = f"Task {one.id} is yours.\n{describe(one)}\n\n{HOW.format(id=one.id)}"
    token = done.claim.token if done.claim else ""
    return Reply(text, {"task": one.facts(), "token": token, "holder": me})


def _check_free(board: Board, one: TaskView, me: str) -> None:
    """Why this seat may not take it, as an error."""
    if one.holder is not None and one.claim is not None:
        raise Taken(
            f"task {one.id} is taken",
            found=f"held by {one.holder} since {iso(one.claim.claimed_at)}",
            todo="take another one: coleo bus get-full-briefing",
        )
    todo = "take another one: coleo bus get-full-briefing"
    if one.status in (TaskStatus.DONE, TaskStatus.BLOCKED) or not one.in_plan:
        why = f"; its last attempt: {one_line(one.reasons[-1])}" if one.reasons else ""
        state = one.status.value if one.in_plan else "not in the plan any more"
        raise CannotBeDone(f"task {one.id} is {state}{why}", todo=todo)
    if one.seat not in (None, me):
        raise CannotBeDone(f"task {one.id} is marked @{one.seat}: only that seat may take it", todo=todo)
    if one.waiting_for:
        waits = ", ".join(f"{ref} ({_state(board, ref)})" for ref in one.waiting_for)
        raise CannotBeDone(f"task {one.id} waits for {waits}", todo=todo)
    if one.status is TaskStatus.FAILED and one.attempts >= MAX_ATTEMPTS:
        raise CannotBeDone(f"task {one.id} failed {one.attempts} times: a person has to look at it", todo=todo)


def _state(board: Board, ref: str) -> str:
    return board.status(ref).value if ref in board.tasks else "there is no such task"


def describe(one: TaskView) -> str:
    """A task for a model: what others wrote in it is quoted line by line (case h08), where it comes from is ours."""
    rows = [quote(one.title), f"Source: {one_line(one.source)}"]
    if one.section:
        rows.append(f"Section: {one_line(one.section)}")
    if one.description:
        rows += ["Description:", quote(one.description)]
    if one.task.comments:
        rows += ["Comments:", quote("\n".join(one.task.comments))]
    if one.notes:
        rows += ["Notes:", quote("\n".join(one.notes))]
    if one.reasons:
        rows += ["Earlier attempts:", quote("\n".join(one.reasons))]
    if one.task.verify:
        rows += ["It is verified by:", quote(one.task.verify)]
    return "\n".join(rows)


def acknowledge_task(ctx: Context, task: str, token: str | None = None) -> Reply:
    """Say yes to an assignment. Raises Lost (3) when another seat holds it or nobody does."""
    me = ctx.me()
    check_task(task)
    done = work.acknowledge(ctx.layout, task, me, ctx.now, token=token)
    doorbell.ring(ctx.layout, "claims")
    return Reply(
        f"Task {task} is acknowledged.\n{HOW.format(id=task)}", {"task": task, "status": done.file.status.value}
    )


def task_progress(ctx: Context, task: str, text: str, status: str = "", token: str | None = None) -> Reply:
    """Note where the task stands; an assignment is acknowledged by it. Raises Lost; the text is kept as a note then."""
    me = ctx.me()
    if not text.strip():
        raise BadInput("task-progress: the text is empty", wanted="what was done, what is next")
    _mine(ctx, task, text, lambda: work.progress(ctx.layout, task, me, text, ctx.now, status=status, token=token))
    doorbell.ring(ctx.layout, "tasks")
    return Reply(f"Noted in task {task}.", {"task": task, "status": status or None})


def complete_task(ctx: Context, task: str, text: str = "", token: str | None = None) -> Reply:
    """Verify, record, tick. Raises Lost, or CannotBeDone when the verification fails: the task stays the seat's."""
    me = ctx.me()
    board = tasks.mended_board(ctx.layout, ctx.now)
    one = known(board, task)
    if one.file is not None and one.file.status is TaskStatus.DONE and one.file.seat == me:
        if text.strip() and text.strip() not in one.result:
            taskfile.add_note(ctx.layout, one.task, me, text, ctx.now)
        return Reply(f"Task {task} is done already.", {"task": task, "status": "done", "ticked": one.task.done})
    _mine(ctx, task, text, lambda: work.check_own(ctx.layout, task, me, ctx.now, token))
    checked = verify.run(ctx, one.task)
    if checked is not None and not checked.passed:
        said = f"{text}\n" if text.strip() else ""
        note = f"{said}Verification failed ({checked.how}): {checked.command}\n\n{verify.block(checked.output)}"
        _mine(
            ctx,
            task,
            note,
            lambda: work.progress(ctx.layout, task, me, note, ctx.now, status="issues_found", token=token),
        )
        raise CannotBeDone(
            f"task {task} is not done: its verification failed ({checked.how})",
            found=f"{checked.command}\n{quote(checked.output)}",
            todo=f"mend it and call again: coleo bus complete-task {task}",
        )
    output = f"$ {checked.command}\n{checked.output}" if checked else ""
    _mine(ctx, task, text, lambda: work.complete(ctx.layout, task, me, text, ctx.now, output=output, token=token))
    ticked = one.task.done
    if not ticked and one.in_plan and not planread.brain_lives(ctx.layout):
        ticked = planread.tick(ctx.layout, one.task, ctx.now)
    doorbell.ring(ctx.layout, "tasks")
    proof = f"\nVerified by: {one_line(checked.command)}" if checked else ""
    if checked and checked.output:
        proof += "\n" + quote("\n".join(checked.output.split("\n")[-SHOWN_LINES:]))
    box = (
        "its box is ticked"
        if ticked
        else "the brain ticks its box"
        if one.in_plan
        else "its line is gone from the plan"
    )
    data = {
        "task": task,
        "status": "done",
        "ticked": ticked,
        "verified": checked.command if checked else None,
        "output": checked.output if checked else None,
    }
    return Reply(f"Task {task} is done; {box}.{proof}", data)


def fail_task(ctx: Context, task: str, reason: str, final: bool = False, token: str | None = None) -> Reply:
    """This attempt failed; the third one blocks the task. Raises Lost; the reason is kept as a note then."""
    me = ctx.me()
    reason = work.check_reason(reason)
    done = _mine(
        ctx, task, reason, lambda: work.fail(ctx.layout, task, me, reason, ctx.now, token=token, final=final)
    )  # fmt: skip
    blocked = final
    if not final and done.file.attempts >= MAX_ATTEMPTS and not planread.brain_lives(ctx.layout):
        one = known(tasks.mended_board(ctx.layout, ctx.now), task)
        work.block(ctx.layout, one.task, f"{done.file.attempts} attempts failed", ctx.now, by="coleo")
        blocked = True
    doorbell.ring(ctx.layout, "tasks")
    what = "it is blocked until a person looks at it" if blocked else "it can be tried again"
    return Reply(
        f"Task {task} failed (attempt {done.file.attempts}); {what}.",
        {"task": task, "status": "blocked" if blocked else "failed", "attempts": done.file.attempts},
    )


def release_task(ctx: Context, task: str, reason: str, cannot: bool = False, token: str | None = None) -> Reply:
    """Give a task back (it counts as an attempt), or with `cannot` leave it to the other seats (it does not)."""
    me = ctx.me()
    reason = work.check_reason(reason)
    one = known(tasks.mended_board(ctx.layout, ctx.now), task)
    if cannot and one.holder != me:
        work.decline(ctx.layout, one.task, me, reason, ctx.now)
    else:
        _mine(ctx, task, reason, lambda: work.check_own(ctx.layout, task, me, ctx.now, token))
        work.release(
            ctx.layout, task, reason, ctx.now, seat=me, token=token, counts=not cannot, declined=cannot
        )  # fmt: skip
    doorbell.ring(ctx.layout, "tasks")
    left = "left to the other seats" if cannot else "open again"
    return Reply(f"Task {task} is {left}.", {"task": task, "declined": cannot})


def _mine(ctx: Context, task: str, text: str, act: Callable[[], work.Done]) -> work.Done:
    """Do it as the holder. When the seat does not hold the task, what it said is kept as a note, and Lost is raised."""
    try:
        return act()
    except Lost as error:
        board = tasks.board(ctx.layout, ctx.now)
        one = board.get(task)
        if one is None:
            known(board, task)
        elif text.strip() and not one.problem:
            work.keep_text(ctx.layout, one.task, ctx.me(), text, ctx.now)
            error.message += "; what you said is kept as a note of the task"
        raise
