"""Heartbeat, log lines, skills."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coleo.files import heartbeats
from coleo.files.heartbeats import Heartbeat
from coleo.model.errors import BadInput
from tests.bus.calling import call, ids, project
from tests.files.project import NOW, log


def test_the_models_and_the_daemons_heartbeat_are_two_facts(tmp_path: Path) -> None:
    """Neither overwrites the other."""
    layout = project(tmp_path)
    heartbeats.write(layout, "ada", heartbeats.DAEMON, "alive", NOW)
    call(layout, "ada", "update-heartbeat", status="Working", text="tests", task="t-abcdef", now=NOW + 5)
    heartbeats.write(layout, "ada", heartbeats.DAEMON, "alive", NOW + 9)
    found = heartbeats.read(layout, "ada")
    assert found.model == Heartbeat(NOW + 5, "working", "tests", "t-abcdef")
    assert found.daemon == Heartbeat(NOW + 9, "alive")
    (line,) = log(layout, "heartbeat")
    assert (line["seat"], line["by"], line["status"]) == ("ada", "model", "working")
    Path(layout.heartbeat("ada")).write_text("[]")
    assert heartbeats.read(layout, "ada").model is None


def test_an_idle_heartbeat_is_answered_with_the_work(tmp_path: Path) -> None:
    """Own tasks and free ones count."""
    layout = project(tmp_path)
    call(layout, "ada", "claim-task", task=ids(layout)["Write the parser"])
    reply = call(layout, "ada", "update-heartbeat", status="idle")
    assert reply.data["tasks"] == 3 and "You have 3 tasks: call coleo bus get-full-briefing" in reply.text
    assert call(layout, "ada", "update-heartbeat", status="working").text == "Noted."


def test_events_of_a_seat_are_lines_of_the_log(tmp_path: Path) -> None:
    """With what it wants to say, as data; what is no JSON is refused, not dropped."""
    layout = project(tmp_path)
    call(layout, "ada", "log-event", event="deployed", text="1.2", severity="warning", meta='{"host": "test"}')
    (line,) = log(layout, "log_event")
    assert (line["seat"], line["event"], line["text"], line["severity"]) == ("ada", "deployed", "1.2", "warning")
    assert line["meta"] == {"host": "test"}
    for meta in ("{", "[1]", "x"):
        with pytest.raises(BadInput):
            call(layout, "ada", "log-event", event="x", meta=meta)
    with pytest.raises(BadInput):
        call(layout, "ada", "log-event", event="two words")


def test_skills_are_listed_and_broken_ones_reported(tmp_path: Path) -> None:
    """Name and description of the front matter; no front matter, no description, a name twice: told with the file."""
    layout = project(tmp_path)
    skills = Path(layout.seat("ada").skills)
    texts = {
        "a-good": "---\nname: good\ndescription: >\n  Does\n  good.\n---\n# Good\n",
        "b-twin": "---\nname: good\ndescription: the same name\n---\n",
        "c-bare": "# no front matter\n",
        "d-mute": "---\nname: mute\n---\n",
        "e-torn": "---\nname: [\n---\n",
        "f-flat": '---\nname: flat\ndescription: "one: line"\ntriggers: [a, b]\n---\n',
    }
    for name, text in texts.items():
        (skills / name).mkdir(parents=True)
        (skills / name / "SKILL.md").write_text(text)
    (skills / "g-empty").mkdir()
    (skills / ".git").mkdir()
    (skills / "README.md").write_text("x")
    reply = call(layout, "ada", "list-skills")
    assert [(one["name"], one["description"]) for one in reply.data["skills"]] == [
        ("good", "Does good."),
        ("flat", "one: line"),
    ]
    assert [Path(one["file"]).parent.name for one in reply.data["problems"]] == [
        "b-twin",
        "c-bare",
        "d-mute",
        "e-torn",
        "g-empty",
    ]
    json.dumps(reply.data)
    assert call(layout, "bob", "list-skills").text == "No skills."
