"""Nothing that anybody writes into the inbox is lost or doubled: people, editors, kills and full disks, interleaved.

Each drop is a line with words of its own. Whatever happens, at any time, its bytes stand in the inbox or in the
archive; and when all has come to rest, it is one task of the plan, once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coleo.files import inbox, inboxarchive, inplace, markdown
from coleo.files.inbox import Note
from coleo.files.markdown import parse
from tests.files.people import Clocked
from tests.files.project import lay

CALLS = ("open", "write", "pwrite", "fsync", "fdatasync", "ftruncate", "rename", "link", "unlink")


class Machine:
    """A project whose inbox is written to by people and taken by coleo, which can be stopped at every system call."""

    def __init__(self, folder: str) -> None:
        self.project = Clocked(lay(Path(folder)))
        self.project.save("# P\n\n- [ ] always here\n", ago_s=60)
        self.project.save("", "inbox.md", ago_s=60)
        self.project.read()
        self.inbox = Path(self.project.layout.inbox)
        self.buffer = b""
        self.drops: list[str] = []
        self.noted = Path(folder, "notes")
        self.noted.touch()

    def new(self) -> bytes:
        """A line with words that nobody wrote before."""
        self.drops.append(f"drop{len(self.drops)} word{len(self.drops)}")
        return f"- [ ] {self.drops[-1]}\n".encode()

    def append(self) -> None:
        """``echo ... >> inbox.md``; not while coleo has the file, as the kernel would hold it."""
        with contextlib.suppress(BlockingIOError):
            descriptor = os.open(self.inbox, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK)
            os.write(descriptor, self.new())
            os.close(descriptor)
            self.project.touch("inbox.md")

    def load(self) -> None:
        """Somebody opens the inbox in an editor."""
        self.buffer = self.inbox.read_bytes()

    def save(self, *, by_rename: bool = False) -> None:
        """The editor adds a line to what it loaded and saves; what came since is overwritten, as editors do.

        The people of these tests look before they save: an editor warns that the file has changed on disk.
        """
        if not self.inbox.read_bytes().startswith(self.buffer) and self.inbox.read_bytes():
            self.load()
        text = max(self.inbox.read_bytes(), self.buffer, key=len) + self.new()
        if by_rename:
            other = self.inbox.with_name(".inbox.md.new")
            other.write_bytes(text)
            os.rename(other, self.inbox)
        else:
            self.inbox.write_bytes(text)
        self.buffer = text
        self.project.touch("inbox.md")

    @property
    def notes(self) -> list[str]:
        """The notes that were written, also by processes that were killed."""
        return self.noted.read_text().splitlines()

    def note(self, note: Note) -> None:
        """Stands for the write into a task's file."""
        with self.noted.open("a") as file:
            file.write(note.text.split("\n")[0] + "\n")

    def sync(self) -> None:
        """As the brain does it: read the plan, then take the inbox."""
        self.project.read()
        assert self.project.tasks
        inbox.sync(self.project.layout, self.project.tasks, self.project.now, write_note=self.note, deadline_s=0.05)

    def killed_sync(self, number: int, *, after: bool = False) -> None:
        """A sync in a process of its own that ends at the `number`-th system call; a new process goes on."""
        pid = os.fork()
        if not pid:
            try:
                with at_call(number, kill, after=after):
                    self.sync()
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        self.restart()

    def restart(self) -> None:
        """A new process: what was only in memory is gone."""
        inbox._uncleared.clear()
        inbox._first_seen.clear()
        markdown._parsers.clear()
        inplace.recover(self.project.layout.journal)

    def check(self) -> None:
        """Every drop is in the inbox or in the archive, as it was written."""
        held = self.inbox.read_bytes() if self.inbox.exists() else b""
        held += b"".join(Path(path).read_bytes() for path in inboxarchive.files(self.project.layout))
        assert [drop for drop in self.drops if f"- [ ] {drop}\n".encode() not in held] == []

    def rest(self) -> None:
        """Time passes, nobody writes: the inbox is empty, and every drop is one task."""
        self.restart()
        for _round in range(8):
            self.project.now += 15
            self.sync()
        assert self.inbox.read_bytes() == b""
        self.check()
        titles = [line.title for line in parse(Path(self.project.layout.plan).read_bytes())[0]]
        assert sorted(titles) == sorted(["always here", *self.drops])
        archived = [record for path in inboxarchive.files(self.project.layout) for record in inboxarchive.records(path)]
        assert all(record.done for record in archived[-1:])


@contextlib.contextmanager
def at_call(number: int, act: Callable[[], None], *, after: bool = False) -> Iterator[list[str]]:
    """Do something at the `number`-th system call of the block, before or after it. Yields the names of the calls."""
    made: list[str] = []

    def wrap(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            made.append(name)
            due = len(made) == number
            if due and not after:
                act()
            result = real(*args, **kwargs)
            if due and after:
                act()
            return result

        return call

    with contextlib.ExitStack() as stack:
        for name in CALLS:
            stack.enter_context(mock.patch.object(os, name, wrap(name)))
        yield made


def kill() -> None:
    """The process ends: no clean-up of any kind runs."""
    os._exit(9)


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def count_calls() -> int:
    """How many system calls one sync of a fresh inbox makes."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        machine.append()
        machine.project.now += 5
        with at_call(0, kill) as made:
            machine.sync()
        return len(made)


CALLS_OF_A_SYNC = count_calls()


@pytest.mark.parametrize("number", range(1, CALLS_OF_A_SYNC + 1))
def test_killed_at_each_call(tmp_path: Path, number: int) -> None:
    """Then another drop, a new process, and all is well: no drop is lost, none is a task twice."""
    machine = Machine(str(tmp_path))
    machine.append()
    machine.project.now += 5
    machine.killed_sync(number)
    machine.check()
    machine.append()
    machine.check()
    machine.rest()


@pytest.mark.parametrize("number", range(1, CALLS_OF_A_SYNC + 1))
def test_killed_at_each_call_and_nothing_dropped_since(tmp_path: Path, number: int) -> None:
    """The same without another drop: then not even a note tells of it."""
    machine = Machine(str(tmp_path))
    machine.append()
    machine.project.now += 5
    machine.killed_sync(number)
    machine.rest()
    assert machine.notes == []


@pytest.mark.parametrize("number", range(1, CALLS_OF_A_SYNC + 1))
def test_disk_full_at_each_call(tmp_path: Path, number: int) -> None:
    """The error is raised or survived; the same process tries again later, and all is well."""
    machine = Machine(str(tmp_path))
    machine.append()
    machine.project.now += 5
    with at_call(number, full), contextlib.suppress(OSError, inplace.Changed):
        machine.sync()
    machine.check()
    machine.append()
    machine.rest()


@pytest.mark.parametrize("number", range(1, CALLS_OF_A_SYNC + 1))
def test_written_to_at_each_call(tmp_path: Path, number: int) -> None:
    """Somebody appends while the sync is between two of its calls: the line stays, or is taken the next time."""
    machine = Machine(str(tmp_path))
    machine.append()
    machine.project.now += 5
    with at_call(number, machine.append):
        machine.sync()
    machine.check()
    machine.rest()
    assert machine.notes == []


@pytest.mark.parametrize("number", range(1, CALLS_OF_A_SYNC + 1))
def test_killed_twice(tmp_path: Path, number: int) -> None:
    """The new process is killed as well, at each of its calls."""
    machine = Machine(str(tmp_path))
    machine.append()
    machine.project.now += 5
    machine.killed_sync(CALLS_OF_A_SYNC // 2)
    machine.killed_sync(number)
    machine.check()
    machine.rest()
    assert machine.notes == []


def test_without_run_a_batch_on_its_way_is_known_by_the_archive(tmp_path: Path) -> None:
    """Killed between plan and clear, and run/ deleted besides: no task stands twice, no record either."""
    machine = Machine(str(tmp_path))
    machine.append()
    machine.project.now += 5
    with mock.patch.object(inplace, "clear", side_effect=inplace.Busy("held")):
        machine.sync()
    machine.restart()
    state = Path(machine.project.layout.cache, inbox.NAME)
    state.unlink()
    machine.project.settle()
    machine.rest()
    (archive,) = inboxarchive.files(machine.project.layout)
    assert len(inboxarchive.records(archive)) == 1


act = st.one_of(
    st.sampled_from(["append", "load", "save", "rename", "sync", "wait", "restart"]),
    st.tuples(st.sampled_from(["kill", "full", "append"]), st.integers(1, 60), st.booleans()),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(act, max_size=14))
def test_whatever_happens_no_byte_is_lost(acts: list[Any]) -> None:
    """Appends, editors that save over the file or rename over it, syncs, waits, kills and full disks, in any order."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder)
        for step in acts:
            match step:
                case "append":
                    machine.append()
                case "load":
                    machine.load()
                case "save":
                    machine.save()
                case "rename":
                    machine.save(by_rename=True)
                case "sync":
                    with contextlib.suppress(inplace.Changed, inplace.Busy):
                        machine.sync()
                case "wait":
                    machine.project.now += 3
                case "restart":
                    machine.restart()
                case ("kill", number, after):
                    machine.project.now += 3
                    machine.killed_sync(number, after=after)
                case (what, number, after):
                    machine.project.now += 3
                    how = {"full": full, "append": machine.append}[what]
                    # A call that failed has done nothing: an error after it would leak what it opened.
                    with (
                        at_call(number, how, after=after and what != "full"),
                        contextlib.suppress(OSError, inplace.Changed, inplace.Busy),
                    ):
                        machine.sync()
            machine.check()
        machine.rest()
