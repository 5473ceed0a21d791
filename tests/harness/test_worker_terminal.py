"""The shell worker as a program in a terminal: keys, receipts while it is busy, interrupts, ends of every kind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import psutil
import pytest

from coleo.harness.load import load
from coleo.model.task import TaskStatus
from tests.harness.rig import Arm, Project, arm
from tests.harness.test_worker import task
from tests.waiting import eventually

WAITS = """trap 'exit 1' INT TERM
sh -c 'echo $$ >child; exec sleep 60' &
touch begun
until test -e go; do sleep 0.05; done
kill $!
"""


def begun(one: Arm) -> None:
    """Prompt the worker, and wait until the block of its task runs."""
    one.prompt()
    eventually(lambda: (one.project.root / "begun").exists(), 20)
    eventually(
        lambda: (one.project.root / "child").read_text().strip() if (one.project.root / "child").exists() else ""
    )


def child_lives(project: Project) -> bool:
    try:
        return psutil.Process(int((project.root / "child").read_text())).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("keys", [b"exit\r", b"\x04", b"\x15\x04"])
def test_it_ends_when_a_person_says_so_and_leaves_the_terminal_sane(tmp_path: Path, keys: bytes) -> None:
    made = Arm(Project(tmp_path, ""))
    try:
        before = termios.tcgetattr(made.process.fd)
        made.ready()
        assert not termios.tcgetattr(made.process.fd)[3] & termios.ICANON
        made.type(keys)
        assert made.ends() == 0
        assert b"\x1b[?2004h" in made.raw and made.raw.endswith(b"\x1b[?2004l\x1b[?25h")
        assert before[3] & termios.ICANON
    finally:
        made.close()


def test_the_exit_keys_of_the_harness_end_it_also_with_a_draft(tmp_path: Path) -> None:
    with arm(Project(tmp_path, "")) as one:
        one.type(b"a draft")
        one.wait("> a draft")
        for key in load("shell").exit_keys:
            one.type(key.encode())
        assert one.ends() == 0


def test_a_persons_words_are_no_prompt(tmp_path: Path) -> None:
    project = Project(tmp_path, task("Task", "touch ran"))
    with arm(project) as one:
        one.enter("please do your work")
        one.wait("no such command: please do your work")
        one.enter("help")
        one.wait("Ctrl-C ends the command")
        one.enter("tasks")
        one.wait("1 tasks")
        assert one.sees(f"{project.task('Task').id}  open")
        assert one.receipts() == []
    assert not (tmp_path / "ran").exists()


def test_run_does_one_task_that_a_person_names(tmp_path: Path) -> None:
    project = Project(tmp_path, task("One", "touch one") + task("Two", "touch two") + task("Words"))
    with arm(project) as one:
        one.enter(f"run {project.task('Two').id}")
        one.wait("is done")
        one.ready()
        one.enter("run t-zzzzzz")
        one.wait("there is no task t-zzzzzz")
        one.enter(f"run {project.task('Words').id}")
        one.wait("is not run: it has no fenced")
    assert (tmp_path / "two").exists() and not (tmp_path / "one").exists()


def test_keys_and_prompts_are_taken_while_a_task_runs(tmp_path: Path) -> None:
    """Typed text stays in the composer; a prompt is `typed` at once and a `turn` after the task."""
    project = Project(tmp_path, task("Slow", WAITS) + task("Next", "touch next"))
    with arm(project) as one:
        begun(one)
        second = one.prompt("from another seat", kind="message", sender="ada")
        eventually(lambda: (second, "typed") in one.receipts())
        one.type(b"dra")
        one.wait("> dra")
        assert any(row.startswith("[coleo] working on") for row in one.rows()[-2:])
        assert (second, "turn") not in one.receipts()
        (tmp_path / "go").touch()
        eventually(lambda: (second, "turn") in one.receipts(), 20)
        one.wait("[coleo] ready")
        assert one.rows()[-1] == "> dra"
        assert one.receipts() == [("m-test1", "turn"), (second, "typed"), (second, "turn")]
    assert (tmp_path / "next").exists()


def test_ctrl_c_ends_the_command_and_not_the_worker(tmp_path: Path) -> None:
    project = Project(tmp_path, task("Slow", WAITS) + task("Next", "touch next"))
    with arm(project) as one:
        begun(one)
        one.type(load("shell").interrupt_keys[0].encode())
        one.ready()
        slow = project.task("Slow")
        assert "interrupted at the terminal while block 1 of 1 (sh) ran" in slow.reasons[0]
        assert slow.attempts == 1 and not child_lives(project)
        assert (tmp_path / "next").exists()
        (tmp_path / "begun").unlink()
        one.works()
        assert not (tmp_path / "begun").exists(), "what a person interrupted is not begun again unasked"
        (tmp_path / "go").touch()
        one.enter(f"run {slow.id}")
        one.wait("is done")


def test_ctrl_c_ends_a_verification(tmp_path: Path) -> None:
    project = Project(tmp_path, task("Checked", "true", verify="touch begun; sleep 60"))
    with arm(project) as one:
        one.prompt()
        eventually(lambda: (tmp_path / "begun").exists(), 20)
        one.type(b"\x03")
        one.ready()
    assert "interrupted at the terminal while it was verified" in project.task("Checked").reasons[0]


@pytest.mark.parametrize("how", ["TERM", "HUP", "exit", "hang up"])
def test_an_end_in_the_middle_of_a_task_gives_it_back(tmp_path: Path, how: str) -> None:
    """The whole group of the command is gone, the task is open again, no attempt is counted, the output is kept."""
    project = Project(tmp_path, task("Slow", "echo so far\n" + WAITS))
    with arm(project) as one:
        begun(one)
        match how:
            case "exit":
                one.enter("exit")
            case "hang up":
                os.close(one.process.fd)
                eventually(lambda: not one.process.isalive())
            case _:
                one.process.kill(signal.SIGTERM if how == "TERM" else signal.SIGHUP)
        if how != "hang up":
            assert one.ends() == 0
        assert not child_lives(project)
    slow = project.task("Slow")
    assert (slow.status, slow.attempts, slow.holder) == (TaskStatus.OPEN, 0, None)
    assert "the seat was stopped while block 1 of 1 (sh) ran" in slow.notes[-1] and "so far" in slow.notes[-1]


def test_after_a_kill_the_command_is_gone_and_the_next_worker_fails_that_attempt(tmp_path: Path) -> None:
    project = Project(tmp_path, task("Slow", WAITS))
    with arm(project) as one:
        begun(one)
        one.process.kill(signal.SIGKILL)
        assert one.ends() == -signal.SIGKILL
        eventually(lambda: not child_lives(project))
    assert project.task("Slow").holder == "bo"
    with arm(project) as again:
        again.wait("failed: the worker ended while it was at this task")
        again.ready()
        assert project.task("Slow").attempts == 1
        (tmp_path / "go").touch()
        again.works()
    assert project.task("Slow").status is TaskStatus.DONE


def test_a_flood_of_output_is_shown_in_part_and_drives_nothing(tmp_path: Path) -> None:
    """Cases b02 and h02: the worker reads all of it, shows what the terminal takes, escapes what is no text."""
    code = """head -c 30000000 /dev/zero | tr '\\0' y | fold -w 100
printf '\\033]0;owned\\007\\033[2Jend\\n[coleo] ready\\n>\\n'
"""
    project = Project(tmp_path, task("Loud", code) + task("After", "touch after"))
    with arm(project) as one:
        one.works()
        assert one.sees("exit 0 after") or one.sees("no more tasks")
        assert one.shown.title == ""
        assert len(one.raw) < 25_000_000
    assert (tmp_path / "after").exists()
    assert "y" * 100 in project.task("Loud").result


def test_a_new_size_draws_the_screen_again(tmp_path: Path) -> None:
    with arm(Project(tmp_path, "")) as one:
        one.enter("help")
        one.wait("Ctrl-C ends")
        one.shown.reset()
        one.process.setwinsize(30, 100)
        one.wait("Ctrl-C ends")
        assert one.rows()[-2:] == ["[coleo] ready", ">"]


@pytest.mark.parametrize(
    ("environ", "said"), [({"COLEO_SEAT": "nobody"}, "there is no seat"), ({}, "needs a terminal")]
)
def test_without_a_seat_or_a_terminal_it_says_what_to_do(tmp_path: Path, environ: dict[str, str], said: str) -> None:
    project = Project(tmp_path, "")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "coleo.harness.shell"],
        env={**os.environ, "COLEO_PROJECT": str(project.root), "COLEO_SEAT": "bo", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and said in done.stderr


def test_it_loads_nothing_slow() -> None:
    """Neither pydantic, nor typer, nor a Markdown parser: a seat starts in a few hundredths of a second."""
    code = "import sys\nimport coleo.harness.shell.__main__\nprint(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    slow = {"pydantic", "typer", "rich", "mistune", "ruamel", "asyncio", "logging", "typing", "tomllib", "subprocess"}
    assert not slow & {name.split(".")[0] for name in loaded}
