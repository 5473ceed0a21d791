"""``after:`` marks: which task waits for which."""

from __future__ import annotations

from coleo.model.plan import Line, PlanWarning, Task, title_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNKNOWN = "waits for something that is not in the plan"
AMBIGUOUS = "several tasks have this title: waits for the first"
ITSELF = "waits for itself, directly or through others: it can never begin"


def resolve(
    tasks: Sequence[Task], lines: Mapping[str, Line], withdrawn: Sequence[Task]
) -> tuple[list[Task], list[PlanWarning]]:
    """The tasks with ids in `after`. lines: by task id, of the tasks whose words count now; others keep what they have.

    A reference is an id or a title, first in the task's own section. What was withdrawn is not waited for; what
    names nothing stays as it was written, so that the task waits and a warning says so.
    """
    wanted = {task_id: line.after for task_id, line in lines.items() if line.after}
    if not wanted and not any(task.after for task in tasks):
        return list(tasks), []
    by_id = {task.id: task for task in tasks}
    by_title: dict[str, list[Task]] = {}
    for task in tasks:
        by_title.setdefault(title_key(task.title), []).append(task)
    gone = {task.id for task in withdrawn} | {title_key(task.title) for task in withdrawn}
    warnings: list[PlanWarning] = []
    done: list[Task] = []
    for task in tasks:
        after = task.after
        if task.id in lines:
            found: list[str] = []
            for ref in wanted.get(task.id, ()):
                ids = [ref] if ref in by_id else _titled(by_title.get(title_key(ref), []), task)
                if len(ids) > 1:
                    warnings.append(PlanWarning(task.file, task.line, AMBIGUOUS, ref))
                if ids:
                    found.append(ids[0])
                elif title_key(ref) not in gone:
                    found.append(ref)
                    warnings.append(PlanWarning(task.file, task.line, UNKNOWN, ref))
            after = tuple(dict.fromkeys(found))
        done.append(task if after == task.after else task.replace(after=after))
    return done, warnings + _circles(done)


def _titled(candidates: Sequence[Task], task: Task) -> list[str]:
    others = [other for other in candidates if other.id != task.id]
    near = [other for other in others if (other.file, other.section) == (task.file, task.section)]
    return [other.id for other in near or others]


def _circles(tasks: Sequence[Task]) -> list[PlanWarning]:
    """Warnings for tasks that wait for themselves."""
    after = {task.id: task.after for task in tasks if task.after}
    stuck = []
    for task in tasks:
        if task.id not in after or task.done:
            continue
        seen: set[str] = set()
        ahead = list(after[task.id])
        while ahead:
            ref = ahead.pop()
            if ref not in seen:
                seen.add(ref)
                ahead += after.get(ref, ())
        if task.id in seen:
            stuck.append(PlanWarning(task.file, task.line, ITSELF, task.title[:200]))
    return stuck
