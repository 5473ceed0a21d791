"""`coleo up down pause resume wake` and the seats' commands on a real brain with real shell arms."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coleo.cli import starting
from coleo.files import arms, desired, locks, process, project, requests
from coleo.files.layout import Layout
from coleo.model.arm import Arm, ArmState, ProcessId
from coleo.model.errors import BadInput
from tests.cli.helpers import coleo, facts
from tests.waiting import eventually

FAST = ["--set", "brain.poll_interval_ms=500", "--set", "brain.settle_s=0.1"]


@pytest.fixture
def layout(tmp_path: Path) -> Iterator[Layout]:
    """A project with two shell seats; whatever runs at the end is ended by the command that is there for it."""
    root = tmp_path / "shop"
    project.init(str(root), seats={"ada": "shell", "bob": "shell"})
    made = Layout(os.path.realpath(root))
    yield made
    ran = coleo(made, "down")
    assert ran.returncode == 0, ran.stderr


def up(layout: Layout) -> int:
    """Start it in the background and wait until both arms are idle."""
    pid = int(facts(layout, "up", "--detach", *FAST)["pid"])
    eventually(lambda: states(layout) == {"ada": "idle", "bob": "idle"}, 30)
    return pid


def states(layout: Layout) -> dict[str, str]:
    return {name: arm.state.value for name, arm in arms.read_all(layout).items()}


def test_up_detach_is_up_when_it_returns_and_down_ends_brain_and_arms(layout: Layout) -> None:
    """Evidence, not hope: the brain has answered before `up --detach` says so."""
    pid = up(layout)
    assert (locks.holder(layout.lock("brain")) or {})["pid"] == pid
    assert os.stat(starting.log_path(layout)).st_mode & 0o777 == 0o600
    running = [arm.child for arm in arms.read_all(layout).values()]
    assert all(child is not None and process.same(child) for child in running)
    second = coleo(layout, "up", "--detach")
    assert (second.returncode, str(pid) in second.stderr) == (3, True)
    assert coleo(layout, "up").returncode == 3
    assert facts(layout, "wake")["pid"] == pid
    ran = coleo(layout, "down")
    assert ran.returncode == 0
    assert not locks.is_held(layout.lock("brain"))
    assert not any(child is not None and process.same(child) for child in running)
    again = coleo(layout, "down")
    assert (again.returncode, again.stdout) == (0, "nothing runs here\n")


def test_down_brain_leaves_the_arms_and_down_without_a_brain_ends_them(layout: Layout) -> None:
    up(layout)
    before = {name: arm.child for name, arm in arms.read_all(layout).items()}
    assert coleo(layout, "down", "--brain").returncode == 0
    assert starting.living(layout) == ["ada", "bob"]
    assert facts(layout, "status")["brain"]["running"] is False
    assert facts(layout, "down")["pid"]
    assert starting.living(layout) == []
    assert not any(child is not None and process.same(child) for child in before.values())


def test_hosts_that_nobody_told_to_end_are_told_once(layout: Layout) -> None:
    """A stop that got lost on its way (its brain was killed, its link was not there yet) must not hold `down` up."""
    up(layout)
    coleo(layout, "down", "--brain")
    assert sorted(starting.stop_forgotten(layout)) == ["ada", "bob"]
    eventually(lambda: starting.living(layout) == [], 30)
    assert starting.stop_forgotten(layout) == []


def test_restart_gives_a_new_generation_stop_ends_it_start_brings_it_back(layout: Layout) -> None:
    up(layout)
    first = arms.read(layout, "ada")
    assert first is not None
    assert coleo(layout, "seat", "restart", "ada").returncode == 0

    def fresh() -> bool:
        arm = arms.read(layout, "ada")
        return arm is not None and arm.generation > first.generation and arm.state is ArmState.IDLE

    eventually(fresh, 30)
    assert coleo(layout, "seat", "stop", "ada").returncode == 0
    eventually(lambda: states(layout)["ada"] == "stopped", 30)
    assert "coleo seat start ada" in coleo(layout, "why", "ada").stdout
    assert coleo(layout, "arm", "start", "ada").returncode == 0
    eventually(lambda: states(layout)["ada"] == "idle", 30)
    assert states(layout)["bob"] == "idle"


def test_disable_ends_the_arm_and_enable_starts_one(layout: Layout) -> None:
    up(layout)
    assert coleo(layout, "seat", "disable", "bob").returncode == 0
    eventually(lambda: states(layout)["bob"] == "stopped", 30)
    assert "enabled: false" in Path(layout.seat("bob").seat_md).read_text()
    assert coleo(layout, "seat", "enable", "bob").returncode == 0
    eventually(lambda: states(layout)["bob"] == "idle", 30)


def test_a_seat_added_while_it_runs_gets_its_arm(layout: Layout) -> None:
    up(layout)
    assert coleo(layout, "seat", "add", "cid", "--template", "shell").returncode == 0
    eventually(lambda: states(layout).get("cid") == "idle", 30)
    assert "cid" in coleo(layout, "seat", "list").stdout


def test_the_screen_of_an_arm_as_text_and_as_a_picture(layout: Layout, tmp_path: Path) -> None:
    up(layout)
    eventually(lambda: ">" in coleo(layout, "screen", "ada").stdout, 20)
    shot = facts(layout, "screen", "ada")
    assert (shot["seat"], shot["size"]) == ("ada", [50, 200])
    ran = coleo(layout, "screen", "ada", "--svg", str(tmp_path / "ada.svg"))
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "ada.svg").read_text().lstrip().startswith("<svg")
    attached = coleo(layout, "attach", "ada")
    assert (attached.returncode, "coleo screen" in attached.stderr) == (1, True)


def test_a_task_assigned_by_a_person_is_told_to_the_seat_and_worked_off(layout: Layout) -> None:
    up(layout)
    coleo(layout, "pause", "--all")
    Path(layout.plan).write_text("- [ ] Say hello\n  ```sh\n  echo hello\n  ```\n")
    found: list[Any] = eventually(lambda: facts(layout, "tasks")["tasks"], 20)
    made = facts(layout, "task", "assign", found[0]["id"], "bob")
    assert made["message"].endswith(made["message"].rpartition("-")[2])
    assert facts(layout, "why", found[0]["id"])["state"] == "claimed"
    coleo(layout, "resume", "--all")
    eventually(lambda: "- [x] Say hello" in Path(layout.plan).read_text(), 60)
    done = facts(layout, "task", "show", found[0]["id"])
    assert (done["status"], "hello" in done["result"]) == ("done", True)


def test_in_the_foreground_it_says_what_it_watches_and_why_it_ended(layout: Layout) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "coleo", "up", *FAST], cwd=layout.root, stdout=subprocess.PIPE, text=True
    ) as brain:
        assert brain.stdout is not None
        said = [brain.stdout.readline() for _ in range(5)]
        assert str(brain.pid) in said[0]
        assert any("plan.md" in line for line in said)
        assert any("ada, bob" in line for line in said)
        brain.send_signal(signal.SIGINT)
        rest = brain.stdout.read()
        assert brain.wait(30) == 0
    assert "SIGINT" in rest


def test_bad_settings_are_refused_with_all_problems(layout: Layout) -> None:
    """Case g06: exit 2, every problem with its key, before anything is started."""
    Path(layout.config).write_text("[brain]\npoll_interval_ms = '30000'\nmax_arms = 8.0\n")
    for words in (["up"], ["up", "--detach"]):
        ran = coleo(layout, *words)
        assert ran.returncode == 2
        assert "brain.poll_interval_ms" in ran.stderr
        assert "brain.max_arms" in ran.stderr
    assert not locks.is_held(layout.lock("brain"))
    ran = coleo(layout, "up", "--set", "brain.max_arms=many")
    assert (ran.returncode, "command line" in ran.stderr) == (2, True)
    assert coleo(layout, "up", "--set", "brain.max_arms").returncode == 2
    Path(layout.config).write_text("")


def test_a_state_folder_that_everybody_can_write_is_refused(layout: Layout) -> None:
    """Case h06: exit 4."""
    os.chmod(layout.coleo, 0o777)
    ran = coleo(layout, "up", "--json")
    assert (ran.returncode, json.loads(ran.stderr)["error"]["exit_code"]) == (4, 4)
    assert coleo(layout, "check").returncode == 4
    os.chmod(layout.coleo, 0o700)


def test_a_brain_that_ends_at_once_is_told_with_its_last_words(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Path(layout.root, "broken")
    script.write_text("#!/bin/sh\necho the reason >&2\nexit 3\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    with pytest.raises(Exception, match="ended at once") as caught:
        starting.detach(layout, [])
    assert getattr(caught.value, "exit_code", None) == 3
    assert "the reason" in str(caught.value)


def test_pause_and_resume_without_a_brain_are_remembered(layout: Layout) -> None:
    ran = coleo(layout, "pause", "ada")
    assert (ran.returncode, "no brain runs" in ran.stderr) == (0, True)
    assert desired.read(layout).paused("ada")
    assert not desired.read(layout).paused("bob")
    assert coleo(layout, "pause", "--all").returncode == 0
    assert coleo(layout, "resume", "bob").returncode == 0
    assert [desired.read(layout).paused(name) for name in ("ada", "bob")] == [True, False]
    assert coleo(layout, "resume", "--all").returncode == 0
    assert not desired.read(layout).paused("ada")
    assert requests.pending(layout) == []


@pytest.mark.parametrize("words", [["pause"], ["pause", "ada", "--all"], ["resume"], ["pause", "eve"]])
def test_pause_wants_exactly_one_meaning(layout: Layout, words: list[str]) -> None:
    assert coleo(layout, *words).returncode == 2


def test_resume_lets_a_parked_seat_be_tried_again(layout: Layout) -> None:
    os.makedirs(layout.arms)
    arms.write(layout, Arm("ada", ArmState.FAILED, parked="could not start", parked_at=1.0))
    coleo(layout, "seat", "stop", "ada")
    ran = coleo(layout, "resume", "ada")
    assert "still stopped: ada" in ran.stdout
    assert desired.read(layout).of("ada").unpark_at > 1.0
    os.unlink(layout.arm("ada"))


def test_wake_without_a_brain_cannot_be_done(layout: Layout) -> None:
    ran = coleo(layout, "wake")
    assert (ran.returncode, "coleo up" in ran.stderr) == (1, True)


def test_a_foreign_process_in_a_record_is_not_living(layout: Layout) -> None:
    """Case h09: a pid alone is nobody; nothing is reported on, nothing stopped."""
    os.makedirs(layout.arms)
    arms.write(layout, Arm("ada", ArmState.IDLE, child=ProcessId(os.getppid(), 1, "another boot")))
    assert starting.living(layout) == []
    assert facts(layout, "down")["message"] == "nothing runs here"


def test_settings_on_the_command_line_are_key_and_value() -> None:
    assert starting.overrides(["a.b=1", "c=x=y"]) == {"a.b": "1", "c": "x=y"}
    for wrong in ("a.b", "=1"):
        with pytest.raises(BadInput):
            starting.overrides([wrong])
