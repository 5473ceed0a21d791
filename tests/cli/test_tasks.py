"""`coleo task`: a person's word about one task."""

from __future__ import annotations

from pathlib import Path

import pytest

from coleo.bus import tasks
from coleo.bus.tasks import TaskView
from coleo.files import mail, work
from coleo.files.layout import Layout
from tests.cli.helpers import coleo, facts, project, task_ids

NOW = 1_800_000_000.0


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return project(tmp_path, "ada", "bob")


def view(layout: Layout, title: str) -> TaskView:
    return next(one for one in tasks.view(layout) if one.title == title)


def test_assign_claims_it_and_tells_the_seat_once(layout: Layout) -> None:
    task = task_ids(layout)["Write the letter"]
    made = facts(layout, "task", "assign", task, "ada")
    found = tasks.view(layout)
    claim = next(one for one in found if one.id == task).claim
    assert claim is not None
    assert (claim.seat, claim.by, claim.acknowledged_at) == ("ada", "human", None)
    again = facts(layout, "task", "assign", task, "ada")
    assert again["message"] == made["message"]
    letters = mail.scan(layout, "ada", NOW).messages
    assert [(one.kind, one.task) for one in letters] == [("assignment", task)]
    assert "> Write the letter" in letters[0].text
    other = coleo(layout, "task", "assign", task, "bob")
    assert (other.returncode, "ada" in other.stderr) == (3, True)


def test_assign_against_the_plan_is_done_with_a_word(layout: Layout) -> None:
    ids = task_ids(layout)
    ran = coleo(layout, "task", "assign", ids["Water the plants"], "ada")
    assert (ran.returncode, "@bob" in ran.stderr) == (0, True)
    ran = coleo(layout, "task", "assign", ids["Post the letter"], "ada")
    assert (ran.returncode, ids["Write the letter"] in ran.stderr) == (0, True)


@pytest.mark.parametrize("words", [["assign", "TASK", "ada"], ["block", "TASK"]])
def test_what_is_over_is_neither_assigned_nor_blocked(layout: Layout, words: list[str]) -> None:
    """Its box says that it is done, and the box wins."""
    task = task_ids(layout)["Buy stamps"]
    ran = coleo(layout, "task", *[task if word == "TASK" else word for word in words])
    assert (ran.returncode, "coleo task reopen" in ran.stderr) == (1, True)
    assert view(layout, "Buy stamps").file is None


def test_block_takes_it_back_tells_the_holder_and_reopen_opens_it(layout: Layout) -> None:
    task = view(layout, "Water the plants")
    work.take(layout, task.task, "bob", NOW)
    ran = coleo(layout, "task", "block", task.id, "--reason", "the tap is broken")
    assert ran.returncode == 0, ran.stderr
    after = view(layout, "Water the plants")
    assert (after.status.value, after.claim) == ("blocked", None)
    assert any("the tap is broken" in one.text for one in mail.scan(layout, "bob", NOW).messages)
    assert "coleo task reopen" in coleo(layout, "why", task.id).stdout
    assert facts(layout, "task", "reopen", task.id)["status"] == "open"
    assert view(layout, "Water the plants").status.value == "open"


def test_reopen_of_a_ticked_task_unticks_its_box(layout: Layout) -> None:
    task = task_ids(layout)["Buy stamps"]
    assert coleo(layout, "task", "reopen", task).returncode == 0
    assert "- [ ] Buy stamps" in Path(layout.plan).read_text()
    assert coleo(layout, "task", "reopen", task).returncode in (0, 1)


def test_reopen_of_what_a_seat_holds_cannot_be_done(layout: Layout) -> None:
    task = view(layout, "Water the plants")
    work.take(layout, task.task, "bob", NOW)
    ran = coleo(layout, "task", "reopen", task.id)
    assert (ran.returncode, "bob" in ran.stderr) == (1, True)


def test_a_note_stands_in_the_task_and_in_what_is_shown(layout: Layout) -> None:
    task = task_ids(layout)["Write the letter"]
    assert coleo(layout, "task", "note", task, "The address is new.").returncode == 0
    assert coleo(layout, "task", "note", task, "  ").returncode == 2
    shown = facts(layout, "task", "show", task)
    assert any("The address is new." in note for note in shown["notes"])
    text = coleo(layout, "task", "show", task).stdout
    assert "The address is new." in text
    assert "plan.md:2" in text


def test_show_tells_attempts_and_reasons(layout: Layout) -> None:
    task = view(layout, "Water the plants")
    work.take(layout, task.task, "bob", NOW)
    work.fail(layout, task.id, "bob", "no water\nat all", NOW)
    text = coleo(layout, "task", "show", task.id).stdout
    assert "  1. " in text
    assert "no water" in text
    assert facts(layout, "task", "show", task.id)["status"] == "failed"


@pytest.mark.parametrize("verb", ["show", "reopen", "block"])
def test_an_unknown_task_is_bad_input(layout: Layout, verb: str) -> None:
    ran = coleo(layout, "task", verb, "t-nothere")
    assert (ran.returncode, "coleo tasks" in ran.stderr) == (2, True)
