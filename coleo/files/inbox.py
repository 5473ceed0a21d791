"""The inbox: what people drop into ``inbox.md`` becomes tasks, and the inbox is empty again.

Order of writes (DESIGN.md section 4 "Inbox rules"), each safe to be cut off at any point:

    archive   the bytes, flushed (`inboxarchive`)
    journal   what will be done with them: ``run/cache/inbox.json``, ``pending``
    notes     repeats of known tasks, into their files
    plan      new tasks, one write at its end; only those that do not stand there yet
    journal   ``taken``: these bytes are done, and then that they are being cleared
    clear     the inbox, if it holds exactly these bytes; lines that came meanwhile are taken first
    archive   the record is done

A kill leaves ``pending`` (what is missing is done again) or ``taken`` (the inbox is cleared). Without the journal
(``run/`` was deleted) the archive's record says that the same bytes of the same file were on their way: they are
taken again as one and the same batch, and the rule on repeats keeps tasks from standing twice.
"""

from __future__ import annotations

import hashlib
import os

from coleo.files import atomic, inboxarchive, inplace, locks, planadd, unread
from coleo.files.editorlock import unsaved
from coleo.files.inboxparse import InboxItem, InboxRead, parse
from coleo.files.inboxplan import Alike, Batch, Note, as_json, decide, from_json, open_tasks, with_group
from coleo.files.layout import Layout, make_private
from coleo.files.markdown import parser_of
from coleo.files.planlook import UNSAVED_S, in_conflict, read_regular
from coleo.model.errors import CannotBeDone
from coleo.model.plan import PLAN, TaskSet
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Alike", "InboxItem", "InboxRead", "InboxTaken", "Note", "parse", "sync"]

SETTLE_S = 2.0
LOCK_WAIT_S = 30.0
BUSY_AGAIN_S = 1.0
_ROUNDS = 20
NAME = "inbox.json"


class InboxTaken(Record):
    """What one sync did. added: new tasks; duplicates: items that became notes; similar: new ones that are like others.

    unclaimed: (line, text) of what made no task. notes: as they were written. again_at: look again then, even
    without an event (the file was not still, somebody has it open, a repeat waits for its task); None for not.
    waits_for: the editor's lock file that says that somebody has unsaved changes.
    """

    added: tuple[InboxItem, ...] = ()
    duplicates: tuple[Alike, ...] = ()
    similar: tuple[Alike, ...] = ()
    unclaimed: tuple[tuple[int, str], ...] = ()
    notes: tuple[Note, ...] = ()
    again_at: float | None = None
    waits_for: str = ""


def sync(
    layout: Layout,
    tasks: TaskSet,
    now: float,
    *,
    settle_s: float = SETTLE_S,
    write_note: Callable[[Note], None] | None = None,
    deadline_s: float = 2.0,
) -> InboxTaken:
    """Take what lies in the inbox. tasks: of the last read of the plan, to find repeats.

    write_note: puts a note into a task's file; called again with the same text after a kill. Default: as
    `note_in_task`. Raises CannotBeDone (the plan cannot be added to now: nothing is lost, call again), inplace.Busy,
    inplace.Changed, OSError (disk full, and the like).
    """
    if _nothing_there(layout):
        return InboxTaken()
    make_private(layout.locks)
    note = write_note or (lambda one: note_in_task(layout, tasks, one, now))
    with locks.hold(layout.lock("inbox"), wait_s=LOCK_WAIT_S, note="inbox"):
        return _Sync(layout, tasks, now, settle_s, note, deadline_s).run()


def _nothing_there(layout: Layout) -> bool:
    """An empty inbox and nothing begun: then no lock is taken, tick after tick."""
    try:
        empty = os.stat(layout.inbox).st_size == 0
    except OSError:
        return False
    return empty and not os.path.exists(os.path.join(layout.cache, NAME))


def note_in_task(layout: Layout, tasks: TaskSet, note: Note, now: float) -> None:
    """Write a note into a task's file, unless it stands there."""
    from coleo.files import taskfile

    task = tasks.by_id().get(note.task_id)
    if task is None:
        return
    with taskfile.lock(layout, note.task_id):
        file = taskfile.read(layout, note.task_id)
        mark = note.text.split("\n")[0]
        if file is None or not any(mark in there for there in file.notes):
            taskfile.add_note(layout, task, "human", note.text, now, locked=True)


#: By path of the inbox: bytes that this process has taken and not cleared yet, and content of which the file's own
#: time cannot be true with the moment when it was first seen.
_uncleared: dict[str, tuple[str, bytes]] = {}
_first_seen: dict[str, tuple[str, float]] = {}


class _Sync:
    def __init__(
        self,
        layout: Layout,
        tasks: TaskSet,
        now: float,
        settle_s: float,
        write_note: Callable[[Note], None],
        deadline_s: float,
    ) -> None:
        self.layout = layout
        self.tasks = tasks
        self.now = now
        self.settle_s = settle_s
        self.write_note = write_note
        self.deadline_s = deadline_s
        self.taken = InboxTaken()
        self.state_path = os.path.join(layout.cache, NAME)
        self.state = self._load()

    def run(self) -> InboxTaken:
        """Finish what was begun, then take what is new."""
        if self.state.get("pending"):
            self._finish(self.state["pending"])
        for _round in range(_ROUNDS):
            if not self._step():
                return self.taken
        self._again(self.now + BUSY_AGAIN_S)
        return self.taken

    def _step(self) -> bool:
        """One look at the inbox. True when there may be more to do at once."""
        try:
            data, info = read_regular(self.layout.inbox)
        except FileNotFoundError:
            self._cleared()
            return False
        before = self._done_part(data, info)
        rest = data[len(before) :]
        if before and not rest:
            return self._clear(before)
        if not before and not rest.strip():
            return False
        read = parse(rest, frozenset(self.layout.seats_present()))
        if read.is_empty and not before:
            return False
        wait = self._waits(data, info)
        if wait is not None:
            return self._again(wait)
        known = inboxarchive.unfinished(self.layout, rest, info.st_ino)
        at = known.at if known else self.now
        batch = self._decide(read, at)
        if batch is None:
            return self._again(self.now + BUSY_AGAIN_S)
        name = known.id if known else ""
        self._take(data, rest, info, read, batch, at, name)
        return True

    def _again(self, at: float) -> bool:
        self.taken = self.taken.replace(again_at=at)
        return False

    def _done_part(self, data: bytes, info: os.stat_result) -> bytes:
        """The bytes at the beginning that are taken already and only wait to be cleared."""
        taken = self.state.get("taken")
        if not taken:
            return b""
        mine = _uncleared.get(self.layout.inbox)
        if mine and mine[0] == taken["batch"] and data.startswith(mine[1]):
            return mine[1]
        # When a process ended while it cleared, the same words may be a new drop: then only the very file of that time
        # counts as taken.
        same = (info.st_ino, info.st_mtime_ns, len(data)) == (taken["ino"], taken["mtime_ns"], taken["size"])
        part = data[: taken["size"]]
        if (same or not taken["clearing"]) and hashlib.sha256(part).hexdigest() == taken["sha"]:
            return part
        self._cleared()
        return b""

    def _waits(self, data: bytes, info: os.stat_result) -> float | None:
        """When to look again, if somebody may still be writing."""
        sha = hashlib.sha256(data).hexdigest()
        since = info.st_mtime_ns / 1e9
        if since > self.now:
            known = _first_seen.get(self.layout.inbox)
            if known is None or known[0] != sha:
                _first_seen[self.layout.inbox] = known = (sha, self.now)
            since = known[1]
        if self.now - since < self.settle_s:
            return since + self.settle_s
        lock = unsaved(self.layout.inbox) if self.now - since < UNSAVED_S else None
        if lock is None:
            return None
        self.taken = self.taken.replace(waits_for=lock)
        return self.now + BUSY_AGAIN_S

    def _decide(self, read: InboxRead, at: float) -> Batch | None:
        """What to do with the items; None when one repeats a line of the plan that has not become a task yet.

        at: when they were first taken; it stands in the notes, so that none is written twice.
        """
        data = self._plan()
        lines = parser_of(self.layout.plan).parse(data, frozenset(self.layout.seats_present())).rows
        batch = decide(read, open_tasks(self.tasks.present(), lines), at)
        if not batch.waits:
            return batch
        last = self.tasks.files.get(PLAN)
        if last is None or last.settled_sha != hashlib.sha256(data).hexdigest():
            return None
        return decide(read, open_tasks(self.tasks.present(), ()), at)

    def _plan(self) -> bytes:
        """The plan, which must be there and whole before anything is taken for it. Raises CannotBeDone."""
        file = os.path.relpath(self.layout.plan, self.layout.root)
        try:
            data, _info = read_regular(self.layout.plan)
        except FileNotFoundError:
            raise CannotBeDone(
                "there is no plan: the inbox waits", file=file, todo="make it again, or `coleo init`"
            ) from None
        if in_conflict(data):
            raise CannotBeDone("the plan holds conflict markers: the inbox waits", file=file)
        return data

    def _take(
        self, data: bytes, rest: bytes, info: os.stat_result, read: InboxRead, batch: Batch, at: float, name: str
    ) -> None:
        """name: of the archive's record, when there is one already."""
        items = [with_group(item) for item in batch.added]
        plan = self._plan()
        seats = frozenset(self.layout.seats_present())
        # Raises now, before anything is written, when the plan has an open end.
        planadd.addition(plan, items, parser=parser_of(self.layout.plan), seats=seats)
        name = name or inboxarchive.add(self.layout, rest, at, info.st_ino)
        pending = {
            "batch": name,
            "at": at,
            "ino": info.st_ino,
            "mtime_ns": info.st_mtime_ns,
            "size": len(data),
            "sha": hashlib.sha256(data).hexdigest(),
            "items": as_json(items),
            "there": planadd.counts(plan, items),
            "notes": [[note.task_id, note.text] for note in batch.notes],
            "unclaimed": [list(row) for row in read.unclaimed],
        }
        earlier = (self.state.get("taken") or {}).get("batches", [])
        self._save({"pending": {**pending, "earlier": earlier}})
        self._finish(self.state["pending"])
        _uncleared[self.layout.inbox] = (name, data)
        self.taken = InboxTaken(
            self.taken.added + batch.added,
            self.taken.duplicates + batch.duplicates,
            self.taken.similar + batch.similar,
            self.taken.unclaimed + read.unclaimed,
            self.taken.notes + batch.notes,
        )

    def _finish(self, pending: dict[str, Any]) -> None:
        """Do what is left of a batch: notes, plan; then its bytes are taken. Raises as `sync`."""
        inplace.recover(self.layout.journal)
        for task_id, text in pending["notes"]:
            self.write_note(Note(task_id, text))
        items = from_json(pending["items"])
        planadd.append(
            self.layout, lambda data: planadd.missing(data, items, pending["there"]), deadline_s=self.deadline_s
        )  # fmt: skip
        unread.add(self.layout, pending["batch"], pending["at"], [(row[0], row[1]) for row in pending["unclaimed"]])
        taken = {name: pending[name] for name in ("batch", "at", "ino", "mtime_ns", "size", "sha")}
        taken["batches"] = [*pending["earlier"], [pending["batch"], pending["at"]]]
        taken["clearing"] = False
        self._save({"taken": taken})

    def _clear(self, taken: bytes) -> bool:
        """Empty the inbox. True when it grew meanwhile."""
        self._save({"taken": {**self.state["taken"], "clearing": True}})
        try:
            inplace.clear(self.layout.inbox, taken)
        except (inplace.Changed, inplace.Busy) as error:
            self._save({"taken": {**self.state["taken"], "clearing": False}})
            return isinstance(error, inplace.Changed) or self._again(self.now + BUSY_AGAIN_S)
        self._cleared()
        return False

    def _cleared(self) -> None:
        """The bytes that were taken are not in the inbox any more."""
        taken = self.state.get("taken")
        if taken:
            for name, at in taken["batches"]:
                inboxarchive.finish(self.layout, name, at)
            self._save({})
        _uncleared.pop(self.layout.inbox, None)

    def _load(self) -> dict[str, Any]:
        try:
            found = atomic.read_json(self.state_path)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _save(self, state: dict[str, Any]) -> None:
        make_private(self.layout.cache)
        atomic.write_json(self.state_path, state)
        self.state = state
