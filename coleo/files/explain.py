"""What coleo makes of any Markdown file, without changing anything: ``coleo plan FILE`` and ``coleo inbox FILE``."""

from __future__ import annotations

import os

from coleo.files import inboxparse
from coleo.files.inboxplan import Alike, decide, open_tasks
from coleo.files.layout import Layout
from coleo.files.markdown import PlanParser
from coleo.files.plan import tasks_of
from coleo.files.planlook import CONFLICT, in_conflict, read_regular
from coleo.model.errors import BadInput
from coleo.model.plan import PlanWarning, Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def plan_file(path: str) -> dict[str, Any]:
    """A plan as coleo reads it: {file, tasks: [...], warnings: [{file, line, why, text}]}.

    Each task: id, title, done, line, section, depth, parent, number, priority, seat, after (ids), description,
    comments, blocks, verify. Sub-plans are not followed. ``@seat`` counts when the file lies in a project that has
    that seat. Raises BadInput for what cannot be read.
    """
    tasks, warnings, links = _plan(path)
    return {
        "file": path,
        "tasks": [_task(task) for task in tasks],
        "links": list(links),
        "warnings": [warning.as_dict() for warning in warnings],
    }


def inbox_file(path: str, against: str | None = None) -> dict[str, Any]:
    """An inbox as coleo would take it. against: a plan in which to look for repeats. Raises BadInput.

    {file, tasks: [{title, description, line, section?, done, similar_to?}] (what becomes tasks, sub-tasks included),
    duplicates: [{line, title, of: {id, title} | {line, title}}], similar: [the same], no_task: [{line, text}],
    warnings}.
    """
    data = _read(path)
    read = inboxparse.parse(data, _seats(path))
    known = open_tasks(_plan(against)[0], ()) if against is not None and os.path.exists(against) else []
    batch = decide(read, known, 0.0)
    alike = {other.item.line: _of(other) for other in batch.similar}
    repeats = {other.item.line for other in batch.duplicates}
    tasks: list[dict[str, Any]] = []
    for item in read.items:
        if item.line in repeats:
            continue
        shown = {"title": item.title, "description": item.description, "line": item.line, "done": item.raw.done}
        if item.section:
            shown["section"] = item.section
        if item.line in alike:
            shown["similar_to"] = alike[item.line]
        tasks.append(shown)
        tasks += [
            {"title": line.title, "description": line.description, "line": line.line, "done": line.done,
             "depth": line.depth}
            for line in read.nested
            if item.line < line.line <= item.end
        ]  # fmt: skip
    return {
        "file": path,
        "tasks": tasks,
        "duplicates": [_alike(other) for other in batch.duplicates],
        "similar": [_alike(other) for other in batch.similar],
        "no_task": [{"line": line, "text": text} for line, text in read.unclaimed],
        "warnings": [warning.as_dict() for warning in read.warnings],
    }


def _plan(path: str) -> tuple[tuple[Task, ...], list[PlanWarning], tuple[str, ...]]:
    data = _read(path)
    name = os.path.basename(path)
    parsed = PlanParser(name).parse(data, _seats(path))
    tasks, more = tasks_of(name, parsed.lines)
    warnings = [*parsed.warnings, *more]
    if in_conflict(data):
        warnings.insert(0, PlanWarning(name, None, CONFLICT))
    return tasks, warnings, parsed.links


def _read(path: str) -> bytes:
    try:
        return read_regular(path)[0]
    except FileNotFoundError:
        raise BadInput("no such file", file=path) from None
    except OSError as error:
        raise BadInput("cannot be read", file=path, found=error.strerror, wanted="a Markdown file") from None


def _seats(path: str) -> frozenset[str]:
    """The seats of the project that a file lies in."""
    folder = os.path.dirname(os.path.realpath(path))
    root, inside, _rest = f"{folder}/".partition("/.project/")
    return frozenset(Layout(root).seats_present()) if inside else frozenset()


def _task(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": task.title,
        "done": task.done,
        "line": task.line,
        "section": task.section,
        "depth": task.depth,
        "parent": task.parent_id,
        "number": task.number,
        "priority": task.priority,
        "seat": task.seat,
        "after": list(task.after),
        "description": task.description,
        "comments": list(task.comments),
        "blocks": [block.as_dict() for block in task.blocks],
        "verify": task.verify,
    }


def _of(other: Alike) -> dict[str, Any]:
    if other.of_id is not None:
        return {"id": other.of_id, "title": other.title}
    return {"line": other.of_line, "title": other.title}


def _alike(other: Alike) -> dict[str, Any]:
    return {"line": other.item.line, "title": other.item.title, "of": _of(other)}
