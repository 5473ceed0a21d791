"""The plan that coleo and an editor change at the same time, and what must be true of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.waiting import eventually

ROOT = Path(__file__).resolve().parent.parent.parent

#: Debian names of the packages; `scripts/test` installs them.
PACKAGES = {"vim": "vim", "emacs": "emacs-nox", "nano": "nano", "sed": "sed", "git": "git"}

BOXES = 12

_BOX = re.compile(r"- \[[ x]\] ")


def needs(program: str) -> str:
    """The program's path; a machine without it fails the test with the package to install."""
    found = shutil.which(program)
    assert found, f"{program} is missing: install the package {PACKAGES[program]} (scripts/test does so as root)"
    return found


class SharedPlan:
    """A project whose boxes a second process flips, while the block runs; `add` notes the words an editor wrote.

    Each box has lines of its own around it: two branches of git that flip neighbours must merge. pace_ms: time between
    two flips. Programs that give up when the file changes between their read and their write need a slower one.
    """

    def __init__(self, folder: Path, *, pace_ms: int = 2) -> None:
        self._pace_ms = pace_ms
        self.root = folder / "project"
        self.path = self.root / ".project" / "plan.md"
        self.home = folder / "home"
        self.words: list[str] = []
        self._log = folder / "flips"
        self._ticker: subprocess.Popen[str] | None = None
        (self.root / ".project").mkdir(parents=True)
        self.home.mkdir()
        self._log.touch()
        boxes = "".join(
            f"- [ ] tick {n:02}\n\n  Words of a person about it,\n  in two lines.\n\n" for n in range(BOXES)
        )
        self.path.write_text(f"# Plan\n\nBëfore the tasks.\n\n## Work\n\n{boxes}## Words\n\n")
        self.path.chmod(0o644)

    @property
    def environ(self) -> dict[str, str]:
        """What the editor gets: no configuration of anybody, and a name for git."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TERM": "vt100",
            "LANG": "C.UTF-8",
            "GIT_AUTHOR_NAME": "A Person",
            "GIT_AUTHOR_EMAIL": "person@example.invalid",
            "GIT_COMMITTER_NAME": "A Person",
            "GIT_COMMITTER_EMAIL": "person@example.invalid",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def __enter__(self) -> SharedPlan:
        command = [sys.executable, "-m", "tests.editors.ticker", str(self.root), str(self._log), str(self._pace_ms)]
        self._ticker = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.until_flipped()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._ticker is not None
        out, _ = self._ticker.communicate()
        if error is None:
            assert self._ticker.returncode == 0
            self._check_at_the_end(json.loads(out))

    def until_flipped(self, times: int = 1) -> None:
        """Waits until coleo has flipped boxes: what the editor holds in its buffer is stale from here."""
        assert self._ticker is not None
        before = self._log.stat().st_size
        eventually(
            lambda: self._log.stat().st_size >= before + times or self.crashed(), 30, what="coleo flips no more boxes"
        )
        assert not self.crashed(), "the process that ticks has ended"

    def crashed(self) -> bool:
        """Has the ticking process ended by itself?"""
        return self._ticker is not None and self._ticker.poll() is not None

    def word(self, editor: str) -> str:
        """A line that nobody has written yet."""
        return f"- [ ] {editor} {len(self.words):03} wörds nobody may lose"

    def add(self, word: str) -> None:
        """`word` is in the file now, and must stay there: all words so far, each once."""
        self.words.append(word)
        self.check()

    def holds(self, word: str) -> bool:
        """Is the line in the file, whole? An editor that saves in place shows half a file for a moment."""
        return word in self.lines()

    def lines(self) -> list[str]:
        """The lines of the plan; none while it is being replaced."""
        try:
            return self.path.read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return []

    def run(self, *argv: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program in the project's folder."""
        done = subprocess.run(
            argv, cwd=self.root, env=self.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
        assert not check or done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done

    def check(self) -> None:
        """Every word of the editor is there once, and every line is one that somebody wrote."""
        lines = self.lines()
        lost = [word for word in self.words if lines.count(word) != 1]
        assert not lost, f"lost or doubled: {lost}"
        known = {_BOX.sub("", word) for word in self.words} | {f"tick {n:02}" for n in range(BOXES)}
        torn = [line for line in lines if _BOX.match(line) and _BOX.sub("", line, count=1) not in known]
        assert not torn, f"nobody wrote: {torn}"

    def _check_at_the_end(self, result: dict[str, Any]) -> None:
        self.check()
        assert result["open"] == [], f"boxes that could not be ticked: {result}"
        assert result["flips"] >= len(self.words), f"coleo hardly took part: {result}"
        lines = self.lines()
        assert [line for line in lines if line.startswith("- [x] tick")] == [f"- [x] tick {n:02}" for n in range(BOXES)]
        assert lines[:5] == ["# Plan", "", "Bëfore the tasks.", "", "## Work"]
