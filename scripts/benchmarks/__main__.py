"""The table: ``scripts/bench [--only NAME]... [--quick] [--json]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator

from scripts.benchmarks import activity, calls, idle, plans, prompts, stopping
from scripts.benchmarks.measure import Options, Row

#: Name for --only: what it measures. In this order.
GROUPS: dict[str, Callable[[str, Options], Iterator[Row]]] = {
    "hook": calls.hook,
    "bus": calls.bus,
    "status": calls.status,
    "plan": plans.edited,
    "activity": activity.large,
    "prompt": prompts.prompts,
    "host": idle.host,
    "idle": idle.brain,
    "stop": stopping.stop,
}

COLUMNS = ("what", "budget", "median", "p95", "bare", "ratio", "")


def main() -> int:
    """Exit code 0 when everything could be measured, whatever it is; 1 else; 2 for a wrong name."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Budgets, and what this machine measures.")
    parser.add_argument("--only", action="append", metavar="NAME", choices=GROUPS, help=", ".join(GROUPS))
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller files")
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    options = parser.parse_args()
    # Told to end, it ends what it started: brains, hosts, agents.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows: list[Row] = []
    failed: dict[str, str] = {}
    if not options.json:
        print(machine())
        line(COLUMNS)
    for name in options.only or GROUPS:
        with tempfile.TemporaryDirectory(prefix=f"coleo-bench-{name}-") as folder:
            try:
                for row in GROUPS[name](os.path.realpath(folder), Options(options.quick)):
                    rows.append(row)
                    if not options.json:
                        show(row)
            except Exception as error:
                failed[name] = "".join(traceback.format_exception(error, limit=-3))
                print(f"{name}: cannot be measured: {error}", file=sys.stderr)
    if options.json:
        print(json.dumps({"machine": machine(), "rows": [row.facts() for row in rows], "failed": failed}, indent=2))
    else:
        for text in failed.values():
            print(text, file=sys.stderr)
    return 1 if failed else 0


def machine() -> str:
    """What the numbers are of."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores, load {load}"


def show(row: Row) -> None:
    """One line of the table."""
    digits = 1 if row.unit in ("ms", "%") else 2

    def number(value: float) -> str:
        return f"{value:.{digits}f} {row.unit}"

    base = number(row.base) if row.base else ""
    ratio = f"{row.median / row.base:.1f}x" if row.base else ""
    line((row.name, row.budget, number(row.median), number(row.p95), base, ratio, row.verdict))
    if row.note:
        print(f"    {row.note}")


def line(cells: tuple[str, ...]) -> None:
    """Cells at fixed places, so that rows can be printed as they are measured."""
    widths = (54, 22, 11, 11, 9, 6, 4)
    print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
