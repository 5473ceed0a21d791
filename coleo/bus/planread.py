"""The plan as agents' verbs see it: from the brain's cache when that is fresh, else read here.

Only the brain acts on what a read changed (a person's tick, a vanished line) and saves the set from which the next
read is compared. A verb that finds no brain and a changed plan reads for itself and keeps the result in a cache of
its own, so that the brain still gets to see every change when it starts.
"""

from __future__ import annotations

import os

from coleo.files import atomic, locks, plancache, taskfile
from coleo.files.layout import Layout, make_private
from coleo.model.plan import Task, TaskSet


def tasks(layout: Layout, now: float) -> TaskSet:
    """The tasks of the plan now; with a brain alive, as it has read them last."""
    last = plancache.load(layout)
    if last is not None and (plancache.is_fresh(layout, last, now) or brain_lives(layout)):
        return last
    own = _own(layout)
    if own is not None and plancache.is_fresh(layout, own, now):
        return own
    from coleo.files import inplace, plan

    inplace.recover(layout.journal)
    previous = own if own is not None and _age(_path(layout)) >= _age(plancache.path(layout)) else last
    read = plan.read(layout, previous, now, None, taskfile.bindings(layout)).taskset
    _keep(layout, read)
    return read


def brain_lives(layout: Layout) -> bool:
    """Whether a brain holds this project now."""
    return locks.is_held(layout.lock("brain"))


def _path(layout: Layout) -> str:
    return os.path.join(layout.cache, "plan-agents.json")


def _own(layout: Layout) -> TaskSet | None:
    """What a verb has read before."""
    try:
        return TaskSet.from_json(atomic.read_json(_path(layout)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _age(path: str) -> int:
    """When a cache was written; 0 for one that is not there."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _keep(layout: Layout, read: TaskSet) -> None:
    try:
        make_private(layout.cache)
        atomic.write_json(_path(layout), read.as_json())
    except OSError:
        return


def tick(layout: Layout, task: Task, now: float) -> bool:
    """Tick the box of a done task, where no brain does it. False when it could not be done now: a brain will."""
    from coleo.files import inplace, plan
    from coleo.model.instant import iso

    try:
        ticked = plan.tick(layout, task)
    except (inplace.Busy, inplace.Changed, OSError):
        return False
    if ticked:
        taskfile.update(layout, task.id, {"ticked_at": iso(now)}, now)
    return ticked
