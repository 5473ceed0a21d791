"""Which line of a plan is which task: identity, moves, renamed headings, reworded lines (DESIGN.md section 4).

Rules are tried in this order, each on what the ones before left over; what no rule finds is a new task.

    fixed     ``^id``
    same      file, section, title and place among equals
    heading   all tasks of a section are gone, and a section that is new has them
    moved     a vanished and an appeared line with the same unique title
    known     as same or moved, with a task that was withdrawn or that only its file in ``tasks/`` remembers
    reworded  one line vanished, one appeared between the same neighbours, and a seat holds the task

The last two wait until a file has been still (`Fresh.settled`); half-typed lines must not call old tasks back.
"""

from __future__ import annotations

from coleo.model.plan import Binding, Line, Task, title_key
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

Key = tuple[str, "str | None", str, int]
_MOST_EQUALS = 200


class Fresh(Record):
    """A line as a read found it. settled: its file was still, so new and changed words count."""

    line: Line
    settled: bool

    @property
    def key(self) -> Key:
        """As `Task.key`."""
        line = self.line
        section = None if line.section is None else title_key(line.section)
        return line.file, section, title_key(line.title), line.number

    @property
    def name(self) -> str:
        """The title, as identity compares it."""
        return title_key(self.line.title)


class Match:
    """For each line the task that it is (None: a new one), and the rule that found it ("": new, with a fixed id).

    double: lines whose ``^id`` a line above has already.
    """

    def __init__(self, count: int) -> None:
        self.tasks: list[Task | None] = [None] * count
        self.rules: list[str] = [""] * count
        self.used: set[str] = set()
        self.double: list[int] = []

    def put(self, index: int, task: Task, rule: str) -> None:
        """Line `index` is `task`."""
        self.tasks[index] = task
        self.rules[index] = rule
        self.used.add(task.id)

    def rest(self) -> list[int]:
        """Indices of the lines that are nobody yet."""
        return [index for index, task in enumerate(self.tasks) if task is None]


def match(
    tasks: Sequence[Task],
    lines: Sequence[Fresh],
    withdrawn: Sequence[Task] = (),
    bindings: Iterable[Binding] = (),
    vanished_after: Mapping[str, float] | None = None,
    *,
    first: bool = False,
) -> Match:
    """Find the task of each line.

    tasks: present and missing ones, in file order; lines: of the same files. vanished_after: per file the last read
    whose words counted: a task missing since before then vanished in an earlier read, so it was not reworded now.
    first: nothing was read before, so a line that only a task file knows need not be new in the plan.
    """
    found = Match(len(lines))
    touched = {binding.id: binding for binding in bindings}
    shells = {binding.id: _from_binding(binding, first) for binding in touched.values()}
    _ends(tasks, lines, found)
    _fixed(tasks, lines, {**shells, **{task.id: task for task in (*withdrawn, *tasks)}}, touched, found)
    _same(tasks, lines, found)
    _headings(tasks, lines, found)
    _moved([task for task in tasks if task.id not in found.used], lines, found.rest(), found, "moved")
    elsewhere = {**shells, **{task.id: task for task in withdrawn}}
    for task in tasks:
        elsewhere.pop(task.id, None)
    _known(lines, elsewhere, touched, found)
    _reworded(tasks, lines, touched, vanished_after or {}, found)
    return found


def _ends(tasks: Sequence[Task], lines: Sequence[Fresh], found: Match) -> None:
    """Equal lines from the top and from the bottom: nearly always nearly all of them, at little cost."""

    def same(task: Task, line: Line) -> bool:
        return (
            task.title == line.title
            and task.number == line.number
            and task.done == line.done
            and task.description == line.description
            and task.section == line.section
            and task.file == line.file
            and task.missing_since_at is None
            and (line.fixed_id is None or line.fixed_id == task.id)
        )

    shorter = min(len(tasks), len(lines))
    top = 0
    while top < shorter and same(tasks[top], lines[top].line):
        found.put(top, tasks[top], "same")
        top += 1
    bottom = 1
    while bottom <= shorter - top and same(tasks[-bottom], lines[-bottom].line):
        found.put(len(lines) - bottom, tasks[-bottom], "same")
        bottom += 1


def _fixed(
    tasks: Sequence[Task],
    lines: Sequence[Fresh],
    known: Mapping[str, Task],
    touched: Mapping[str, Binding],
    found: Match,
) -> None:
    for index in found.rest():
        wanted = lines[index].line.fixed_id
        if wanted is None:
            continue
        if wanted in found.used:
            found.double.append(index)
        elif wanted in known:
            found.put(index, known[wanted], "fixed")
        elif lines[index].key not in {task.key for task in tasks if task.id in touched}:
            found.put(index, Task(wanted, lines[index].line.title), "")


def _same(tasks: Sequence[Task], lines: Sequence[Fresh], found: Match) -> None:
    """The same identity. Where the count of equals changed, the place among the neighbours tells which one went."""
    old: dict[tuple[Hashable, ...], list[Task]] = {}
    for task in tasks:
        if task.id not in found.used:
            old.setdefault(task.key[:3], []).append(task)
    new: dict[tuple[Hashable, ...], list[int]] = {}
    for index in found.rest():
        if index not in found.double:
            new.setdefault(lines[index].key[:3], []).append(index)
    for group, indices in new.items():
        candidates = old.get(group, [])
        if not candidates:
            continue
        there = [task for task in candidates if task.missing_since_at is None]
        gone = sorted((task for task in candidates if task.missing_since_at is not None), key=lambda task: task.number)
        pairs = _pair_equals(there, indices, tasks, lines)
        left = [index for index in indices if index not in pairs]
        pairs |= dict(zip(left, gone, strict=False))
        for index, task in pairs.items():
            found.put(index, task, "same")


def _pair_equals(
    there: list[Task], indices: list[int], tasks: Sequence[Task], lines: Sequence[Fresh]
) -> dict[int, Task]:
    there = sorted(there, key=lambda task: task.number)
    if len(there) == len(indices) or len(there) * len(indices) > _MOST_EQUALS**2:
        return dict(zip(indices, there, strict=False))
    places = {task.id: place for place, task in enumerate(tasks)}
    names = [title_key(task.title) for task in tasks]

    def likeness(task: Task, index: int) -> int:
        place, line = places[task.id], lines[index].line
        before = (names[place - 1] if place else "") == (lines[index - 1].name if index else "")
        after = (names[place + 1] if place + 1 < len(names) else "") == (
            lines[index + 1].name if index + 1 < len(lines) else ""
        )
        return 1 + 3 * (task.done == line.done) + 2 * before + 2 * after + (task.description == line.description)

    # The best pairing that keeps the order: best[i][j] for the first i tasks and j lines.
    best = [[0] * (len(indices) + 1) for _ in range(len(there) + 1)]
    for i, task in enumerate(there):
        for j, index in enumerate(indices):
            best[i + 1][j + 1] = max(best[i][j] + likeness(task, index), best[i][j + 1], best[i + 1][j])
    pairs: dict[int, Task] = {}
    i, j = len(there), len(indices)
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs[indices[j]] = there[i]
    return pairs


def _headings(tasks: Sequence[Task], lines: Sequence[Fresh], found: Match) -> None:
    """A section of which nothing is left, and a new one in the same file that shares at least half of its titles."""
    stays = {task.key[:2] for task in tasks if task.id in found.used}
    arrived = {lines[index].key[:2] for index, task in enumerate(found.tasks) if task is not None}
    gone: dict[tuple[str, str | None], dict[tuple[str, int], Task]] = {}
    for task in tasks:
        if task.id not in found.used and task.key[:2] not in stays:
            gone.setdefault(task.key[:2], {})[task.key[2:]] = task
    come: dict[tuple[str, str | None], dict[tuple[str, int], int]] = {}
    for index in found.rest():
        key = lines[index].key
        if key[:2] not in arrived and key[:2] not in gone:
            come.setdefault(key[:2], {})[key[2:]] = index
    for old, members in gone.items():
        shared = {new: len(members.keys() & there.keys()) for new, there in come.items() if new[0] == old[0]}
        new = max(shared, key=lambda name: shared[name], default=None)
        if new is not None and shared[new] * 2 >= max(len(members), len(come[new])):
            for name in members.keys() & come[new].keys():
                found.put(come[new][name], members[name], "heading")
            del come[new]


def _moved(tasks: Sequence[Task], lines: Sequence[Fresh], indices: list[int], found: Match, rule: str) -> None:
    if not tasks or not indices:
        return
    old: dict[str, list[Task]] = {}
    for task in tasks:
        old.setdefault(title_key(task.title), []).append(task)
    new: dict[str, list[int]] = {}
    for index in indices:
        new.setdefault(lines[index].name, []).append(index)
    for name, places in new.items():
        candidates = old.get(name, [])
        if not candidates and len(places) == 1:
            candidates = _other_mark(lines[places[0]].line, old)
        if len(places) == 1 and len(candidates) == 1 and candidates[0].id not in found.used:
            found.put(places[0], candidates[0], rule)


def _other_mark(line: Line, old: Mapping[str, list[Task]]) -> list[Task]:
    """The task whose title had ``@name`` at its end before that seat existed, or after it went."""
    if line.seat:
        return old.get(title_key(f"{line.title} @{line.seat}"), [])
    bare, at, name = line.title.rpartition(" @")
    return [task for task in old.get(title_key(bare), []) if at and task.seat == name]


def _known(lines: Sequence[Fresh], free: Mapping[str, Task], touched: Mapping[str, Binding], found: Match) -> None:
    """Tasks that went, or that only their files remember. What is done stays gone unless its very line returns."""
    rest = [index for index in found.rest() if lines[index].settled and index not in found.double]
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
    lines: Sequence[Fresh],
    touched: Mapping[str, Binding],
    vanished_after: Mapping[str, float],
    found: Match,
) -> None:
    """One task of these files vanished since words last counted, one line appeared: the same if the rest is."""
    rest = [index for index in found.rest() if index not in found.double]
    gone = [
        place
        for place, task in enumerate(tasks)
        if task.id not in found.used
        and (task.missing_since_at is None or task.missing_since_at > vanished_after.get(task.file, float("inf")))
    ]
    if len(rest) != 1 or len(gone) != 1 or not lines[rest[0]].settled:
        return
    task = tasks[gone[0]]
    binding = touched.get(task.id)
    if binding is None or not binding.held or (task.file, task.key[1]) != lines[rest[0]].key[:2]:
        return
    if _neighbours(tasks, gone[0]) == _new_neighbours(lines, found, rest[0]):
        found.put(rest[0], task, "reworded")


def _neighbours(tasks: Sequence[Task], place: int) -> tuple[str | None, str | None]:
    section = tasks[place].key[:2]
    here = [task for task in tasks if task.id == tasks[place].id or task.missing_since_at is None]
    at = next(index for index, task in enumerate(here) if task.id == tasks[place].id)

    def of(index: int) -> str | None:
        return here[index].id if 0 <= index < len(here) and here[index].key[:2] == section else None

    return of(at - 1), of(at + 1)


def _new_neighbours(lines: Sequence[Fresh], found: Match, place: int) -> tuple[str | None, str | None]:
    section = lines[place].key[:2]

    def of(index: int) -> str | None:
        if not 0 <= index < len(lines) or lines[index].key[:2] != section:
            return None
        task = found.tasks[index]
        return task.id if task else None

    return of(place - 1), of(place + 1)
