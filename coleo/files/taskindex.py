"""All task files at once, for agents' verbs: with an index in ``run/cache/tasks.json``, so that hundreds of done tasks
cost a look at their time stamps and no reading.

The index holds no notes and results of done tasks: such a `TaskFile` is `partial`, and `whole` reads it. It is
written only when many files were new to it, and can be deleted at any time.
"""

from __future__ import annotations

import json
import os

from coleo.files import atomic, taskfile
from coleo.files.layout import Layout, make_private
from coleo.model.errors import BadInput
from coleo.model.task import TaskFile, TaskStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
WORTH_IT = 24
"""New or changed files from which on the index is written again."""
_DEFAULTS = TaskFile("").as_dict()
_TUPLES = ("ended", "reasons", "declined", "notes")


def read_all(layout: Layout) -> tuple[dict[str, TaskFile], list[BadInput]]:
    """Every task file by id, and what is wrong with those that cannot be read."""
    cache = taskfile.Cache(layout)
    known = _load(layout)
    cache.seen = known
    cache.refresh()
    fresh = sum(1 for name, entry in cache.seen.items() if known.get(name) is not entry)
    if fresh >= WORTH_IT:
        _save(layout, cache.seen)
    return cache.files, cache.bad


def whole(file: TaskFile) -> TaskFile:
    """The same record with its notes and its result."""
    if not file.partial:
        return file
    try:
        data = atomic.read(file.path)
        return file if data is None else taskfile.parse(data, file.path)
    except (OSError, BadInput):
        return file


def _path(layout: Layout) -> str:
    return os.path.join(layout.cache, "tasks.json")


def _load(layout: Layout) -> dict[str, tuple[tuple[int, int, int], TaskFile | BadInput]]:
    try:
        data = json.loads(atomic.read(_path(layout)) or b"{}")
        if data.get("version") != VERSION:
            return {}
        return {
            name: ((mtime, size, inode), _file(values, os.path.join(layout.tasks, name)))
            for name, (mtime, size, inode, values) in data["files"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _file(values: dict[str, Any], path: str) -> TaskFile:
    for name in _TUPLES:
        if name in values:
            values[name] = tuple(values[name])
    values["status"] = TaskStatus(values.get("status", "open"))
    return TaskFile(**values, path=path)


def _save(layout: Layout, seen: dict[str, tuple[tuple[int, int, int], TaskFile | BadInput]]) -> None:
    files = {name: [*key, _values(file)] for name, (key, file) in seen.items() if isinstance(file, TaskFile)}
    text = json.dumps({"version": VERSION, "files": files}, ensure_ascii=False, separators=(",", ":"))
    try:
        make_private(layout.cache)
        atomic.write(_path(layout), text.encode("utf-8", "backslashreplace"))
    except OSError:
        return


def _values(file: TaskFile) -> dict[str, object]:
    """The fields that are not their default, without what is long in a task that nobody works on any more."""
    values = {name: value for name, value in file.__dict__.items() if value != _DEFAULTS[name] and name != "path"}
    if file.status is TaskStatus.DONE:
        for name in ("notes", "result", "description"):
            if values.pop(name, None):
                values["partial"] = True
    return values
