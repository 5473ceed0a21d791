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
from coleo.model.plan import INBOX_SECTION, PLAN, Binding, Line, PlanWarning, Task, TaskSet, changed, task_id
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
        self.first = previous is None
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
        found = match(
            old, lines, self.previous.withdrawn, self.bindings.values(), counted_at, first=self.first
        )  # fmt: skip
        gone = [task for task in old if task.id not in found.used]
        self.boxes.compare(
            ((task, fresh.line.done) for fresh, task in zip(lines, found.tasks, strict=True) if task), gone
        )
        made = self._make(lines, found)
        after = {task.id: fresh.line for fresh, task in zip(lines, made, strict=True) if task and fresh.settled}
        left = [task for task in map(self._vanished, gone) if task]
        ordered = self._in_order(old, [task for task in made if task], left)
        tasks, warnings = resolve(ordered, after, self.previous.withdrawn)
        return Synced(
            tuple(tasks),
            tuple(list(self.withdrawn.values())[-WITHDRAWN_KEPT:]),
            tuple(self.events + self._boxed(tasks)),
            tuple(self.warnings + warnings),
            min(self.again + self.boxes.again, default=None),
        )

    def _boxed(self, tasks: Sequence[Task]) -> list[events.PlanEvent]:
        """What boxes told, each with its task as it is now."""
        if not self.boxes.events:
            return []
        now = {task.id: task for task in tasks}
        return [changed(event, {"task": now.get(event.task.id, event.task)}) for event in self.boxes.events]

    def _make(self, lines: Sequence[Fresh], found: Match) -> list[Task | None]:
        """The task of each line as it is now; None for a new line that does not count yet."""
        taken = {task.id for task in self.previous.tasks} | self.bindings.keys() | self.withdrawn.keys() | found.used
        ids: list[str | None] = []
        for fresh, task, rule in zip(lines, found.tasks, found.rules, strict=True):
            if task is not None and (rule or fresh.settled):
                ids.append(task.id)
            elif fresh.settled:
                line = fresh.line
                ids.append(task_id(line.file, line.section, line.title, line.number, taken))
                taken.add(ids[-1] or "")
            else:
                ids.append(None)
        made: list[Task | None] = []
        start, file = 0, ""
        for index, fresh in enumerate(lines):
            line, known = fresh.line, ids[index]
            if line.file != file:
                start, file = index, line.file
            parent = None if line.parent is None else ids[start + line.parent]
            task = found.tasks[index]
            if known is None:
                made.append(None)
            elif task is None or not found.rules[index]:
                made.append(self._added(known, line, parent))
            else:
                made.append(self._kept(task, fresh, found.rules[index], parent))
        self.warnings += [_warning(lines[index].line, DOUBLE_ID) for index in found.double]
        return made

    def _added(self, known: str, line: Line, parent: str | None) -> Task:
        inbox = line.file == PLAN and line.section == INBOX_SECTION
        task = Task(
            known, line.title, line.section, line.file, line.line, line.depth, parent, line.done, line.seat,
            line.priority, (), line.description, line.number, "inbox" if inbox else "plan", verify=line.verify,
            blocks=line.blocks, comments=line.comments, similar_to=self._similar(line) if inbox else None,
            added_at=self.now, ticked_at=self.now if line.done else None, ticked_by="person" if line.done else None,
        )  # fmt: skip
        self.events.append(events.Added(task))
        return task

    def _similar(self, line: Line) -> str | None:
        """The open task whose title is much like that of a line from the inbox."""
        if self._words is None:
            open_ones = [task for task in self.previous.tasks if not task.done][:_MOST_COMPARED]
            self._words = [(task.id, significant_words(task.title)) for task in open_ones]
        words = significant_words(line.title)
        return next((known for known, other in self._words if is_similar(words, other)), None)

    def _kept(self, task: Task, fresh: Fresh, rule: str, parent: str | None) -> Task:
        """A known task with what its line says now: box and place at once, words when they count."""
        line = fresh.line
        changes = self.boxes.see(task, line.done)
        if task.line != line.line:
            changes["line"] = line.line
        if task.missing_since_at is not None or rule == "known":
            changes["missing_since_at"] = None
            self.withdrawn.pop(task.id, None)
            if not self.first:
                self.events.append(events.Returned(task))
        if fresh.settled:
            self._take_words(task, line, changes)
            if task.parent_id != parent:
                changes["parent_id"] = parent
            if not task.added_at:
                changes["added_at"] = self.now
        return changed(task, changes) if changes else task

    def _take_words(self, task: Task, line: Line, changes: dict[str, Any]) -> None:
        words = [name for name in _WORDS if getattr(task, name) != getattr(line, name)]
        changes.update({name: getattr(line, name) for name in words})
        if line.fixed_id is not None and line.fixed_id != task.id:
            self.warnings.append(_warning(line, OTHER_ID))
        moved = (task.file, task.section, task.number) != (line.file, line.section, line.number)
        if moved or task.title != line.title:
            key = task.key
            changes.update(title=line.title, file=line.file, section=line.section, number=line.number)
            after = changed(task, changes)
            if after.key[2] != key[2]:
                self.events.append(events.Reworded(after, task.title))
            if (*after.key[:2], after.number) != (*key[:2], task.number):
                self.events.append(events.Moved(after, task.file, task.section, task.number))
        if not words or self.first:
            return
        after = changed(task, changes)
        self.events.append(events.Changed(after, tuple(words)))
        new = Counter(line.comments) - Counter(task.comments)
        self.events += [events.CommentAdded(after, text) for text in new.elements()]

    def _vanished(self, task: Task) -> Task | None:
        """A task without its line: missing, or withdrawn (None) when that has lasted and nobody holds it."""
        binding = self.bindings.get(task.id)
        held = binding is not None and binding.held
        since = task.missing_since_at
        if since is None:
            self.events.append(events.Missing(task))
            since = self.now
            task = changed(task, {"missing_since_at": since})
        elif not held and self.now - since >= self.after_s:
            self.events.append(events.Withdrawn(task))
            self.withdrawn[task.id] = task
            return None
        if not held:
            self.again.append(since + self.after_s)
        return task

    def _in_order(self, old: Sequence[Task], made: Sequence[Task], left: Sequence[Task]) -> list[Task]:
        """All tasks in file order; a missing one stays behind the task that it followed."""
        kept: dict[str, list[Task]] = {}
        for task in self.previous.tasks:
            if task.file in self.files and not self.files[task.file].believed:
                kept.setdefault(task.file, []).append(task)
        if not kept and not left:
            return list(made)
        there, missing = {task.id for task in made}, {task.id: task for task in left}
        followers: dict[str, list[Task]] = {}
        leader: dict[str, str] = {}
        for task in old:
            if task.id in there:
                leader[task.file] = task.id
            elif task.id in missing:
                followers.setdefault(leader.get(task.file, f"/{task.file}"), []).append(missing[task.id])
        here: dict[str, list[Task]] = {
            name: [*followers.pop(f"/{name}", ()), *kept.get(name, ())] for name in self.files
        }
        for task in made:
            here.setdefault(task.file, []).append(task)
            here[task.file] += followers.pop(task.id, ())
        whole = [task for tasks in here.values() for task in tasks]
        return whole + [task for tasks in followers.values() for task in tasks]


def _warning(line: Line, why: str) -> PlanWarning:
    return PlanWarning(line.file, line.line, why, line.title[:200])
