"""What coleo costs when nothing happens: a brain with fifty arms, a host whose agent is silent."""

from __future__ import annotations

from collections.abc import Iterator

import psutil

from coleo.files.layout import Layout
from coleo.terminal.client import ask
from scripts.benchmarks.measure import Options, Row, until
from scripts.benchmarks.project import lay
from scripts.benchmarks.running import Running, rest

MIB = 1 << 20

QUIET = """\
summary = "says nothing"
argv = ["{python}", "-c", "import signal; signal.pause()", "{transcript}"]
composer = "none"
"""


def brain(folder: str, options: Options) -> Iterator[Row]:
    """Fifty seats with live hosts and silent agents, over two ticks."""
    seats = [f"seat{n:02}" for n in range(50)]
    plan = "# Plan\n\n" + "".join(f"- [x] task {n}\n" for n in range(100))
    project = lay(folder, seats, plan=plan, settings={"brain.max_arms": "60"})
    seconds = 15.0 if options.quick else 60.0
    with Running(project) as up:
        up.until_up(seats, 180)
        rest(5)
        before = up.cpu_s()
        rest(seconds)
        percent = (up.cpu_s() - before) / seconds * 100
        note = f"over {seconds:g} s, tick 30 s, all hosts and agents live"
        yield Row("brain, 50 idle seats: processor", "0.5 % of a core", [percent], "%", limit=0.5, note=note)
        memory = psutil.Process(up.pid).memory_info().rss / MIB
        yield Row("brain, 50 idle seats: resident", "80 MiB", [memory], "MiB", limit=80.0)


def host(folder: str, options: Options) -> Iterator[Row]:
    """One host: memory before and after a screen was asked for, wake-ups while its agent is silent."""
    project = lay(folder, ["alice"], harness="quiet")
    project.write(".coleo/harness/quiet.toml", QUIET)
    layout = Layout(project.root)
    with Running(project) as up:
        process = _host(up)
        rest(2)
        memory = process.memory_info().rss / MIB
        yield Row("host: resident before a screen", "16 MiB", [memory], "MiB", limit=16.0)
        seconds = 5.0 if options.quick else 20.0
        before = process.num_ctx_switches().voluntary
        rest(seconds)
        woken = process.num_ctx_switches().voluntary - before
        yield Row("host: wake-ups, agent silent", "0", [float(woken)], "", limit=0.0, note=f"in {seconds:g} s")
        ask(layout.host_socket("alice"), {"op": "screen"})
        rest(0.5)
        memory = process.memory_info().rss / MIB
        yield Row("host: resident after a screen", "24 MiB", [memory], "MiB", limit=24.0)


def _host(up: Running) -> psutil.Process:
    def pid() -> int:
        up.check()
        return int((up.arm("alice").get("host") or {}).get("pid", 0))

    until(lambda: pid() and up.arm("alice").get("state") == "idle", 60, "the arm is not up")
    return psutil.Process(pid())
