"""Running one block: nothing it starts outlives it, nothing it writes fills memory, every end is told apart."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from coleo.harness.shell.control import Control
from coleo.harness.shell.run import TAIL_BYTES, Ran, Tail, run
from tests.waiting import eventually


def go(
    code: str,
    tmp_path: Path,
    *,
    limit_s: float = 20.0,
    control: Control | None = None,
    out: list[bytes] | None = None,
    argv: list[str] | None = None,
) -> Ran:
    own = control or Control()
    pieces = out if out is not None else []
    try:
        return run(
            argv or ["/bin/sh", "-c", code],
            cwd=str(tmp_path),
            env={"PATH": os.environ["PATH"], "COLEO_TEST": str(tmp_path)},
            limit_s=limit_s,
            wish=lambda: own.wish,
            wish_fd=own.wish_fd,
            on_output=pieces.append,
            on_time=lambda _seconds: float("inf"),
        )
    finally:
        if control is None:
            own.close()


def alive(path: Path) -> bool:
    """Whether the process whose pid a block wrote into a file lives."""
    try:
        return psutil.Process(int(path.read_text())).status() != psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, ValueError, FileNotFoundError):
        return False


def test_exit_code_output_and_folder(tmp_path: Path) -> None:
    out: list[bytes] = []
    ran = go("pwd; echo to-stderr >&2; exit 7", tmp_path, out=out)
    assert (ran.exit, ran.why, ran.good) == (7, "", False)
    assert ran.tail == b"".join(out) == f"{tmp_path}\nto-stderr\n".encode()


def test_standard_input_is_empty_and_no_terminal_is_there(tmp_path: Path) -> None:
    """A command that asks a question gets no answer; it must not wait for one, nor read the worker's keys."""
    ran = go("cat; test -t 0 || echo none; (exec </dev/tty) 2>/dev/null || echo no tty", tmp_path)
    assert ran.tail == b"none\nno tty\n"


def test_the_tail_is_bounded_and_the_rest_is_counted(tmp_path: Path) -> None:
    ran = go("head -c 3000000 /dev/zero | tr '\\0' x; printf end", tmp_path)
    assert ran.total_bytes == 3_000_003
    assert len(ran.tail) == TAIL_BYTES and ran.tail.endswith(b"xend")
    tail = Tail(4)
    for _ in range(100):
        tail.add(b"abc")
    assert (tail.data, tail.total) == (b"cabc", 300)


def test_the_time_limit_ends_the_whole_group_even_when_it_ignores_term(tmp_path: Path) -> None:
    code = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >child; sleep 60' & echo begun; wait; sleep 60"
    ran = go(code, tmp_path, limit_s=0.5)
    assert ran.why == "time limit" and ran.exit == -signal.SIGKILL and ran.tail.startswith(b"begun\n")
    assert not alive(tmp_path / "child")


def test_a_polite_command_gets_to_tidy_up_at_the_limit(tmp_path: Path) -> None:
    ran = go("trap 'echo tidied; exit 3' TERM; echo begun; sleep 60 & wait", tmp_path, limit_s=0.5)
    assert (ran.exit, ran.why, ran.good) == (3, "time limit", False)
    assert ran.tail == b"begun\ntidied\n"


@pytest.mark.parametrize("wish", ["interrupted", "stopped"])
def test_a_wish_ends_the_command_with_the_signal_that_fits(tmp_path: Path, wish: str) -> None:
    control = Control()
    code = "trap 'echo int; exit 1' INT; trap 'echo term; exit 1' TERM; touch begun; sleep 60 & wait"

    def press() -> None:
        eventually(lambda: (tmp_path / "begun").exists())
        control.interrupt() if wish == "interrupted" else control.stop()

    presser = threading.Thread(target=press)
    presser.start()
    ran = go(code, tmp_path, control=control)
    presser.join()
    control.close()
    assert (ran.why, ran.tail) == (wish, b"int\n" if wish == "interrupted" else b"term\n")


def test_what_a_command_leaves_in_its_session_is_ended_and_counted(tmp_path: Path) -> None:
    """Case b13: a background job of a block must not live on for ever, nor hold the block open."""
    ran = go("sleep 60 & echo $! >child; set -m; sleep 61 & echo $! >other", tmp_path)
    assert (ran.exit, ran.why) == (0, "")
    assert not alive(tmp_path / "child") and not alive(tmp_path / "other")
    assert ran.left == 2


def test_a_program_with_a_session_of_its_own_goes_on(tmp_path: Path) -> None:
    """Who wants a server to outlive its task says so, with setsid."""
    ran = go("setsid sh -c 'echo $$ >child; exec sleep 60' >/dev/null 2>&1 & sleep 0.2", tmp_path)
    assert ran.exit == 0
    assert eventually(lambda: alive(tmp_path / "child"))
    psutil.Process(int((tmp_path / "child").read_text())).kill()
    eventually(lambda: not alive(tmp_path / "child"))


def test_a_program_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    ran = go("", tmp_path, argv=["no-such-program"])
    assert ran.exit is None and "could not be started" in ran.why and "no-such-program" in ran.why


def test_a_folder_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    ran = go("true", tmp_path / "gone")
    assert ran.exit is None and "could not be started" in ran.why


def test_the_command_ends_when_the_worker_is_killed(tmp_path: Path) -> None:
    """kill -9 of the worker: nobody is left to tell its command to end, so the guard does."""
    block = 'echo $$ >leader; sh -c "echo \\$\\$ >child; sleep 60" & wait'
    worker = (
        "import os, sys\n"
        "from coleo.harness.shell.run import run\n"
        "run(['/bin/sh', '-c', sys.argv[2]], cwd=sys.argv[1], env=dict(os.environ), limit_s=60, wish=lambda: '',\n"
        "    wish_fd=os.pipe()[0], on_output=lambda data: None, on_time=lambda seconds: float('inf'))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", worker, str(tmp_path), block])
    eventually(lambda: alive(tmp_path / "leader") and alive(tmp_path / "child"))
    process.kill()
    process.wait()
    eventually(lambda: not alive(tmp_path / "leader") and not alive(tmp_path / "child"))


def test_signs_of_life_are_asked_for_when_they_are_due(tmp_path: Path) -> None:
    """The times that were asked for are kept to, also while the command is silent."""
    control, asked = Control(), []

    def on_time(seconds: float) -> float:
        asked.append(seconds)
        if len(asked) == 3:
            (tmp_path / "go").touch()
        return seconds + 0.05

    ran = run(
        ["/bin/sh", "-c", "until test -e go; do sleep 0.05; done"],
        cwd=str(tmp_path),
        env=dict(os.environ),
        limit_s=20,
        wish=lambda: "",
        wish_fd=control.wish_fd,
        on_output=lambda data: None,
        on_time=on_time,
    )
    control.close()
    assert ran.good
    assert asked[0] == 0.0 and asked == sorted(asked) and len(asked) >= 3


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    """Case b11: after days of blocks there are as many open files as at the start."""
    go("true", tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        go("echo x; exit 1", tmp_path)
        go("", tmp_path, argv=["no-such-program"])
    assert len(os.listdir("/proc/self/fd")) == before
