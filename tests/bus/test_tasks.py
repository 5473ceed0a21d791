"""Tasks as plan, files and claims tell them together, and which one a seat gets next."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coleo.bus import planread, tasks
from coleo.files import locks, plancache, taskfile, work
from coleo.model.plan import Task, TaskSet
from coleo.model.task import TaskFile, TaskStatus
from tests.bus.calling import PLAN, call, ids, project, settle
from tests.files.project import NOW


def test_the_next_task_is_own_first_then_urgent_then_in_order(tmp_path: Path) -> None:
    """A task for this seat, then priorities, then the order of the plan; what waits for another is not offered."""
    layout = project(tmp_path)
    board = tasks.board(layout, NOW)
    assert [one.title for one in board.free_for("bob")] == [
        "Draw a picture",
        "Put out the fire",
        "Write the parser",
        "Clean up",
    ]
    assert [one.title for one in board.free_for("ada")] == ["Put out the fire", "Write the parser", "Clean up"]
    views = tasks.view(layout, NOW)
    assert [one.title for one in views][:2] == ["Write the parser", "Test the parser"]
    for seat in ("ada", "bob"):
        best = tasks.next_for(views, seat)
        assert best is not None and best.id == board.free_for(seat)[0].id


def test_a_dependency_that_is_done_frees_the_task(tmp_path: Path) -> None:
    """Also when its box is still to be ticked."""
    layout = project(tmp_path)
    known = ids(layout)
    waiting = tasks.board(layout, NOW).get(known["Test the parser"])
    assert waiting is not None and waiting.waiting_for == (known["Write the parser"],)
    task = waiting.task.replace(id=known["Write the parser"], title="Write the parser")
    work.take(layout, task, "ada", NOW)
    work.complete(layout, task.id, "ada", "", NOW)
    free = tasks.board(layout, NOW).get(known["Test the parser"])
    assert free is not None and free.waiting_for == () and free.ready


@pytest.mark.parametrize(
    ("done", "status", "claimed", "expected"),
    [
        (True, None, False, "done"),
        (True, "in_progress", True, "done"),
        (True, "blocked", False, "done"),
        (False, None, False, "open"),
        (False, None, True, "in_progress"),
        (False, "in_progress", True, "in_progress"),
        (False, "blocked", False, "blocked"),
        (False, "done", False, "done"),
        (False, "failed", False, "failed"),
        (False, "open", True, "open"),
    ],
)
def test_a_ticked_box_wins_then_a_live_claim_then_the_file(
    done: bool, status: str | None, claimed: bool, expected: str
) -> None:
    """For done or open the box wins, for all else the task's file (DESIGN.md section 4)."""
    task = Task("t-abcdef", "T", done=done)
    claim = work.Done(TaskFile("t-abcdef"), None).claim
    if claimed:
        from coleo.files.claims import Claim

        claim = Claim("t-abcdef", "ada", "token", NOW, NOW)
    file = TaskFile("t-abcdef", status=TaskStatus(status), seat="ada", token="token") if status else None
    board = tasks.Board(TaskSet((task,)), {"t-abcdef": file} if file else {}, [claim] if claim else [])
    assert board.status("t-abcdef") == expected
    assert (board.claim("t-abcdef") is not None) == (expected == "in_progress")


def test_a_task_whose_line_is_gone_is_withdrawn_and_still_shown(tmp_path: Path) -> None:
    """What a seat holds stays held; what is done stays done."""
    layout = project(tmp_path)
    gone, held, done = (Task(f"t-abcde{letter}", f"Gone {letter}") for letter in "abc")
    for task in (gone, held, done):
        taskfile.touch(layout, task, NOW)
    work.take(layout, held, "ada", NOW)
    work.take(layout, done, "ada", NOW)
    work.complete(layout, done.id, "ada", "", NOW)
    board = tasks.board(layout, NOW)
    assert [board.status(task.id).value for task in (gone, held, done)] == ["withdrawn", "in_progress", "done"]
    assert not any(one.in_plan for one in board.all()[-3:])
    assert gone.id not in {one.id for one in board.free_for("ada")}


def test_a_task_file_that_cannot_be_read_blocks_only_its_task(tmp_path: Path) -> None:
    """And says why."""
    layout = project(tmp_path)
    known = ids(layout)
    os.makedirs(layout.tasks)
    (Path(layout.tasks) / f"{known['Clean up']}-x.md").write_text("---\nstatus: [\n---\n")
    board = tasks.board(layout, NOW)
    one = board.get(known["Clean up"])
    assert one is not None and one.problem and not one.ready
    assert [free.title for free in board.free_for("ada")] == ["Put out the fire", "Write the parser"]


def test_verbs_leave_what_the_brain_has_to_act_on(tmp_path: Path) -> None:
    """A plan that changed while no brain ran is read for the verb alone: the brain compares with its own last read."""
    layout = project(tmp_path)
    first = planread.tasks(layout, NOW)
    plancache.save(layout, first)
    saved = Path(plancache.path(layout)).read_bytes()
    Path(layout.plan).write_text(PLAN + "- [ ] One more\n")
    settle(layout, -10)
    read = planread.tasks(layout, NOW + 60)
    assert "One more" in {task.title for task in read.tasks}
    assert Path(plancache.path(layout)).read_bytes() == saved
    assert planread.tasks(layout, NOW + 61) == read, "the second verb has it from the cache"


def test_a_tick_of_a_verb_hides_no_task(tmp_path: Path) -> None:
    """The plan has just been written to, by ourselves: the other tasks are there all the same."""
    layout = project(tmp_path)
    known = ids(layout)
    call(layout, "ada", "claim-task", task=known["Write the parser"])
    call(layout, "ada", "complete-task", task=known["Write the parser"], text="done")
    assert set(ids(layout)) == set(known)


def test_with_a_brain_alive_its_last_read_counts(tmp_path: Path) -> None:
    """It is about to read the change; the verb does not wait and does not read."""
    layout = project(tmp_path)
    plancache.save(layout, planread.tasks(layout, NOW))
    Path(layout.plan).write_text("# Empty\n")
    settle(layout, -10)
    with locks.hold(layout.lock("brain")):
        assert len(planread.tasks(layout, NOW).tasks) == 6
    assert len(planread.tasks(layout, NOW + 600).present()) == 0


def test_facts_are_json(tmp_path: Path) -> None:
    """For ``--json`` and later for tools."""
    import json

    layout = project(tmp_path)
    known = ids(layout)
    call(layout, "ada", "claim-task", task=known["Write the parser"])
    facts = {one.title: one.facts() for one in tasks.view(layout, NOW)}
    json.dumps(facts)
    assert facts["Write the parser"]["holder"] == "ada" and facts["Write the parser"]["line"] == 4
    assert facts["Test the parser"]["ready"] is False
    assert facts["Draw a picture"]["source"] == "plan.md:6, written by a person"
