"""From the last task set and what the files say now to the next one, and what that changes. Pure.

DESIGN.md section 4, identity and "Writing"; cases c04, c12, d09, d16. The box decides done or open; new and changed
words count only in files that were still; a task is withdrawn when reads 10 s apart miss it, and never while a seat
holds it. Which line is which task is told in ``planmatch.py``, what a tick or untick means in ``planticks.py``.
"""

from __future__ import annotations

from collections import Counter

from coleo.brain.planmatch import Fresh, Match, match
from coleo.brain.planticks import Boxes
from coleo.brain.planwaits import resolve
from coleo.model import planevents as events
from coleo.model.plan import INBOX_SECTION, PLAN, Binding, Line, PlanWarning, Task, TaskSet, task_id
from coleo.model.record import Record
from coleo.model.titles import is_similar, significant_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

WITHDRAWN_KEPT = 500
_MOST_COMPARED = 20_000
_WORDS = ("description", "comments", "seat", "priority", "verify", "blocks", "depth")

DOUBLE_ID = "an id that a line above has already"
OTHER_ID = "this task has been worked on under another id, which stays"


class FileRead(Record):
    """What one file of the plan says. believed: False when its tasks stay as they are (conflict, half a file).

    settled: it was still, so new and changed words count. settled_at: the last read before this one of which that
    was true; None when this is the first.
    """

    name: str
    lines: tuple[Line, ...] = ()
    believed: bool = True
    settled: bool = True
    settled_at: float | None = None


class Synced(Record):
    """What `reconcile` found. again_at: when time alone changes something; None for never."""

    tasks: tuple[Task, ...]
    withdrawn: tuple[Task, ...]
    events: tuple[events.PlanEvent, ...]
    warnings: tuple[PlanWarning, ...]
    again_at: float | None


def reconcile(
    previous: TaskSet | None,
    files: Sequence[FileRead],
    now: float,
    bindings: Iterable[Binding] = (),
    *,
    withdraw_after_s: float = 10.0,
) -> Synced:
    """Compare. previous: None for the first read ever. files: all of the plan, in the order in which they are linked.

    Tasks of files that are not among them count as vanished. withdraw_after_s: also how far apart the two reads are
    that settle a tick.
    """
    return _Sync(previous, files, now, bindings, withdraw_after_s).run()


class _Sync:
    def __init__(
        self,
        previous: TaskSet | None,
        files: Sequence[FileRead],
        now: float,
        bindings: Iterable[Binding],
        withdraw_after_s: float,
    ) -> None:
        self.previous = previous or TaskSet()
        self.files = {read.name: read for read in files}
        self.now = now
        self.bindings = {binding.id: binding for binding in bindings}
        self.after_s = withdraw_after_s
        self.boxes = Boxes(now, withdraw_after_s, self.bindings)
        self.events: list[events.PlanEvent] = []
        self.warnings: list[PlanWarning] = []
        self.again: list[float] = []
        self.withdrawn = {task.id: task for task in self.previous.withdrawn}
        self._words: list[tuple[str, frozenset[str]]] | None = None

    def run(self) -> Synced:
        kept = {read.name for read in self.files.values() if not read.believed}
        old = [task for task in self.previous.tasks if task.file not in kept]
        lines = [Fresh(line, read.settled) for read in self.files.values() if read.believed for line in read.lines]
        counted_at = {name: read.settled_at for name, read in self.files.items() if read.settled_at is not None}
        found = match(old, lines, self.previous.withdrawn, self.bindings.values(), counted_at)
        gone = [task for task in old if task.id not in found.used]
        self.boxes.compare(
            ((task, fresh.line.done) for fresh, task in zip(lines, found.tasks, strict=True) if task), gone
        )
        made = self._make(lines, found)
        after = {made[i].id: fresh.line for i, fresh in enumerate(lines) if made[i] and fresh.settled}
        for task in gone:
            self._vanished(task)
        tasks, warnings = resolve(self._in_order(old, made), after, self.previous.withdrawn)
        return Synced(
            tuple(tasks),
            tuple(list(self.withdrawn.values())[-WITHDRAWN_KEPT:]),
            tuple(self.events + self.boxes.events),
            tuple(self.warnings + warnings),
            min(self.again + self.boxes.again, default=None),
        )
