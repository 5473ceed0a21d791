"""What holds for every test: it starts in a clean environment and leaves nothing behind.

Nothing means: no child process, no process that lives in the test's temporary folder (hosts and agents leave
their parent on purpose), no thread, the same HOME, the same current folder, no COLEO_* variable. A leftover
fails the test that made it, and is ended so that the next test is not blamed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.waiting import eventually

#: Variables that would let the developer's own coleo, git or editor take part in a test.
FOREIGN = ("COLEO_", "OCTOPAI_", "GIT_", "XDG_")


def pytest_configure(config: pytest.Config) -> None:
    """A test run inside an arm, or inside a git hook, must not see the outer project."""
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        del os.environ[name]


@pytest.fixture(scope="session", autouse=True)
def home_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A HOME without settings: neither ~/.coleo nor a git, vim or emacs configuration changes a result."""
    home = tmp_path_factory.mktemp("home")
    before = os.environ.get("HOME")
    os.environ["HOME"] = str(home)
    yield home
    if before is None:
        del os.environ["HOME"]
    else:
        os.environ["HOME"] = before


@pytest.fixture(autouse=True)
def leaves_nothing(home_of_nobody: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fails the test that leaves a process, a thread, another HOME or folder, or a COLEO_* variable."""
    base = os.path.realpath(tmp_path_factory.getbasetemp())
    children = {process.pid for process in psutil.Process().children(recursive=True)}
    threads = set(threading.enumerate())
    folder, foreign = os.getcwd(), _foreign()
    before = _living_in(base)
    yield
    left: list[str] = []
    if os.environ.get("HOME") != str(home_of_nobody):
        left.append(f"HOME is {os.environ.get('HOME')!r} now")
        os.environ["HOME"] = str(home_of_nobody)
    if _cwd() != folder:
        left.append(f"the current folder is {_cwd()!r} now")
        os.chdir(folder)
    for name in _foreign() - foreign:
        left.append(f"the variable {name} is set")
        del os.environ[name]
    left += _processes_left(base, children, before)
    left += [f"the thread {thread.name}" for thread in _threads_left(threads)]
    assert not left, "the test left behind: " + "; ".join(left)


def _foreign() -> set[str]:
    return {name for name in os.environ if name.startswith(("COLEO_", "OCTOPAI_"))}


def _cwd() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "(deleted)"


def _threads_left(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads that are still there after a moment to end; those of pytest-timeout and of execnet are not the test's."""

    def new() -> list[threading.Thread]:
        return [t for t in threading.enumerate() if t not in before and t.is_alive() and "pytest_timeout" not in t.name]

    try:
        eventually(lambda: not new(), 3)
    except AssertionError:
        return new()
    return []


def _processes_left(base: str, children: set[int], before: dict[int, str]) -> list[str]:
    """Ends and names the processes that outlive the test: its descendants, and whoever lives in its folder."""

    def new() -> dict[int, str]:
        found = {pid: what for pid, what in _living_in(base).items() if pid not in before}
        for process in psutil.Process().children(recursive=True):
            try:
                words = " ".join(process.cmdline())
                # The interpreter's own keeper of shared memory ends with the interpreter.
                if process.pid not in children and "multiprocessing.resource_tracker" not in words:
                    found[process.pid] = f"{process.status()}: {words[:200]}"
            except psutil.Error:
                continue
        return found

    try:
        eventually(lambda: not new(), 3)
    except AssertionError:
        left = new()
        for pid in left:
            _end(pid)
        return [f"the process {pid} ({what})" for pid, what in left.items()]
    return []


def _living_in(base: str) -> dict[int, str]:
    """Processes whose current folder or command line is below `base`: pid to command line. Zombies have neither."""
    found: dict[int, str] = {}
    own = os.getpid()
    for process in psutil.process_iter():
        if process.pid == own:
            continue
        try:
            words = process.cmdline()
            if any(base + os.sep in word for word in words) or (process.cwd() + os.sep).startswith(base + os.sep):
                found[process.pid] = " ".join(words)[:200]
        except (psutil.Error, OSError):
            continue
    return found


def _end(pid: int) -> None:
    try:
        process = psutil.Process(pid)
        process.kill()
        process.wait(5)
    except psutil.Error:
        pass
