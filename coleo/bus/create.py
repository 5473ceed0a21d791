"""``create-task``: a seat adds a task to the plan.

The task's file is written first, with who wrote it (`trust` depends on it) and the line that is still ``pending``;
then the line is appended below ``## Inbox``; then the mark is removed. What a kill cuts is done by the next brain or
verb (`coleo.files.mend.pending`), and never twice: the line carries its id.

A title is text, whatever it looks like: what would be a mark, a link or a comment in the plan is escaped.
"""

from __future__ import annotations

import os
import re

from coleo.bus import doorbell, tasks
from coleo.bus.context import Context, Reply, unknown_seat
from coleo.files import activity, mail, mend, taskfile
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.names import check_seat, check_task
from coleo.model.plan import PLAN, Task
from coleo.model.prompt import one_line, quote

TITLE_LIMIT = 300
DESCRIPTION_LIMIT = 256 * 1024

_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
_MARKUP = re.compile(r"\\(?=[!-/:-@\[-`{-~])|<(?=[A-Za-z/?])|(?<=<)!|\[(?=.*\])|(?<!\S)[@!^](?=\S)|(?<=\bafter)(?=:)")


def create_task(
    ctx: Context,
    title: str,
    description: str = "",
    assignee: str | None = None,
    after: list[str] | None = None,
    priority: str = "normal",
) -> Reply:
    """Add a task. Raises BadInput for an empty title, an unknown seat or dependency; CannotBeDone when the plan's end
    is not open for a list (the task is kept, and added when that is mended)."""
    me = ctx.me()
    words = check_title(title)
    if len(description.encode("utf-8", "replace")) > DESCRIPTION_LIMIT:
        raise BadInput("the description is too long", wanted=f"at most {DESCRIPTION_LIMIT} bytes; put it into a file")
    board = tasks.mended_board(ctx.layout, ctx.now)
    if assignee is not None and check_seat(assignee) not in ctx.layout.seats_present():
        raise unknown_seat(ctx.layout, assignee)
    for ref in after or ():
        if check_task(ref) not in board.tasks:
            raise BadInput(f"there is no task {ref} to wait for", found=ref, wanted="the id of a task of the plan")
    task_id = new_id({*board.tasks, *board.files})
    task = Task(task_id, words, "Inbox", PLAN, description=description, origin=f"seat:{me}")
    line = plan_line(words, task_id, assignee, after or (), priority)
    problem = _write(ctx, task, line)
    activity.append(
        ctx.layout, "create_task", now=ctx.now, seat=me, task=task_id, title=words, assignee=assignee,
        after=list(after or ()) or None, priority=priority,
    )  # fmt: skip
    if assignee is not None and assignee != me:
        text = f"{me} made a task for you, {task_id}:\n{quote(words)}\nTake it with: coleo bus claim-task {task_id}"
        mail.send(
            ctx.layout, assignee, me, text, message_id=f"{task_id}-created", task=task_id, now=ctx.now
        )  # fmt: skip
    doorbell.ring(ctx.layout, "plan")
    data = {"task": task_id, "title": words, "assignee": assignee, "in_plan": problem is None}
    if problem is not None:
        raise CannotBeDone(
            f"task {task_id} is kept, but its line could not be written into the plan: {problem.message}",
            file=problem.file, found=problem.found, wanted=problem.wanted,
            todo=f"{problem.todo or 'try again'}; the line is added when that is mended",
        )  # fmt: skip
    return Reply(f"Task {task_id} is in the plan: {one_line(words)}", data)


def _write(ctx: Context, task: Task, line: str) -> CannotBeDone | None:
    """File, line, mark: under the task's lock. What kept the line out of the plan, or None."""
    from coleo.files import inplace

    with taskfile.lock(ctx.layout, task.id):
        file = taskfile.touch(ctx.layout, task, ctx.now, locked=True, pending=line)
        try:
            mend.into_plan(ctx.layout, file, ctx.now)
        except CannotBeDone as error:
            return error
        except (inplace.Busy, inplace.Changed):
            return CannotBeDone("somebody keeps plan.md open for writing", file=ctx.layout.plan)
    return None


def check_title(title: str) -> str:
    """The title as one line of text. Raises BadInput when it is empty or too long."""
    words = one_line(title)
    if not words:
        raise BadInput("create-task: the title is empty", found=repr(title), wanted="what is to be done, in one line")
    if len(words) > TITLE_LIMIT:
        raise BadInput(
            "the title is too long", found=f"{len(words)} characters", wanted=f"at most {TITLE_LIMIT}",
            todo="put the rest into --description",
        )  # fmt: skip
    return words


def plan_line(title: str, task_id: str, assignee: str | None, after: list[str] | tuple[str, ...], priority: str) -> str:
    """The words behind the box. Nothing in the title can be a mark, a link, a comment or code."""
    text = _MARKUP.sub(lambda found: "\\" + found[0], title)
    marks = [f"@{assignee}"] if assignee else []
    marks += [f"!{priority}"] if priority != "normal" else []
    marks += [f"after:{ref}" for ref in after]
    return " ".join([text, *marks, f"^{task_id}"])


def new_id(taken: set[str]) -> str:
    """A free id: ``t-`` and six letters from the kernel's random numbers."""
    while True:
        number = int.from_bytes(os.urandom(4), "big")
        made = "t-" + "".join(_BASE32[number >> shift & 31] for shift in range(0, 30, 5))
        if made not in taken:
            return made
