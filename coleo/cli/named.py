"""What a person named on the command line: seats, tasks, the running brain. An unknown name gets the nearest ones."""

from __future__ import annotations

from coleo.files import locks
from coleo.files.layout import Layout
from coleo.files.process import valid_pid
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.names import check_seat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coleo.bus.tasks import TaskView


def seat(layout: Layout, name: str) -> str:
    """A seat of this project, or BadInput with the nearest names."""
    check_seat(name)
    there = layout.seats_present()
    if name not in there:
        raise BadInput(
            "no such seat",
            found=name,
            wanted=nearest(name, there) or "a seat: this project has none yet",
            todo=f"coleo seat add {name} --template worker, if it is to be",
        )
    return name


def task(views: Sequence[TaskView], name: str) -> TaskView:
    """The task with this id, or with the only id that begins so; BadInput with the nearest ids and their titles."""
    by_id = {view.id: view for view in views}
    if name in by_id:
        return by_id[name]
    begin = [task_id for task_id in by_id if len(name) > 3 and task_id.startswith(name)]
    if len(begin) == 1:
        return by_id[begin[0]]
    near = begin or _near(name, by_id) or [view.id for view in views if view.title == name]
    wanted = "; ".join(f"{task_id} ({by_id[task_id].title[:60]})" for task_id in near[:3])
    raise BadInput("no such task", found=name, wanted=wanted or "an id as `coleo tasks --all` shows it")


def nearest(name: str, known: Iterable[str]) -> str:
    """The names most like `name`, or all of them when there are few and none is like it."""
    names = list(known)
    return ", ".join(_near(name, names) or (names if len(names) <= 8 else []))


def _near(name: str, known: Iterable[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, list(known), n=3, cutoff=0.5)


def brain_pid(layout: Layout) -> int | None:
    """The pid of the running brain; None when none holds the project. 0: one runs that did not say who it is."""
    path = layout.lock("brain")
    if not locks.is_held(path):
        return None
    holder = locks.holder(path) or {}
    return valid_pid(holder.get("pid")) or 0


def need_brain(layout: Layout) -> int:
    """The running brain's pid, or CannotBeDone."""
    pid = brain_pid(layout)
    if pid is None:
        raise CannotBeDone("no brain runs in this project", found=layout.root, todo="coleo up --detach")
    return pid
