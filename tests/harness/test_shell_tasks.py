"""Which tasks the shell worker may run, and with what limits: the rules, without a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coleo.bus.tasks import TaskView
from coleo.files.layout import Layout
from coleo.harness.shell import tasks
from coleo.harness.shell.tasks import BadBlock, Command
from coleo.model.plan import Block, Task
from coleo.model.task import TaskFile, TaskStatus


def view(*blocks: Block, description: str = "", origin: str = "plan", file: TaskFile | None = None) -> TaskView:
    task = Task("t-aaaaaa", "Title", description=description, blocks=blocks, origin=origin)
    return TaskView(task, file, None, TaskStatus.OPEN)


def layout(tmp_path: Path, seat_md: str = "", config: str = "") -> Layout:
    seat = tmp_path / ".project" / "seats" / "bo"
    seat.mkdir(parents=True, exist_ok=True)
    (seat / "seat.md").write_text(seat_md)
    (tmp_path / ".coleo").mkdir(exist_ok=True)
    (tmp_path / ".coleo" / "config.toml").write_text(config)
    return Layout(str(tmp_path))


def test_a_task_without_a_block_is_left_to_others() -> None:
    assert "no fenced" in tasks.why_not(view(), False)
    assert "no fenced" in tasks.why_not(view(Block("verify", "true\n"), Block("json", "{}\n")), True)
    assert tasks.why_not(view(Block("text", ""), Block("python", "1\n")), False) == ""


@pytest.mark.parametrize("origin", ["plan", "inbox"])
def test_what_people_wrote_is_run(origin: str) -> None:
    assert tasks.why_not(view(Block("sh", "true\n"), origin=origin), False) == ""


def test_what_an_agent_wrote_is_run_only_with_trust() -> None:
    """Case h08: a task that another agent made is text of a stranger, not an order."""
    made = view(Block("sh", "true\n"), origin="seat:ada")
    assert "written by seat ada" in tasks.why_not(made, False)
    assert tasks.why_not(made, True) == ""
    remembered = view(Block("sh", "true\n"), file=TaskFile("t-aaaaaa", origin="seat:ada"))
    assert tasks.why_not(remembered, False) != ""


def test_blocks_in_the_notes_of_a_task_are_never_run() -> None:
    """Agents write notes; only the description in the plan is executed."""
    file = TaskFile("t-aaaaaa", notes=("```sh\nrm -rf /\n```",), description="```sh\nrm -rf /\n```")
    assert "no fenced" in tasks.why_not(view(file=file), False)


@pytest.mark.parametrize(
    ("front", "trust"),
    [
        ("---\ntrust: agents\n---\n", True),
        ('---\nharness: shell\ntrust: "agents" # sure\n---\n', True),
        ("---\ntrust: people\n---\n", False),
        ("---\nharness: shell\n---\ntrust: agents\n", False),
        ("trust: agents\n", False),
        ("---\n{broken\ntrust: agents\n---\n", False),
        ("---\ntrust: agents\n", False),
    ],
)
def test_trust_is_said_in_the_front_matter_and_nowhere_else(tmp_path: Path, front: str, trust: bool) -> None:
    assert tasks.trusts_agents(layout(tmp_path, front), "bo") is trust


def test_a_seat_without_seat_md_trusts_nobody(tmp_path: Path) -> None:
    assert tasks.trusts_agents(Layout(str(tmp_path)), "bo") is False


def test_an_agents_task_has_its_blocks_in_its_own_file() -> None:
    """`create-task` writes one line into the plan and the description into the task's file."""
    file = TaskFile(
        "t-aaaaaa", origin="seat:ada", description="Please:\n\n- this\n  ```sh timeout=9\n  a\n   b\n  ```\n"
    )
    made = view(file=file)
    assert "written by seat ada" in tasks.why_not(made, False)
    assert tasks.why_not(made, True) == ""
    assert tasks.commands(made) == [Command(1, "sh", "a\n b\n", 9.0)]


def test_a_fence_that_is_never_closed_ends_with_the_text() -> None:
    assert tasks.fences("~~~python\nx = 1") == [tasks.Fence("python", "python", "x = 1\n")]


def test_commands_come_in_order_with_their_limits() -> None:
    description = (
        "Text.\n```sh timeout=30\na\n```\n- item\n  ~~~~python {timeout=5m}\n  b\n  ~~~\n  ~~~~\n```bash\nc\n```"
    )
    made = view(Block("sh", "a\n"), Block("python", "b\n~~~\n"), Block("bash", "c\n"), description=description)
    assert tasks.commands(made) == [
        Command(1, "sh", "a\n", 30.0),
        Command(2, "python", "b\n~~~\n", 300.0),
        Command(3, "bash", "c\n"),
    ]


def test_blocks_that_are_not_run_do_not_shift_the_limits() -> None:
    description = "```\nno language\n```\n```verify timeout=1\ntrue\n```\n```sh timeout=1.5h\nx\n```"
    made = view(Block("verify", "true\n"), Block("sh", "x\n"), description=description)
    assert tasks.commands(made) == [Command(1, "sh", "x\n", 5400.0)]


@pytest.mark.parametrize("word", ["timeout=soon", "timeout=0", "timeout=", "timeout=99999999", "timeout=8d"])
def test_a_limit_that_cannot_be_understood_is_an_error_not_a_guess(word: str) -> None:
    with pytest.raises(BadBlock, match="timeout=30"):
        tasks.commands(view(Block("sh", "x\n"), description=f"```sh {word}\nx\n```"))


def test_the_standard_limit_comes_from_the_settings_in_their_order(tmp_path: Path) -> None:
    """Environment, project, user, default (case g12); a value that is none is told and passed over."""
    home = tmp_path / "home"
    (home / ".coleo").mkdir(parents=True)
    environ = {"HOME": str(home)}
    place = layout(tmp_path / "p")
    assert tasks.time_limit(place, environ) == (1800.0, "")
    (home / ".coleo" / "config.toml").write_text("[shell]\ntime_limit_s = 20\n")
    assert tasks.time_limit(place, environ) == (20.0, "")
    place = layout(tmp_path / "p", config="[shell]\ntime_limit_s = 10\n")
    assert tasks.time_limit(place, environ) == (10.0, "")
    assert tasks.time_limit(place, environ | {"COLEO_SHELL_TIME_LIMIT_S": " 5 "}) == (5.0, "")
    place = layout(tmp_path / "p", config="[shell]\ntime_limit_s = 'ten'\n")
    limit, trouble = tasks.time_limit(place, environ | {"COLEO_SHELL_TIME_LIMIT_S": ""})
    assert limit == 20.0 and "'ten'" in trouble
    place = layout(tmp_path / "p", config="[shell\n")
    assert tasks.time_limit(place, environ)[0] == 20.0


def test_a_block_is_a_private_file_and_no_word_of_it_in_the_command_line(tmp_path: Path) -> None:
    """Case g11: `ps` shows command lines to everybody."""
    place = layout(tmp_path)
    command = Command(1, "sh", "echo secret-word\n")
    path = tasks.script(place, "bo", "t-aaaaaa", command)
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
    assert "secret-word" not in " ".join(tasks.argv(command, path, os.environ))


@pytest.mark.parametrize(
    ("language", "code", "output", "exit_code"),
    [
        ("sh", "echo a; false\necho b\n", "a\n", 1),
        ("bash", "false | cat\necho b\n", "", 1),
        (
            "python",
            "import sys\nprint(__name__, sys.argv[1:], sys.path[0])\nraise SystemExit(3)\n",
            "__main__ [] \n",
            3,
        ),
    ],
)
def test_each_language_stops_at_its_first_error(
    tmp_path: Path, language: str, code: str, output: str, exit_code: int
) -> None:
    command = Command(1, language, code)
    path = tasks.script(layout(tmp_path), "bo", "t-aaaaaa", command)
    done = subprocess.run(
        tasks.argv(command, path, os.environ), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == (output, exit_code)


def test_python_errors_name_the_line_of_the_block(tmp_path: Path) -> None:
    command = Command(1, "python", "x = 1\nx.nothing\n")
    path = tasks.script(layout(tmp_path), "bo", "t-aaaaaa", command)
    done = subprocess.run(tasks.argv(command, path, os.environ), capture_output=True, text=True, check=False)
    assert "line 2" in done.stderr and "x.nothing" in done.stderr


def test_a_block_sees_its_task_and_can_call_coleo() -> None:
    seen = tasks.environment({"PATH": "/bin", "COLEO_SEAT": "bo"}, "t-aaaaaa")
    assert seen["COLEO_TASK"] == "t-aaaaaa" and seen["COLEO_SEAT"] == "bo"
    assert seen["PATH"].split(os.pathsep) == ["/bin", os.path.dirname(sys.executable)]
