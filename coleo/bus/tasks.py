"""Tasks as the plan, their files and the claims tell them together: what a seat can take, what it holds.

`Board` answers for single tasks without building all of them; `view` builds the whole list, for people.
"""

from __future__ import annotations

import os
import re

from coleo.bus import planread
from coleo.files import activity, claims, mend, taskfile, taskindex, work
from coleo.files.claims import Claim
from coleo.files.layout import Layout
from coleo.model.errors import ColeoError
from coleo.model.plan import Block, Task, TaskSet
from coleo.model.record import Record
from coleo.model.task import MAX_ATTEMPTS, TaskFile, TaskStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

RANKS = {"high": 0, "normal": 1, "low": 2}
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_HELD = (TaskStatus.CLAIMED, TaskStatus.IN_PROGRESS)


class TaskView(Record):
    """One task from all its sources.

    task: the plan's line (made from the task's file when the line is gone). file: of a touched task. claim: who holds
    it. status: what is true now: a ticked box is done, a live claim is claimed or in progress, else the file's word.
    waiting_for: ids (or titles that name nothing) that have to be done first. order: place in the plan. in_plan:
    whether the line is there. problem: why its file cannot be read ("" when it can).
    """

    task: Task
    file: TaskFile | None
    claim: Claim | None
    status: TaskStatus
    waiting_for: tuple[str, ...] = ()
    order: int = 0
    in_plan: bool = True
    problem: str = ""

    @property
    def id(self) -> str:
        """The task's id."""
        return self.task.id

    @property
    def title(self) -> str:
        """Its title, as the plan has it; one that a seat made without the escapes that keep it text in the plan."""
        if self.file is not None and self.file.origin.startswith("seat:"):
            return _ESCAPE.sub(r"\1", self.task.title)
        return self.task.title

    @property
    def section(self) -> str | None:
        """The heading that it stands under."""
        return self.task.section

    @property
    def seat(self) -> str | None:
        """The seat that its ``@seat`` mark names."""
        return self.task.seat

    @property
    def holder(self) -> str | None:
        """The seat that holds it."""
        return self.claim.seat if self.claim else None

    @property
    def priority(self) -> str:
        """high, normal or low."""
        return self.task.priority

    @property
    def origin(self) -> str:
        """Who wrote it: plan, inbox or ``seat:<name>``."""
        return self.file.origin if self.file and self.file.origin != "plan" else self.task.origin

    @property
    def source(self) -> str:
        """Where it stands and who wrote it, such as ``plan.md:12, written by seat analyst``."""
        who = "a person" if self.origin in ("plan", "inbox") else self.origin.replace("seat:", "seat ")
        where = f"{self.task.file}:{self.task.line}" if self.in_plan and self.task.line else "its line is gone"
        return f"{where}, written by {who}" + (" in inbox.md" if self.origin == "inbox" else "")

    @property
    def description(self) -> str:
        """The text below its line, or in its file."""
        return self.task.description or (taskindex.whole(self.file).description if self.file else "")

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The fenced blocks of its line."""
        return self.task.blocks

    @property
    def attempts(self) -> int:
        """Attempts that ended without success and count."""
        return self.file.attempts if self.file else 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why they ended, oldest first."""
        return self.file.reasons if self.file else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was written about it."""
        return taskindex.whole(self.file).notes if self.file else ()

    @property
    def result(self) -> str:
        """What came of it."""
        return taskindex.whole(self.file).result if self.file else ""

    @property
    def declined(self) -> tuple[str, ...]:
        """Seats that said that they cannot do it."""
        return self.file.declined if self.file else ()

    @property
    def ready(self) -> bool:
        """Nobody holds it, nothing blocks it, and what it waits for is done."""
        if not self.in_plan or self.claim is not None or self.waiting_for or self.problem:
            return False
        return self.status is TaskStatus.OPEN or (self.status is TaskStatus.FAILED and self.attempts < MAX_ATTEMPTS)

    def fits(self, seat: str) -> bool:
        """Whether this seat may take it now."""
        return self.ready and self.seat in (None, seat) and seat not in self.declined

    def facts(self) -> dict[str, object]:
        """For ``--json``."""
        claim = self.claim
        return {
            "id": self.id,
            "title": self.title,
            "status": self.status.value,
            "section": self.section,
            "file": self.task.file,
            "line": self.task.line or None,
            "depth": self.task.depth,
            "parent": self.task.parent_id,
            "done": self.task.done,
            "in_plan": self.in_plan,
            "seat": self.seat,
            "priority": self.priority,
            "after": list(self.task.after),
            "waiting_for": list(self.waiting_for),
            "ready": self.ready,
            "holder": self.holder,
            "claimed_at": claim.as_json()["claimed_at"] if claim else None,
            "acknowledged": claim.acknowledged_at is not None if claim else None,
            "attempts": self.attempts,
            "reasons": list(self.reasons),
            "declined": list(self.declined),
            "origin": self.origin,
            "source": self.source,
            "description": self.description,
            "notes": list(self.notes),
            "result": self.result,
            "progress": self.file.progress if self.file else "",
            "similar_to": self.task.similar_to,
            "path": self.file.path if self.file else None,
            "problem": self.problem or None,
        }


class Board:
    """The tasks of a project at one moment."""

    def __init__(
        self,
        plan: TaskSet,
        files: dict[str, TaskFile],
        held: Iterable[Claim],
        problems: dict[str, str] | None = None,
        layout: Layout | None = None,
    ) -> None:
        self.layout = layout
        self.plan = plan
        self.files = files
        self.claims = {claim.task: claim for claim in held}
        self.problems = problems or {}
        self.tasks = plan.by_id()
        self._order = {task.id: number for number, task in enumerate(plan.tasks)}
        self._status: dict[str, TaskStatus] = {}

    def claim(self, task_id: str) -> Claim | None:
        """Who holds a task: the claim file, or what the task's file remembers of a lost one."""
        claim, file = self.claims.get(task_id), self.files.get(task_id)
        if claim is None:
            claim = work.claim_in(file) if file else None
        if claim is None or work.is_over(claim, file):
            return None
        task = self.tasks.get(task_id)
        return None if task is not None and task.done else claim

    def status(self, task_id: str) -> TaskStatus:
        """What is true of a task now (see `TaskView`)."""
        if task_id not in self._status:
            self._status[task_id] = self._find_status(task_id)
        return self._status[task_id]

    def _find_status(self, task_id: str) -> TaskStatus:
        task, file = self.tasks.get(task_id), self.files.get(task_id)
        if task is not None and task.done:
            return TaskStatus.DONE
        claim = self.claim(task_id)
        said = file.status if file else TaskStatus.OPEN
        if claim is not None:
            return TaskStatus.IN_PROGRESS if claim.acknowledged_at is not None else TaskStatus.CLAIMED
        if task is None and said not in (*_HELD, TaskStatus.DONE):
            return TaskStatus.WITHDRAWN
        return said

    def waiting_for(self, task: Task) -> tuple[str, ...]:
        """What has to be done before: ids of open tasks, and references that name nothing."""
        return tuple(
            ref for ref in task.after if ref not in self.tasks or self.status(ref) is not TaskStatus.DONE
        )  # fmt: skip

    def get(self, task_id: str) -> TaskView | None:
        """One task, or None when neither the plan nor a file knows it."""
        task = self.tasks.get(task_id)
        file = self.files.get(task_id)
        in_plan = task is not None and task.missing_since_at is None
        if task is None:
            if file is None:
                return None
            task = _from_file(file)
        return TaskView(
            task,
            file,
            self.claim(task_id),
            self.status(task_id),
            self.waiting_for(task),
            self._order.get(task_id, len(self._order)),
            in_plan,
            self.problems.get(task_id, ""),
        )

    def unticked(self) -> list[Task]:
        """Tasks whose file says done while nobody has ticked their box yet."""
        return [
            task
            for task in self.plan.tasks
            if not task.done
            and task.missing_since_at is None
            and (file := self.files.get(task.id)) is not None
            and file.status is TaskStatus.DONE
            and not file.ticked_at
        ]

    def ticked_in_work(self) -> list[Task]:
        """Tasks that somebody ticked while a seat holds them."""
        return [task for task_id in self.claims if (task := self.tasks.get(task_id)) is not None and task.done]

    def full(self, one: TaskView) -> TaskView | None:
        """The same task with the notes and the result that its file holds now."""
        if one.file is None or self.layout is None:
            return one
        try:
            file = taskfile.read(self.layout, one.id)
        except ColeoError as error:
            return one.replace(problem=str(error))
        return one.replace(file=file or one.file)

    def all(self) -> list[TaskView]:
        """Every task: the plan's in its order, then those whose line is gone."""
        gone = sorted(task_id for task_id in self.files if task_id not in self.tasks)
        return [one for task_id in (*self.tasks, *gone) if (one := self.get(task_id)) is not None]

    def of_seat(self, seat: str) -> list[TaskView]:
        """What a seat holds, in the order of the plan."""
        held = {claim.task for claim in self.claims.values() if claim.seat == seat}
        held |= {file.id for file in self.files.values() if file.seat == seat and file.status in _HELD}
        found = [one for task_id in held if (one := self.get(task_id)) is not None and one.holder == seat]
        return sorted(found, key=lambda one: (one.order, one.id))

    def free_ids(self, seat: str) -> list[str]:
        """The ids of what a seat may take now, best first (`rank`)."""
        found = []
        for order, task in enumerate(self.plan.tasks):
            if task.done or task.missing_since_at is not None or task.seat not in (None, seat):
                continue
            touched = task.id in self.files or task.id in self.claims or task.id in self.problems or task.after
            if not touched:
                found.append(((task.seat != seat, RANKS.get(task.priority, 1), False, order), task.id))
            elif (one := self.get(task.id)) is not None and one.fits(seat):
                found.append((rank(one, seat), task.id))
        return [task_id for _key, task_id in sorted(found)]

    def free_for(self, seat: str) -> list[TaskView]:
        """What a seat may take now, best first."""
        return [one for task_id in self.free_ids(seat) if (one := self.get(task_id)) is not None]


def rank(one: TaskView, seat: str) -> tuple[bool, int, bool, int]:
    """Sort key: the seat's own tasks first, high before low, what never failed before what did, then plan order."""
    return (one.seat != seat, RANKS.get(one.priority, 1), one.status is TaskStatus.FAILED, one.order)


def _from_file(file: TaskFile) -> Task:
    """A task whose line is gone, from what its file remembers."""
    return Task(file.id, file.title, file.section, file.file, number=file.number, origin=file.origin)


def board(layout: Layout, now: float) -> Board:
    """The tasks as they are now. With no brain alive the plan is read here when it has changed."""
    plan = planread.tasks(layout, now)
    files, bad = taskindex.read_all(layout)
    problems = {}
    for error in bad:
        task_id = taskfile.id_of(os.path.basename(error.file or ""))
        problems[task_id] = str(error)
    return Board(plan, files, claims.held(layout), problems, layout)


def mended_board(layout: Layout, now: float) -> Board:
    """The same for verbs that act: with no brain alive, what a kill or a hand edit left is set right first."""
    found = board(layout, now)
    if planread.brain_lives(layout):
        return found
    done = mend.mend(layout, found.tasks, found.files, now)
    for one in done:
        activity.append(layout, "restored", now=now, text=one.what, task=one.task, seat=one.seat or None)
    ended = [work.ticked(layout, task, "its box was ticked in the plan", now) for task in found.ticked_in_work()]
    ticked = [planread.tick(layout, task, now) for task in found.unticked()]
    return board(layout, now) if done or ended or any(ticked) else found


def view(layout: Layout, now: float | None = None) -> list[TaskView]:
    """Every task of the project, in the order of the plan, then those whose line is gone."""
    return board(layout, _now() if now is None else now).all()


def next_for(views: Iterable[TaskView], seat: str) -> TaskView | None:
    """The task that this seat should take next, or None."""
    return min((one for one in views if one.fits(seat)), key=lambda one: rank(one, seat), default=None)


def _now() -> float:
    import time

    return time.time()
