"""When the brain commits its own changes: still for a while, once a minute, at its end; and never in the loop's way."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from coleo.daemon.committer import LONGEST_S, Committer
from coleo.files import plancache, work
from coleo.files.gitwork import DETACHED, THEIRS, Outcome
from tests.daemon.project import SETTINGS, Project
from tests.daemon.real import SETTINGS as REAL_SETTINGS
from tests.daemon.real import real_project
from tests.waiting import eventually

AUTO = f'{SETTINGS}[git]\ncommit = "auto"\n'


class Commits:
    """Stands for git: counts, and answers what the test says."""

    def __init__(self) -> None:
        self.count = 0
        self.outcome = Outcome("abc", "coleo: 1 task done", ("plan.md",))

    def __call__(self, *_facts: Any) -> Outcome:
        self.count += 1
        return self.outcome


class Ticks:
    """A project whose brain ticks by hand, with its committer."""

    def __init__(self, folder: Path, settings: str = AUTO) -> None:
        self.project = Project(folder, "- [ ] One\n- [ ] Two\n", settings)
        self.project.brain.start()
        self.commits = Commits()
        self.committer = Committer(self.project.brain, self.commits)

    def write(self, text: str) -> None:
        """Something that coleo writes is another one now."""
        path = Path(self.project.layout.tasks, "t-abc234-x.md")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    async def tick(self, *after_s: float) -> int:
        """Time passes, with a tick at the end of each part. How many commits there were until now."""
        for seconds in after_s:
            self.project.clock.forward(seconds)
            self.committer.keep()
            await self.committer.settle()
        return self.commits.count


def test_what_was_written_is_committed_once_it_has_been_still(tmp_path: Path) -> None:
    ticks = Ticks(tmp_path)

    async def night() -> None:
        assert await ticks.tick(0, 5) == 0
        assert await ticks.tick(5) == 1, "what an earlier brain left is looked at as well"
        assert await ticks.tick(30, 30, 30) == 1
        ticks.write("one")
        assert await ticks.tick(1) == 1
        ticks.write("two!")
        assert await ticks.tick(9) == 1, "not still"
        assert await ticks.tick(10) == 2
        ticks.write("three")
        assert await ticks.tick(1, 20, 30) == 2, "a minute has not passed"
        assert await ticks.tick(10) == 3

    asyncio.run(night())
    logged = ticks.project.log("git_commit")
    assert len(logged) == 3
    assert (logged[0]["commit"], logged[0]["text"], logged[0]["files"]) == ("abc", "coleo: 1 task done", ["plan.md"])


def test_what_is_never_still_is_committed_all_the_same(tmp_path: Path) -> None:
    ticks = Ticks(tmp_path)

    async def night() -> None:
        for second in range(0, int(LONGEST_S) + 10, 5):
            ticks.write(f"progress {second:04}")
            await ticks.tick(5)

    asyncio.run(night())
    assert ticks.commits.count == 1


@pytest.mark.parametrize("mode", ["off", "suggest"])
def test_without_auto_nothing_is_committed(tmp_path: Path, mode: str) -> None:
    ticks = Ticks(tmp_path, AUTO.replace("auto", mode))

    async def night() -> None:
        ticks.write("one")
        await ticks.tick(30, 30, 30)
        await ticks.committer.close()

    asyncio.run(night())
    assert ticks.commits.count == 0


def test_the_end_of_the_brain_commits_what_is_left_at_once(tmp_path: Path) -> None:
    ticks = Ticks(tmp_path)

    async def night() -> None:
        await ticks.tick(0, 10)
        ticks.write("one")
        await ticks.committer.close()
        await ticks.committer.close()

    asyncio.run(night())
    assert ticks.commits.count == 2


def test_what_waits_is_tried_again_and_told_when_it_lasts(tmp_path: Path) -> None:
    ticks = Ticks(tmp_path)
    ticks.commits.outcome = Outcome(waits=DETACHED)

    async def night() -> None:
        assert await ticks.tick(0, 30, 60) == 2
        assert ticks.project.log("notice") == []
        assert await ticks.tick(60, 60) == 4
        ticks.commits.outcome = Outcome("abc", "coleo: 1 task done", ("plan.md",))
        assert await ticks.tick(60, 60) == 5

    asyncio.run(night())
    told = ticks.project.log("notice", "git_commit")
    assert [line["action"] for line in told] == ["notice", "git_commit"]
    assert "detached" in str(told[0]["text"])


def test_what_a_person_has_to_do_is_told_once(tmp_path: Path) -> None:
    ticks = Ticks(tmp_path)

    async def night() -> None:
        ticks.commits.outcome = Outcome(problem="git knows no user")
        await ticks.tick(0, 30, 60, 60)
        ticks.commits.outcome = Outcome(left=(("plan.md", THEIRS),))
        await ticks.tick(60)
        ticks.write("one")
        await ticks.tick(60, 60)

    asyncio.run(night())
    texts = [str(line["text"]) for line in ticks.project.log("notice")]
    assert len(texts) == 2
    assert "git knows no user" in texts[0]
    assert "git add .project && git commit" in texts[1]


def test_the_loop_goes_on_while_git_takes_its_time(tmp_path: Path) -> None:
    ticks = Ticks(tmp_path)
    begun, go_on = threading.Event(), threading.Event()

    def slow(*_facts: Any) -> Outcome:
        begun.set()
        assert go_on.wait(60)
        return Outcome()

    async def night() -> None:
        committer = Committer(ticks.project.brain, slow)
        ticks.project.clock.forward(10)
        committer.keep()
        await committer.settle()
        ticks.project.clock.forward(10)
        committer.keep()
        await asyncio.to_thread(begun.wait, 60)
        ticks.project.settle()
        committer.keep()
        go_on.set()
        await committer.close()

    asyncio.run(night())


def test_a_fault_of_coleo_is_reported_and_ends_nothing(tmp_path: Path) -> None:
    ticks = Ticks(tmp_path)

    def broken(*_facts: Any) -> Outcome:
        raise ZeroDivisionError("by us")

    async def night() -> None:
        ticks.committer = Committer(ticks.project.brain, broken)
        await ticks.tick(0, 30, 60)
        await ticks.committer.close()

    asyncio.run(night())
    assert [str(line["text"]).count("by us") for line in ticks.project.log("warning")] == [1]


def test_a_real_brain_commits_what_was_done_when_it_ends(tmp_path: Path) -> None:
    with real_project(tmp_path, "# Plan\n\n- [ ] One\n- [ ] Two\n") as project:
        Path(project.layout.config).write_text(f'{REAL_SETTINGS}[git]\ncommit = "auto"\n')

        def git(*words: str) -> str:
            return subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

        git("init", "-q", "-b", "main")
        git("config", "user.name", "Ada")
        git("config", "user.email", "ada@example.com")
        (tmp_path / ".gitignore").write_text(".coleo\n")
        git("add", ".")
        git("commit", "-q", "-m", "first")
        (tmp_path / "staged").write_text("mine\n")
        git("add", "staged")
        project.start()
        eventually(lambda: "One" in (Path(project.layout.cache) / "plan.json").read_text(), what="the plan is read")
        tasks = plancache.load(project.layout)
        assert tasks is not None
        task = next(task for task in tasks.tasks if task.title == "One")
        work.take(project.layout, task, "rand", time.time())
        work.complete(project.layout, task.id, "rand", "it works", time.time())
        eventually(lambda: "[x] One" in Path(project.layout.plan).read_text(), what="the box is ticked")
        assert project.kill(signal.SIGTERM) == 0
        assert git("log", "--format=%s").splitlines() == ["coleo: 1 task done", "first"]
        assert git("status", "--porcelain") == "A  staged\n"
        logged = project.log("git_commit", "brain_stop")
        assert [line["action"] for line in logged] == ["git_commit", "brain_stop"]
        assert logged[0]["commit"] == git("rev-parse", "HEAD").strip()
