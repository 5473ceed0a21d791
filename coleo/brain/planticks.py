"""What a ticked or open box means: done, reopened, or a tick of ours that somebody's editor has saved over.

A tick is settled when two reads some seconds apart saw it. One that is lost before, or together with other things
that were in the file, went with a stale buffer and is set again, at most three times; a settled one that alone is
gone was taken back by a person (DESIGN.md section 4). Ticks that a person made are never set again.
"""

from __future__ import annotations

from coleo.model import planevents as events
from coleo.model.plan import Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from coleo.model.plan import Binding

MOST_TRIES = 3

NOT_THERE = "the task is done, its box was never seen ticked"
LOST = "the tick was lost before two reads had seen it"
WENT_BACK = "other changes went back with the tick: a stale buffer was saved"


class Boxes:
    """The boxes of one read. `events` and `again` (instants at which a tick becomes settled) fill as boxes are seen."""

    def __init__(self, now: float, settle_s: float, bindings: Mapping[str, Binding]) -> None:
        self.now = now
        self.settle_s = settle_s
        self.bindings = bindings
        self.events: list[events.PlanEvent] = []
        self.again: list[float] = []
        self._lost: dict[str, int] = {}
        self._gone: dict[str, float] = {}

    def compare(self, not_ticked: Iterable[Task], vanished: Iterable[Task]) -> None:
        """Note what went back in each file: ticks that are gone, and lines that are. not_ticked: boxes open now."""
        for task in not_ticked:
            if task.done and task.ticked_at is not None:
                self._lost[task.file] = self._lost.get(task.file, 0) + 1
        for task in vanished:
            if task.missing_since_at is None:
                self._gone[task.file] = max(task.added_at, self._gone.get(task.file, 0.0))

    def see(self, task: Task, ticked: bool) -> dict[str, Any]:
        """The fields of `task` that its box changes; the task as the events show it is the one before."""
        if ticked:
            return self._ticked(task)
        binding = self.bindings.get(task.id)
        ours = binding is not None and binding.status == "done" and task.ticked_by != "person"
        if ours:
            return self._ours_open(task)
        if task.done:
            return self._unticked(task)
        return {}

    def _ticked(self, task: Task) -> dict[str, Any]:
        if task.done and task.ticked_at is not None:
            if task.seen_ticked:
                return {}
            if self.now - task.ticked_at >= self.settle_s:
                return {"seen_ticked": True, "tick_tries": 0}
            self.again.append(task.ticked_at + self.settle_s)
            return {}
        binding = self.bindings.get(task.id)
        by = "coleo" if task.done or (binding is not None and binding.status == "done") else "person"
        if not task.done:
            if by == "person" and binding is not None and binding.held:
                self.events.append(events.DoneInWork(task))
            else:
                self.events.append(events.Ticked(task, by))
        self.again.append(self.now + self.settle_s)
        return {"done": True, "ticked_at": self.now, "ticked_by": by, "seen_ticked": False}

    def _ours_open(self, task: Task) -> dict[str, Any]:
        waits = task.ticked_at is None  # never seen ticked, or set again and not seen since
        tries = task.tick_tries
        if not waits:
            back = self._lost.get(task.file, 0) > 1 or self._gone.get(task.file, -1.0) >= (task.ticked_at or 0.0)
            if tries >= MOST_TRIES or (task.seen_ticked and not back):
                return self._unticked(task)
        why = NOT_THERE if waits and not tries else LOST if not task.seen_ticked else WENT_BACK
        if not waits or not tries:
            tries += 1
        self.events.append(events.TickAgain(task, tries, why))
        changes = {"done": True, "ticked_at": None, "ticked_by": "coleo", "seen_ticked": False, "tick_tries": tries}
        return {name: value for name, value in changes.items() if getattr(task, name) != value}

    def _unticked(self, task: Task) -> dict[str, Any]:
        self.events.append(events.Unticked(task))
        return {"done": False, "ticked_at": None, "ticked_by": None, "seen_ticked": False, "tick_tries": 0}
