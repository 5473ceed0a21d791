"""Who is who among processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from coleo.model.arm import ProcessId
from coleo.terminal import processes
from tests.waiting import eventually


def test_identity() -> None:
    """Pid, start time and boot; nobody has it after the end, not even a zombie."""
    one = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert one.stdin is not None
    who = processes.identity(one.pid)
    assert who is not None and processes.same(who)
    assert who == processes.identity(one.pid) and who.boot == processes.boot_id() != ""
    one.stdin.close()
    eventually(lambda: not processes.same(who), what="a zombie is nobody")
    one.wait()
    assert processes.identity(one.pid) is None and processes.look(one.pid) is None
    assert processes.signal_process(who, signal.SIGKILL) is False


def test_a_name_may_hold_anything() -> None:
    """Brackets and blanks in a program's name shift no field."""
    code = "import ctypes; ctypes.CDLL(None).prctl(15, b') R 1 (x'); input('ready')"
    one = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert one.stdout is not None and one.stdout.read(5) == b"ready"
        seen = processes.look(one.pid)
        assert seen is not None and seen.parent == os.getpid() and seen.group == os.getpgid(0)
    finally:
        one.communicate(b"\n")


def test_descent() -> None:
    """Everything below a process, at any depth, and nothing beside it."""
    tree = [(1, 0), (10, 1), (11, 10), (12, 11), (20, 1), (13, 10)]
    rows = [processes.Process(pid, parent, pid, pid, 5, "S") for pid, parent in tree]
    assert {process.pid for process in processes.descendants(10, rows)} == {11, 12, 13}
    assert processes.descendants(99, rows) == []


def test_a_signal_reaches_who_was_meant() -> None:
    """Alive, identical: sent."""
    one = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    who = processes.identity(one.pid)
    assert who is not None and processes.signal_process(who, signal.SIGTERM)
    assert one.wait() == -signal.SIGTERM


def test_not_to_oneself() -> None:
    """Nor to pids that are none."""
    me = processes.identity(os.getpid())
    assert me is not None and not processes.signal_process(me, signal.SIGTERM)
    assert not processes.signal_process(ProcessId(True, 1, ""), signal.SIGTERM)
