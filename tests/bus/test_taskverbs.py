"""The life of a task by verbs, with no brain running."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from coleo.bus import tasks, verify
from coleo.files import claims, locks, taskfile, work
from coleo.files.layout import Layout
from coleo.files.work import Lost
from coleo.model.errors import BadInput, CannotBeDone, Taken
from coleo.model.task import TaskStatus
from tests.bus.calling import PLAN, call, ids, project, settle
from tests.files.project import NOW, log


def status(layout: Layout, task_id: str, now: float = NOW) -> str:
    """What is true of a task."""
    return tasks.board(layout, now).status(task_id).value


def test_claim_progress_complete(tmp_path: Path) -> None:
    """One byte of the plan changes; result and notes stand in the task's file; each act is one line in the log."""
    layout = project(tmp_path)
    before = Path(layout.plan).read_bytes()
    task = ids(layout)["Write the parser"]
    reply = call(layout, "ada", "claim-task", task=task)
    assert reply.data["token"] and f"coleo bus complete-task {task}" in reply.text
    call(layout, "ada", "task-progress", task=task, text="half of it", status="on_track")
    reply = call(layout, "ada", "complete-task", task=task, text="all of it")
    assert reply.data["ticked"] is True
    after = Path(layout.plan).read_bytes()
    assert after == before.replace(b"- [ ] Write the parser", b"- [x] Write the parser")
    file = taskfile.read(layout, task)
    assert file is not None and file.status is TaskStatus.DONE and "all of it" in file.result
    assert "[on_track] half of it" in file.notes[0]
    assert claims.held(layout) == []
    assert [line["action"] for line in log(layout)] == ["claim_task", "task_progress", "complete_task"]
    assert call(layout, "ada", "complete-task", task=task, text="again").text.endswith("is done already.")


@pytest.mark.parametrize(
    ("title", "seat", "error", "words"),
    [
        ("Test the parser", "ada", CannotBeDone, "waits for"),
        ("Draw a picture", "ada", CannotBeDone, "marked @bob"),
        ("Plan the work", "ada", CannotBeDone, "is done"),
        ("Write the parser", "eve", Taken, "is taken"),
    ],
)
def test_what_cannot_be_claimed(tmp_path: Path, title: str, seat: str, error: type[Exception], words: str) -> None:
    """Each with its reason and what to do instead."""
    layout = project(tmp_path, PLAN, "ada", "bob", "eve")
    known = ids(layout)
    call(layout, "ada", "claim-task", task=known["Write the parser"])
    with pytest.raises(error, match=words):
        call(layout, seat, "claim-task", task=known[title])
    assert [claim.seat for claim in claims.held(layout)] == ["ada"]


def test_an_unknown_task_gets_ids_that_are_alike(tmp_path: Path) -> None:
    """A typing error is told, hostile ids reach no path."""
    layout = project(tmp_path)
    known = ids(layout)["Clean up"]
    with pytest.raises(BadInput) as found:
        call(layout, "ada", "claim-task", task=known[:-1] + "x")
    assert known in (found.value.wanted or "")
    with pytest.raises(BadInput):
        call(layout, "ada", "claim-task", task="../../etc/passwd")


def test_who_lost_the_task_keeps_the_words(tmp_path: Path) -> None:
    """A seat whose claim was taken back is refused, and what it says stays as a note of the task."""
    layout = project(tmp_path)
    task = ids(layout)["Write the parser"]
    call(layout, "ada", "claim-task", task=task)
    work.release(layout, task, "its arm was stopped", NOW)
    call(layout, "bob", "claim-task", task=task)
    said: list[tuple[str, dict[str, Any]]] = [
        ("complete-task", {"text": "I finished it"}),
        ("task-progress", {"text": "I am half through"}),
        ("fail-task", {"reason": "I could not"}),
        ("release-task", {"reason": "I give up"}),
    ]
    for verb, values in said:
        with pytest.raises(Lost) as lost:
            call(layout, "ada", verb, task=task, **values)
        assert "held by bob" in (lost.value.found or "") and "kept as a note" in lost.value.message
        assert lost.value.exit_code == 3
    notes = "\n".join(taskfile.read(layout, task).notes)  # type: ignore[union-attr]
    for words in ("I finished it", "I am half through", "I could not", "I give up"):
        assert words in notes
    assert status(layout, task) == "in_progress" and "- [ ] Write the parser" in Path(layout.plan).read_text()


def test_three_failed_attempts_block_the_task(tmp_path: Path) -> None:
    """With all reasons; a person opens it again. With a brain alive the brain blocks it and tells a person."""
    layout = project(tmp_path)
    task = ids(layout)["Clean up"]
    for number, seat in enumerate(("ada", "bob", "ada"), 1):
        call(layout, seat, "claim-task", task=task)
        reply = call(layout, seat, "fail-task", task=task, reason=f"reason {number}")
        assert reply.data["status"] == ("failed" if number < 3 else "blocked")
    file = taskfile.read(layout, task)
    assert file is not None and [f"reason {n}" in why for n, why in enumerate(file.reasons, 1)] == [True] * 3
    with pytest.raises(CannotBeDone, match="blocked"):
        call(layout, "bob", "claim-task", task=task)


def test_a_living_brain_does_the_blocking_and_the_tick(tmp_path: Path) -> None:
    """The verb records, the brain acts: it has to tell a person, and to see its own tick."""
    layout = project(tmp_path)
    known = ids(layout)
    call(layout, "ada", "claim-task", task=known["Write the parser"])
    with locks.hold(layout.lock("brain")):
        reply = call(layout, "ada", "complete-task", task=known["Write the parser"])
    assert reply.data["ticked"] is False
    assert "- [ ] Write the parser" in Path(layout.plan).read_text()
    assert status(layout, known["Write the parser"]) == "done"
    call(layout, "ada", "get-full-briefing")
    assert "- [x] Write the parser" in Path(layout.plan).read_text(), "the brain died: the next verb ticks"


def test_an_untick_without_a_brain_is_not_undone(tmp_path: Path) -> None:
    """What a verb has ticked and a person has opened again is the person's."""
    layout = project(tmp_path)
    task = ids(layout)["Write the parser"]
    call(layout, "ada", "claim-task", task=task)
    call(layout, "ada", "complete-task", task=task)
    plan = Path(layout.plan)
    plan.write_text(plan.read_text().replace("- [x] Write", "- [ ] Write"))
    settle(layout, -10)
    call(layout, "ada", "get-full-briefing", now=NOW + 60)
    assert "- [ ] Write the parser" in plan.read_text()


def test_a_final_failure_and_a_refusal(tmp_path: Path) -> None:
    """--final blocks at once; --cannot leaves a task to others, held or not, and counts no attempt."""
    layout = project(tmp_path)
    known = ids(layout)
    call(layout, "ada", "claim-task", task=known["Clean up"])
    assert call(layout, "ada", "fail-task", task=known["Clean up"], reason="no", final=True).data["status"] == "blocked"
    call(layout, "ada", "release-task", task=known["Write the parser"], reason="no Python here", cannot=True)
    call(layout, "ada", "claim-task", task=known["Put out the fire"])
    call(layout, "ada", "release-task", task=known["Put out the fire"], reason="no water", cannot=True)
    board = tasks.board(layout, NOW)
    assert board.free_for("ada") == []
    assert {one.title for one in board.free_for("bob")} == {"Write the parser", "Put out the fire", "Draw a picture"}
    assert all(one.attempts == 0 for one in board.free_for("bob"))


def test_verification_has_to_pass_before_the_tick(tmp_path: Path) -> None:
    """Its output goes back to the agent and into the task's file; the task stays the seat's until it passes."""
    layout = project(tmp_path, "- [ ] Make it\n\n  ```verify\n  echo looking; test -f made.txt\n  ```\n")
    task = ids(layout)["Make it"]
    call(layout, "ada", "claim-task", task=task)
    with pytest.raises(CannotBeDone, match="verification failed") as failed:
        call(layout, "ada", "complete-task", task=task, text="I made it")
    assert "> looking" in (failed.value.found or "") and failed.value.exit_code == 1
    file = taskfile.read(layout, task)
    assert file is not None and file.status is TaskStatus.IN_PROGRESS
    assert "I made it" in file.notes[0] and "looking" in file.notes[0] and file.progress == "issues_found"
    (tmp_path / "made.txt").touch()
    assert call(layout, "ada", "complete-task", task=task, text="now").data["ticked"] is True
    assert "looking" in taskfile.read(layout, task).result  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("config", "section", "expected"),
    [
        ("", "First", ""),
        ('[verify]\ncommand = "true"\n', "First", "true"),
        ('[verify]\ncommand = "true"\ntimeout_s = 5\n[verify.sections]\n"First" = "test 1"\n', "First", "test 1"),
        ('[verify]\ncommand = "true"\n[verify.sections]\n"First" = "test 1"\n', "Second", "true"),
    ],
)
def test_which_command_verifies(tmp_path: Path, config: str, section: str, expected: str) -> None:
    """The task's own, else its section's, else the project's."""
    from coleo.model.plan import Task

    layout = project(tmp_path)
    os.makedirs(layout.coleo, exist_ok=True)
    Path(layout.config).write_text(config)
    assert verify.command_for(layout, Task("t-abcdef", "T", section))[0] == expected
    assert verify.command_for(layout, Task("t-abcdef", "T", section, verify="own"))[0] == "own"


def test_a_seat_may_have_a_verification_of_its_own(tmp_path: Path) -> None:
    """`verify` in seat.md counts for what that seat completes, below the task's and the section's."""
    from coleo.model.plan import Task

    layout = project(tmp_path)
    Path(layout.seat("ada").seat_md).write_text("---\nharness: shell\nverify: make mine\n---\n")
    assert verify.command_for(layout, Task("t-abcdef", "T"), "ada")[0] == "make mine"
    assert verify.command_for(layout, Task("t-abcdef", "T"), "bo")[0] == ""
    assert verify.command_for(layout, Task("t-abcdef", "T", verify="own"), "ada")[0] == "own"
    Path(layout.seat("ada").seat_md).write_text("---\nverify: [\n---\n")
    assert verify.command_for(layout, Task("t-abcdef", "T"), "ada")[0] == ""


def test_a_verification_that_does_not_end_is_ended_with_all_its_children(tmp_path: Path) -> None:
    """By the time limit; what keeps the pipe open does not hold the verb up."""
    pid_file = tmp_path / "pid"
    command = f"{sys.executable} -c 'import time; time.sleep(600)' & echo $! > {pid_file}; wait"
    checked = verify.execute(command, str(tmp_path), 0.5)
    assert not checked.passed and "no end" in checked.how
    _gone(int(pid_file.read_text()))
    background = f"{sys.executable} -c 'import time; time.sleep(600)' & echo $! > {pid_file}; echo started"
    checked = verify.execute(background, str(tmp_path), 60)
    assert checked.passed and checked.output == "started"
    _gone(int(pid_file.read_text()))


def _gone(pid: int) -> None:
    from tests.waiting import eventually

    def dead() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"

    eventually(dead)


def test_only_the_end_of_much_output_is_kept(tmp_path: Path) -> None:
    """And secrets in it are masked."""
    checked = verify.execute("yes x | head -c 300000; echo password=hunter2hunter2; exit 3", str(tmp_path), 60)
    assert checked.how == "exit 3" and len(checked.output) <= verify.TAIL
    assert "hunter2" not in checked.output


def test_where_a_verification_runs(tmp_path: Path) -> None:
    """In the working tree of the caller: the project's, or another one of the same repository."""
    layout = project(tmp_path / "main")
    (tmp_path / "tree" / "deep").mkdir(parents=True)
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere")
    (tmp_path / "other").mkdir()
    assert verify.workplace(layout, str(tmp_path / "main" / ".project")) == layout.root
    assert verify.workplace(layout, str(tmp_path / "tree" / "deep")) == str(tmp_path / "tree")
    assert verify.workplace(layout, "/") == layout.root


def test_hand_edits_count_for_verbs(tmp_path: Path) -> None:
    """A person blocks a task in its file: the seat is refused clearly, and told by a message."""
    layout = project(tmp_path)
    task = ids(layout)["Write the parser"]
    call(layout, "ada", "claim-task", task=task)
    path = Path(taskfile.locate(layout, task) or "")
    path.write_text(path.read_text().replace("status: in_progress", "status: blocked"))
    with pytest.raises(Lost, match="kept as a note"):
        call(layout, "ada", "task-progress", task=task, text="still at it")
    assert "still at it" in taskfile.read(layout, task).notes[-1]  # type: ignore[union-attr]
    assert "blocked" in call(layout, "ada", "check-inbox").text
    with pytest.raises(CannotBeDone, match="blocked"):
        call(layout, "bob", "claim-task", task=task)


def test_a_ticked_box_ends_the_work(tmp_path: Path) -> None:
    """A person ticked it: completing it again is no error for its holder."""
    layout = project(tmp_path)
    task = ids(layout)["Write the parser"]
    call(layout, "ada", "claim-task", task=task)
    plan = Path(layout.plan)
    plan.write_text(plan.read_text().replace("- [ ] Write", "- [x] Write"))
    settle(layout, -10)
    reply = call(layout, "ada", "complete-task", task=task, text="me too", now=NOW + 60)
    assert reply.data["ticked"] is True and claims.held(layout) == []
    assert "me too" in taskfile.read(layout, task).notes[-1]  # type: ignore[union-attr]
