"""`coleo down` with ten arms that end one after the other: in parallel, so as long as the slowest."""

from __future__ import annotations

import os
from collections.abc import Iterator

from scripts.benchmarks.measure import Options, Row, process_ms
from scripts.benchmarks.project import HARNESS, coleo, lay
from scripts.benchmarks.running import Running

SLOWEST_S = 2.0


def stop(folder: str, options: Options) -> Iterator[Row]:
    """Agents that take 0.2, 0.4 … 2.0 s to end once they are told to."""
    seats = [f"seat{n}" for n in range(10)]
    project = lay(folder, seats, settings={"brain.max_arms": "20"})
    agent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent.py")
    for n, seat in enumerate(seats):
        slow = SLOWEST_S * (n + 1) / len(seats)
        text = HARNESS.format(agent=agent).replace('"{transcript}"]', f'"{{transcript}}", "{slow}"]')
        project.write(f".coleo/harness/slow{n}.toml", text)
        project.write(f".project/seats/{seat}/seat.md", f"---\nharness: slow{n}\n---\n")
    with Running(project) as up:
        up.until_up(seats, 120)
        took_s = process_ms(coleo("down"), project.environ(), folder)[0] / 1000
        left = up.all()
    note = f"the slowest agent takes {SLOWEST_S:g} s; left running: {len(left)}"
    yield Row(
        "stop of 10 seats (coleo down)", "as long as the slowest", [took_s], "s", limit=SLOWEST_S + 1.0, note=note
    )
