"""Commands that agents and people call: whole processes, from spawn to end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from coleo.files import locks, plan, plancache
from coleo.files.layout import Layout
from scripts.benchmarks.measure import Options, Row, beside_bare_python, over_bare, process_ms
from scripts.benchmarks.project import Project, coleo, lay

EVENT = '{"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_use_id": "t1"}'


def _project(folder: str, tasks: int = 200) -> Project:
    text = "# Plan\n\n## Work\n\n" + "".join(f"- [ ] task {n} of the benchmark\n" for n in range(tasks))
    return lay(folder, ["alice", "bob"], plan=text)


def hook(folder: str, options: Options) -> Iterator[Row]:
    """`coleo hook`, as an agent's harness calls it before each tool."""
    project = _project(folder)
    given = project.write("event.json", EVENT)
    pair = beside_bare_python(
        lambda n: coleo("hook", "PreToolUse"),
        options.rounds(100),
        project.environ(COLEO_SEAT="alice"),
        folder,
        stdin=given,
    )
    assert _lines(project) >= len(pair.command), "the hook wrote nothing"
    yield over_bare("coleo hook PreToolUse", "bare python + 15 ms", 15.0, pair)


def _lines(project: Project) -> int:
    count = 0
    for name in os.listdir(project.at(".coleo", "activity")):
        with open(project.at(".coleo", "activity", name)) as file:
            count += sum(1 for _ in file)
    return count


def bus(folder: str, options: Options) -> Iterator[Row]:
    """Several verbs, with a plan of 200 tasks, as they are while a brain lives; one also without."""
    project = _project(folder)
    layout = Layout(project.root)
    read = plan.read(layout, None, time.time()).taskset
    plancache.save(layout, read)
    claimed, completed = (iter(task.id for task in read.tasks) for _ in range(2))
    first = read.tasks[0].id
    verbs = {
        "update-heartbeat": lambda n: ("update-heartbeat", "working"),
        "check-inbox": lambda n: ("check-inbox",),
        "send-message": lambda n: ("send-message", "bob", "normal", f"message {n}"),
        "log-event": lambda n: ("log-event", "checkpoint", f"round {n}"),
        "claim-task": lambda n: ("claim-task", next(claimed)),
        "task-progress": lambda n: ("task-progress", first, f"round {n}"),
        "complete-task": lambda n: ("complete-task", next(completed), "done"),
        "get-full-briefing": lambda n: ("get-full-briefing",),
    }
    with locks.hold(layout.lock("brain"), wait_s=0, note="brain"):
        for name, words in verbs.items():
            yield _verb(name, words, project, options)
    row = _verb("complete-task", verbs["complete-task"], project, options, claim=claimed)
    row.name, row.limit, row.budget = "coleo bus complete-task, no brain lives", None, ""
    row.note = "the verb itself reads the plan and ticks the box then"
    yield row


def _verb(
    name: str,
    words: Callable[[int], tuple[str, ...]],
    project: Project,
    options: Options,
    claim: Iterator[str] | None = None,
) -> Row:
    environ = project.environ(COLEO_SEAT="alice")

    def command(n: int) -> list[str]:
        if claim is not None:
            process_ms(coleo("bus", "claim-task", next(claim)), environ, project.root)
        return coleo("bus", *words(n))

    pair = beside_bare_python(command, options.rounds(40), environ, project.root)
    return over_bare(f"coleo bus {name}", "bare python + 40 ms", 40.0, pair)


def status(folder: str, options: Options) -> Iterator[Row]:
    """`coleo status` of 50 seats and 200 tasks, with no brain."""
    text = "# Plan\n\n" + "".join(f"- [{'x' if n % 2 else ' '}] task {n} of the benchmark\n" for n in range(200))
    project = lay(folder, [f"seat{n:02}" for n in range(50)], plan=text)
    pair = beside_bare_python(lambda n: coleo("status"), options.rounds(30), project.environ(), folder)
    yield Row("coleo status, 50 seats, no brain", "150 ms", pair.command, limit=150.0, base=pair.base)
