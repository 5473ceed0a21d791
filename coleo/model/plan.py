"""What a plan holds: lines as a file shows them, tasks as coleo remembers them, and what a read changed.

A `Line` is what one parse of one file says. A `Task` is a line with an id and a memory (was its box seen
ticked, since when is it missing). A `TaskSet` is the last good state of ``plan.md`` and its sub-plans.
Identity is (file, section, title key, number): DESIGN.md section 4, case d16. The rules that lead from one
`TaskSet` and new lines to the next are in ``brain/plansync.py``.
"""

from __future__ import annotations

import unicodedata

from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any, TypeVar

    R = TypeVar("R", bound=Record)

PLAN = "plan.md"
INBOX_SECTION = "Inbox"
PRIORITIES = ("high", "normal", "low")
HELD = ("claimed", "in_progress")

_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"


def title_key(text: str) -> str:
    """What two titles (or headings) must share to be the same: NFC, white space folded (NBSP too), trimmed.

    Case counts, width counts (no NFKC): case d16.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split())


def task_id(file: str, section: str | None, title: str, number: int, taken: Container[str] = ()) -> str:
    """``t-`` and six base32 characters from the identity; the next free one when that is taken.

    file: relative to ``.project``. number: 1 for the first of equal titles in a section.
    """
    import hashlib

    identity = "\0".join((file, "" if section is None else "#" + title_key(section), title_key(title), str(number)))
    for attempt in range(1 << 16):
        salted = identity if not attempt else f"{identity}\0{attempt}"
        digest = int.from_bytes(hashlib.sha256(salted.encode("utf-8", "surrogatepass")).digest()[:4], "big")
        made = "t-" + "".join(_BASE32[digest >> shift & 31] for shift in (0, 5, 10, 15, 20, 25))
        if made not in taken:
            return made
    raise OverflowError("no free task id left")


def changed(record: R, changes: dict[str, Any]) -> R:
    """`record.replace(**changes)` without its checks: for whole plans at a time it matters."""
    copy = record.__class__.__new__(record.__class__)
    copy.__dict__.update(record.__dict__)
    copy.__dict__.update(changes)
    return copy


class Block(Record):
    """A fenced block inside a task: `lang` is the first word after the fence, lower case; `code` without fences."""

    lang: str
    code: str


class Line(Record):
    """One task as one parse of one file shows it.

    title: raw inline source of the first line, HTML comments and trailing marks removed. line: 1-based; only LF,
    CRLF and CR end lines. offset: byte offset of the character between ``[`` and ``]``. section: nearest top-level
    heading above. depth, parent: nesting among tasks (depth counts lists, parent is an index into the lines of this
    file). description: the item's other lines, dedented, without sub-tasks and ``> Comment:`` lines, which are
    `comments`. after: ids and titles as written. number: n-th of equals in its section, from 1. end: the item's
    last line, sub-tasks included.
    """

    title: str
    done: bool
    line: int
    offset: int
    section: str | None = None
    depth: int = 0
    parent: int | None = None
    description: str = ""
    comments: tuple[str, ...] = ()
    seat: str | None = None
    priority: str = "normal"
    after: tuple[str, ...] = ()
    fixed_id: str | None = None
    number: int = 1
    file: str = PLAN
    verify: str | None = None
    blocks: tuple[Block, ...] = ()
    end: int = 0

    @property
    def key(self) -> tuple[str, str | None, str, int]:
        """As `Task.key`."""
        return self.file, None if self.section is None else title_key(self.section), title_key(self.title), self.number


class Heading(Record):
    """A top-level heading of a file. line: 1-based; text: inline source; level: 1 to 6."""

    line: int
    level: int
    text: str


class PlanWarning(Record):
    """What a person should look at: nothing is lost, coleo goes on. line is 1-based, None for a whole file."""

    file: str
    line: int | None
    why: str
    text: str = ""


class Task(Record):
    """A task of the plan. Status beyond the box (claims, notes, result) is in ``tasks/<id>-*.md``.

    after: ids this one waits for; what could not be resolved stands as written (`TaskSet.unmet` counts both).
    origin: plan, inbox, or ``seat:<name>``. seen_ticked: two reads at least 10 s apart saw coleo's tick, so it is
    settled. ticked_at: first read that saw the box ticked (None while open). ticked_by: ``coleo`` or ``person``.
    tick_tries: how often a lost tick was set again. missing_since_at: first read that did not find the line.
    added_at: first read that took it. similar_to: id of an open task that is much alike.
    """

    id: str
    title: str
    section: str | None = None
    file: str = PLAN
    line: int = 0
    depth: int = 0
    parent_id: str | None = None
    done: bool = False
    seat: str | None = None
    priority: str = "normal"
    after: tuple[str, ...] = ()
    description: str = ""
    number: int = 1
    origin: str = "plan"
    seen_ticked: bool = False
    missing_since_at: float | None = None
    verify: str | None = None
    blocks: tuple[Block, ...] = ()
    comments: tuple[str, ...] = ()
    similar_to: str | None = None
    added_at: float = 0.0
    ticked_at: float | None = None
    ticked_by: str | None = None
    tick_tries: int = 0

    @property
    def key(self) -> tuple[str, str | None, str, int]:
        """(file, section key, title key, number): what makes it this task."""
        return self.file, None if self.section is None else title_key(self.section), title_key(self.title), self.number


class Binding(Record):
    """A touched task as its file in ``tasks/`` remembers it: the id that this identity keeps for good.

    status: as in the file, ``claimed`` and ``in_progress`` mean that a seat holds it.
    """

    id: str
    file: str
    section: str | None
    title: str
    number: int
    status: str
    origin: str = "plan"

    @property
    def held(self) -> bool:
        """Whether a seat has it in work."""
        return self.status in HELD

    @property
    def key(self) -> tuple[str, str | None, str, int]:
        """As `Task.key`."""
        return self.file, None if self.section is None else title_key(self.section), title_key(self.title), self.number


class FileState(Record):
    """What the last reads of one plan file saw.

    mtime_ns, size, ino, sha: of the last content looked at; all 0 and "" when the file was absent. read_at: last look.
    since_at: since when it is like that. settled_at, settled_sha: the last read that took new lines, its content.
    good_size: bytes of the last believed read. links: sub-plans (relative to ``.project``) that it links to.
    conflict: it holds conflict markers now.
    """

    mtime_ns: int = 0
    size: int = 0
    ino: int = 0
    sha: str = ""
    read_at: float = 0.0
    since_at: float = 0.0
    settled_at: float | None = None
    settled_sha: str = ""
    good_size: int = 0
    links: tuple[str, ...] = ()
    conflict: bool = False


class TaskSet(Record):
    """The last good state of the plan.

    tasks: in file order, missing ones (`Task.missing_since_at`) where they were. withdrawn: the latest that
    vanished for good, kept so that a return keeps its id. files: by path relative to ``.project``.
    again_at: when the files should be read again even if no event comes; None for never.
    """

    tasks: tuple[Task, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()
    files: dict[str, FileState] = {}  # noqa: RUF012 - never changed in place
    withdrawn: tuple[Task, ...] = ()
    again_at: float | None = None

    def by_id(self) -> dict[str, Task]:
        """Tasks by id."""
        return {task.id: task for task in self.tasks}

    def present(self) -> tuple[Task, ...]:
        """The tasks whose line the last believed read found."""
        return tuple(task for task in self.tasks if task.missing_since_at is None)

    def unmet(self, task: Task) -> tuple[str, ...]:
        """What `task` still waits for: ids of open tasks, and references that name nothing."""
        if not task.after:
            return ()
        tasks = self.by_id()
        return tuple(ref for ref in task.after if ref not in tasks or not tasks[ref].done)

    @property
    def signature(self) -> dict[str, tuple[int, int, int, str]]:
        """file -> (mtime_ns, size, ino, sha) of the content this set was made from."""
        return {name: (f.mtime_ns, f.size, f.ino, f.sha) for name, f in self.files.items()}

    def as_json(self) -> dict[str, Any]:
        """Plain values for ``json.dumps``; fields that hold their default are left out of each task."""
        return {
            "version": CACHE_VERSION,
            "tasks": [_task_json(task) for task in self.tasks],
            "withdrawn": [_task_json(task) for task in self.withdrawn],
            "warnings": [list(warning.as_dict().values()) for warning in self.warnings],
            "files": {name: state.as_dict() for name, state in self.files.items()},
            "again_at": self.again_at,
        }

    @classmethod
    def from_json(cls, data: Any) -> TaskSet:
        """The set that `as_json` wrote. Raises ValueError, KeyError or TypeError when it is none of ours."""
        if data["version"] != CACHE_VERSION:
            raise ValueError("another version wrote this")
        return cls(
            tuple([_task_from_json(task) for task in data["tasks"]]),
            tuple([PlanWarning(*warning) for warning in data["warnings"]]),
            {name: FileState(**{**state, "links": tuple(state["links"])}) for name, state in data["files"].items()},
            tuple([_task_from_json(task) for task in data["withdrawn"]]),
            data["again_at"],
        )


CACHE_VERSION = 1
_NO_TASK = Task("", "")
_TASK_DEFAULTS = _NO_TASK.as_dict()


def _task_json(task: Task) -> dict[str, Any]:
    values = {name: value for name, value in task.__dict__.items() if value != _TASK_DEFAULTS[name]}
    if task.blocks:
        values["blocks"] = [[block.lang, block.code] for block in task.blocks]
    return values


def _task_from_json(data: dict[str, Any]) -> Task:
    for name in ("after", "comments"):
        if name in data:
            data[name] = tuple(data[name])
    if "blocks" in data:
        data["blocks"] = tuple([Block(lang, code) for lang, code in data["blocks"]])
    values = {**_TASK_DEFAULTS, **data}
    if len(values) != len(_TASK_DEFAULTS):
        raise ValueError("a task with fields that no task has")
    # Ten thousand of them are read by an agent's verb: the checks of the constructor would cost it 90 ms.
    task = object.__new__(Task)
    task.__dict__.update(values)
    return task
