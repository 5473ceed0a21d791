"""Real programs write to a file at full speed while coleo changes it: nobody loses a word (DESIGN.md section 4).

What coleo wrote may be undone by an editor that saves a stale buffer; what the others wrote may not be touched.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coleo.files import inplace, lease
from tests.files.writers import KINDS, NEWEST_FIRST
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parent.parent.parent
TURNS = 100
BOXES = [f"- [ ] box {number}" for number in range(8)]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the guarantee is that of kernel leases")


@pytest.fixture(autouse=True)
def long_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a millisecond between look and write, under the lease: if it kept nobody out, others would come between."""
    verify = lease.Opened.verify

    def slowly(self: lease.Opened, expected: bytes) -> None:
        verify(self, expected)
        for _ in range(10_000 if self.leased else 0):
            pass

    monkeypatch.setattr(lease.Opened, "verify", slowly)


def flip(path: str, turn: int) -> bytes:
    """Change the state of one box, wherever it is by now; the box's name."""
    name = f"] box {turn % len(BOXES)}\n".encode()

    def change(data: bytes) -> bytes:
        at = data.index(name) - 1
        inplace.set_byte(path, data, at, ord("x") if data[at] == ord(" ") else ord(" "))
        return name

    return inplace.retrying(change, path, 30)


def add(path: str, turn: int, journal: str) -> bytes:
    """Append one line of coleo's."""
    line = f"coleo {turn}\n".encode()

    def change(data: bytes) -> bytes:
        if not data.endswith(b"\n"):
            raise inplace.Changed(path)  # another one is in the middle of its line
        inplace.append(path, data, line, journal)
        return line

    return inplace.retrying(change, path, 30)


def against(kind: str, path: Path, act: Callable[[int], object], turns: int = TURNS) -> int:
    """Call `act` so often while the writer is at work; how many lines that one has added."""
    command = [sys.executable, "-m", "tests.files.writers", kind, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        eventually(lambda: lines_of(kind, path), 30)
        turn = 0
        while turn < turns:
            try:
                act(turn)
                turn += 1
            except (ValueError, FileNotFoundError):
                continue  # half a file: an editor is between its truncation and its write
        count = int(writer.communicate()[0])
    assert writer.returncode == 0
    return count


def lay(tmp_path: Path) -> Path:
    path = tmp_path / "plan.md"
    path.write_text("# Plan\n" + "\n".join(BOXES) + "\n")
    return path


def lines_of(kind: str, path: Path) -> list[str]:
    """The lines of one writer, in the order in which they were written."""
    try:
        found = [line for line in path.read_text(errors="replace").splitlines() if line.startswith(kind)]
    except FileNotFoundError:
        return []
    return found[::-1] if kind in NEWEST_FIRST else found


@pytest.mark.parametrize("kind", KINDS)
def test_flipped_boxes_cost_nobody_a_line(tmp_path: Path, kind: str) -> None:
    """Each line of the other is there once, in order and whole; and every box is still a box."""
    path = lay(tmp_path)
    count = against(kind, path, lambda turn: flip(str(path), turn))
    assert lines_of(kind, path) == [f"{kind} {number}" for number in range(count)]
    rest = [line for line in path.read_text().splitlines() if not line.startswith(kind)]
    assert [line.replace("[x]", "[ ]") for line in rest] == ["# Plan", *BOXES]


@pytest.mark.parametrize("kind", ["append", "held_open", "update"])
def test_both_sides_appends_are_all_there(tmp_path: Path, kind: str) -> None:
    """Where the other keeps what it finds, nothing of coleo's is lost either, or in twice, or torn."""
    path, journal = lay(tmp_path), str(tmp_path / "journal")
    count = against(kind, path, lambda turn: add(str(path), turn, journal))
    assert lines_of(kind, path) == [f"{kind} {number}" for number in range(count)]
    assert lines_of("coleo", path) == [f"coleo {number}" for number in range(TURNS)]
    assert len(path.read_text().splitlines()) == 1 + len(BOXES) + count + TURNS


@pytest.mark.parametrize("kind", ["in_place", "rename"])
def test_appends_of_coleo_cost_an_editor_nothing(tmp_path: Path, kind: str) -> None:
    """Its stale buffer may undo ours, never the other way round."""
    path, journal = lay(tmp_path), str(tmp_path / "journal")
    count = against(kind, path, lambda turn: add(str(path), turn, journal))
    assert lines_of(kind, path) == [f"{kind} {number}" for number in range(count)]
    ours = lines_of("coleo", path)
    assert len(ours) == len(set(ours))
    assert all(line.removeprefix("coleo ").isdigit() for line in ours)


def test_processes_of_coleo_among_themselves(tmp_path: Path) -> None:
    """Verbs of several agents and the brain change one file at the same time: every change counts once."""
    path, journal = lay(tmp_path), str(tmp_path / "journal")
    code = (
        "import sys; from tests.files.test_writers import add\n"
        "for turn in range(40): add(sys.argv[1], int(sys.argv[3]) * 1000 + turn, sys.argv[2])"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(path), journal, str(number)], cwd=ROOT) for number in range(4)
    ]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    wanted = {f"coleo {number * 1000 + turn}" for number in range(4) for turn in range(40)}
    found = lines_of("coleo", path)
    assert len(found) == 160
    assert set(found) == wanted
