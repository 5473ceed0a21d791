"""Starts the driver for a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


class CrashRun:
    """crash("module:scenario", mode) -> the driver's result: {"scenario", "mode", "points", "faults"}."""

    def __init__(self, library: str, folder: Path) -> None:
        self.library = library
        self.folder = folder

    def __call__(self, scenario: str, mode: str) -> dict[str, Any]:
        """Runs all points; a driver that itself fails is an AssertionError with its words."""
        command = [sys.executable, "-m", "tests.crash.driver", self.library, scenario, mode, str(self.folder)]
        environ = {**os.environ, "LD_PRELOAD": self.library}
        done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    def survives(self, scenario: str, mode: str, *, at_least: int = 1) -> None:
        """No fault at any point, and there were points: an operation that was never reached proves nothing."""
        result = self(scenario, mode)
        told = [f"point {f['n']} ({f['call']}):\n{f['error']}" for f in result["faults"][:3]]
        assert not told, f"{len(result['faults'])} of {result['points']} points are faulty\n" + "\n\n".join(told)
        assert result["points"] >= at_least, f"only {result['points']} points"
