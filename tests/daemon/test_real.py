"""The brain, its hosts and a scripted agent as real processes: kills, restarts, stops."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from coleo.daemon.hosts import find_hosts
from coleo.files import arms, desired, process
from coleo.model.arm import Arm, ArmState
from tests.daemon.real import ROOT, real_project
from tests.waiting import eventually


def test_the_brain_is_killed_during_a_delivery_and_the_message_arrives_once(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        project.seat("rand", slow_paste_s=0.8)
        project.start()
        project.until_idle("rand")
        arm = project.arm("rand")
        project.send("rand", "only-once")
        eventually(lambda: project.log("message_claimed"), what="it is on its way")
        project.kill()
        project.start()
        eventually(lambda: project.processed("rand") == 1, 30, what="the message is processed")
        assert project.count("rand", "only-once") == 1
        assert project.arm("rand").child == arm.child, "the arm went on"


def test_the_arm_is_killed_and_the_message_arrives_once_in_the_next_generation(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        project.seat("rand", slow_paste_s=30)
        project.start()
        project.until_idle("rand")
        project.send("rand", "only-once")
        eventually(lambda: project.log("message_typed"), what="it was typed")
        script = Path(project.layout.seat("rand").dir) / "script.json"
        script.write_text(script.read_text().replace('"slow_paste_s": 30', '"slow_paste_s": 0'))
        child = project.arm("rand").child
        assert child is not None
        assert process.send(child, signal.SIGKILL)
        eventually(lambda: project.processed("rand") == 1, 30, what="the message is processed")
        assert project.count("rand", "only-once") == 1
        assert project.arm("rand").generation == 2


def test_kill_9_of_brain_and_arm_at_random_moments_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        project.seat("rand", busy_s=0.02)
        project.start()
        project.until_idle("rand")
        for number in range(12):
            project.send("rand", f"word-{number:02d}-end")
            if number % 4 == 1:
                eventually(lambda: project.log("message_claimed"), 20)
                project.kill()
                project.start()
            if number % 6 == 5:
                child = project.arm("rand").child
                if child is not None:
                    process.send(child, signal.SIGKILL)
        eventually(lambda: project.processed("rand") == 12, 60, what="all messages are processed")
        counts = {number: project.count("rand", f"word-{number:02d}-end") for number in range(12)}
        assert set(counts.values()) == {1}, counts


def test_b12_a_second_brain_exits_with_the_pid_of_the_first(tmp_path: Path) -> None:
    with real_project(tmp_path / "real") as project:
        project.seat("rand")
        (tmp_path / "link").symlink_to(project.folder)
        (project.folder / "src").mkdir()
        project.start()
        assert project.brain is not None
        code = (
            "import os, sys; from coleo.daemon.up import up; from coleo.files.layout import find;"
            "from coleo.model.errors import Taken\n"
            "try:\n    up(find())\nexcept Taken as error:\n    print(error); sys.exit(error.exit_code)"
        )
        for start in (project.folder, project.folder / "src", tmp_path / "link", tmp_path / "link/src"):
            second = subprocess.run(
                [sys.executable, "-c", code], cwd=start, capture_output=True, text=True, timeout=30, check=False
            )
            assert second.returncode == 3, second.stderr
            assert str(project.brain.pid) in second.stdout


def test_sigterm_leaves_the_arms_and_a_new_brain_finds_them(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        project.seat("rand")
        project.start()
        project.until_idle("rand")
        before = project.arm("rand")
        assert project.kill(signal.SIGTERM) == 0
        assert before.child is not None
        assert process.same(before.child)
        shutil.rmtree(project.layout.arms)
        project.start()
        eventually(lambda: project.arm("rand").child == before.child, 20, what="the arm is adopted")
        assert len(project.log("session_start")) == 1


def test_a_deleted_run_folder_is_survived_by_a_running_brain_and_its_arms(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        project.seat("rand")
        project.start()
        project.until_idle("rand")
        before = project.arm("rand")
        os.rename(project.layout.run, tmp_path / "swept")
        shutil.rmtree(tmp_path / "swept")
        eventually(lambda: os.path.exists(project.layout.brain_socket), 20, what="the doorbell is there again")
        eventually(lambda: os.path.exists(project.layout.host_socket("rand")), 20, what="the host listens again")
        project.send("rand", "still-there")
        eventually(lambda: project.processed("rand") == 1, 30, what="mail goes on")
        assert project.arm("rand").child == before.child


def test_a_dialog_holds_the_mail_and_nothing_presses_enter(tmp_path: Path) -> None:
    dialog = {"name": "trust", "text": "Do you trust this folder?", "at": "start", "for_s": 2, "enter": "yes"}
    with real_project(tmp_path) as project:
        project.seat("rand", dialogs=[dialog])
        project.start()
        project.send("rand", "after-the-dialog")
        eventually(lambda: project.processed("rand") == 1, 30, what="the message is processed")
        assert project.count("rand", "after-the-dialog") == 1
        got = (Path(project.layout.seat("rand").dir) / "got.jsonl").read_text()
        assert '"answer": "yes"' not in got


def test_stop_of_a_seat_leaves_no_descendant(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        project.seat("rand", grandchild="deaf", exit_word="/exit")
        project.start()
        project.until_idle("rand")
        host = find_hosts(project.layout)["rand"]
        desired.change(project.layout, "rand", stopped=True)
        eventually(lambda: project.arm("rand").state.value == "stopped", 40, what="the arm is stopped")
        eventually(lambda: not process.same(host), 20, what="its host is gone")


def test_an_agent_that_ends_at_once_is_parked_with_its_last_words(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        front = "max_crashes: 1\ncommand: [sh, -c, 'echo wrong flag --foo; exit 2']\n"
        project.seat("rand", front)
        project.start()
        eventually(lambda: project.arm("rand").state.value == "failed", 30, what="it is parked")
        assert "wrong flag --foo" in project.arm("rand").evidence
        eventually(lambda: len(project.log("notice")) == 1, what="a person is told once")


def test_a_missing_program_parks_the_seat_and_keeps_its_mail(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        project.seat("rand", "command: [no-such-program-here]\n")
        project.start()
        project.send("rand", "wait for me")
        eventually(lambda: project.arm("rand").state.value == "failed", 20, what="it is parked")
        assert "no-such-program-here" in project.arm("rand").parked
        assert len(os.listdir(project.layout.seat("rand").inbox)) == 1


def test_a_stop_that_came_before_the_host_could_be_asked_is_not_lost(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        project.seat("rand")
        project.start()
        project.until_idle("rand")
        project.kill()
        desired.change(project.layout, "rand", stopped=True)
        project.start()
        eventually(lambda: project.arm("rand").state.value == "stopped", 40, what="the arm is stopped")


def test_a_brain_killed_between_record_and_launch_starts_the_arm_again(tmp_path: Path) -> None:
    with real_project(tmp_path) as project:
        project.seat("rand")
        now = project.clock_now()
        arms.write(project.layout, Arm("rand", ArmState.SPAWNING, since_at=now, generation=3, spawned_at=now))
        project.start()
        project.until_idle("rand")
        assert project.arm("rand").generation == 4


def test_a_project_that_is_away_for_a_moment_ends_nothing(tmp_path: Path) -> None:
    with real_project(tmp_path / "p") as project:
        project.seat("rand")
        project.start()
        project.until_idle("rand")
        before = project.arm("rand").child
        os.rename(project.layout.project, tmp_path / "away")
        project.ticks(4)
        os.rename(tmp_path / "away", project.layout.project)
        project.send("rand", "still-here")
        eventually(lambda: project.processed("rand") == 1, 30, what="mail goes on")
        assert project.arm("rand").child == before


def test_a_swept_log_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / ".coleo/run").mkdir(parents=True)
    log = tmp_path / ".coleo/run/brain.log"
    code = (
        "import os, sys; from coleo.daemon.up import keep_log; from coleo.files.layout import Layout;"
        "os.unlink(sys.argv[2]); keep_log(Layout(sys.argv[1])); print('last words', flush=True)"
    )
    with open(log, "w") as file:
        words = [sys.executable, "-c", code, str(tmp_path), str(log)]
        subprocess.run(words, stdout=file, stderr=file, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert log.read_text() == "last words\n"
