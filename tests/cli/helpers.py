"""What the tests of the command line share: a small project, and the command as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from coleo.files.layout import Layout

PLAN = """# Plan
- [ ] Write the letter
- [ ] Post the letter after:"Write the letter"
- [ ] Water the plants @bob !high
- [x] Buy stamps
"""


def project(root: Path, *seats: str, plan: str = PLAN) -> Layout:
    """A project with these seats, without a brain and without a `coleo init`: only what the commands need."""
    (root / ".project" / "seats").mkdir(parents=True)
    path = root / ".project" / "plan.md"
    path.write_text(plan, encoding="utf-8")
    # A plan is taken when it has been still for two seconds; this one has been for an hour.
    os.utime(path, (path.stat().st_atime - 3600, path.stat().st_mtime - 3600))
    for name in seats:
        folder = root / ".project" / "seats" / name
        folder.mkdir()
        (folder / "seat.md").write_text("---\nharness: shell\n---\nI sit here.\n", encoding="utf-8")
    return Layout(os.path.realpath(root))


def coleo(where: Layout | Path, *words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run ``coleo WORDS`` in a folder; output is text, read as UTF-8."""
    folder = where.root if isinstance(where, Layout) else str(where)
    return subprocess.run(
        [sys.executable, "-m", "coleo", *words],
        cwd=folder,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        env={**os.environ, **env},
        timeout=60,
        check=False,
    )


def facts(where: Layout | Path, *words: str, code: int = 0, **env: str) -> Any:
    """What a command with ``--json`` answers."""
    ran = coleo(where, *words, "--json", **env)
    assert ran.returncode == code, (ran.returncode, ran.stdout, ran.stderr)
    return json.loads(ran.stdout)


def task_ids(where: Layout) -> dict[str, str]:
    """Title to id."""
    return {task["title"]: task["id"] for task in facts(where, "tasks", "--all")["tasks"]}
