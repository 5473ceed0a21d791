"""The plan as the loop handles it: reads, what a read changed, and the tasks as the brain sees them.

`coleo.brain.plansync` decides what changed; here each change is carried out once: task files follow, seats that
hold a task are told by message, lost ticks are set again. Message ids are made from what happened, so that a kill
between the act and its record tells nobody twice.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

from coleo.brain import texts
from coleo.brain.facts import Claimed, Work
from coleo.files import claims, inbox, inplace, mail, mend, plan, plancache, taskfile, work
from coleo.files.claims import Claim
from coleo.files.layout import Layout, is_junk
from coleo.files.settings import Settings
from coleo.model import planevents as events
from coleo.model.errors import ColeoError
from coleo.model.instant import iso
from coleo.model.plan import Binding, Task, TaskSet
from coleo.model.task import TaskFile, TaskStatus

TICK_RETRY_S = 0.05
INBOX_RETRY_S = 1.0
ASKED_AGAIN = frozenset({"title", "description", "blocks", "seat", "verify"})
"""What a person may change about a task so that seats which could not take it are asked again."""
RANKS = {"high": 0, "normal": 1, "low": 2}


class TaskFiles:
    """The task files, each read again only when it changed."""

    def __init__(self, layout: Layout, complain: Callable[[str, str], None]) -> None:
        self._layout = layout
        self._complain = complain
        self._seen: dict[str, tuple[tuple[int, int, int], TaskFile | None]] = {}
        self.files: dict[str, TaskFile] = {}

    def refresh(self) -> None:
        """Look at the folder; a file that cannot be read keeps its last good content and is complained of once."""
        seen: dict[str, tuple[tuple[int, int, int], TaskFile | None]] = {}
        try:
            entries = sorted(os.scandir(self._layout.tasks), key=lambda entry: entry.name)
        except OSError:
            entries = []
        for entry in entries:
            if is_junk(entry.name) or not entry.name.endswith(".md"):
                continue
            try:
                status = entry.stat()
                signature = (status.st_mtime_ns, status.st_size, status.st_ino)
                known = self._seen.get(entry.name)
                if known is not None and known[0] == signature:
                    seen[entry.name] = known
                else:
                    seen[entry.name] = (signature, self._read(entry.path, known[1] if known else None))
            except OSError:
                continue
        self._seen = seen
        self.files = {}
        for _signature, file in seen.values():
            if file is not None:
                self.files.setdefault(file.id, file)

    def _read(self, path: str, last: TaskFile | None) -> TaskFile | None:
        with open(path, "rb") as stream:
            data = stream.read()
        try:
            return taskfile.parse(data, path, self._layout)
        except ColeoError as error:
            self._complain(f"{path} {hashlib.sha256(data).hexdigest()[:8]}", str(error))
            return last

    def bindings(self) -> tuple[Binding, ...]:
        """What the plan's reader needs of them."""
        return tuple(
            Binding(file.id, file.file, file.section, file.title, file.number, file.status.value, origin=file.origin)
            for file in self.files.values()
        )


class PlanWork:
    """Plan, inbox, task files and claims of one project, read when they may have changed.

    log: writes an activity line (action, fields). complain: one warning per key, ever.
    """

    def __init__(
        self,
        layout: Layout,
        settings: Callable[[], Settings],
        log: Callable[..., None],
        complain: Callable[[str, str], None],
    ) -> None:
        self._layout = layout
        self._settings = settings
        self._log = log
        self._complain = complain
        self._files = TaskFiles(layout, complain)
        self._last: TaskSet | None = None
        self._to_tick: dict[str, Task] = {}
        self.claims: dict[str, Claim] = {}
        self.work: tuple[Work, ...] = ()
        self._plan_again_at: float | None = None
        self._inbox_again_at: float | None = None

    @property
    def again_at(self) -> float | None:
        """When to look again even if nothing is heard: a file has to be still first, a tick or the inbox waits."""
        return min((at for at in (self._plan_again_at, self._inbox_again_at) if at is not None), default=None)

    def start(self) -> None:
        """Take up what the last brain knew of the plan."""
        self._last = plancache.load(self._layout)

    @property
    def tasks(self) -> TaskSet:
        """The last good state of the plan."""
        return self._last or TaskSet()

    def read(self, areas: set[str], now: float, *, fully: bool) -> bool:
        """Look again at what may have changed. True when it led to writes that other parts should see at once."""
        due = self.again_at is not None and now >= self.again_at
        inbox_due = self._inbox_again_at is not None and now >= self._inbox_again_at
        due |= inbox_due
        if not (fully or due or areas & {"plan", "inbox", "tasks", "claims"}):
            return False
        stirred = False
        if fully or due or areas & {"plan", "inbox", "tasks"}:
            self._files.refresh()
            stirred |= self._read_plan(now)
            if (fully or inbox_due or "inbox" in areas) and self._take_inbox(now):
                stirred |= self._read_plan(now) or True
        self._files.refresh()
        for mended in mend.mend(self._layout, self.tasks.by_id(), self._files.files, now):
            stirred = True
            self._log("restored", text=mended.what, task=mended.task, seat=mended.seat or None)
        if stirred:
            self._files.refresh()
        self.claims = {claim.task: claim for claim in claims.held(self._layout)}
        self.work = self._as_work()
        return stirred

    def _take_inbox(self, now: float) -> bool:
        """What lies in the inbox goes into the plan. True when something did."""
        try:
            taken = inbox.sync(
                self._layout, self.tasks, now, settle_s=self._settings().brain.settle_s, deadline_s=TICK_RETRY_S
            )
        except (ColeoError, inplace.Busy, inplace.Changed) as error:
            self._complain(f"inbox {error}", f"the inbox waits: {error}")
            self._inbox_again_at = now + INBOX_RETRY_S
            return False
        self._inbox_again_at = taken.again_at
        if taken.waits_for:
            text = f"inbox.md waits: {taken.waits_for} says that an editor has unsaved changes of it"
            self._complain(f"inbox {taken.waits_for}", text)
        if not (taken.added or taken.duplicates or taken.unclaimed):
            return False
        self._log(
            "inbox_taken",
            added=[item.title for item in taken.added],
            duplicates=[f"{alike.item.title} = {alike.title}" for alike in taken.duplicates],
            no_task=len(taken.unclaimed) or None,
        )
        return True

    def _read_plan(self, now: float) -> bool:
        found = plan.read(self._layout, self._last, now, self._settings(), self._files.bindings())
        before, self._last = self._last, found.taskset
        for warning in found.fresh:
            where = f"{warning.file}:{warning.line}" if warning.line else warning.file
            self._complain(f"{where}:{warning.why}:{warning.text}", f"{where}: {warning.why} {warning.text}".strip())
        if found.first:
            self._log("plan_read", count=len(found.taskset.tasks), reason="first read")
        for event in found.events:
            if found.first and isinstance(event, events.Added):
                continue
            try:
                self._carry_out(event, now)
            except (ColeoError, OSError) as error:
                self._log("error", task=event.task.id, reason=f"{type(event).__name__}: {error}")
        self._set_ticks()
        if before is None or _worth_keeping(found.taskset) != _worth_keeping(before):
            plancache.save(self._layout, found.taskset)
        self._plan_again_at = found.again_at
        if self._to_tick:
            self._plan_again_at = min(found.again_at or now + TICK_RETRY_S, now + TICK_RETRY_S)
        return bool(found.events) and not found.first

    def _set_ticks(self) -> None:
        """Boxes to be ticked; a file that somebody has open is tried again soon."""
        for task in list(self._to_tick.values()):
            try:
                done = plan.tick(self._layout, task, deadline_s=0.0)
            except (inplace.Busy, inplace.Changed):
                continue
            except OSError as error:
                self._log("error", task=task.id, reason=f"its box could not be ticked: {error}")
                continue
            del self._to_tick[task.id]
            where = {"task": task.id, "title": task.title, "file": task.file}
            if done:
                self._log("task_ticked", **where, by="coleo")
            else:
                self._log("warning", **where, text="done, but its line is not in the plan")

    def _carry_out(self, event: events.PlanEvent, now: float) -> None:
        task = event.task
        known = self._files.files.get(task.id)
        where = {"task": task.id, "title": task.title, "file": task.file, "line": task.line}
        match event:
            case events.Added():
                self._log("task_added", **where, origin=task.origin, similar_to=task.similar_to)
            case events.Returned():
                self._log("task_returned", **where)
                if known is not None and known.status is TaskStatus.WITHDRAWN:
                    work.reopen(self._layout, task, "its line is back in the plan", now, by="brain", forget=False)
            case events.Withdrawn():
                self._log("task_withdrawn", **where)
                if known is not None and known.status not in (TaskStatus.DONE, TaskStatus.WITHDRAWN):
                    taskfile.update(self._layout, task.id, {"status": "withdrawn", "seat": None}, now)
            case events.Reworded(old_title=old):
                self._log("task_reworded", **where, text=old)
                self._follow(task, known, now)
                self._tell(task, f"reworded-{_short(task.title)}", texts.reworded(task.id, old, task.title), now)
            case events.Moved():
                self._follow(task, known, now)
            case events.Changed(fields=fields):
                self._follow(task, known, now)
                if known is not None and known.declined and set(fields) & ASKED_AGAIN:
                    taskfile.update(self._layout, task.id, {"declined": ()}, now)
            case events.Ticked(by="coleo"):
                taskfile.update(self._layout, task.id, {"ticked_at": iso(now)}, now)
            case events.Ticked() | events.DoneInWork():
                self._done_by_person(task, now)
            case events.Unticked():
                self._log("task_unticked", **where)
                if known is not None and known.status is TaskStatus.DONE:
                    work.reopen(self._layout, task, "its box was unticked in the plan", now, by="human")
            case events.TickAgain(attempt=attempt, why=why):
                self._to_tick[task.id] = task
                if attempt > 1:
                    self._log("notice", **where, text=f"its box is ticked again: {why}", attempt=attempt)
            case events.CommentAdded(text=text):
                self._tell(task, f"comment-{_short(text)}", texts.comment(task.id, text), now)
            case _:
                pass

    def _follow(self, task: Task, known: TaskFile | None, now: float) -> None:
        """The identity in the task's file follows its line."""
        if known is None:
            return
        identity: dict[str, str | int | None] = {
            "title": task.title,
            "section": task.section,
            "file": task.file,
            "number": task.number if task.number > 1 else None,
        }
        if (known.title, known.section, known.file, known.number) != (task.title, task.section, task.file, task.number):
            taskfile.update(self._layout, task.id, identity, now)

    def _done_by_person(self, task: Task, now: float) -> None:
        """A person ticked it: done, and who holds it is told once."""
        self._log("task_ticked", task=task.id, title=task.title, by="person")
        claim = self.claims.get(task.id)
        work.ticked(self._layout, task, "ticked in the plan by a person", now)
        if claim is not None:
            self._tell(task, "ticked", texts.done_by_person(task.id, task.title), now, claim)

    def _tell(self, task: Task, key: str, text: str, now: float, claim: Claim | None = None) -> None:
        claim = claim or self.claims.get(task.id)
        if claim is None:
            return
        message_id = f"{task.id}-{key}-{claim.token[:8]}"
        mail.send(self._layout, claim.seat, "brain", text, kind="notice", message_id=message_id, now=now, task=task.id)

    def _as_work(self) -> tuple[Work, ...]:
        tasks = self.tasks
        open_ids = {task.id for task in tasks.tasks if not task.done}
        known = tasks.by_id()
        return tuple(self._one(order, task, open_ids, known) for order, task in enumerate(tasks.tasks))

    def _one(self, order: int, task: Task, open_ids: set[str], known: dict[str, Task]) -> Work:
        file = self._files.files.get(task.id)
        claim = self.claims.get(task.id)
        status = "done" if task.done else file.status.value if file else "open"
        gone = task.missing_since_at is not None
        return Work(
            task.id,
            task.title,
            status,
            task.seat,
            RANKS.get(task.priority, 1),
            order,
            not gone and all(ref in known and ref not in open_ids for ref in task.after),
            _claimed(claim) if claim else None,
            file.attempts if file else 0,
            file.reasons if file else (),
            file.declined if file else (),
        )


def _worth_keeping(tasks: TaskSet) -> TaskSet:
    """The set without the times of mere looks, which change in every read."""
    files = {
        name: state.replace(read_at=0.0, settled_at=None if state.settled_at is None else 0.0)
        for name, state in tasks.files.items()
    }
    return tasks.replace(files=files, again_at=None)


def _claimed(claim: Claim) -> Claimed:
    return Claimed(claim.seat, claim.token, claim.claimed_at, claim.acknowledged_at, claim.by)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]
