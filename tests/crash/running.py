"""Starts the driver for a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


#: Every way to die; see `preload.c` and `driver.py`.
MODES = ("before", "half", "short", "fail", "full", "again")


class CrashRun:
    """crash("module:scenario", mode, ...) -> {mode: the driver's result: {"scenario", "mode", "points", "faults"}}."""

    def __init__(self, library: str, folder: Path) -> None:
        self.library = library
        self.folder = folder

    def __call__(self, scenario: str, *modes: str) -> dict[str, dict[str, Any]]:
        """Runs all points; a driver that itself fails is an AssertionError with its words."""
        words = [self.library, scenario, ",".join(modes or MODES), str(self.folder)]
        environ = {**os.environ, "LD_PRELOAD": self.library}
        done = subprocess.run(
            [sys.executable, "-m", "tests.crash.driver", *words], cwd=ROOT, env=environ, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return {result["mode"]: result for result in json.loads(done.stdout)}

    def survives(self, scenario: str, *modes: str, no_writes: bool = False) -> None:
        """No fault at any point of any mode, and there were points: what was never reached proves nothing.

        no_writes: the operation writes at most one byte at a time, so no write can be cut in two.
        """
        wrong = []
        for mode, result in self(scenario, *modes).items():
            wrong += [f"{mode}, point {f['n']} ({f['call']}):\n{f['error']}" for f in result["faults"][:2]]
            if not result["points"] and not (no_writes and mode in ("half", "short", "full")):
                wrong.append(f"{mode}: no point was reached")
        assert not wrong, "\n\n".join(wrong)
