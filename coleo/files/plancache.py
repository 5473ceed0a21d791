"""The last task set, kept in ``run/cache/plan.json``: agents' verbs read tasks from here in a millisecond.

Everything in it can be made again from the plan. It is fresh as long as the files of the plan are the same by time,
size and inode, and no wait (a line that was not still, a task that is missing) has run out.
"""

from __future__ import annotations

import json
import os

from coleo.files import atomic
from coleo.files.layout import Layout, make_private
from coleo.model.plan import PLAN, TaskSet

NAME = "plan.json"


def path(layout: Layout) -> str:
    """Where the cache lies."""
    return os.path.join(layout.cache, NAME)


def load(layout: Layout) -> TaskSet | None:
    """The set that was saved last, fresh or not: the `previous` of the next read. None when there is none to use."""
    try:
        data = atomic.read(path(layout))
        return None if data is None else TaskSet.from_json(json.loads(data))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def save(layout: Layout, tasks: TaskSet) -> None:
    """Keep a set; after its events were acted on. Raises OSError."""
    make_private(layout.cache)
    text = json.dumps(tasks.as_json(), ensure_ascii=False, separators=(",", ":"))
    atomic.write(path(layout), text.encode("utf-8", "backslashreplace"), durable=False)


def tasks(layout: Layout, now: float | None = None) -> TaskSet | None:
    """The saved set if it is what a read would give, else None. now: without it, waits are not looked at."""
    saved = load(layout)
    return saved if saved is not None and is_fresh(layout, saved, now) else None


def is_fresh(layout: Layout, saved: TaskSet, now: float | None = None) -> bool:
    """Whether the files of the plan are those that `saved` was made from."""
    if now is not None and saved.again_at is not None and now >= saved.again_at:
        return False
    if PLAN not in saved.files:
        return False
    for name, state in saved.files.items():
        try:
            there = os.stat(os.path.join(layout.project, name))
        except OSError:
            if state.sha:
                return False
            continue
        if (there.st_mtime_ns, there.st_size, there.st_ino) != (state.mtime_ns, state.size, state.ino):
            return False
    return True
