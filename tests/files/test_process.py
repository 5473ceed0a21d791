"""Processes by identity: no signal on a pid alone (cases b13, h09)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from coleo.files import process
from coleo.model.arm import ProcessId
from tests.waiting import eventually


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env={"MARK": "x=y"}) as running:
        yield running
        running.kill()


def test_the_same_process_is_recognised_until_it_ends(child: subprocess.Popen[bytes]) -> None:
    """A zombie has ended, too: its pid is not free yet, but nobody works under it."""
    who = process.identity(child.pid)
    assert who is not None
    assert process.same(who)
    assert process.identity(child.pid) == who
    child.kill()
    assert eventually(lambda: not process.same(who))
    assert process.identity(child.pid) is None
    child.wait()
    assert process.identity(child.pid) is None


def test_a_signal_reaches_exactly_who_was_meant(child: subprocess.Popen[bytes]) -> None:
    """Another start time, or another boot, is another process with the same pid."""
    who = process.identity(child.pid)
    assert who is not None
    for other in (who.replace(start=who.start + 1), who.replace(boot="another")):
        assert not process.same(other)
        assert not process.send(other, signal.SIGKILL)
    assert child.poll() is None
    assert process.send(who, signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM
    assert not process.send(who, signal.SIGTERM)


def test_without_pidfd_the_identity_still_decides(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS."""
    who = process.identity(child.pid)
    assert who is not None
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not process.send(who.replace(start=who.start + 1), signal.SIGKILL)
    assert process.send(who, signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM


def test_nobody_signals_itself() -> None:
    """The record of a brain that was restarted with the same pid must not end it."""
    assert not process.send(process.own(), signal.SIGKILL)
    assert not process.send(ProcessId(1, 0, process.boot_id()), signal.SIGKILL)


def test_names_with_brackets_do_not_move_the_fields() -> None:
    """The second field of /proc/<pid>/stat is whatever the process calls itself."""
    code = "import ctypes; ctypes.CDLL(None).prctl(15, b') Z (x)', 0, 0, 0); print('ready', flush=True); input()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as odd:
        assert odd.stdout is not None
        assert odd.stdout.readline() == b"ready\n"
        who = process.identity(odd.pid)
        assert who is not None
        assert who.start >= process.own().start
        odd.kill()


def test_environment_and_command_line(child: subprocess.Popen[bytes]) -> None:
    """How a restarted brain finds its hosts again; what is gone has neither."""
    eventually(lambda: process.command_line(child.pid)[1:] == ["-c", "input()"])
    assert process.environ(child.pid)["MARK"] == "x=y"
    assert child.pid in process.pids()
    child.kill()
    child.wait()
    assert process.environ(child.pid) == {}
    assert process.command_line(child.pid) == []


def test_no_identity_for_what_can_be_no_pid() -> None:
    """Numbers from files."""
    for pid in (0, -1, 1 << 31, 10**12):
        assert process.identity(pid) is None
    assert process.valid_pid(os.getpid()) is None
    assert process.valid_pid(os.getppid()) == os.getppid()
