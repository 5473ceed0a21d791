"""A real brain in a process of its own, with real hosts and the scripted agent in its seats."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coleo.bus import doorbell
from coleo.daemon.hosts import find_hosts
from coleo.files import arms, history, mail, process, requests
from coleo.files.layout import Layout, make_private
from coleo.model.arm import Arm
from coleo.terminal import processes
from tests.waiting import eventually

ROOT = Path(__file__).parent.parent.parent
AGENTS = ROOT / "tests/agents"
SETTINGS = "[brain]\npoll_interval_ms = 500\nsettle_s = 0.1\narm_grace_period_minutes = 0\n"
RUN = (
    "import sys; from coleo.daemon.up import up; from coleo.files.layout import Layout;"
    "print(up(Layout(sys.argv[1]), ready=lambda: print('ready', flush=True)), flush=True)"
)


class RealProject:
    """A project in `folder`; `start` and `kill` its brain as often as you like."""

    def __init__(self, folder: Path, plan: str = "# Plan\n") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = Path(os.path.realpath(folder))
        self.layout = Layout(str(self.folder))
        (self.folder / ".project").mkdir()
        (self.folder / ".project/plan.md").write_text(plan)
        (self.folder / ".project/inbox.md").write_text("")
        make_private(self.layout.run)
        Path(self.layout.config).write_text(SETTINGS)
        harness = Path(self.layout.coleo) / "harness"
        harness.mkdir()
        (harness / "scripted.toml").write_text((AGENTS / "scripted.toml").read_text())
        self.brain: subprocess.Popen[str] | None = None

    def seat(self, name: str, front: str = "", **script: Any) -> None:
        """A seat with the scripted agent, told what `script` says; `front` replaces its command."""
        seat = Path(self.layout.seat(name).dir)
        seat.mkdir(parents=True)
        command = [sys.executable, str(AGENTS / "scripted.py"), str(seat / "script.json")]
        front = f"harness: scripted\n{front or f'command: {json.dumps(command)}' + chr(10)}"
        (seat / "seat.md").write_text(f"---\n{front}---\n")
        made = {"log": str(seat / "got.jsonl"), "transcript": self.layout.seat(name).transcript, **script}
        make_private(os.path.dirname(self.layout.seat(name).transcript))
        (seat / "script.json").write_text(json.dumps(made))

    def start(self) -> None:
        """Start the brain and wait until it has looked at everything once."""
        self.brain = subprocess.Popen(
            [sys.executable, "-c", RUN, self.layout.root],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self.brain.stdout is not None
        assert self.brain.stdout.readline() == "ready\n"

    def kill(self, number: int = signal.SIGKILL) -> int:
        """End the brain by a signal; its exit code."""
        assert self.brain is not None
        self.brain.send_signal(number)
        self.brain.communicate(timeout=30)
        return self.brain.returncode

    def ticks(self, count: int) -> None:
        """Wait until the brain has been woken so often and has answered."""
        for _ in range(count):
            request = requests.ask(self.layout, "wake", now=time.time())
            doorbell.ring(self.layout, "requests")
            assert requests.wait(self.layout, request, deadline_s=20) is not None

    def clock_now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def arm(self, name: str) -> Arm:
        """What is recorded of an arm."""
        return arms.read(self.layout, name) or Arm(name)

    def until_idle(self, name: str) -> None:
        """Wait until the arm is up."""
        eventually(lambda: self.arm(name).state.value == "idle", 30, what=f"{name} is idle, not {self.arm(name)}")

    def send(self, to: str, text: str) -> str:
        """A message of a person; its id."""
        return mail.send(self.layout, to, "human", text, now=time.time()).id

    def submitted(self, name: str) -> list[str]:
        """What the agent of a seat accepted, in order."""
        try:
            lines = (Path(self.layout.seat(name).dir) / "got.jsonl").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [values["submit"] for values in map(json.loads, lines) if "submit" in values]

    def count(self, name: str, word: str) -> int:
        """In how many accepted prompts a word stands."""
        return sum(word in text for text in self.submitted(name))

    def processed(self, name: str) -> int:
        """How many messages are done."""
        with contextlib.suppress(FileNotFoundError):
            return len(os.listdir(self.layout.seat(name).processed))
        return 0

    def log(self, *actions: str) -> list[dict[str, object]]:
        """The activity log."""
        return [line for line in history.since(self.layout, 0.0) if not actions or line["action"] in actions]

    def close(self) -> None:
        """End the brain and every host of this project."""
        if self.brain is not None and self.brain.poll() is None:
            self.kill(signal.SIGTERM)
        if self.brain is not None and self.brain.stdout is not None:
            self.brain.stdout.close()
        hosts = list(find_hosts(self.layout).values())
        for host in hosts:
            for each in processes.descendants(host.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each.pid, signal.SIGKILL)
            process.send(host, signal.SIGTERM)
        eventually(lambda: not any(process.same(host) for host in hosts), 20, what="the hosts end")


@contextlib.contextmanager
def real_project(folder: Path, plan: str = "# Plan\n") -> Iterator[RealProject]:
    """A project that leaves no process."""
    project = RealProject(folder, plan)
    try:
        yield project
    finally:
        project.close()
