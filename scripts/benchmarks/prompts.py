"""From a file to the agent's terminal: real brain, real host, an agent that notes the instant of the first byte."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator

from coleo.bus import context, mailverbs, tasks, taskverbs
from coleo.files import mail
from coleo.files.layout import Layout
from scripts.benchmarks.measure import Options, Row, until
from scripts.benchmarks.project import Project, lay
from scripts.benchmarks.running import Running, rest

SEAT = "alice"


def prompts(folder: str, options: Options) -> Iterator[Row]:
    """Messages with and without the doorbell, and a task that a person marks for the seat."""
    plan = "# Plan\n\n- [x] nothing left\n"
    project = lay(folder, [SEAT, "bob"], plan=plan, settings={"brain.settle_s": "0"})
    with Running(project) as brain:
        brain.until_up([SEAT])
        rounds = options.rounds(60)
        values = [_one(brain, lambda n=n: _by_verb(project, n)) for n in range(rounds)]  # type: ignore[misc]
        yield Row("message sent -> prompt bytes in the PTY, p50", "p50 20 ms", values, limit=20.0)
        yield Row("message sent -> prompt bytes in the PTY, p95", "p95 60 ms", values, limit=60.0, of="p95")
        values = [_one(brain, lambda n=n: _by_file(project, n)) for n in range(rounds)]  # type: ignore[misc]
        yield Row(
            "message file, no doorbell -> bytes in the PTY",
            "",
            values,
            note="what other programs drop is seen by watchfiles",
        )
        values = [_one(brain, lambda n=n: _by_plan(project, n), lambda: _complete(project)) for n in range(rounds // 2)]  # type: ignore[misc]
        yield Row("plan.md saved -> prompt bytes in the PTY", "p95 100 ms", values, limit=100.0, of="p95")


def _one(brain: Running, act: Callable[[], int], after: Callable[[], None] = lambda: None) -> float:
    """Milliseconds from what `act` did (its return is the instant) to the first byte of the paste."""
    before = len(brain.times(SEAT))
    began_ns = act()

    def come() -> bool:
        brain.check()
        return len(brain.times(SEAT)) > before

    until(come, 60, "no prompt came")
    came_ns = brain.times(SEAT)[before]
    after()
    layout = Layout(brain.project.root)
    until(lambda: not _waiting(layout), 60, "no receipt was seen")
    until(lambda: brain.arm(SEAT).get("state") == "idle", 60, "the arm does not come to rest")
    rest(random.uniform(0.1, 0.25))
    return (came_ns - began_ns) / 1e6


def _waiting(layout: Layout) -> bool:
    seat = layout.seat(SEAT)
    return any(
        name.endswith(".json")
        for path in (seat.inbox, seat.inflight)
        if os.path.isdir(path)
        for name in os.listdir(path)
    )


def _context(project: Project, seat: str) -> context.Context:
    return context.Context(Layout(project.root), seat, time.time(), {})


def _by_verb(project: Project, n: int) -> int:
    began_ns = time.monotonic_ns()
    mailverbs.send_message(_context(project, "bob"), SEAT, "normal", f"message {n}")
    return began_ns


def _by_file(project: Project, n: int) -> int:
    began_ns = time.monotonic_ns()
    mail.send(Layout(project.root), SEAT, "bob", f"message {n}", now=time.time())
    return began_ns


def _by_plan(project: Project, n: int) -> int:
    began_ns = time.monotonic_ns()
    with open(project.at(".project", "plan.md"), "a") as file:
        file.write(f"- [ ] job {n} of the benchmark @{SEAT}\n")
    return began_ns


def _complete(project: Project) -> None:
    ctx = _context(project, SEAT)
    for one in tasks.board(ctx.layout, ctx.now).of_seat(SEAT):
        taskverbs.complete_task(ctx, one.id, "done")
