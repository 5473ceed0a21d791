"""Which line of a plan is which task: identity, moves, renamed headings, reworded lines (DESIGN.md section 4).

Rules are tried in this order, each on what the ones before left over; what no rule finds is a new task.

    identical the very line object that the last read had for the task
    equal     nothing but the place in the file may differ
    fixed     ``^id``
    same      file, section, title and place among equals
    heading   all tasks of a section are gone, and a section that is new has them
    moved     a vanished and an appeared line with the same unique title
    known     as same or moved, with a task that was withdrawn or that only its file in ``tasks/`` remembers
    reworded  one line vanished, one appeared between the same neighbours, and a seat holds the task

The last two wait until a file has been still (`settled`); half-typed lines must not call old tasks back.
"""

from __future__ import annotations

from operator import itemgetter

from coleo.brain.planequals import pair_equals
from coleo.model.plan import Binding, Line, Task, title_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

WORDS = ("description", "comments", "seat", "priority", "verify", "blocks", "depth")
_equal = itemgetter("title", "section", "file", "number", "done", *WORDS)
_raw = itemgetter("file", "section", "title", "number")


class Match:
    """For each line the task that it is (None: a new one), and the rule that found it ("": new, with a fixed id).

    double: lines whose ``^id`` a line above has already.
    """

    def __init__(self, count: int) -> None:
        self.tasks: list[Task | None] = [None] * count
        self.rules: list[str] = [""] * count
        self.used: set[str] = set()
        self.double: list[int] = []
        self._rest = list(range(count))

    def put(self, index: int, task: Task, rule: str) -> None:
        """Line `index` is `task`."""
        self.tasks[index] = task
        self.rules[index] = rule
        self.used.add(task.id)

    def bulk(self, tasks: Sequence[Task], top: int, bottom: int) -> None:
        """The first `top` and the last `bottom` lines are the first and last of these tasks, in order."""
        after = len(self.tasks) - bottom
        self.tasks[:top] = tasks[:top]
        self.tasks[after:] = tasks[len(tasks) - bottom :]
        self.rules[:top] = ["identical"] * top
        self.rules[after:] = ["identical"] * bottom
        self.used.update([task.id for task in tasks[:top]], [task.id for task in tasks[len(tasks) - bottom :]])
        self._rest = list(range(top, after))

    def rest(self) -> list[int]:
        """Indices of the lines that are nobody yet."""
        self._rest = [index for index in self._rest if self.tasks[index] is None]
        return self._rest


def match(
    tasks: Sequence[Task],
    lines: Sequence[Line],
    settled: Container[str],
    withdrawn: Sequence[Task] = (),
    bindings: Iterable[Binding] = (),
    vanished_after: Mapping[str, float] | None = None,
    *,
    sources: Mapping[str, Line] | None = None,
    first: bool = False,
) -> Match:
    """Find the task of each line.

    tasks: present and missing ones, in file order; lines: of the same files; settled: names of the files of which
    new and changed words count. vanished_after: per file the last read whose words counted: a task missing since
    before then vanished in an earlier read, so it was not reworded now. sources: by task id, the line that says
    just what the task says. first: nothing was read before, so a line that only a task file knows need not be new in
    the plan.
    """
    found = Match(len(lines))
    touched = {binding.id: binding for binding in bindings}
    _ends([task for task in tasks if task.missing_since_at is None], lines, sources or {}, found)
    rest = found.rest()
    if not rest:
        return found
    there = {task.id for task in tasks}
    elsewhere = {task.id: task for task in withdrawn if task.id not in there}
    for binding in touched.values():
        if binding.id not in there and binding.id not in elsewhere:
            elsewhere[binding.id] = _from_binding(binding, first)
    if any(lines[index].fixed_id for index in rest):
        _fixed(tasks, lines, elsewhere, touched, found)
    gone = [task for task in tasks if task.id not in found.used]
    _same(gone, tasks, lines, found)
    gone = [task for task in gone if task.id not in found.used]
    if gone and found.rest():
        _headings(gone, tasks, lines, found)
        _moved([task for task in gone if task.id not in found.used], lines, found.rest(), found, "moved")
    _known(lines, settled, elsewhere, touched, found)
    _reworded(tasks, lines, settled, touched, vanished_after or {}, found)
    return found


def _ends(tasks: Sequence[Task], lines: Sequence[Line], sources: Mapping[str, Line], found: Match) -> None:
    """Equal lines from the top and from the bottom: nearly always nearly all of them, at little cost."""
    shorter = min(len(tasks), len(lines))
    top, bottom = 0, 0
    if sources:
        before = [sources.get(task.id) for task in tasks]
        while top < shorter and before[top] is lines[top]:
            top += 1
        while bottom < shorter - top and before[-1 - bottom] is lines[-1 - bottom]:
            bottom += 1
        found.bulk(tasks, top, bottom)
    while top < shorter - bottom and _is_equal(tasks[top], lines[top]):
        found.put(top, tasks[top], "equal")
        top += 1
    while bottom < shorter - top and _is_equal(tasks[-1 - bottom], lines[-1 - bottom]):
        found.put(len(lines) - 1 - bottom, tasks[-1 - bottom], "equal")
        bottom += 1


def _is_equal(task: Task, line: Line) -> bool:
    return _equal(task.__dict__) == _equal(line.__dict__) and line.fixed_id in (None, task.id)


def _fixed(
    tasks: Sequence[Task],
    lines: Sequence[Line],
    elsewhere: Mapping[str, Task],
    touched: Mapping[str, Binding],
    found: Match,
) -> None:
    known = {**elsewhere, **{task.id: task for task in tasks}}
    worked_on = {task.key for task in tasks if task.id in touched}
    for index in found.rest():
        wanted = lines[index].fixed_id
        if wanted is None:
            continue
        if wanted in found.used:
            found.double.append(index)
        elif wanted in known:
            found.put(index, known[wanted], "fixed")
        elif lines[index].key not in worked_on:
            found.put(index, Task(wanted, lines[index].title), "")


def _same(old: Sequence[Task], tasks: Sequence[Task], lines: Sequence[Line], found: Match) -> None:
    """The same identity. Where there are several equals, their neighbours tell which of them went or came."""
    new = [index for index in found.rest() if index not in found.double]
    if not old or not new:
        return
    several = {title_key(task.title) for task in old if task.number > 1}
    several |= {title_key(lines[index].title) for index in new if lines[index].number > 1}
    simple = {_raw(task.__dict__): task for task in old if task.title not in several}
    left: list[int] = []
    for index in new:
        task = simple.pop(_raw(lines[index].__dict__), None)
        if task is not None and task.missing_since_at is None:
            found.put(index, task, "same")
        else:
            left.append(index)
    groups: dict[tuple[str, str | None, str], list[Task]] = {}
    for task in old if left else ():
        if task.id not in found.used:
            groups.setdefault(task.key[:3], []).append(task)
    places: dict[tuple[str, str | None, str], list[int]] = {}
    for index in left:
        places.setdefault(lines[index].key[:3], []).append(index)
    for name, indices in places.items():
        if name in groups:
            for index, task in pair_equals(groups[name], indices, tasks, lines).items():
                found.put(index, task, "same")


def _headings(left: Sequence[Task], tasks: Sequence[Task], lines: Sequence[Line], found: Match) -> None:
    """A section of which nothing is left, and a new one in the same file that shares at least half of its titles."""
    if not {lines[index].key[:2] for index in found.rest()} - {task.key[:2] for task in left}:
        return
    stays = {(task.file, task.section) for task in tasks if task.id in found.used}
    arrived = {(line.file, line.section) for line, task in zip(lines, found.tasks, strict=True) if task is not None}
    gone: dict[tuple[str, str | None], dict[tuple[str, int], Task]] = {}
    for task in left:
        if (task.file, task.section) not in stays:
            gone.setdefault(task.key[:2], {})[task.key[2:]] = task
    come: dict[tuple[str, str | None], dict[tuple[str, int], int]] = {}
    for index in found.rest():
        line = lines[index]
        if (line.file, line.section) not in arrived and line.key[:2] not in gone:
            come.setdefault(line.key[:2], {})[line.key[2:]] = index
    for old, members in gone.items():
        shared = {new: len(members.keys() & there.keys()) for new, there in come.items() if new[0] == old[0]}
        best = max(shared, key=lambda name: shared[name], default=None)
        if best is not None and shared[best] * 2 >= max(len(members), len(come[best])):
            for name in members.keys() & come[best].keys():
                found.put(come[best][name], members[name], "heading")
            del come[best]


def _moved(tasks: Sequence[Task], lines: Sequence[Line], indices: list[int], found: Match, rule: str) -> None:
    if not tasks or not indices:
        return
    old: dict[str, list[Task]] = {}
    for task in tasks:
        old.setdefault(title_key(task.title), []).append(task)
    new: dict[str, list[int]] = {}
    for index in indices:
        new.setdefault(title_key(lines[index].title), []).append(index)
    for name, places in new.items():
        candidates = old.get(name, [])
        if not candidates and len(places) == 1:
            candidates = _other_mark(lines[places[0]], old)
        if len(places) == 1 and len(candidates) == 1 and candidates[0].id not in found.used:
            found.put(places[0], candidates[0], rule)


def _other_mark(line: Line, old: Mapping[str, list[Task]]) -> list[Task]:
    """The task whose title had ``@name`` at its end before that seat existed, or after it went."""
    if line.seat:
        return old.get(title_key(f"{line.title} @{line.seat}"), [])
    bare, at, name = line.title.rpartition(" @")
    return [task for task in old.get(title_key(bare), []) if at and task.seat == name]


def _known(
    lines: Sequence[Line],
    settled: Container[str],
    free: Mapping[str, Task],
    touched: Mapping[str, Binding],
    found: Match,
) -> None:
    """Tasks that went, or that only their files remember. What is done stays gone unless its very line returns."""
    rest = [index for index in found.rest() if lines[index].file in settled and index not in found.double]
    if not rest or not free:
        return
    by_key = {task.key: task for task in free.values()}
    for index in rest:
        task = by_key.get(lines[index].key)
        if task is not None and task.id not in found.used:
            found.put(index, task, "known")
    open_ones = [
        task
        for task in free.values()
        if task.id not in found.used and not task.done and (task.id not in touched or touched[task.id].status != "done")
    ]
    _moved(open_ones, lines, [index for index in rest if found.tasks[index] is None], found, "known")


def _from_binding(binding: Binding, first: bool) -> Task:
    """A task of which only its file in ``tasks/`` is left.

    Done there, its line may have been without a tick all the time (first: it is ticked again), or somebody wrote the
    line anew, then an open box means open.
    """
    done = binding.status == "done"
    again = done and not first
    return Task(
        binding.id,
        binding.title,
        binding.section,
        binding.file,
        number=binding.number,
        origin=binding.origin,
        done=done,
        seen_ticked=again,
        ticked_at=0.0 if again else None,
    )


def _reworded(
    tasks: Sequence[Task],
    lines: Sequence[Line],
    settled: Container[str],
    touched: Mapping[str, Binding],
    vanished_after: Mapping[str, float],
    found: Match,
) -> None:
    """One task of these files vanished since words last counted, one line appeared: the same if the rest is."""
    rest = [index for index in found.rest() if index not in found.double]
    if len(rest) != 1 or lines[rest[0]].file not in settled:
        return
    gone = [
        place
        for place, task in enumerate(tasks)
        if task.id not in found.used
        and (task.missing_since_at is None or task.missing_since_at > vanished_after.get(task.file, float("inf")))
    ]
    if len(gone) != 1:
        return
    task, line = tasks[gone[0]], lines[rest[0]]
    binding = touched.get(task.id)
    if binding is None or not binding.held or task.key[:2] != line.key[:2]:
        return
    there = [other for other in tasks if other is task or other.missing_since_at is None]
    at = there.index(task)
    before = [_id_at(there, there, at + step, task.key[:2]) for step in (-1, 1)]
    now = [_id_at(lines, found.tasks, rest[0] + step, task.key[:2]) for step in (-1, 1)]
    if before == now:
        found.put(rest[0], task, "reworded")


def _id_at(
    rows: Sequence[Task | Line], tasks: Sequence[Task | None], index: int, section: tuple[str, str | None]
) -> str | None:
    """The id of a neighbour, None when it is in another section or no task."""
    if not 0 <= index < len(rows) or rows[index].key[:2] != section:
        return None
    task = tasks[index]
    return task.id if task else None
