"""People's files are changed in place: exactly the bytes that were meant, or nothing (DESIGN.md section 4)."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coleo.files import atomic, inplace, journal, lease
from tests.waiting import eventually

LINUX = sys.platform == "linux"
needs_leases = pytest.mark.skipif(not LINUX, reason="kernel leases are Linux's")

OLD = b"# Plan\n- [ ] one\n- [ ] two\n"

#: Name: (change, result). Each gets the file's path and the journal's.
CHANGES: dict[str, tuple[Callable[[str, str], None], bytes]] = {
    "set_byte": (lambda path, _journal: inplace.set_byte(path, OLD, 10, ord("x")), OLD[:10] + b"x" + OLD[11:]),
    "append": (lambda path, journal: inplace.append(path, OLD, b"- [ ] three\n", journal), OLD + b"- [ ] three\n"),
    "clear": (lambda path, _journal: inplace.clear(path, OLD), b""),
    "grow": (lambda path, journal: inplace.replace(path, OLD, OLD[:9] + b"much longer" + OLD[9:], journal),
             OLD[:9] + b"much longer" + OLD[9:]),
    "shrink": (lambda path, journal: inplace.replace(path, OLD, b"# Short\n", journal), b"# Short\n"),
}  # fmt: skip


@pytest.fixture
def plan(tmp_path: Path) -> str:
    """A plan that a person may read and others too."""
    path = tmp_path / "plan.md"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return str(path)


@pytest.fixture
def journal_dir(tmp_path: Path) -> str:
    """Not made yet."""
    return str(tmp_path / "run" / "journal")


def entries(journal_dir: str) -> list[str]:
    return os.listdir(journal_dir) if os.path.isdir(journal_dir) else []


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_exactly_what_was_meant(plan: str, journal_dir: str, name: str) -> None:
    """Same inode, same mode, no temp file, nothing left in the journal."""
    before = os.stat(plan)
    change, result = CHANGES[name]
    change(plan, journal_dir)
    after = os.stat(plan)
    assert Path(plan).read_bytes() == result
    assert (after.st_ino, after.st_mode, after.st_uid) == (before.st_ino, before.st_mode, before.st_uid)
    assert {entry for entry in os.listdir(os.path.dirname(plan)) if entry != "run"} == {"plan.md"}
    assert entries(journal_dir) == []


@pytest.mark.parametrize("name", CHANGES)
def test_a_symlink_stays_one(tmp_path: Path, plan: str, journal_dir: str, name: str) -> None:
    """People keep their plan elsewhere and link to it."""
    link = tmp_path / "link.md"
    link.symlink_to("plan.md")
    CHANGES[name][0](str(link), journal_dir)
    assert link.is_symlink()
    assert Path(plan).read_bytes() == CHANGES[name][1]


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("other", [OLD + b"more\n", OLD[:-1], OLD.replace(b"two", b"TWO"), b""])
def test_a_file_that_is_not_what_was_read_is_left_alone(plan: str, journal_dir: str, name: str, other: bytes) -> None:
    """A person's save that came in between wins."""
    Path(plan).write_bytes(other)
    with pytest.raises(inplace.Changed):
        CHANGES[name][0](plan, journal_dir)
    assert Path(plan).read_bytes() == other
    assert entries(journal_dir) == []


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_is_gone_is_not_made(plan: str, journal_dir: str, name: str) -> None:
    """Nor its folder."""
    os.unlink(plan)
    with pytest.raises(FileNotFoundError):
        CHANGES[name][0](plan, journal_dir)
    assert not os.path.exists(plan)


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_only_regular_files_are_changed(tmp_path: Path, kind: str) -> None:
    """A pipe must not stop the loop."""
    path = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(OSError, match=r"regular|directory"):
        inplace.set_byte(str(path), OLD, 10, ord("x"))


def test_nothing_is_written_when_it_is_so_already(plan: str, journal_dir: str) -> None:
    """An own write wakes the watcher, which must not lead to the next write (case c05)."""
    os.chmod(plan, 0o400)
    before = os.stat(plan)
    inplace.set_byte(plan, OLD, 10, OLD[10])
    inplace.replace(plan, OLD, OLD, journal_dir)
    inplace.append(plan, OLD, b"", journal_dir)
    inplace.clear(plan, b"")
    assert os.stat(plan).st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("offset", [-1, len(OLD), 10**9])
def test_a_byte_outside_of_the_file_is_a_mistake(plan: str, offset: int) -> None:
    """It would make the file longer, or change its end."""
    with pytest.raises(ValueError, match="no byte"):
        inplace.set_byte(plan, OLD, offset, 0)


# Others who have the file open.


@needs_leases
@pytest.mark.parametrize("name", CHANGES)
def test_while_somebody_writes_the_file_is_busy(plan: str, journal_dir: str, name: str) -> None:
    """A held-open writer may write at any moment; when it is gone the change goes through."""
    with open(plan, "ab"), pytest.raises(inplace.Busy):
        CHANGES[name][0](plan, journal_dir)
    assert Path(plan).read_bytes() == OLD
    assert entries(journal_dir) == []
    CHANGES[name][0](plan, journal_dir)
    assert Path(plan).read_bytes() == CHANGES[name][1]


@pytest.mark.parametrize("name", CHANGES)
def test_readers_do_not_stand_in_the_way(plan: str, journal_dir: str, name: str) -> None:
    """`tail -f plan.md` in the next window."""
    with open(plan, "rb"):
        CHANGES[name][0](plan, journal_dir)
    assert Path(plan).read_bytes() == CHANGES[name][1]


@needs_leases
def test_who_opens_the_file_meanwhile_waits_and_is_served(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel holds an editor back for the microseconds of the change; its truncation comes after it."""
    order: list[str] = []
    opened = threading.Event()

    def editor() -> None:
        with open(plan, "wb") as file:
            order.append("editor")
            file.write(b"a person's words\n")
        opened.set()

    thread = threading.Thread(target=editor)
    read = lease.Opened.read

    def read_slowly(self: lease.Opened) -> bytes:
        thread.start()
        assert eventually(lambda: fcntl.fcntl(self._fd, fcntl.F_GETLEASE) != fcntl.F_WRLCK), "the editor has asked"
        order.append("coleo")
        return read(self)

    monkeypatch.setattr(lease.Opened, "read", read_slowly)
    inplace.set_byte(plan, OLD, 10, ord("x"))
    thread.join(10)
    assert opened.is_set()
    assert order == ["coleo", "editor"]
    assert Path(plan).read_bytes() == b"a person's words\n"


@needs_leases
def test_the_kernels_signal_ends_nobody(tmp_path: Path, plan: str) -> None:
    """SIGIO's default would; it must not matter what a program does about SIGIO, and in which thread."""
    code = """
import os, sys, threading, fcntl, signal
from coleo.files import inplace, lease
assert signal.getsignal(signal.SIGIO) is signal.SIG_DFL
read = lease.Opened.read
def slowly(self):
    child = os.fork()
    if child == 0:
        os.execvp("sh", ["sh", "-c", "echo more >> " + sys.argv[1]])
    while fcntl.fcntl(self._fd, fcntl.F_GETLEASE) == fcntl.F_WRLCK:
        pass
    return read(self)
lease.Opened.read = slowly
old = open(sys.argv[1], "rb").read()
thread = threading.Thread(target=inplace.set_byte, args=(sys.argv[1], old, 10, ord("x")))
thread.start()
thread.join()
os.wait()
"""
    done = subprocess.run([sys.executable, "-c", code, plan], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(plan).read_bytes() == OLD[:10] + b"x" + OLD[11:] + b"more\n"


def test_a_rename_over_the_file_is_seen_after_the_write(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """vim and git put another file in its place, which no lease prevents: what was written went nowhere."""
    write = lease.Opened.write

    def write_late(self: lease.Opened, data: bytes, offset: int) -> None:
        Path(plan + ".new").write_bytes(OLD + b"a person's\n")
        os.rename(plan + ".new", plan)
        write(self, data, offset)

    monkeypatch.setattr(lease.Opened, "write", write_late)
    with pytest.raises(inplace.Changed):
        inplace.set_byte(plan, OLD, 10, ord("x"))
    assert Path(plan).read_bytes() == OLD + b"a person's\n"


def test_a_holder_that_was_stopped_for_long_does_not_write(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel ends a lease after 45 s; whoever sleeps in the middle must look again."""
    at = iter([0.0, 0.0, 60.0])
    monkeypatch.setattr(lease, "monotonic", lambda: next(at))
    with pytest.raises(inplace.Busy):
        inplace.set_byte(plan, OLD, 10, ord("x"))
    assert Path(plan).read_bytes() == OLD


# Without leases.


@pytest.fixture
def no_leases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A file system, or a system, that has none."""
    real = fcntl.fcntl

    def refuse(fd: int, command: int, *rest: int) -> int:
        if command == lease._SET_LEASE:
            raise OSError(errno.EINVAL, "no leases")
        return real(fd, command, *rest)

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    monkeypatch.setattr(lease, "_without", set())
    yield


@pytest.mark.parametrize("name", CHANGES)
def test_the_same_without_leases(plan: str, journal_dir: str, no_leases: None, name: str) -> None:
    """macOS, network file systems: said once in the log, by whoever asks `used_fallback`."""
    assert not inplace.used_fallback()
    CHANGES[name][0](plan, journal_dir)
    assert Path(plan).read_bytes() == CHANGES[name][1]
    assert inplace.used_fallback()
    assert not inplace.lease_available(os.path.dirname(plan))


@needs_leases
def test_a_file_system_that_refuses_every_lease_as_if_it_were_open(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS says EAGAIN whoever asks: a file of our own tells the difference, or the plan would be busy for ever."""
    real = fcntl.fcntl

    def refuse(fd: int, command: int, *rest: int) -> int:
        if command == lease._SET_LEASE:
            raise BlockingIOError(errno.EAGAIN, "no")
        return real(fd, command, *rest)

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    monkeypatch.setattr(lease, "_without", set())
    monkeypatch.setattr(lease, "_has_leases", {})
    inplace.set_byte(plan, OLD, 10, ord("x"))
    assert Path(plan).read_bytes() == OLD[:10] + b"x" + OLD[11:]
    assert inplace.used_fallback()
    assert os.listdir(os.path.dirname(plan)) == ["plan.md"]


def test_processes_of_coleo_exclude_each_other_without_leases(plan: str, no_leases: None) -> None:
    """By flock, which editors neither take nor mind."""
    with lease.Opened(plan), pytest.raises(inplace.Busy):
        inplace.set_byte(plan, OLD, 10, ord("x"))


@needs_leases
def test_leases_are_available_here(tmp_path: Path) -> None:
    """Or the tests above would all have tested the fall-back."""
    assert inplace.lease_available(str(tmp_path))
    assert os.listdir(tmp_path) == []


# Errors and kills.


@pytest.mark.parametrize("name", ["append", "grow", "shrink"])
@pytest.mark.parametrize("written", [0, 1, 5])
def test_an_error_half_way_is_undone(
    plan: str, journal_dir: str, monkeypatch: pytest.MonkeyPatch, name: str, written: int
) -> None:
    """A full disk takes what fits and then fails."""
    left = [written]

    def limited(real: Callable[..., int]) -> Callable[..., int]:
        def write(fd: int, data: bytes, *offset: int) -> int:
            if fd != file_fd[0] or left[0] < 0:
                return real(fd, data, *offset)
            if left[0] == 0:
                left[0] = -1
                raise OSError(errno.ENOSPC, "full")
            took = real(fd, bytes(data)[: left[0]], *offset)
            left[0] -= took
            return took

        return write

    file_fd = [-1]
    verify = lease.Opened.verify

    def remember(self: lease.Opened, expected: bytes) -> None:
        file_fd[0] = self._fd
        verify(self, expected)

    monkeypatch.setattr(lease.Opened, "verify", remember)
    monkeypatch.setattr(os, "write", limited(os.write))
    monkeypatch.setattr(os, "pwrite", limited(os.pwrite))
    with pytest.raises(OSError, match="full"):
        CHANGES[name][0](plan, journal_dir)
    assert Path(plan).read_bytes() == OLD
    assert entries(journal_dir) == []


def test_an_edit_that_cannot_be_undone_stays_in_the_journal(
    plan: str, journal_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the next one who takes the project completes it."""
    write, calls = lease.Opened.write, []

    def broken(self: lease.Opened, data: bytes, offset: int) -> None:
        calls.append(data)
        if len(calls) == 1:
            write(self, data[:3], offset)
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(lease.Opened, "write", broken)
    with pytest.raises(OSError, match="broken"):
        CHANGES["grow"][0](plan, journal_dir)
    assert len(entries(journal_dir)) == 1
    monkeypatch.undo()
    assert inplace.recover(journal_dir) == [f"an interrupted change of {os.path.realpath(plan)} is complete now"]
    assert Path(plan).read_bytes() == CHANGES["grow"][1]
    assert entries(journal_dir) == []


@settings(deadline=None)
@given(old=st.binary(max_size=40), new=st.binary(max_size=40), data=st.data())
def test_every_torn_state_is_completed(
    tmp_path_factory: pytest.TempPathFactory, old: bytes, new: bytes, data: st.DataObject
) -> None:
    """A kill after any number of bytes, before or after the truncation: the old content or the new one."""
    folder = tmp_path_factory.mktemp("torn")
    path, journal_dir = folder / "file.md", str(folder / "journal")
    what = journal.change(str(path), old, new)
    written = data.draw(st.integers(0, len(what.new)))
    torn = old[: what.same] + what.new[:written] + what.old[written:]
    path.write_bytes(torn)
    journal.begin(journal_dir, what).close(done=False)
    notes = inplace.recover(journal_dir)
    assert path.read_bytes() in (old, new)
    assert len(notes) <= 1
    assert torn in (old, new) or path.read_bytes() == new
    assert entries(journal_dir) == []


@settings(deadline=None)
@given(old=st.binary(max_size=30), new=st.binary(max_size=30), now=st.binary(max_size=40))
def test_what_somebody_wrote_since_is_never_touched(
    tmp_path_factory: pytest.TempPathFactory, old: bytes, new: bytes, now: bytes
) -> None:
    """Only a file that shows the middle of the change is changed; the rest is put aside, with the words."""
    folder = tmp_path_factory.mktemp("since")
    path, journal_dir = folder / "file.md", str(folder / "journal")
    path.write_bytes(now)
    what = journal.change(str(path), old, new)
    journal.begin(journal_dir, what).close(done=False)
    notes = inplace.recover(journal_dir)
    if what.is_at(now) == "other":
        assert path.read_bytes() == now
        assert "somebody has changed it since" in notes[0]
        kept = [name for name in os.listdir(journal_dir) if name.endswith(".kept")]
        assert (Path(journal_dir) / kept[0]).read_bytes().endswith(what.new)
    assert inplace.recover(journal_dir) == []


def test_a_change_in_a_living_process_is_left_alone(plan: str, journal_dir: str) -> None:
    """A start of the brain must not complete what an agent's verb is in the middle of."""
    held = journal.begin(journal_dir, journal.change(plan, OLD, OLD + b"more\n"))
    Path(plan).write_bytes(OLD + b"mo")
    assert inplace.recover(journal_dir) == []
    assert Path(plan).read_bytes() == OLD + b"mo"
    held.close(done=False)
    assert len(inplace.recover(journal_dir)) == 1
    assert Path(plan).read_bytes() == OLD + b"more\n"


@needs_leases
def test_a_busy_file_is_recovered_the_next_time(plan: str, journal_dir: str) -> None:
    """Nobody writes into a file that an editor has open."""
    journal.begin(journal_dir, journal.change(plan, OLD, OLD + b"more\n")).close(done=False)
    with open(plan, "wb") as file:
        file.write(OLD + b"mo")
        file.flush()
        assert inplace.recover(journal_dir) == []
    assert len(inplace.recover(journal_dir)) == 1
    assert Path(plan).read_bytes() == OLD + b"more\n"


def test_recovering_a_file_that_is_gone_keeps_the_words(plan: str, journal_dir: str) -> None:
    """A branch switch may have taken the file away."""
    journal.begin(journal_dir, journal.change(plan, OLD, OLD + b"more\n")).close(done=False)
    os.unlink(plan)
    (note,) = inplace.recover(journal_dir)
    assert "is gone" in note
    kept = Path(note.rpartition(" ")[2])
    assert kept.read_bytes().endswith(b"more\n")


@pytest.mark.parametrize("rubbish", [b"", b"{", b'{"path": "/x"}\n', b"[]\n", b'{"path": 1, "same": 2}\nxx', b"\xff\n"])
def test_an_entry_that_was_never_written_whole_is_dropped(plan: str, journal_dir: str, rubbish: bytes) -> None:
    """The change had not begun: entries are synced before the file is touched."""
    os.makedirs(journal_dir)
    Path(journal_dir, "0011.change").write_bytes(rubbish)
    Path(journal_dir, "notes.txt").write_bytes(b"somebody else's")
    assert inplace.recover(journal_dir) == []
    assert entries(journal_dir) == ["notes.txt"]


def test_recovery_of_nothing() -> None:
    """A project that was never changed has no journal."""
    assert inplace.recover("/nonexistent/journal") == []


# Trying again.


def test_retrying_reads_again_until_it_goes_through(plan: str) -> None:
    """Changed and Busy are the usual case while a person works; the caller sees fresh bytes each time."""
    seen: list[bytes] = []

    def change(data: bytes) -> str:
        seen.append(data)
        if len(seen) == 1:
            Path(plan).write_bytes(data + b"more\n")
            raise inplace.Changed(plan)
        if len(seen) == 2:
            raise inplace.Busy(plan)
        return "done"

    pauses: list[float] = []
    assert inplace.retrying(change, plan, pause=pauses.append) == "done"
    assert seen == [OLD, OLD + b"more\n", OLD + b"more\n"]
    assert len(pauses) == 2
    assert pauses[0] < pauses[1]


def test_retrying_ends_at_the_deadline_with_the_reason(plan: str) -> None:
    """Waits get longer, up to a limit, and the last error says what stood in the way."""
    now = [0.0]

    def pause(wait_s: float) -> None:
        now[0] += wait_s

    def change(_data: bytes) -> None:
        raise inplace.Busy(plan)

    with pytest.raises(inplace.Busy, match="has the file open"):
        inplace.retrying(change, plan, 5.0, monotonic=lambda: now[0], pause=pause)
    assert 4.8 < now[0] <= 5.0


def test_retrying_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Is no reason to wait."""
    with pytest.raises(FileNotFoundError):
        inplace.retrying(lambda data: data, str(tmp_path / "none.md"))


def test_signals_during_a_change_do_not_break_it(plan: str, journal_dir: str) -> None:
    """A handler that runs in the middle of a system call makes Python try it again, not fail."""
    before = signal.signal(signal.SIGUSR2, lambda *_args: None)
    end = threading.Event()
    main = threading.main_thread().ident
    assert main is not None

    def fire() -> None:
        while not end.wait(0.0002):
            signal.pthread_kill(main, signal.SIGUSR2)

    thread = threading.Thread(target=fire)
    thread.start()
    try:
        data = OLD
        for number in range(50):
            line = b"- [ ] %d\n" % number
            inplace.append(plan, data, line, journal_dir)
            data += line
    finally:
        end.set()
        thread.join()
        signal.signal(signal.SIGUSR2, before)
    assert atomic.read(plan) == data
