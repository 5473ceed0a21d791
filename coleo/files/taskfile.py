"""``tasks/<id>-<slug>.md``: what is remembered of a touched task. Made on first touch; people edit it at any time.

Front matter holds what is one word (status, seat, claim, counts), the body what is text. A person's edit counts: a
status changed by hand is the status, keys that coleo does not know stay, and front matter that cannot be read is
told of with its line and never written over.

Writes are changes in place under the lock ``task-<id>`` and the file lease (`coleo.files.inplace`), so a person's
save that races ours wins. Callers that already hold the lock say so with `locked`.
"""

from __future__ import annotations

import os
import re
import time

from coleo.files import atomic, front, inplace, locks, taskbody
from coleo.files.layout import Layout, is_junk, make_private
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.instant import iso
from coleo.model.names import TASK, check_task
from coleo.model.plan import Binding, Task
from coleo.model.task import TaskFile, TaskStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    Changes = Mapping[str, "str | int | tuple[str, ...] | None"]

LOCK_WAIT_S = 30.0
EDIT_WAIT_S = 10.0
SETTLED_S = 1.0
"""Age from which a file's time stamp tells two contents apart; younger ones are read again each time."""
_NOT_WORD = re.compile(r"[^a-z0-9]+")
_STATUSES = ", ".join(TaskStatus)


def lock(layout: Layout, task_id: str) -> AbstractContextManager[object]:
    """Held by whoever changes who holds a task or what its file says."""
    make_private(layout.locks)
    return locks.hold(layout.lock(f"task-{check_task(task_id)}"), wait_s=LOCK_WAIT_S, note="task")


def slug(title: str) -> str:
    """The readable part of a file name: at most 40 of a-z 0-9 and ``-``; may be empty."""
    return _NOT_WORD.sub("-", title.lower())[:40].strip("-")


def locate(layout: Layout, task_id: str, names: list[str] | None = None) -> str | None:
    """The path of the file of a task, or None. names: of the folder, when they are known already."""
    check_task(task_id)
    if names is None:
        names = _names(layout)
    fitting = [name for name in names if name == f"{task_id}.md" or name.startswith(f"{task_id}-")]
    unnamed = None
    for name in fitting:
        path = os.path.join(layout.tasks, name)
        given = _id_in(path)
        if given == task_id:
            return path
        if not given and unnamed is None:
            unnamed = path
    return unnamed


def _names(layout: Layout) -> list[str]:
    try:
        found = os.listdir(layout.tasks)
    except OSError:
        return []
    return sorted(name for name in found if name.endswith(".md") and not is_junk(name))


def _id_in(path: str) -> str:
    """The id that a file's front matter gives; "" when it gives none or cannot be read."""
    try:
        data = atomic.read(path) or b""
        value = front.read(data)[0].get("id", "")
    except (front.BadFront, OSError):
        return ""
    return value if isinstance(value, str) else ""


def read(layout: Layout, task_id: str) -> TaskFile | None:
    """What is remembered of a task; None when nobody touched it. Raises BadInput for bad front matter."""
    path = locate(layout, task_id)
    data = atomic.read(path) if path else None
    return None if path is None or data is None else parse(data, path, layout)


def read_all(layout: Layout) -> tuple[dict[str, TaskFile], list[BadInput]]:
    """Every task file by id, and what is wrong with those that cannot be read."""
    cache = Cache(layout)
    cache.refresh()
    return cache.files, cache.bad


class Cache:
    """The task files of a project in memory, read again only where a file has changed.

    files: by id. bad: what is wrong with those that cannot be read (their last good state stays in `files`).
    seen: by file name, its (mtime_ns, size, inode) and what was read; only of files that are not young.
    """

    def __init__(self, layout: Layout, clock: Callable[[], float] = time.time) -> None:
        self._layout = layout
        self._clock = clock
        self.seen: dict[str, tuple[tuple[int, int, int], TaskFile | BadInput]] = {}
        self.files: dict[str, TaskFile] = {}
        self.bad: list[BadInput] = []

    def refresh(self) -> frozenset[str]:
        """Look at the folder again: the ids whose file is new, changed or gone."""
        before, last_good = self.seen, {file.path: file for file in self.files.values()}
        self.seen = {}
        files: dict[str, TaskFile] = {}
        self.bad = []
        for name in _names(self._layout):
            path = os.path.join(self._layout.tasks, name)
            one = self._one(name, path, before.get(name))
            if isinstance(one, BadInput):
                self.bad.append(one)
                one = last_good.get(path)
            if one is not None:
                files.setdefault(one.id, one)
        changed = {one for one in files.keys() | self.files.keys() if files.get(one) is not self.files.get(one)}
        self.files = files
        return frozenset(changed)

    def _one(
        self, name: str, path: str, known: tuple[tuple[int, int, int], TaskFile | BadInput] | None
    ) -> TaskFile | BadInput | None:
        try:
            here = os.stat(path)
            key = (here.st_mtime_ns, here.st_size, here.st_ino)
            if known is not None and known[0] == key:
                self.seen[name] = known
                return known[1]
            data = atomic.read(path)
        except OSError:
            return None
        if data is None:
            return None
        one: TaskFile | BadInput
        try:
            one = parse(data, path, self._layout)
        except BadInput as error:
            one = error
        if self._clock() - here.st_mtime > SETTLED_S:
            self.seen[name] = (key, one)
        return one


def bindings(layout: Layout) -> tuple[Binding, ...]:
    """The identity of every touched task, for the plan's reader: the id that a line keeps for good."""
    files, _bad = read_all(layout)
    return tuple(
        Binding(one.id, one.file, one.section, one.title, one.number, one.status.value) for one in files.values()
    )


def parse(data: bytes, path: str, layout: Layout | None = None) -> TaskFile:
    """The record in `data`. Raises BadInput with file and line."""
    shown = os.path.relpath(path, layout.root) if layout else path
    try:
        values, text = front.read(data)
    except front.BadFront as error:
        raise _unreadable(shown, error) from None
    body = taskbody.parse(text)
    return TaskFile(
        id=_word(values, "id") or id_of(os.path.basename(path)),
        title=_word(values, "title") or body.title or "",
        section=_word(values, "section") or None,
        file=_word(values, "file") or "plan.md",
        number=_count(values, "number", shown, data, 1),
        status=_status(values, shown, data),
        seat=_word(values, "seat") or None,
        token=_word(values, "token"),
        claimed_at=_word(values, "claimed_at"),
        acknowledged_at=_word(values, "acknowledged_at"),
        by=_word(values, "by"),
        generation=_count(values, "generation", shown, data, 0),
        ended=_words(values, "ended"),
        origin=_word(values, "origin") or "plan",
        attempts=_count(values, "attempts", shown, data, 0),
        reasons=body.attempts,
        declined=_words(values, "declined"),
        progress=_word(values, "progress"),
        pending=_word(values, "pending"),
        created_at=_word(values, "created_at"),
        updated_at=_word(values, "updated_at"),
        done_at=_word(values, "done_at"),
        ticked_at=_word(values, "ticked_at"),
        description=body.description,
        notes=body.notes,
        result=body.result,
        path=path,
    )


def _unreadable(file: str, error: front.BadFront) -> BadInput:
    return BadInput(
        "the front matter cannot be read",
        file=file,
        line=error.line,
        found=error.reason,
        wanted="key: value lines between two lines ---",
        todo="mend it by hand; coleo does not write over it",
    )


def _word(values: Mapping[str, object], key: str) -> str:
    value = values.get(key, "")
    return value if isinstance(value, str) else ""


def _words(values: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = values.get(key, ())
    if isinstance(value, str):
        return (value,) if value else ()
    return value if isinstance(value, tuple) else ()


def _count(values: Mapping[str, object], key: str, file: str, data: bytes, default: int) -> int:
    value = values.get(key, "")
    if value == "":
        return default
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    raise _bad_value(key, value, "a whole number", file, data)


def _status(values: Mapping[str, object], file: str, data: bytes) -> TaskStatus:
    value = values.get("status", "")
    if value == "":
        return TaskStatus.OPEN
    word = value.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(value, str) else ""
    for status in TaskStatus:
        if status.value == word:
            return status
    raise _bad_value("status", value, f"one of {_STATUSES}", file, data)


def _bad_value(key: str, value: object, wanted: str, file: str, data: bytes) -> BadInput:
    line = next((n for n, row in enumerate(data.splitlines(), 1) if row.startswith(f"{key}:".encode())), 1)
    return BadInput(f"{key} is wrong", file=file, line=line, found=repr(value), wanted=wanted, todo="mend it by hand")


def id_of(name: str) -> str:
    """The id in a file name: ``t-`` and six letters, or the whole stem."""
    stem = name.removesuffix(".md")
    made = re.match(r"t-[a-z2-7]{6}(?=-|$)", stem)
    return made[0] if made else stem if TASK.fullmatch(stem) else "unnamed"


def touch(layout: Layout, task: Task, now: float, *, locked: bool = False, **first: str | int) -> TaskFile:
    """The file of a task, made now when nobody touched it before. first: front matter besides the identity."""
    if not locked:
        with lock(layout, task.id):
            return touch(layout, task, now, locked=True, **first)
    there = read(layout, task.id)
    if there is not None:
        return there
    values: dict[str, str | int | None] = {
        "id": task.id,
        "title": task.title,
        "section": task.section,
        "file": task.file,
        "number": task.number if task.number > 1 else None,
        "status": "open",
        "origin": task.origin,
        **first,
        "created_at": iso(now),
    }
    description = task.description if task.origin != "plan" else ""
    data = front.change(taskbody.new(task.title, description).encode("utf-8", "replace"), values)
    if not os.path.isdir(layout.tasks):
        make_private(layout.tasks)
    stem = f"{task.id}-{slug(task.title)}".rstrip("-")
    for name in (stem, task.id, *(f"{stem}-{number}" for number in range(2, 100))):
        if atomic.create(os.path.join(layout.tasks, f"{name}.md"), data):
            break
    made = read(layout, task.id)
    if made is None:
        raise CannotBeDone(f"the file of task {task.id} could not be made", file="tasks/", found="every name is taken")
    return made


def update(
    layout: Layout,
    task_id: str,
    change: Changes | Callable[[TaskFile], Changes],
    now: float,
    *,
    note: tuple[str, str] | None = None,
    attempt: tuple[str, str, str] | None = None,
    result: tuple[str, str, str] | None = None,
    locked: bool = False,
) -> TaskFile:
    """Change front matter and add to the body in one write. Raises BadInput when the file is missing or bad.

    change: new values by key, None to remove one; or a function from what the file says now. note: (author, text).
    attempt: (seat, how, reason). result: (seat, text, output of the verification).
    """
    if not locked:
        with lock(layout, task_id):
            return update(
                layout, task_id, change, now, note=note, attempt=attempt, result=result, locked=True
            )  # fmt: skip
    path = locate(layout, task_id)
    if path is None:
        raise BadInput(f"task {task_id} has no file", file="tasks/", todo="claim it or add a note first")
    at = iso(now)

    def edit(current: bytes) -> bytes:
        old = parse(current, path, layout)
        values = dict(change(old) if callable(change) else change)
        values["updated_at"] = at
        body = ""
        try:
            changed = front.change(current, values)
        except front.BadFront as error:
            raise _unreadable(os.path.relpath(path, layout.root), error) from None
        if note is None and attempt is None and result is None:
            return changed
        parts = front.split(changed)
        head = changed[: len(changed) - len(parts.body)] if parts else b""
        body = (parts.body if parts else changed).decode("utf-8", "surrogateescape")
        if attempt is not None:
            body = taskbody.add(body, taskbody.ATTEMPTS, taskbody.attempt(len(old.reasons) + 1, at, *attempt))
        if result is not None:
            body = taskbody.add(body, taskbody.RESULT, taskbody.result(at, *result))
        if note is not None:
            body = taskbody.add(body, taskbody.NOTES, taskbody.note(at, *note))
        return head + body.encode("utf-8", "surrogateescape")

    try:
        data = inplace.retrying(lambda now_there: _replace(layout, path, now_there, edit), path, deadline_s=EDIT_WAIT_S)
    except (inplace.Busy, inplace.Changed):
        raise CannotBeDone(
            "somebody keeps the file open for writing", file=os.path.relpath(path, layout.root), todo="try again",
        ) from None  # fmt: skip
    return parse(data, path, layout)


def _replace(layout: Layout, path: str, current: bytes, edit: Callable[[bytes], bytes]) -> bytes:
    changed = edit(current)
    if changed != current:
        inplace.replace(path, current, changed, layout.journal)
    return changed


def add_note(layout: Layout, task: Task, author: str, text: str, now: float, *, locked: bool = False) -> TaskFile:
    """One item under ``## Notes``; the file is made when nobody touched the task before."""
    if not locked:
        with lock(layout, task.id):
            return add_note(layout, task, author, text, now, locked=True)
    touch(layout, task, now, locked=True)
    return update(layout, task.id, {}, now, note=(author, text), locked=True)
