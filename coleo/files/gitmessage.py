"""The message of a commit that coleo makes: what was done, from the contents before and after.

coleo: 2 tasks done, 1 taken from the inbox

t-k3v9qz done: Write the parser
t-a2b3c4 done: Write its tests
t-d5e6f7 taken from the inbox: Call Ada
"""

from __future__ import annotations

import re

from coleo.files import taskfile
from coleo.model.errors import ColeoError
from coleo.model.plan import PLAN, Task, TaskSet, title_key
from coleo.model.record import Record
from coleo.model.task import TaskStatus
from coleo.model.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_LINES = 60
WIDEST = 100

_TASK_LINE = re.compile(rb"\s*(?:[-*+]|\d{1,9}[.)])\s+\[(?P<box>[ xX])\]\s+(?P<title>\S.*)")
_DONE, _INBOX, _ADDED = "done", "taken from the inbox", "added"
_STATUS = {
    TaskStatus.DONE: _DONE,
    TaskStatus.FAILED: "failed",
    TaskStatus.BLOCKED: "blocked",
    TaskStatus.CLAIMED: "in work",
    TaskStatus.IN_PROGRESS: "in work",
    TaskStatus.OPEN: "open again",
    TaskStatus.WITHDRAWN: "withdrawn",
}
_NOTED = "with notes"
_ORDER = (_DONE, _INBOX, _ADDED, "failed", "blocked", "in work", "open again", "withdrawn", _NOTED)


class Change(Record):
    """One file of a commit: its path below ``.project/``, the committed bytes (None: it is new) and the bytes now."""

    path: str
    before: bytes | None
    after: bytes


def message(changes: Sequence[Change], tasks: TaskSet) -> tuple[str, str]:
    """(subject, whole message). tasks: of the last read of the plan, for ids. Files that are no tasks are not told."""
    what: dict[str, tuple[str, str]] = {}
    archived = b"".join(
        one.after[len(one.before or b"") :] for one in changes if one.path.startswith("archive/")
    )  # fmt: skip
    for change in changes:
        for key, word, title in _facts(change, tasks, archived):
            if key not in what or _ORDER.index(word) < _ORDER.index(what[key][0]):
                what[key] = (word, title)
    files = "1 file" if len(changes) == 1 else f"{len(changes)} files"
    subject = f"coleo: {_counted([word for word, _title in what.values()]) or f'{files} changed'}"
    rows = [
        f"{'' if key.startswith('?') else key + ' '}{word}: {_one_line(title)}"
        for key, (word, title) in sorted(what.items(), key=lambda row: (_ORDER.index(row[1][0]), row[0]))
    ]
    if len(rows) > MOST_LINES:
        rows[MOST_LINES:] = [f"and {len(rows) - MOST_LINES} more"]
    return subject, "\n".join([subject, *([""] if rows else []), *rows]) + "\n"


def _counted(words: list[str]) -> str:
    parts: list[str] = []
    for word in _ORDER:
        count = words.count(word)
        if count:
            noun = "" if parts or word == _INBOX else " task" if count == 1 else " tasks"
            parts.append(f"{count}{noun} {word}")
    return ", ".join(parts)


def _facts(change: Change, tasks: TaskSet, archived: bytes) -> Iterator[tuple[str, str, str]]:
    """(id, what, title) of each task that the change of one file tells of."""
    if change.path.startswith("tasks/"):
        yield from _of_task_file(change)
    elif change.before is not None and change.path in (PLAN, *tasks.files):
        yield from _of_plan(change, change.before, tasks, archived)


def _of_task_file(change: Change) -> Iterator[tuple[str, str, str]]:
    try:
        file = taskfile.parse(change.after, change.path)
        before = taskfile.parse(change.before, change.path).status if change.before else TaskStatus.OPEN
    except ColeoError:
        return
    yield file.id, _STATUS[file.status] if file.status is not before else _NOTED, file.title


def _of_plan(change: Change, before: bytes, tasks: TaskSet, archived: bytes) -> Iterator[tuple[str, str, str]]:
    """Lines that are not as they were: ticked ones among those that were there, added ones below them."""
    by_line = {task.line: task for task in tasks.tasks if task.file == change.path}
    old, new = before.splitlines(), change.after.splitlines()
    for number, row in enumerate(new, 1):
        if number <= len(old) and row == old[number - 1]:
            continue
        line = _TASK_LINE.match(row)
        if line is None:
            continue
        key, title = _who(by_line.get(number), line["title"], f"?{change.path}:{number:06}")
        if number > len(old):
            yield key, _INBOX if line["title"].strip() in archived else _ADDED, title
        else:
            yield key, "open again" if line["box"] == b" " else _DONE, title


def _who(task: Task | None, words: bytes, otherwise: str) -> tuple[str, str]:
    """Id and title; the last read may have been of an older plan, then the words stand for themselves."""
    text = words.decode("utf-8", "replace").strip()
    if task is not None and title_key(text).startswith(title_key(task.title)):
        return task.id, task.title
    return otherwise, text


def _one_line(title: str) -> str:
    text = show(" ".join(title.split()))
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
