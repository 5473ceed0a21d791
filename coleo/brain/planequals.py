"""Equal titles in one section: which of them are the same as before, when one went or came.

Their numbers alone would say that always the last one went, and hand its ticked box to the wrong task.
"""

from __future__ import annotations

from coleo.model.plan import Line, Task, title_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 40_000
_PAIR = 100  # more than all that two can agree in: as many pairs as there can be


def pair_equals(
    group: Sequence[Task], indices: Sequence[int], tasks: Sequence[Task], lines: Sequence[Line]
) -> dict[int, Task]:
    """The task for each line, by index. group: tasks of one identity but for the number; indices: its lines, in order.

    As many as before: in order. Else the pairing that keeps the order and agrees best in box, neighbours and
    description. Tasks that were missing come last, for lines that nobody else is.
    """
    there = sorted((task for task in group if task.missing_since_at is None), key=lambda task: task.number)
    gone = sorted((task for task in group if task.missing_since_at is not None), key=lambda task: task.number)
    if len(there) == len(indices) or len(there) * len(indices) > _MOST:
        pairs = dict(zip(indices, there, strict=False))
    else:
        pairs = _best(there, indices, tasks, lines)
    left = [index for index in indices if index not in pairs]
    return pairs | dict(zip(left, gone, strict=False))


def _best(
    there: Sequence[Task], indices: Sequence[int], tasks: Sequence[Task], lines: Sequence[Line]
) -> dict[int, Task]:
    ids = {task.id for task in there}
    places = {task.id: place for place, task in enumerate(tasks) if task.id in ids}

    def likeness(task: Task, index: int) -> int:
        place, line = places[task.id], lines[index]
        neighbours = sum(_name(tasks, place + step) == _name(lines, index + step) for step in (-1, 1))
        return _PAIR + 3 * (task.done == line.done) + 2 * neighbours + (task.description == line.description)

    # best[i][j]: what the first i tasks and j lines can agree in.
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


def _name(rows: Sequence[Task | Line], place: int) -> str:
    return title_key(rows[place].title) if 0 <= place < len(rows) else ""
