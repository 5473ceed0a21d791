"""A project inside a real git repository, and what a person sees of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from coleo.files import gitwork, plan, taskfile
from coleo.files.gitwork import Outcome
from coleo.files.layout import Layout
from coleo.model.plan import TaskSet
from tests.files.project import lay

PLAN = "# Plan\n\n- [ ] Write the parser\n- [ ] Write its tests\n\n## Inbox\n"
IGNORE = "/seats/*/inbox/\n/seats/*/.env\n.*.tmp\n"
MAIL, SECRET = "seats/rand/inbox/1.json", "seats/rand/.env"


class Repo:
    """top: the work tree; the project lies in `below` of it. `now` moves only by hand."""

    def __init__(self, top: Path, below: str = "", *, init: bool = True) -> None:
        self.top = Path(os.path.realpath(top))
        self.top.mkdir(parents=True, exist_ok=True)
        if init:
            self.git("init", "-q", "-b", "main")
        self.layout: Layout = lay(self.top / below, "rand", plan=PLAN)
        self.write(".gitignore", IGNORE)
        self.write("inbox.md", "")
        self.write(MAIL, "{}")
        self.write(SECRET, "TOKEN=x")
        (self.top / "code.py").write_text("one\n")
        self.name_user()
        # Now, but behind the times of the files: nobody is writing a message as long as a test does not say so.
        self.now = (self.top / "code.py").stat().st_mtime + 5

    def name_user(self) -> None:
        """Configure who commits here."""
        self.git("config", "user.name", "Ada Löwe")
        self.git("config", "user.email", "ada@example.com")

    def git(self, *words: str, code: int = 0) -> str:
        """What a person's git says."""
        ran = subprocess.run(["git", *words], cwd=self.top, capture_output=True, check=False)
        assert ran.returncode == code, (words, os.fsdecode(ran.stdout + ran.stderr))
        return os.fsdecode(ran.stdout)

    def commit_all(self, text: str = "a person's") -> str:
        """A person commits everything; the commit's id."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", text)
        return self.head

    @property
    def head(self) -> str:
        """What HEAD is."""
        return self.git("rev-parse", "HEAD").strip()

    @property
    def status(self) -> str:
        """What a person sees."""
        return self.git("-c", "core.quotePath=false", "status", "--porcelain")

    @property
    def staged(self) -> str:
        """The entries of the index, byte for byte."""
        return self.git("ls-files", "--stage", "-z")

    def shown(self, name: str, commit: str = "HEAD") -> str:
        """A file below .project/ as it is in a commit."""
        path = os.path.relpath(os.path.join(self.layout.project, name), self.top)
        return self.git("cat-file", "blob", f"{commit}:{path}")

    def write(self, name: str, text: str) -> Path:
        """A file below .project/, by whomever."""
        path = Path(self.layout.project, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    # What coleo does.

    def tasks(self) -> TaskSet:
        """The plan as read now."""
        return plan.read(self.layout, None, self.now + 100).taskset

    def tick(self, title: str) -> None:
        """coleo ticks a box."""
        task = next(task for task in self.tasks().tasks if task.title == title)
        assert plan.tick(self.layout, task)

    def done(self, title: str) -> str:
        """A task is done: its file says so, its box is ticked. Its id."""
        task = next(task for task in self.tasks().tasks if task.title == title)
        taskfile.touch(self.layout, task, self.now)
        taskfile.update(self.layout, task.id, {"status": "done"}, self.now)
        self.tick(title)
        return task.id

    def commit(self, deadline_s: float = 60.0) -> Outcome:
        """coleo commits. The deadline is far: machines under load are slow."""
        return gitwork.commit(self.layout, self.tasks(), self.now, deadline_s=deadline_s)

    def leftovers(self) -> list[str]:
        """Private files of coleo, and locks, anywhere in the git folder."""
        folder = Path(self.git("rev-parse", "--absolute-git-dir").strip())
        return [path.name for path in folder.rglob("*") if path.name.startswith("coleo-") or path.suffix == ".lock"]
