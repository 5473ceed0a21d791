"""The plan: read, tick, add to. ``plan.md`` and the ``.md`` files below ``.project`` that it links to.

Reading never changes a file. A tick changes one byte of the line that is the task now, wherever it stands (cases d05,
d09, d11); an addition is one write at the end. Both are done in place, under a lease (``inplace.py``).
"""

from __future__ import annotations

import os

from coleo.brain.plansync import FileRead, reconcile
from coleo.files import inplace, ownwrites, planadd
from coleo.files.layout import Layout
from coleo.files.markdown import parser_of
from coleo.files.planadd import PlanItem
from coleo.files.planlinks import OUTSIDE, leads_outside, line_of, sub_plan
from coleo.files.planlook import CONFLICT, MISSING, Look, in_conflict, look
from coleo.model.plan import (
    INBOX_SECTION,
    PLAN,
    Binding,
    FileState,
    Line,
    PlanWarning,
    Task,
    TaskSet,
    changed,
    title_key,
)
from coleo.model.planevents import PlanEvent
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from coleo.files.settings import Settings

MAX_FILES = 500
TOO_MANY = "more than 500 files: this one is not read"
SETTLE_S = 2.0
WITHDRAW_AFTER_S = 10.0


class PlanRead(Record):
    """One read of the plan. warnings: all that hold now; fresh: those that the read before did not have.

    conflict: a file holds conflict markers. again_at: read again then even without an event. first: there was no
    task set before, so every task is `Added` (unless its file in ``tasks/`` knew it).
    """

    taskset: TaskSet
    events: tuple[PlanEvent, ...]
    warnings: tuple[PlanWarning, ...]
    fresh: tuple[PlanWarning, ...]
    conflict: bool
    again_at: float | None
    first: bool


def read(
    layout: Layout,
    previous: TaskSet | None,
    now: float,
    settings: Settings | None = None,
    bindings: Iterable[Binding] = (),
) -> PlanRead:
    """Read the plan and compare it with the last task set.

    bindings: of all touched tasks, from their files. Act on the events first and save the set afterwards
    (`plancache.save`): a kill in between then tells them again. Raises nothing for what is in the files.
    """
    settle_s = settings.brain.settle_s if settings else SETTLE_S
    after_s = settings.brain.withdraw_after_s if settings else WITHDRAW_AFTER_S
    found = _Files(layout, previous or TaskSet(), now, settle_s)
    found.read_all()
    last, sources = _sources.get(layout.project, (None, None))
    synced = reconcile(
        previous, found.reads, now, bindings, withdraw_after_s=after_s,
        sources=sources if previous is not None and last is previous else None,
    )  # fmt: skip
    again = [at for at in (synced.again_at, *found.again) if at is not None]
    warnings = (*found.warnings, *synced.warnings)
    known = {(w.file, w.why, w.text) for w in previous.warnings} if previous else set()
    tasks = TaskSet(synced.tasks, warnings, found.states, synced.withdrawn, min(again, default=None))
    _sources[layout.project] = (tasks, synced.sources)
    return PlanRead(
        tasks,
        synced.events,
        warnings,
        tuple(w for w in warnings if (w.file, w.why, w.text) not in known),
        any(w.why == CONFLICT for w in found.warnings),
        tasks.again_at,
        previous is None,
    )


class _Files:
    """The files of one read, in the order in which they are linked."""

    def __init__(self, layout: Layout, previous: TaskSet, now: float, settle_s: float) -> None:
        self.layout = layout
        self.previous = previous
        self.now = now
        self.settle_s = settle_s
        self.seats = frozenset(layout.seats_present())
        self.had_tasks = {task.file for task in previous.tasks if task.missing_since_at is None}
        self.reads: list[FileRead] = []
        self.states: dict[str, FileState] = {}
        self.warnings: list[PlanWarning] = []
        self.again: list[float | None] = []

    def read_all(self) -> None:
        """Read ``plan.md`` and what it leads to."""
        queue: list[tuple[str, str, int | None]] = [(PLAN, PLAN, None)]
        seen: set[str] = set()
        for name, by, line in queue:
            real = os.path.realpath(os.path.join(self.layout.project, name))
            if real in seen:
                continue
            seen.add(real)
            if len(seen) > MAX_FILES:
                self.warnings.append(PlanWarning(by, line, TOO_MANY, name))
                break
            if name != PLAN and leads_outside(self.layout, name):
                self.warnings.append(PlanWarning(by, line, OUTSIDE, name))
                continue
            queue += self._read(name, by, line)

    def _read(self, name: str, by: str, line: int | None) -> list[tuple[str, str, int | None]]:
        """Read one file. Returns the sub-plans that it names: (path, this file, line of the link)."""
        before = self.previous.files.get(name)
        path = os.path.join(self.layout.project, name)
        seen = look(path, before, name in self.had_tasks, self.now, self.settle_s)
        if seen.why:
            self.warnings.append(
                PlanWarning(*((by, line) if seen.why == MISSING else (name, None)), seen.why, seen.text or name)
            )
        self.again.append(seen.again_at)
        rows: tuple[Line, ...] = ()
        shifts: tuple[tuple[int, int, int], ...] = ()
        links = before.links if before else ()
        if seen.believed and seen.data is not None:
            parsed = parser_of(path, name).parse(seen.data, self.seats)
            self.warnings += parsed.warnings
            if parsed.failed:
                seen = changed(seen, {"believed": False})
            elif seen.settled or before is None:
                found = {sub_plan(self.layout, name, link): link for link in parsed.links}
                links = tuple(target for target in found if target)
            rows, shifts = parsed.rows, parsed.shifts
        elif seen.believed:
            links = ()
        self._note(name, seen, FileRead(name, rows, shifts=shifts), before, links)
        return [(link, name, line_of(seen.data, os.path.basename(link)) if seen.data else None) for link in links]

    def _note(self, name: str, seen: Look, read: FileRead, before: FileState | None, links: tuple[str, ...]) -> None:
        self.states[name] = seen.state if seen.state.links == links else seen.state.replace(links=links)
        settled_at = before.settled_at if before else None
        self.reads.append(read.replace(believed=seen.believed, settled=seen.settled, settled_at=settled_at))


#: By project folder: the last set that was read in this process, and the lines that say what its tasks say.
_sources: dict[str, tuple[TaskSet, dict[str, Line]]] = {}


def tasks_of(name: str, lines: tuple[Line, ...]) -> tuple[tuple[Task, ...], tuple[PlanWarning, ...]]:
    """The tasks that one file would give by itself, with ids, and what a person should look at."""
    synced = reconcile(None, [FileRead(name, lines)], 0.0)
    return synced.tasks, synced.warnings


def find(lines: Iterable[Line], task: Task) -> Line | None:
    """The line that is `task` now: the same identity, or a fixed id, or the only line with its title."""
    lines, title = list(lines), task.key[2]
    named = [line for line in lines if line.title == task.title or line.fixed_id == task.id]
    named = named or [line for line in lines if title_key(line.title) == title]
    for line in named:
        if line.fixed_id == task.id or line.key == task.key:
            return line
    return named[0] if len(named) == 1 else None


def tick(layout: Layout, task: Task, done: bool = True, *, deadline_s: float = 10.0) -> bool:
    """Make the box of `task` say done (or open). True when it does now; False when its line is not in the file.

    Raises inplace.Busy or inplace.Changed when the file could not be had in time (Busy at once while it holds conflict
    markers), OSError as writing does.
    """
    path = os.path.join(layout.project, task.file)
    seats = frozenset(layout.seats_present())

    def change(data: bytes) -> bool | None:
        if in_conflict(data):
            return None
        parsed = parser_of(path, task.file).parse(data, seats)
        row = find(parsed.rows, task)
        if row is None:
            return False
        if row.done != done:
            offset, box = parsed.place(row).offset, b"x" if done else b" "
            ownwrites.note(layout, data, data[:offset] + box + data[offset + 1 :])
            inplace.set_byte(path, data, offset, box[0])
        return True

    try:
        found = inplace.retrying(change, path, deadline_s)
    except FileNotFoundError:
        return False
    if found is None:
        raise inplace.Busy(path)
    return found


def add_items(layout: Layout, items: Iterable[PlanItem], section: str = INBOX_SECTION) -> None:
    """Add tasks at the end of ``plan.md`` (`planadd.item` makes them). Raises as `planadd.append`."""
    planadd.append(layout, list(items), section)
