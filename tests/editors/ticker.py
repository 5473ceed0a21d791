"""coleo's side of the editor tests: a process that flips boxes of plan.md as fast as the files allow.

``python -m tests.editors.ticker PROJECT LOG PACE_MS``: boxes of titles that begin with "tick" are ticked and unticked
until standard input ends; each flip adds one byte to LOG, so that the other side can see that it goes on. Then all
are ticked for good, and the result is one JSON object on stdout.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import sys

from coleo.files import markdown, plan
from coleo.files.inplace import Busy, Changed
from coleo.files.layout import Layout
from coleo.model.plan import Task

#: At most that many rounds to tick what is left once the editors are quiet.
LAST_ROUNDS = 50


def boxes(layout: Layout) -> list[Task]:
    """The tasks to flip, as the plan shows them now; none while an editor or git is between two steps."""
    with contextlib.suppress(FileNotFoundError), open(layout.plan, "rb") as file:
        lines, _ = markdown.parse(file.read())
        return [
            Task("t-none", line.title, line.section, line=line.line, done=line.done, number=line.number)
            for line in lines
            if line.title.startswith("tick")
        ]
    return []


def flip(layout: Layout, task: Task, done: bool) -> bool:
    """One flip; False when somebody has the file or the line has gone: the next round looks again."""
    try:
        return plan.tick(layout, task, done)
    except (Busy, Changed, FileNotFoundError):
        return False


def main() -> None:
    """See the module."""
    layout, log = Layout(os.path.realpath(sys.argv[1])), os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND)
    pace_s = int(sys.argv[3]) / 1000
    flips = refused = 0
    for turn in itertools.count():
        if select.select([sys.stdin], [], [], pace_s)[0]:
            break
        found = boxes(layout)
        if not found:
            refused += 1
            continue
        task = found[turn * 7 % len(found)]
        if flip(layout, task, not task.done):
            flips += 1
            os.write(log, b".")
        else:
            refused += 1
    for _ in range(LAST_ROUNDS):
        left = [task for task in boxes(layout) if not task.done]
        if not left:
            break
        for task in left:
            flip(layout, task, True)
    print(json.dumps({"flips": flips, "refused": refused, "open": [task.title for task in left]}))


if __name__ == "__main__":
    main()
