"""``coleo tasks``: the tasks of the plan, who holds them, what they wait for."""

from __future__ import annotations

from coleo.bus import tasks
from coleo.bus.tasks import TaskView
from coleo.cli import named, out
from coleo.files.layout import find
from coleo.model.errors import BadInput
from coleo.model.task import TaskStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from coleo.cli.out import Cell

OVER = frozenset({TaskStatus.DONE, TaskStatus.WITHDRAWN})


def show(*, everything: bool = False, status: str | None = None, seat: str | None = None, json: bool = False) -> None:
    """Print the tasks that are not over; with `everything` all of them. status, seat: only these."""
    layout = find()
    if status is not None and status not in list(TaskStatus):
        raise BadInput("no such status", found=status, wanted=", ".join(TaskStatus))
    if seat is not None:
        named.seat(layout, seat)
    at = out.now()
    views = tasks.view(layout, at)
    chosen = [view for view in views if _wanted(view, everything, status, seat)]
    if json:
        out.emit({"tasks": [view.facts() for view in chosen]})
        return
    if not chosen:
        out.line("no tasks" if not views else f"no task is open; {len(views)} in all: coleo tasks --all")
        return
    out.table(("ID", "STATUS", "SEAT", "TITLE", "WHERE"), [_row(view) for view in chosen], wide="TITLE")


def _wanted(view: TaskView, everything: bool, status: str | None, seat: str | None) -> bool:
    if status is not None and view.status.value != status:
        return False
    if seat is not None and seat not in (view.holder, view.seat):
        return False
    return everything or status is not None or view.status not in OVER


def _row(view: TaskView) -> tuple[Cell, ...]:
    status = view.status.value
    word = "waiting" if view.status is TaskStatus.OPEN and view.waiting_for else status
    did = view.file.seat if view.file and view.status is TaskStatus.DONE else None
    seat = view.holder or did or (f"@{view.seat}" if view.seat else "-")
    mark = {"high": "! ", "low": "↓ "}.get(view.priority, "")
    return view.id, (word, out.STYLES.get(status, "")), seat, "  " * view.task.depth + mark + view.title, _where(view)


def _where(view: TaskView) -> str:
    return f"{view.task.file}:{view.task.line}" if view.in_plan and view.task.line else "not in the plan"
