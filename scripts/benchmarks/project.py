"""Projects to measure on: laid by hand, so that a change of the templates changes no number."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: The agent of the benchmarks as a harness file; see `agent.py`.
HARNESS = """\
summary = "answers at once, and writes down when the first byte came"
argv = ["{{python}}", "{agent}", "{{transcript}}"]
composer = "screen"
composer_begin = '^> '
quiet_s = 0.0
deliver_busy = true
[[rules]]
kind = "composer_empty"
pattern = '^>$'
region = "last:1"
[[rules]]
kind = "ready"
pattern = '^>$'
region = "last:1"
[[rules]]
kind = "draft"
pattern = '^> \\S'
region = "last:1"
[receipts]
kind = "jsonl"
path = "{{transcript}}"
turn = '"type": "turn"'
"""


@dataclass(frozen=True)
class Project:
    """The folder that holds .project/, and how commands are run in it."""

    root: str

    def at(self, *parts: str) -> str:
        """A path in it."""
        return os.path.join(self.root, *parts)

    def write(self, path: str, text: str) -> str:
        """A file of it, its folder made, that has been still for a minute; the whole path."""
        whole = self.at(path)
        os.makedirs(os.path.dirname(whole), mode=0o700, exist_ok=True)
        with open(whole, "w") as file:
            file.write(text)
        os.chmod(whole, 0o600)
        os.utime(whole, (time.time() - 60,) * 2)
        return whole

    def environ(self, **more: str) -> dict[str, str]:
        """What a command gets: nothing of the developer's."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**kept, "HOME": self.root, "COLEO_PROJECT": self.root, **more}


def coleo(*words: str) -> list[str]:
    """The argument vector of the installed command."""
    return [os.path.join(os.path.dirname(sys.executable), "coleo"), *words]


def lay(
    root: str,
    seats: Iterable[str] = (),
    *,
    plan: str = "# Plan\n",
    harness: str = "bench",
    settings: Mapping[str, str] | None = None,
    agent: str = "agent.py",
) -> Project:
    """A project with these seats; settings are lines of config.toml by table.key."""
    project = Project(os.path.realpath(root))
    project.write(".project/plan.md", plan)
    project.write(".project/inbox.md", "")
    os.makedirs(project.at(".coleo", "run"), mode=0o700, exist_ok=True)
    os.chmod(project.at(".coleo"), 0o700)
    here = os.path.dirname(os.path.abspath(__file__))
    project.write(".coleo/harness/bench.toml", HARNESS.format(agent=os.path.join(here, agent)))
    project.write(".coleo/config.toml", "".join(f"{key} = {value}\n" for key, value in (settings or {}).items()))
    for seat in seats:
        project.write(f".project/seats/{seat}/seat.md", f"---\nharness: {harness}\n---\n\nA seat of the benchmark.\n")
    return project
