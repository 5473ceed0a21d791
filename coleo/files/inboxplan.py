"""What to do with the items of an inbox: new tasks, notes on tasks that are known, flags for those that are alike.

Pure. A batch is everything that one taking of the inbox will do, so that it can be written down before it begins.
"""

from __future__ import annotations

from coleo.files.inboxparse import InboxItem, InboxRead
from coleo.files.planadd import PlanItem
from coleo.model.instant import iso
from coleo.model.plan import Line, Task, title_key
from coleo.model.record import Record
from coleo.model.titles import is_similar, significant_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


class Known(Record):
    """An open task that an item may repeat. id: None for a line that the last read of the plan did not take yet."""

    id: str | None
    title: str
    words: frozenset[str]
    line: int = 0


class Note(Record):
    """Text for the file of a task that was named again. The same text may come twice after a kill: write it once."""

    task_id: str
    text: str


class Alike(Record):
    """An item and the task or item that it repeats or is much like. of_line: when that is an item above it."""

    item: InboxItem
    title: str
    of_id: str | None = None
    of_line: int | None = None


class Batch(Record):
    """What one taking does. added: with what repeats of it merged in. waits: a repeat of a line that has no id yet."""

    added: tuple[InboxItem, ...] = ()
    notes: tuple[Note, ...] = ()
    duplicates: tuple[Alike, ...] = ()
    similar: tuple[Alike, ...] = ()
    waits: bool = False


def open_tasks(tasks: Iterable[Task], lines: Iterable[Line]) -> list[Known]:
    """What items are compared with: open tasks, and open lines of the plan that are no tasks yet."""
    known: list[Known] = []
    named: set[str] = set()
    for task in tasks:
        named.add(title_key(task.title))
        if not task.done:
            known.append(Known(task.id, task.title, significant_words(task.title), task.line))
    for line in lines:
        if not line.done and title_key(line.title) not in named:
            known.append(Known(None, line.title, significant_words(line.title), line.line))
    return known


def decide(read: InboxRead, known: Sequence[Known], at: float) -> Batch:
    """Sort the items of an inbox. at: when it is taken; it stands in the notes. Ticked items are never repeats."""
    by_words: dict[frozenset[str], Known] = {}
    for task in known:
        by_words.setdefault(task.words, task)
    added: dict[frozenset[str], InboxItem] = {}
    ticked: list[InboxItem] = []
    notes: list[Note] = []
    duplicates: list[Alike] = []
    similar: list[Alike] = []
    waits = False
    for item in read.items:
        words = significant_words(item.title)
        if item.raw.done:
            ticked.append(item)
        elif words in by_words:
            task = by_words[words]
            duplicates.append(Alike(item, task.title, task.id, None))
            if task.id is None:
                waits = True
            else:
                notes.append(Note(task.id, _again(item, at)))
        elif words in added:
            first = added[words]
            duplicates.append(Alike(item, first.title, None, first.line))
            added[words] = _merged(first, item)
        else:
            similar += _similar(item, words, known, added)
            added[words] = item
    whole = tuple(sorted([*added.values(), *ticked], key=lambda item: item.line))
    return Batch(whole, tuple(notes), tuple(duplicates), tuple(similar), waits)


def _similar(
    item: InboxItem, words: frozenset[str], known: Sequence[Known], added: dict[frozenset[str], InboxItem]
) -> list[Alike]:
    for task in known:
        if is_similar(words, task.words):
            return [Alike(item, task.title, task.id, None if task.id else task.line)]
    for others, other in added.items():
        if is_similar(words, others):
            return [Alike(item, other.title, None, other.line)]
    return []


def _again(item: InboxItem, at: float) -> str:
    """The note about an item that repeats a task: its own words, and where the bytes are."""
    body = b"\n".join(item.raw.body).decode("utf-8", "replace").strip("\n")
    words = item.raw.title.decode("utf-8", "replace")
    return f"Named again in the inbox ({iso(at)}, line {item.line}): {words}" + (f"\n{body}" if body.strip() else "")


def _merged(first: InboxItem, item: InboxItem) -> InboxItem:
    """The first of two equal items with the text of the second below its own."""
    if not any(row.strip() for row in item.raw.body) or item.raw.body == first.raw.body:
        return first
    gap = (b"",) if first.raw.body else ()
    return first.replace(raw=first.raw.replace(body=(*first.raw.body, *gap, *item.raw.body)))


def with_group(item: InboxItem) -> PlanItem:
    """The item as it goes into the plan: the header above it, which the plan does not have, is named below it."""
    if not item.section:
        return item.raw
    group = f"Group in the inbox: {item.section}".encode("utf-8", "replace")
    return item.raw.replace(body=(*item.raw.body, *((b"",) if item.raw.body else ()), group))


def as_json(items: Iterable[PlanItem]) -> list[dict[str, Any]]:
    """Items for a JSON file, byte for byte."""
    return [
        {"title": item.title.decode("latin-1"), "body": [row.decode("latin-1") for row in item.body], "done": item.done}
        for item in items
    ]


def from_json(data: Iterable[dict[str, Any]]) -> list[PlanItem]:
    """The items that `as_json` wrote."""
    return [
        PlanItem(one["title"].encode("latin-1"), tuple(row.encode("latin-1") for row in one["body"]), one["done"])
        for one in data
    ]
