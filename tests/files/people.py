"""What people do to a plan or an inbox in tests: save it at a chosen time, and see what a read makes of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from coleo.files import plan
from coleo.files.layout import Layout
from coleo.files.plan import PlanRead
from coleo.model.plan import Binding, Task, TaskSet
from tests.files.project import NOW


class Clocked:
    """A project with a clock of its own: `save` writes a file as if now, `read` reads the plan and keeps the set."""

    def __init__(self, layout: Layout, now: float = NOW) -> None:
        self.layout = layout
        self.now = now
        self.tasks: TaskSet | None = None
        self.bindings: list[Binding] = []
        self.last: PlanRead | None = None

    def save(self, text: str | bytes, name: str = "plan.md", *, ago_s: float = 0.0) -> None:
        """Write a file below ``.project`` in place; its time says that this was `ago_s` before now."""
        path = Path(self.layout.project, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        self.touch(name, ago_s=ago_s)

    def touch(self, name: str = "plan.md", *, ago_s: float = 0.0) -> None:
        """Give a file the time of this clock."""
        path = Path(self.layout.project, name)
        os.utime(path, (self.now - ago_s, self.now - ago_s))

    def read(self, after_s: float = 0.0) -> PlanRead:
        """Let time pass and read the plan."""
        self.now += after_s
        self.last = plan.read(self.layout, self.tasks, self.now, None, self.bindings)
        self.tasks = self.last.taskset
        return self.last

    def settle(self, text: str | bytes | None = None, name: str = "plan.md") -> PlanRead:
        """Save (when there is something to save) and read twice, so that the words count."""
        if text is not None:
            self.save(text, name)
        self.read()
        return self.read(2.5)

    def bind(self, task: Task, status: str) -> None:
        """The task has a file in ``tasks/`` now, with this status."""
        self.bindings = [one for one in self.bindings if one.id != task.id]
        self.bindings.append(Binding(task.id, task.file, task.section, task.title, task.number, status))

    def task(self, title: str) -> Task:
        """The one task with this title."""
        assert self.tasks is not None
        found = [task for task in self.tasks.tasks if task.title == title]
        assert len(found) == 1, f"{len(found)} tasks are called {title!r}"
        return found[0]

    def titles(self, tasks: Iterable[Task] | None = None) -> list[str]:
        """The titles of the tasks whose lines are there."""
        assert self.tasks is not None
        return [task.title for task in (self.tasks.present() if tasks is None else tasks)]

    def kinds(self) -> list[str]:
        """What the last read changed: names of events, sorted."""
        assert self.last is not None
        return sorted(type(event).__name__ for event in self.last.events)
