"""Kernel locks: one holder, whatever happens to it or to the lock file."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from coleo.files import locks
from coleo.model.errors import Taken
from tests.waiting import eventually

HOLDER = """
import sys
from coleo.files import locks
with locks.hold(sys.argv[1], note="the other"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def other_process(path: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until its input ends."""
    command = [sys.executable, "-c", HOLDER, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_the_second_is_told_who_holds_it(tmp_path: Path) -> None:
    """The words that `coleo up` shows."""
    path = str(tmp_path / "locks" / "brain.lock")
    with other_process(path) as process:
        with pytest.raises(Taken) as told, locks.hold(path, wait_s=0):
            pass
        assert told.value.exit_code == 3
        assert f"pid {process.pid} (the other)" in str(told.value)
        assert locks.is_held(path)
        holder = locks.holder(path)
        assert holder is not None
        assert (holder["pid"], holder["note"]) == (process.pid, "the other")
    assert not locks.is_held(path)
    assert locks.holder(path) is None


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    """The kernel lets go; nobody has to clean up, and a stale label decides nothing."""
    path = str(tmp_path / "a.lock")
    with other_process(path) as process:
        process.kill()
        process.wait()
        with locks.hold(path, wait_s=5):
            assert locks.is_held(path)


def test_waiting_ends_when_the_holder_does(tmp_path: Path) -> None:
    """With a limit and without."""
    path = str(tmp_path / "a.lock")
    for wait_s in (30.0, None):
        with other_process(path) as process:
            got: list[bool] = []

            def take(wait_s: float | None = wait_s, got: list[bool] = got) -> None:
                with locks.hold(path, wait_s=wait_s):
                    got.append(True)

            thread = threading.Thread(target=take)
            thread.start()
            process.kill()
            thread.join(30)
            assert got == [True]


def test_both_exclude_filelock_on_the_same_file(tmp_path: Path) -> None:
    """Rooms that may import filelock and rooms that may not must see each other's locks (DESIGN.md section 8)."""
    path = str(tmp_path / "a.lock")
    with locks.hold(path), pytest.raises(Timeout):
        FileLock(path, timeout=0).acquire()
    lock = FileLock(path, timeout=0)
    with lock, pytest.raises(Taken), locks.hold(path, wait_s=0):
        pass
    with locks.hold(path, wait_s=0):
        pass


def test_a_lock_file_that_is_swept_away_lets_nobody_believe_that_it_is_alone(tmp_path: Path) -> None:
    """`git clean` takes run/ away: who waited for the old file takes the new one, and the old holder can see it."""
    path = tmp_path / "a.lock"
    first = locks.hold(str(path))
    first.acquire()
    try:
        assert first.still_there()
        path.unlink()
        assert not first.still_there()
        with locks.hold(str(path), wait_s=0) as second:
            assert second.still_there()
            with pytest.raises(Taken), locks.hold(str(path), wait_s=0):
                pass
    finally:
        first.release()
    first.release()


def test_a_waiter_of_a_file_that_was_replaced_does_not_take_the_orphan(tmp_path: Path) -> None:
    """The inode is compared after the wait."""
    path = tmp_path / "a.lock"
    first = locks.hold(str(path))
    first.acquire()
    inodes: list[int] = []

    def take() -> None:
        with locks.hold(str(path)):
            inodes.append(path.stat().st_ino)

    thread = threading.Thread(target=take)
    thread.start()
    eventually(lambda: _waits_for(path), what="the thread waits for the lock")
    path.rename(tmp_path / "swept")
    first.release()
    thread.join(10)
    assert inodes == [path.stat().st_ino]


def _waits_for(path: Path) -> bool:
    """Whether a second descriptor of this process is at the file."""
    links = Path("/proc/self/fd")
    if not links.is_dir():
        return True
    count = 0
    for link in links.iterdir():
        try:
            count += os.path.samestat(link.stat(), path.stat())
        except OSError:
            continue
    return count == 2


def test_waiting_for_oneself_for_ever_is_an_error(tmp_path: Path) -> None:
    """A bug that would hang is one that says so."""
    path = str(tmp_path / "a.lock")
    with locks.hold(path):
        with pytest.raises(RuntimeError, match="wait for itself"), locks.hold(path):
            pass
        with pytest.raises(Taken), locks.hold(path, wait_s=0):
            pass
    with locks.hold(path):
        pass


def test_a_look_turns_nobody_away(tmp_path: Path) -> None:
    """`is_held` takes a shared lock for a moment: a start at that moment must still succeed."""
    path = str(tmp_path / "a.lock")
    with locks.hold(path):
        pass
    end = threading.Event()

    def look() -> None:
        while not end.is_set():
            locks.is_held(path)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(200):
            with locks.hold(path, wait_s=0):
                pass
    finally:
        end.set()
        thread.join()


def test_a_full_disk_takes_no_lock_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the label is missing then."""

    def full(*_args: object) -> int:
        raise OSError(28, "full")

    monkeypatch.setattr(os, "pwrite", full)
    path = str(tmp_path / "a.lock")
    with locks.hold(path):
        assert locks.is_held(path)
        assert locks.holder(path) == {}


def test_an_unreadable_label_is_no_holder_that_can_be_named(tmp_path: Path) -> None:
    """State files are read with suspicion."""
    path = tmp_path / "a.lock"
    for label in (b"", b"[1]", b"\xff", b"nonsense"):
        with locks.hold(str(path)):
            path.write_bytes(label)
            assert locks.holder(str(path)) == {}
