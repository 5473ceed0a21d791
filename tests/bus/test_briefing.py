"""The briefing and the instructions of a seat."""

from __future__ import annotations

from pathlib import Path

import pytest

from coleo.files import mail, taskfile
from coleo.model.errors import BadInput
from tests.bus.calling import call, context, ids, project
from tests.files.project import NOW, lay, log


def test_a_briefing_holds_all_that_an_agent_needs(tmp_path: Path) -> None:
    """Seat and goals, guardrails, messages, own tasks, the next one with notes and dependencies, what others hold."""
    layout = project(tmp_path)
    known = ids(layout)
    seat = Path(layout.seat("ada").dir)
    (seat / "GOALS.md").write_text("Ship it.\n")
    (seat / "GUARDRAILS.md").write_text("Never push.\n" + "more\n" * 100)
    mail.send(layout, "ada", "bob", "are you there?", now=NOW)
    call(layout, "bob", "claim-task", task=known["Draw a picture"])
    call(layout, "ada", "claim-task", task=known["Put out the fire"])
    call(layout, "ada", "task-progress", task=known["Put out the fire"], text="fetching water")
    reply = call(layout, "ada", "get-full-briefing")
    for words in (
        "coleo briefing for seat ada",
        "> Ship it.",
        "> Never push.",
        "the rest is in .project/seats/ada/GUARDRAILS.md",
        "> are you there?",
        "Your tasks: 1.",
        "> Put out the fire",
        "fetching water",
        "When that is done, the next task",
        "> Write the parser",
        "Source: plan.md:4, written by a person",
        "Section: First",
        "Other seats hold:",
        "> Draw a picture",
        f"Take it: coleo bus claim-task {known['Write the parser']}",
        "coleo bus complete-task <id>",
    ):
        assert words in reply.text
    assert reply.data["next"]["title"] == "Write the parser" and reply.data["held"][0]["seat"] == "bob"
    assert len(list(Path(layout.seat("ada").inbox).iterdir())) == 1, "a briefing takes no message away"
    assert log(layout, "get_full_briefing")


def test_notes_of_a_free_task_are_told(tmp_path: Path) -> None:
    """And why earlier attempts failed."""
    layout = project(tmp_path, "- [ ] Only one\n  with words\n  > Comment: mind the gap\n")
    task = ids(layout)["Only one"]
    call(layout, "bob", "claim-task", task=task)
    call(layout, "bob", "fail-task", task=task, reason="no key")
    taskfile.update(layout, task, {}, NOW, note=("human", "the key is under the mat"))
    reply = call(layout, "ada", "get-full-briefing")
    for words in ("> with words", "mind the gap", "no key", "the key is under the mat"):
        assert words in reply.text


def test_an_empty_project_says_so(tmp_path: Path) -> None:
    """Nothing to do is an answer."""
    layout = lay(tmp_path, "ada")
    reply = call(layout, "ada", "get-full-briefing")
    assert "Next task: none" in reply.text and "Messages: none" in reply.text
    assert reply.data["next"] is None


def test_instructions_are_the_seats_text_and_tasks(tmp_path: Path) -> None:
    """The body of seat.md as it is, convictions, and what the seat holds."""
    layout = project(tmp_path)
    Path(layout.seat("ada").seat_md).write_text(
        "---\nharness: shell\nconvictions:\n  - tests first\n  - small steps\npersonality: calm\n---\n"
        "# Ada\n\nYou test.\n"
    )
    call(layout, "ada", "claim-task", task=ids(layout)["Clean up"])
    reply = call(layout, "ada", "get-my-instructions")
    assert "# Ada\n\nYou test." in reply.text and "> Clean up" in reply.text
    assert reply.data["convictions"] == ["tests first", "small steps"] and "> calm" in reply.text
    assert log(layout, "get_my_instructions")


def test_a_broken_seat_file_still_instructs(tmp_path: Path) -> None:
    """The text is given, and the place of the fault is named."""
    layout = project(tmp_path)
    Path(layout.seat("ada").seat_md).write_text("---\nharness: [\n---\nYou test.\n")
    reply = call(layout, "ada", "get-my-instructions")
    assert "You test." in reply.text and ".project/seats/ada/seat.md:" in reply.text


@pytest.mark.parametrize("verb", ["get-full-briefing", "get-my-instructions", "check-inbox", "list-skills"])
def test_without_a_seat_a_verb_says_what_to_do(tmp_path: Path, verb: str) -> None:
    """COLEO_SEAT is not set, or names a seat that is not there."""
    from coleo.bus.verbs import VERBS

    layout = project(tmp_path)
    with pytest.raises(BadInput, match="which seat"):
        VERBS[verb].run(context(layout, None))
    with pytest.raises(BadInput, match="there is no seat ghost"):
        call(layout, "ghost", verb)
