"""From the last task set and what the files say now to the next one, and what that changes. Pure.

DESIGN.md section 4, identity and "Writing"; cases c04, c12, d09, d16. The box decides done or open; new and changed
words count only in files that were still; a task is withdrawn when reads 10 s apart miss it, and never while a seat
holds it. Which line is which task is told in ``planmatch.py``, what a tick or untick means in ``planticks.py``.
"""

from __future__ import annotations

from collections import Counter

from coleo.brain.planmatch import WORDS, Match, match
from coleo.brain.planticks import Boxes
from coleo.brain.planwaits import resolve
from coleo.model import planevents as events
from coleo.model.plan import INBOX_SECTION, PLAN, Binding, Line, PlanWarning, Task, TaskSet, changed, task_id
from coleo.model.record import Record
from coleo.model.titles import is_similar, significant_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

WITHDRAWN_KEPT = 500
_MOST_COMPARED = 20_000

DOUBLE_ID = "an id that a line above has already"
OTHER_ID = "this task has been worked on under another id, which stays"


class FileRead(Record):
    """What one file of the plan says. believed: False when its tasks stay as they are (conflict, half a file).

    settled: it was still, so new and changed words count. settled_at: the last read before this one of which that
    was true; None when this is the first. shifts: what to add to line, offset and parent of each line (() for nothing).
    """

    name: str
    lines: tuple[Line, ...] = ()
    believed: bool = True
    settled: bool = True
    settled_at: float | None = None
    shifts: tuple[tuple[int, int, int], ...] = ()


class Synced(Record):
    """What `reconcile` found. again_at: when time alone changes something; None for never.

    sources: by task id, the line object that says just what the task says. Given back with the next read, lines that
    are the same objects cost next to nothing; that is what makes a plan of 10,000 tasks cheap.
    """

    tasks: tuple[Task, ...]
    withdrawn: tuple[Task, ...]
    events: tuple[events.PlanEvent, ...]
    warnings: tuple[PlanWarning, ...]
    again_at: float | None
    sources: dict[str, Line]


def reconcile(
    previous: TaskSet | None,
    files: Sequence[FileRead],
    now: float,
    bindings: Iterable[Binding] = (),
    *,
    withdraw_after_s: float = 10.0,
    sources: Mapping[str, Line] | None = None,
) -> Synced:
    """Compare. previous: None for the first read ever. files: all of the plan, in the order in which they are linked.

    Tasks of files that are not among them count as vanished. withdraw_after_s: also how far apart the two reads are
    that settle a tick. sources: of the `Synced` that `previous` was made from.
    """
    return _Sync(previous, files, now, bindings, withdraw_after_s, sources or {}).run()


class _Sync:
    def __init__(
        self,
        previous: TaskSet | None,
        files: Sequence[FileRead],
        now: float,
        bindings: Iterable[Binding],
        withdraw_after_s: float,
        sources: Mapping[str, Line],
    ) -> None:
        self.first = previous is None
        self.previous = previous or TaskSet()
        self.files = {read.name: read for read in files}
        self.now = now
        self.bindings = {binding.id: binding for binding in bindings}
        self.after_s = withdraw_after_s
        self.sources = sources
        self.boxes = Boxes(now, withdraw_after_s, self.bindings)
        self.events: list[events.PlanEvent] = []
        self.warnings: list[PlanWarning] = []
        self.again: list[float] = []
        self.withdrawn = {task.id: task for task in self.previous.withdrawn}
        self._words: list[tuple[str, frozenset[str]]] | None = None

    def run(self) -> Synced:
        kept = {read.name for read in self.files.values() if not read.believed}
        old = [task for task in self.previous.tasks if task.file not in kept]
        believed = [read for read in self.files.values() if read.believed]
        lines = [line for read in believed for line in read.lines]
        settled = {read.name for read in self.files.values() if read.settled}
        counted_at = {name: read.settled_at for name, read in self.files.items() if read.settled_at is not None}
        found = match(
            old, lines, settled, self.previous.withdrawn, self.bindings.values(), counted_at,
            sources=self.sources, first=self.first,
        )  # fmt: skip
        gone = [task for task in old if task.id not in found.used]
        self.boxes.compare(
            [task for line, task in zip(lines, found.tasks, strict=True) if task and not line.done], gone
        )
        shifts = [shift for read in believed for shift in read.shifts or ((0, 0, 0),) * len(read.lines)]
        made = self._make(lines, shifts, found, settled)
        after = {
            task.id: line
            for line, task in zip(lines, made, strict=True)
            if task and (line.after or task.after) and line.file in settled
        }
        left = [task for task in map(self._vanished, gone) if task]
        ordered = self._in_order(old, [task for task in made if task], left)
        tasks, warnings = resolve(ordered, after, tuple(self.withdrawn.values()))
        return Synced(
            tuple(tasks),
            tuple(list(self.withdrawn.values())[-WITHDRAWN_KEPT:]),
            tuple(self.events + self._boxed(tasks)),
            tuple(self.warnings + warnings),
            min(self.again + self.boxes.again, default=None),
            self._sources(lines, made, found, settled, kept),
        )

    def _sources(
        self, lines: Sequence[Line], made: Sequence[Task | None], found: Match, settled: set[str], kept: set[str]
    ) -> dict[str, Line]:
        same = ("equal", "identical")
        sources = {
            task.id: line
            for line, task, rule in zip(lines, made, found.rules, strict=True)
            if task and (rule in same or line.file in settled)
        }
        if kept:
            ids = [task.id for task in self.previous.tasks if task.file in kept]
            sources |= {known: self.sources[known] for known in ids if known in self.sources}
        return sources

    def _boxed(self, tasks: Sequence[Task]) -> list[events.PlanEvent]:
        """What boxes told, each with its task as it is now."""
        if not self.boxes.events:
            return []
        now = {task.id: task for task in tasks}
        return [changed(event, {"task": now.get(event.task.id, event.task)}) for event in self.boxes.events]

    def _make(
        self, lines: Sequence[Line], shifts: Sequence[tuple[int, int, int]], found: Match, settled: set[str]
    ) -> list[Task | None]:
        """The task of each line as it is now; None for a new line that does not count yet."""
        ids = self._ids(lines, found, settled)
        done = {binding.id for binding in self.bindings.values() if binding.status == "done"}
        made: list[Task | None] = []
        start, file = 0, ""
        for index, (line, shift, task, rule) in enumerate(zip(lines, shifts, found.tasks, found.rules, strict=True)):
            if line.file != file:
                start, file = index, line.file
            number = line.line + shift[0]
            if rule == "identical" and task is not None and (task.seen_ticked if task.done else task.id not in done):
                made.append(task if task.line == number else changed(task, {"line": number}))
                continue
            known = ids[index]
            parent = None if line.parent is None else ids[start + line.parent + shift[2]]
            line = changed(line, {"line": number}) if shift[0] else line
            if known is None:
                made.append(None)
            elif task is None or not rule:
                made.append(self._added(known, line, parent))
            else:
                made.append(self._kept(task, line, rule, parent, settled))
        self.warnings += [_warning(lines[index], DOUBLE_ID) for index in found.double]
        return made

    def _ids(self, lines: Sequence[Line], found: Match, settled: set[str]) -> list[str | None]:
        """The id of each line, also of new ones that count."""
        ids = [task.id if task else None for task in found.tasks]
        new = [index for index, rule in enumerate(found.rules) if not rule]
        if not new:
            return ids
        gone = {task.id for task in self.previous.tasks if task.id not in found.used}
        taken = found.used | gone | self.bindings.keys() | self.withdrawn.keys()
        for index in new:
            line = lines[index]
            if line.file not in settled:
                ids[index] = None
            elif ids[index] is None:
                ids[index] = made = task_id(line.file, line.section, line.title, line.number, taken)
                taken.add(made)
        return ids

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

    def _kept(self, task: Task, line: Line, rule: str, parent: str | None, settled: set[str]) -> Task:
        """A known task with what its line says now: box and place at once, words when they count."""
        changes = self.boxes.see(task, line.done)
        if task.line != line.line:
            changes["line"] = line.line
        if rule not in ("equal", "identical"):
            if task.missing_since_at is not None or rule == "known":
                changes["missing_since_at"] = None
                self.withdrawn.pop(task.id, None)
                if not self.first:
                    self.events.append(events.Returned(task))
            if line.file in settled:
                self._take_words(task, line, changes)
                if not task.added_at:
                    changes["added_at"] = self.now
        if task.parent_id != parent and line.file in settled:
            changes["parent_id"] = parent
        return changed(task, changes) if changes else task

    def _take_words(self, task: Task, line: Line, changes: dict[str, Any]) -> None:
        words = [name for name in WORDS if getattr(task, name) != getattr(line, name)]
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
        last: dict[str, str] = {}
        for task in old:
            if task.id in there:
                last[task.file] = task.id
            elif task.id in missing:
                followers.setdefault(last.get(task.file, f"/{task.file}"), []).append(missing[task.id])
        whole: list[Task] = []
        tasks = iter(made)
        one = next(tasks, None)
        for name in self.files:
            whole += followers.pop(f"/{name}", ())
            whole += kept.get(name, ())
            while one is not None and one.file == name:
                whole.append(one)
                whole += followers.pop(one.id, ())
                one = next(tasks, None)
        return whole + [lost for group in followers.values() for lost in group]


def _warning(line: Line, why: str) -> PlanWarning:
    return PlanWarning(line.file, line.line, why, line.title[:200])
