"""What a read of the plan changed: one record per act, made by ``brain/plansync.py``, carried out by the daemon."""

from __future__ import annotations

from coleo.model.plan import Task
from coleo.model.record import Record


class PlanEvent(Record):
    """What a read changed about one task. `action` is its name in the activity log."""

    action = "plan_read"
    task: Task


class Added(PlanEvent):
    """A new line was taken."""

    action = "task_added"


class Missing(PlanEvent):
    """A read did not find the line; not withdrawn yet (never while a seat holds it)."""

    action = "plan_read"


class Withdrawn(PlanEvent):
    """Two reads at least 10 s apart did not find it. Not the same as done."""

    action = "task_withdrawn"


class Returned(PlanEvent):
    """A missing or withdrawn line is back, with its old id."""

    action = "task_returned"


class Reworded(PlanEvent):
    """A claimed task's line was reworded in place: same id, and its seat gets one notice."""

    action = "task_reworded"
    old_title: str


class Moved(PlanEvent):
    """Same task in another section, file or place among equals: the front matter of its file follows."""

    action = "plan_read"
    old_file: str
    old_section: str | None
    old_number: int


class Changed(PlanEvent):
    """Description, marks or blocks changed; `fields` names which."""

    action = "plan_read"
    fields: tuple[str, ...]


class Ticked(PlanEvent):
    """The box went from open to ticked. by: ``coleo`` when the task's file said done before, else ``person``."""

    action = "task_ticked"
    by: str


class DoneInWork(PlanEvent):
    """A person ticked a task that a seat holds: done, and its seat gets one notice."""

    action = "task_ticked"


class Unticked(PlanEvent):
    """The box went back to open and that counts: a done task is open again."""

    action = "task_unticked"


class TickAgain(PlanEvent):
    """coleo's tick is not in the file (a stale buffer was saved over it, or it was never written): set it again.

    attempt: 1 to 3. why: for the log.
    """

    action = "task_ticked"
    attempt: int
    why: str


class CommentAdded(PlanEvent):
    """A new ``> Comment:`` line stands under the task: hand `text` to its seat."""

    action = "plan_read"
    text: str
