"""What a contributor runs works: the scripts parse, and the benchmark measures and says what it measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.benchmarks.__main__ import GROUPS
from scripts.benchmarks.measure import Row

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("script", ["scripts/test", "scripts/bench", ".ci/run"])
def test_scripts_parse_and_can_be_run(script: str) -> None:
    """A script with a syntax error, or without its x bit, is found out here and not on a fresh machine."""
    assert os.access(ROOT / script, os.X_OK)
    assert subprocess.run(["bash", "-n", ROOT / script], check=False).returncode == 0


def test_the_benchmark_prints_what_it_measured() -> None:
    """One group, few rounds: every row says budget, numbers and verdict. How fast it was is no test's business."""
    command = [sys.executable, "-m", "scripts.benchmarks", "--quick", "--json", "--only", "hook"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert not result["failed"]
    row = result["rows"][0]
    assert row["name"] == "coleo hook PreToolUse"
    assert row["median"] > 0 < row["bare_python"]
    assert row["verdict"] in ("ok", "over")


def test_a_name_that_is_no_group_is_refused() -> None:
    """Exit code 2, and the names that there are."""
    command = [sys.executable, "-m", "scripts.benchmarks", "--only", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert all(name in done.stderr for name in GROUPS)


def test_the_statistics_are_those_that_they_say() -> None:
    """Median and nearest-rank p95; the verdict is about the one that the budget names."""
    row = Row("x", "p95 18", [float(n) for n in range(1, 21)], limit=18.0, of="p95")
    assert (row.median, row.p95, row.counted) == (10.5, 19.0, 19.0)
    assert row.verdict == "over"
    assert Row("x", "", [1.0]).verdict == ""
    assert Row("x", "", [1.0], limit=1.0).verdict == "ok"
