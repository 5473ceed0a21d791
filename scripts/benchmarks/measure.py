"""A row of the table, and how times are taken: wall clock of whole processes, always beside a Python that does nothing.

A busy machine slows both, so the bare Python is measured in between, not before.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass
class Row:
    """One line of the table.

    budget: in words. values: measurements in `unit`. limit: what the statistic `of` (median, p95, max) must not exceed;
    None: for information. base: median of a bare Python in the same minutes, for the ratio.
    """

    name: str
    budget: str
    values: list[float]
    unit: str = "ms"
    limit: float | None = None
    of: str = "median"
    base: float | None = None
    note: str = ""

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.values)

    @property
    def p95(self) -> float:
        """19 of 20 are not above it (nearest rank)."""
        ordered = sorted(self.values)
        return ordered[max(0, -(-len(ordered) * 95 // 100) - 1)]

    @property
    def counted(self) -> float:
        """The statistic that the budget is about."""
        return {"median": self.median, "p95": self.p95, "max": max(self.values)}[self.of]

    @property
    def verdict(self) -> str:
        """ok, over, or nothing where nothing is promised."""
        if self.limit is None:
            return ""
        return "ok" if self.counted <= self.limit else "over"

    def facts(self) -> dict[str, object]:
        """For --json."""
        return {
            "name": self.name,
            "budget": self.budget,
            "unit": self.unit,
            "median": round(self.median, 3),
            "p95": round(self.p95, 3),
            "max": round(max(self.values), 3),
            "count": len(self.values),
            "limit": self.limit,
            "of": self.of,
            "bare_python": self.base and round(self.base, 3),
            "ratio": self.base and round(self.median / self.base, 2),
            "verdict": self.verdict or None,
            "note": self.note or None,
        }


@dataclass
class Options:
    """quick: a look, not a measurement."""

    quick: bool = False

    def rounds(self, many: int) -> int:
        """Fewer of them when quick."""
        return max(5, many // 5) if self.quick else many


@dataclass
class Pair:
    """Times of a command and of the bare Python that ran in between, in ms; and the processor time of both."""

    command: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    command_cpu: list[float] = field(default_factory=list)
    bare_cpu: list[float] = field(default_factory=list)

    @property
    def base(self) -> float:
        """The median of the bare Python."""
        return statistics.median(self.bare)

    @property
    def note(self) -> str:
        """What it costs whatever else the machine does."""
        command, bare = statistics.median(self.command_cpu), statistics.median(self.bare_cpu)
        return f"processor time {command:.0f} ms, bare python {bare:.0f} ms"


def process_ms(
    argv: list[str], environ: Mapping[str, str], folder: str, *, stdin: str = os.devnull
) -> tuple[float, float]:
    """Milliseconds from spawn to end of a process that ends with 0, and of its processor time; output is dropped."""
    given = os.open(stdin, os.O_RDONLY)
    devnull = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, given if fd == 0 else devnull, fd) for fd in (0, 1, 2)]
    before = os.getcwd()
    os.chdir(folder)
    try:
        begin = time.perf_counter()
        pid = os.posix_spawn(argv[0], argv, environ, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        took = (time.perf_counter() - begin) * 1000
    finally:
        os.chdir(before)
        os.close(devnull)
        os.close(given)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise RuntimeError(f"{' '.join(argv)} ended with {code}")
    return took, (usage.ru_utime + usage.ru_stime) * 1000


def beside_bare_python(
    make: Callable[[int], list[str]],
    rounds: int,
    environ: Mapping[str, str],
    folder: str,
    *,
    stdin: str = os.devnull,
) -> Pair:
    """`make(n)` is the command of round n; each round runs it and a bare Python. The first two are not counted."""
    pair = Pair()
    for n in range(rounds + 2):
        command = process_ms(make(n), environ, folder, stdin=stdin)
        bare = process_ms([sys.executable, "-c", "pass"], environ, folder)
        if n >= 2:
            for times, (took, used) in (
                ((pair.command, pair.command_cpu), command),
                ((pair.bare, pair.bare_cpu), bare),
            ):
                times[0].append(took)
                times[1].append(used)
    return pair


def over_bare(name: str, budget: str, extra_ms: float, pair: Pair) -> Row:
    """The row of a command that may take so much more than a bare Python."""
    row = Row(name, budget, pair.command, limit=pair.base + extra_ms, base=pair.base)
    if row.verdict == "over":
        row.note = pair.note
    return row


def until(check: Callable[[], object], timeout_s: float, what: str) -> None:
    """Waits for evidence, looking every millisecond."""
    deadline = time.monotonic() + timeout_s
    while not check():
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within {timeout_s:g} s: {what}")
        time.sleep(0.001)
