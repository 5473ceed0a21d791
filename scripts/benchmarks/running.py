"""A real brain with real hosts and agents, in a project of its own, ended with everything that it started."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from types import TracebackType
from typing import Any

import psutil

from scripts.benchmarks.measure import until
from scripts.benchmarks.project import Project, coleo


class Running:
    """`with Running(project) as brain:` — the brain is up and has read everything when the block begins."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Running:
        with open(self.project.at("brain.log"), "wb") as log:
            self.process = subprocess.Popen(
                coleo("up"),
                cwd=self.project.root,
                env=self.project.environ(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is not None and self.process.poll() is None:
            subprocess.run(
                coleo("down"),
                env=self.project.environ(),
                capture_output=True,
                timeout=120,
                check=False,
                cwd=self.project.root,
            )
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for process in self.all():
            with contextlib.suppress(psutil.Error):
                process.kill()

    @property
    def pid(self) -> int:
        """Of the brain."""
        assert self.process is not None
        return self.process.pid

    def all(self) -> list[psutil.Process]:
        """Hosts and agents of this project: they name it in their command line."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if any(self.project.root + os.sep in word for word in process.cmdline()):
                    found.append(process)
        return found

    def check(self) -> None:
        """Raises with the brain's last words when it has ended."""
        assert self.process is not None
        if self.process.poll() is not None:
            with open(self.project.at("brain.log")) as file:
                raise RuntimeError(f"the brain has ended with {self.process.returncode}: {file.read()[-800:]}")

    def times(self, seat: str, what: str = "paste") -> list[int]:
        """Instants in ns at which this seat's agent saw something (see `agent.py`)."""
        path = self.project.at(".coleo", "run", "transcripts", f"{seat}.jsonl.times")
        with contextlib.suppress(FileNotFoundError), open(path) as file:
            return [int(line["at_ns"]) for line in map(json.loads, file) if line["what"] == what]
        return []

    def until_up(self, seats: list[str], timeout_s: float = 60) -> None:
        """Waits until the agent of each seat runs and its arm can be prompted."""
        waiting = set(seats)

        def up() -> bool:
            self.check()
            for seat in list(waiting):
                arm = self.arm(seat)
                if self.times(seat, "start") and arm.get("state") == "idle":
                    waiting.discard(seat)
            return not waiting

        until(up, timeout_s, f"arms of {sorted(waiting)[:3]}")

    def arm(self, seat: str) -> dict[str, Any]:
        """What the brain has written down of an arm; nothing while it writes."""
        with (
            contextlib.suppress(OSError, ValueError),
            open(self.project.at(".coleo", "run", "arms", f"{seat}.json")) as file,
        ):
            found: dict[str, Any] = json.load(file)
            return found
        return {}

    def cpu_s(self) -> float:
        """Seconds of processor that the brain has used."""
        times = psutil.Process(self.pid).cpu_times()
        return float(times.user + times.system)


def rest(seconds: float) -> None:
    """Lets the machine be quiet: what is measured next must not find it in the same state each time."""
    time.sleep(seconds)
