"""A plan of 10,000 tasks in which one line was edited: what the brain needs until it knows the tasks again."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator

from coleo.files import plan
from coleo.files.layout import Layout
from scripts.benchmarks.measure import Options, Row

TASKS = 10_000
PER_SECTION = 100


def edited(folder: str, options: Options) -> Iterator[Row]:
    """With a heading for every hundred tasks, and as one list without any."""
    for name, sections in (("with headings", True), ("as one list", False)):
        layout = Layout(os.path.join(folder, name.replace(" ", "-")))
        os.makedirs(layout.project)
        lines = list(_lines(sections))
        _save(layout, lines)
        now = time.time() + 3600
        begin = time.perf_counter()
        known = plan.read(layout, None, now).taskset
        cold_ms = (time.perf_counter() - begin) * 1000
        assert len(known.tasks) == TASKS
        values, processor = [], []
        for n in range(options.rounds(30)):
            at = len(lines) * (n + 1) // 40
            while not lines[at].startswith("- "):
                at += 1
            lines[at] = f"- [ ] edited in round {n} with words of its own"
            _save(layout, lines)
            now += 60
            for at_s in (now, now + 10):
                begin, used = time.perf_counter(), time.process_time()
                known = plan.read(layout, known, at_s).taskset
                values.append((time.perf_counter() - begin) * 1000)
                processor.append((time.process_time() - used) * 1000)
            assert any(task.title.startswith(f"edited in round {n} ") for task in known.tasks)
        note = (
            "each read: when it changed, and when it was still; "
            f"processor time {statistics.median(processor):.0f} ms; the very first read of all {cold_ms:.0f} ms"
        )
        yield Row(f"plan of 10,000 tasks, one line edited, {name}", "50 ms", values, limit=50.0, note=note)


def _lines(sections: bool) -> Iterator[str]:
    yield "# Plan"
    yield ""
    for n in range(TASKS):
        if sections and n % PER_SECTION == 0:
            yield ""
            yield f"## Part {n // PER_SECTION}"
            yield ""
        yield f"- [{'x' if n % 3 == 0 else ' '}] task number {n}: carry stone {n * 7919 % 10007} to place {n % 97}"
        if n % 10 == 0:
            yield "  with a line of description"


def _save(layout: Layout, lines: list[str]) -> None:
    with open(layout.plan, "w") as file:
        file.write("\n".join(lines) + "\n")
