"""Parts of the shell worker without a terminal: signs of life, receipts, retries, and what a mistake of ours leaves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coleo.bus.context import Reply
from coleo.bus.tasks import TaskView
from coleo.files.layout import Layout
from coleo.harness.shell import attempt, transcript
from coleo.harness.shell.attempt import Attempt
from coleo.harness.shell.control import MANY_EVENTS, Control, Leave, Show
from coleo.harness.shell.desk import Desk
from coleo.harness.shell.jobs import Jobs
from coleo.harness.shell.transcript import Transcript, prompt_ids
from coleo.model.plan import Block, Task
from coleo.model.prompt import Prompt, block, frame, pointer
from coleo.model.task import TaskStatus
from tests.waiting import eventually

NOW = 1_796_000_000.0


@pytest.fixture
def control() -> Iterator[Control]:
    made = Control()
    yield made
    made.close()


def desk_in(tmp_path: Path, control: Control) -> Desk:
    (tmp_path / ".project" / "seats" / "bo").mkdir(parents=True)
    return Desk(Layout(str(tmp_path)), "bo", str(tmp_path), {"PATH": os.environ["PATH"]}, control, lambda: NOW)


def one_task() -> TaskView:
    return TaskView(Task("t-aaaaaa", "Title", blocks=(Block("sh", "true\n"),)), None, None, TaskStatus.IN_PROGRESS)


def test_a_long_block_beats_every_half_minute_and_notes_its_progress_at_growing_distances(
    tmp_path: Path, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known to run is not taken for stuck (case b05); and its task's file does not fill with notes."""
    calls: list[tuple[float, str]] = []
    clock = [0.0]
    desk = desk_in(tmp_path, control)
    monkeypatch.setattr(desk, "call", lambda verb, **values: calls.append((clock[0], verb)))
    on_time = Attempt(desk, one_task(), "token")._signs_of_life("block 1 of 1 (sh)")
    while clock[0] < 7200:
        clock[0] = on_time(clock[0])
    beats = [at for at, verb in calls if verb == "update-heartbeat"]
    notes = [at for at, verb in calls if verb == "task-progress"]
    assert beats[:4] == [0.0, 30.0, 60.0, 90.0] and len(beats) == 240
    assert notes == [60.0, 120.0, 240.0, 480.0, 960.0, 2760.0, 4560.0, 6360.0]


def test_signs_of_life_that_fail_do_not_concern_the_command(
    tmp_path: Path, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_in(tmp_path, control)

    def fail(verb: str, **_values: Any) -> Reply:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(desk, "call", fail)
    assert Attempt(desk, one_task(), "token")._signs_of_life("x")(0.0) == 30.0


def test_a_result_is_tried_until_the_disk_takes_it(
    tmp_path: Path, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, tries = desk_in(tmp_path, control), 0

    def call(verb: str, **_values: Any) -> Reply:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise OSError(28, "No space left on device")
        return Reply("done", {})

    monkeypatch.setattr(desk, "call", call)
    monkeypatch.setattr(attempt, "RETRY_S", (0.01,))
    assert Attempt(desk, one_task(), "token")._write_down("complete-task").text == "done"
    assert tries == 4
    assert (
        sum("No space left" in line for event in control.events if isinstance(event, Show) for line in event.lines) == 3
    )
    tries = -100
    control.stop()
    with pytest.raises(OSError, match="No space left"):
        Attempt(desk, one_task(), "token")._write_down("complete-task")


def test_a_mistake_of_ours_ends_the_worker_with_a_report(
    tmp_path: Path, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = Jobs(desk_in(tmp_path, control), Transcript(str(tmp_path / "t" / "bo.jsonl")))

    def broken(_item: object) -> None:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(jobs, "_handle", broken)
    jobs.start()
    jobs.put("help", ())
    eventually(lambda: any(isinstance(event, Leave) for event in control.events))
    assert control.events[-1] == Leave(70)
    said = [line for event in control.events if isinstance(event, Show) for line in event.lines]
    assert "bug of coleo's: ZeroDivisionError" in said[0]
    report = Path(said[1].removeprefix("  a report is in "))
    assert "ZeroDivisionError: a mistake" in report.read_text()


def test_a_thread_that_is_behind_gets_a_number_instead_of_lines(control: Control) -> None:
    for _ in range(MANY_EVENTS + 10):
        control.tell(Show(("a", "b")))
    control.tell(Leave(0))
    assert len(control.events) == MANY_EVENTS + 2
    assert control.left_out == 18 and control.events[-1] == Leave(0)


def test_an_interrupt_is_over_with_its_job_and_a_stop_never_is(control: Control) -> None:
    assert not control.wait(0.0)
    control.interrupt()
    assert control.wish == "interrupted" and control.wait(60.0)
    control.interrupt_done()
    assert control.wish == "" and not control.wait(0.0)
    control.stop()
    control.interrupt()
    control.interrupt_done()
    assert control.wish == "stopped"


def test_prompts_are_known_by_their_headers_and_nothing_else() -> None:
    """A person's words are no prompt; words inside a prompt name no other (case h08)."""
    assert prompt_ids("run t-abc") == ()
    assert prompt_ids(frame(Prompt("m-1", "x\n=== COLEO NUDGE [msg_id: m-9] [0123abcd] ==="), "0123abcd")) == ("m-1",)
    assert prompt_ids(block([Prompt("m-1", "x"), Prompt("m-2", "y", kind="nudge")], "0123abcd")) == ("m-1", "m-2")
    cron = Prompt("cron-a-1", "x [msg_id: m-9] [0123abcd]\ny", kind="cron_fired", name="a")
    assert prompt_ids(frame(cron, "0123abcd")) == ("cron-a-1",)
    assert prompt_ids(pointer([Prompt("m-1", ""), Prompt("m-2", "")], "0123abcd", "/p")) == ("m-1", "m-2")
    other = "\n".join([frame(Prompt("m-1", "x"), "0123abcd"), frame(Prompt("m-2", "x"), "ffffffff")])
    assert prompt_ids(other) == ("m-1",)
    assert prompt_ids("hello\n" + frame(Prompt("m-1", "x"), "0123abcd")) == ()


def test_a_transcript_that_grew_large_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "LONGEST", 50)
    path = tmp_path / "t" / "bo.jsonl"
    for name in ("m-1", "m-2"):
        assert Transcript(str(path)).write("turn", NOW, id=name)
    assert path.with_name("bo.jsonl.1").exists() and "m-2" in path.read_text() and "m-1" not in path.read_text()


def test_a_receipt_that_cannot_be_written_is_told_and_costs_no_work(tmp_path: Path) -> None:
    made = Transcript(str(tmp_path / "t" / "bo.jsonl"))
    (tmp_path / "t").rmdir()
    (tmp_path / "t").write_text("a file in the way")
    assert made.write("turn", NOW, id="m-1") is False
