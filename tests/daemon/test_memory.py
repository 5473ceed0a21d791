"""Sweeping git commands lose neither claims nor mail nor the files of tasks in work."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from coleo.daemon.clock import SleepGauge
from coleo.daemon.memory import Memory
from coleo.files import claims, mail
from coleo.files.layout import Layout
from tests.daemon.clocks import START, HandClock


def project(folder: Path) -> Layout:
    """A project in git with one seat, one message and one claim."""
    layout = Layout(os.path.realpath(folder))
    seat = folder / ".project/seats/rand"
    seat.mkdir(parents=True)
    (seat / "seat.md").write_text("---\nharness: shell\n---\n")
    (folder / ".gitignore").write_text(".coleo/run/\n.project/seats/*/inbox/\n.project/seats/*/inflight/\n")
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    mail.send(layout, "rand", "bob", "do not lose me", now=START)
    claims.claim(layout, "t-abc234", "rand", START)
    return layout


def test_git_clean_takes_nothing_for_good(tmp_path: Path) -> None:
    layout = project(tmp_path)
    memory = Memory(layout)
    memory.remember(["rand"])
    before = os.listdir(layout.seat("rand").inbox)
    subprocess.run(["git", "clean", "-fdxq"], cwd=tmp_path, check=True)
    assert not os.path.exists(layout.run)
    assert not os.path.exists(layout.seat("rand").inbox)
    notes = memory.restore(["rand"])
    assert os.listdir(layout.seat("rand").inbox) == before
    assert claims.held(layout)[0].task == "t-abc234"
    assert any("inbox" in note for note in notes)
    assert memory.restore(["rand"]) == []


def test_what_was_moved_in_the_ordinary_way_does_not_come_back(tmp_path: Path) -> None:
    layout = project(tmp_path)
    memory = Memory(layout)
    memory.remember(["rand"])
    message = mail.scan(layout, "rand", START).messages[0]
    mail.finish(layout, "rand", message, "turn", START)
    memory.remember(["rand"])
    shutil.rmtree(layout.seat("rand").inbox)
    memory.restore(["rand"])
    assert os.listdir(layout.seat("rand").inbox) == []


def test_git_stash_does_not_take_the_file_of_a_task_in_work(tmp_path: Path) -> None:
    layout = project(tmp_path)
    os.makedirs(layout.tasks)
    mine = Path(layout.tasks) / "t-abc234-do-it.md"
    mine.write_text("---\nid: t-abc234\n---\n## Notes\n- halfway\n")
    other = Path(layout.tasks) / "t-zzz234-not-in-work.md"
    other.write_text("---\nid: t-zzz234\n---\n")
    memory = Memory(layout)
    memory.remember_tasks({"t-abc234"})
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "stash", "-uq"], cwd=tmp_path, check=True)
    assert not mine.exists()
    assert len(memory.tasks_gone({"t-abc234"})) == 1
    assert "halfway" in mine.read_text()
    assert not other.exists()
    memory.remember_tasks(set())
    mine.unlink()
    assert memory.tasks_gone({"t-abc234"}) == [], "once the task is over its file may go"


def test_sleep_is_what_the_wall_clock_gained() -> None:
    clock = HandClock()
    gauge = SleepGauge(clock)
    clock.forward(100)
    assert gauge.lost_s() == 0.0
    clock.sleep(3600)
    clock.forward(1)
    assert gauge.lost_s() == 3600.0
    assert gauge.lost_s() == 0.0
