"""`coleo status`, `why`, `log`, `tasks`: what is told, from files alone, whatever is in them."""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path

import pytest

from coleo.cli import ages, log, out, status
from coleo.files import activity, arms, desired, gitlook, mail, work
from coleo.files.layout import Layout
from coleo.model.arm import Arm, ArmState
from coleo.model.errors import BadInput
from tests.cli.helpers import coleo, facts, project, task_ids

NOW = 1_800_000_000.0


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return project(tmp_path, "ada", "bob")


def test_status_counts_tasks_mail_and_names_who_waits_for_a_person(layout: Layout) -> None:
    os.makedirs(layout.arms)
    arms.write(layout, Arm("ada", ArmState.FAILED, NOW, parked="6 deaths within 60 s of their start"))
    arms.write(layout, Arm("bob", ArmState.IDLE, NOW, generation=3, next="reminded of its tasks", next_at=NOW + 30))
    mail.send(layout, "bob", "human", "hello", now=NOW)
    desired.change(layout, "bob", paused=True)
    found = facts(layout, "status")
    assert found["tasks"]["open"] == 3
    assert found["tasks"]["waiting"] == 1
    assert found["tasks"]["done"] == 1
    assert found["brain"] == {"running": False, "pid": None}
    ada, bob = found["seats"]
    assert (ada["state"], ada["parked"]) == ("failed", "6 deaths within 60 s of their start")
    assert (bob["state"], bob["paused"], bob["generation"], bob["mail"]["inbox"]) == ("idle", True, 3, 1)
    text = coleo(layout, "status").stdout
    assert "parked: 6 deaths" in text
    assert "idle (paused)" in text
    assert "coleo up" in text


def test_status_of_an_empty_project_says_what_to_do(tmp_path: Path) -> None:
    text = coleo(project(tmp_path, plan=""), "status").stdout
    assert "coleo seat add" in text
    assert "plan.md" in text


def test_status_watch_without_a_terminal_prints_once(layout: Layout) -> None:
    ran = coleo(layout, "status", "--watch")
    assert ran.returncode == 0
    assert "ada" in ran.stdout


def test_the_live_picture_holds_what_the_text_holds(layout: Layout) -> None:
    from rich.console import Console

    from coleo.bus import overview

    console = Console(file=io.StringIO(), width=100, highlight=False)
    console.print(status.picture(overview.overview(layout, NOW), NOW))
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    assert "ada" in drawn
    assert "3 open" in drawn or "2 open" in drawn


def test_status_says_how_many_files_could_be_committed(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    from coleo.bus import overview

    monkeypatch.setattr(gitlook, "WAIT_S", 60.0)
    monkeypatch.chdir(layout.root)
    assert overview.overview(layout, NOW)["uncommitted"] is None, "there is no repository"
    subprocess.run(["git", "init", "-q"], check=True)
    made = overview.overview(layout, NOW)
    assert made["uncommitted"]["files"] == 3
    line = "3 files below .project/ could be committed: git add .project && git commit"
    assert line in list(status.remarks(made))
    assert facts(layout, "status", COLEO_GIT_COMMIT="auto")["uncommitted"] is None


def test_records_that_are_no_records_are_passed_over(layout: Layout) -> None:
    """Case h09: files in run/ are not trusted; a bad one must not hide the others."""
    os.makedirs(layout.arms)
    Path(layout.arm("ada")).write_text('{"state": "idle", "child": {"pid": 1, "start": "x", "boot": 3}}')
    Path(layout.arm("bob")).write_text("{")
    found = facts(layout, "status")["seats"]
    assert [(one["seat"], one["state"], one["pid"]) for one in found] == [
        ("ada", "idle", None),
        ("bob", "stopped", None),
    ]


def test_tasks_lists_what_is_not_over_in_the_order_of_the_plan(layout: Layout) -> None:
    titles = [task["title"] for task in facts(layout, "tasks")["tasks"]]
    assert titles == ["Write the letter", "Post the letter", "Water the plants"]
    assert len(facts(layout, "tasks", "--all")["tasks"]) == 4
    assert [t["title"] for t in facts(layout, "tasks", "--status", "done")["tasks"]] == ["Buy stamps"]
    assert [t["title"] for t in facts(layout, "tasks", "--seat", "bob")["tasks"]] == ["Water the plants"]
    ran = coleo(layout, "tasks", "--status", "finished")
    assert (ran.returncode, "in_progress" in ran.stderr) == (2, True)
    text = coleo(layout, "tasks").stdout
    assert "! Water the plants" in text
    assert "waiting" in text


def test_why_explains_a_seat_with_evidence_and_next(layout: Layout) -> None:
    os.makedirs(layout.arms)
    arms.write(layout, Arm("ada", ArmState.STARTING, out.now() - 20, generation=2, evidence="no composer yet"))
    activity.append(layout, "session_start", now=out.now(), seat="ada", reason="the seat is enabled and empty")
    found = facts(layout, "why", "ada")
    assert (found["state"], found["kind"]) == ("starting", "seat")
    assert found["since_at"].endswith("Z")
    assert "no composer yet" in found["evidence"]
    assert any("session_start" in line for line in found["evidence"])
    assert any(step["at"] and "start-up" in step["rule"] for step in found["next"])
    text = coleo(layout, "why", "ada").stdout
    assert "is starting since" in text
    assert "from now" in text


def test_why_explains_a_task_by_id_or_its_beginning(layout: Layout) -> None:
    ids = task_ids(layout)
    post = ids["Post the letter"]
    assert ids["Write the letter"] in coleo(layout, "why", post).stdout
    assert facts(layout, "why", post[:-1])["subject"] == post
    assert facts(layout, "why", ids["Buy stamps"])["state"] == "done"


def test_why_tells_who_holds_a_task(layout: Layout) -> None:
    from coleo.bus import tasks

    view = next(one for one in tasks.view(layout) if one.title == "Water the plants")
    work.take(layout, view.task, "bob", out.now(), by="brain")
    found = facts(layout, "why", view.id)
    assert found["state"] == "claimed"
    assert "bob holds it and has not acknowledged it yet" in found["because"][0]
    assert any(step["at"] and "acknowledged within 3 min" in step["rule"] for step in found["next"])
    seat = facts(layout, "why", "bob")
    assert any(view.id in line for line in seat["evidence"])


@pytest.mark.parametrize(("target", "near"), [("adda", "ada"), ("bobb", "bob")])
def test_why_of_an_unknown_seat_names_the_nearest(layout: Layout, target: str, near: str) -> None:
    ran = coleo(layout, "why", target)
    assert ran.returncode == 2
    assert near in ran.stderr


def test_why_of_an_unknown_task_names_the_nearest_with_its_title(layout: Layout) -> None:
    there = task_ids(layout)["Write the letter"]
    wrong = there[:-1] + ("a" if there[-1] != "a" else "b")
    ran = coleo(layout, "why", wrong[:7] + "zz")
    assert ran.returncode == 2
    assert "Write the letter" in ran.stderr


def test_log_shows_the_last_that_match(layout: Layout) -> None:
    for number in range(30):
        seat = "ada" if number % 2 else "bob"
        activity.append(layout, "notice", now=NOW + number, seat=seat, text=f"number {number}")
    activity.append(layout, "complete_task", now=NOW + 99, seat="ada", task="t-abcdef", title="Do it")
    assert len(coleo(layout, "log").stdout.splitlines()) == 20
    assert len(coleo(layout, "log", "-n", "5").stdout.splitlines()) == 5
    assert coleo(layout, "log", "-n", "0").stdout == ""
    only = coleo(layout, "log", "--seat", "bob", "-n", "100").stdout.splitlines()
    assert len(only) == 15
    done = [
        json.loads(line) for line in coleo(layout, "log", "--action", "complete_task", "--json").stdout.splitlines()
    ]
    assert [entry["task"] for entry in done] == ["t-abcdef"]
    assert "t-abcdef Do it" in coleo(layout, "log", "--task", "t-abcdef").stdout


def test_log_since_an_instant(layout: Layout) -> None:
    at = out.now()
    for age_s in (7200, 1800, 60):
        activity.append(layout, "notice", now=at - age_s, text=f"{age_s} s ago")
    assert len(coleo(layout, "log", "--since", "1h").stdout.splitlines()) == 2
    assert len(coleo(layout, "log", "--since", "1h", "-n", "1").stdout.splitlines()) == 1
    ran = coleo(layout, "log", "--since", "yesterday-ish")
    assert (ran.returncode, "2h (ago)" in ran.stderr) == (2, True)


def test_following_gives_each_entry_once_and_goes_over_to_the_next_day(layout: Layout) -> None:
    """What comes between the first look and the following is neither lost nor shown twice."""
    midnight = 1_800_057_600.0
    activity.append(layout, "notice", now=midnight - 10, text="before")
    clock = [midnight - 5]
    start = log._position(layout, clock[0])
    steps = iter([("one", midnight - 4), ("two", midnight + 4), None])
    seen = []

    def pause(_seconds: float) -> None:
        step = next(steps)
        if step is None:
            raise StopIteration
        text, at = step
        clock[0] = at
        activity.append(layout, "notice", now=at, text=text)

    try:
        for entry in log.following(layout, start, lambda _entry: True, clock=lambda: clock[0], pause=pause):
            seen.append(entry["text"])
    except RuntimeError:
        pass
    assert seen == ["one", "two"]


def test_follow_on_the_command_line_ends_with_its_reader(layout: Layout) -> None:
    import subprocess
    import sys

    activity.append(layout, "notice", now=out.now(), text="first")
    with subprocess.Popen(
        [sys.executable, "-m", "coleo", "log", "--follow", "--json"], cwd=layout.root, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert b"first" in process.stdout.readline()
        activity.append(layout, "notice", now=out.now(), text="second")
        assert b"second" in process.stdout.readline()
        process.terminate()
        process.wait(10)


def test_log_lines_of_people_hold_state_changes_and_reasons() -> None:
    entry = {"ts": "2026-12-01T03:04:05.678Z", "action": "arm_state", "seat": "ada", "from_state": "idle",
             "to_state": "working", "reason": "works on t-abcdef", "claim": ""}  # fmt: skip
    row = log.row(entry)
    assert "idle → working" in row
    assert "reason='works on t-abcdef'" in row
    assert "claim" not in row
    assert "?" in log.row({})


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("15min", 900), ("2h", 7200), ("1.5h", 5400), ("7d", 604800)]
)
def test_spans_as_people_type_them(text: str, seconds: float) -> None:
    assert ages.seconds(text) == seconds
    assert ages.instant(text, NOW) == NOW - seconds


@pytest.mark.parametrize("text", ["", "h", "2 fortnights", "-5s", "1e9", "٣h"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        ages.seconds(text)


def test_instants_as_people_type_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    try:
        assert ages.instant("2027-01-15", NOW) == 1_799_971_200
        assert ages.instant("2027-01-15 08:00", NOW) == NOW
        assert ages.instant("08:00", NOW) == NOW
        assert ages.instant("2027-01-15T09:00:00+01:00", NOW) == NOW
    finally:
        monkeypatch.undo()
        time.tzset()


def test_looking_changes_nothing_that_counts(layout: Layout) -> None:
    """Only caches and locks may appear below run/."""
    for words in (["status"], ["tasks"], ["why", "ada"], ["log"]):
        assert coleo(layout, *words).returncode == 0
    left = set(os.listdir(layout.run)) if os.path.isdir(layout.run) else set()
    assert left <= {"cache", "locks", "journal"}
