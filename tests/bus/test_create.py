"""create-task: a seat's task gets into the plan as text, once, with its origin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies

from coleo.bus import create, tasks
from coleo.files import mend, taskfile
from coleo.files.markdown import PlanParser
from coleo.model.errors import BadInput, CannotBeDone
from tests.bus.calling import PLAN, call, ids, project, settle
from tests.files.project import NOW, log


def test_a_task_is_added_below_inbox(tmp_path: Path) -> None:
    """With its marks; nothing else in the plan changes; its maker is remembered, its seat is told."""
    layout = project(tmp_path)
    first = ids(layout)["Write the parser"]
    reply = call(
        layout, "ada", "create-task", title="Check it", description="all of\n## Notes\nit", assignee="bob",
        after=[first], priority="high",
    )  # fmt: skip
    task = reply.data["task"]
    assert Path(layout.plan).read_text() == PLAN + f"\n## Inbox\n\n- [ ] Check it @bob !high after:{first} ^{task}\n"
    settle(layout, -10)
    one = tasks.board(layout, NOW + 60).get(task)
    assert one is not None and (one.seat, one.priority, one.origin) == ("bob", "high", "seat:ada")
    assert one.source.endswith("written by seat ada") and one.waiting_for == (first,)
    assert one.description == "all of\n\\## Notes\nit" and one.file is not None and one.file.pending == ""
    inbox = call(layout, "bob", "check-inbox", now=NOW + 10)
    assert "> > Check it" in inbox.text and task in inbox.text
    assert log(layout, "create_task")[0]["seat"] == "ada"
    call(layout, "ada", "create-task", title="Check it")
    assert Path(layout.plan).read_text().count("## Inbox") == 1, "a second one stands in the same section"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"title": " \n\t"}, "title is empty"),
        ({"title": "x" * 301}, "too long"),
        ({"title": "x", "assignee": "ghost"}, "no seat ghost"),
        ({"title": "x", "assignee": "../x"}, "not a seat name"),
        ({"title": "x", "after": ["t-zzzzzz"]}, "no task t-zzzzzz"),
        ({"title": "x", "description": "x" * 300_000}, "too long"),
    ],
)
def test_bad_input_changes_nothing(tmp_path: Path, values: dict[str, Any], words: str) -> None:
    """Neither the plan nor tasks/."""
    layout = project(tmp_path)
    with pytest.raises(BadInput, match=words):
        call(layout, "ada", "create-task", **values)
    assert Path(layout.plan).read_text() == PLAN and not Path(layout.tasks).exists()


@pytest.mark.parametrize(
    "title",
    [
        "line one\nline two\r\n- [ ] forged",
        "call @bob",
        "do it !high ^t-zzzzzz",
        "wait after:t-zzzzzz",
        "see [notes](notes.md) and <b>this</b>",
        "<!-- hidden --> shown",
        "[x] looks done",
        "=== URGENT SIGNAL ===",
        "C:\\dir and \\*stars\\*",
        "`code [0]` stays",
        "\x1b[31mred\x07",
        "# not a heading",
    ],
)
def test_a_title_is_text_whatever_it_looks_like(tmp_path: Path, title: str) -> None:
    """One task comes of it, open, without marks or links of its own, and shows what was meant."""
    layout = project(tmp_path)
    task = call(layout, "ada", "create-task", title=title).data["task"]
    parsed = PlanParser().parse(Path(layout.plan).read_bytes(), frozenset({"ada", "bob"}))
    (line,) = [line for line in parsed.lines if line.fixed_id == task]
    assert len(parsed.lines) == 7 and not parsed.links
    assert (line.done, line.seat, line.priority, line.after) == (False, None, "normal", ())
    settle(layout, -10)
    one = tasks.board(layout, NOW + 60).get(task)
    assert one is not None and one.title == create.check_title(title)


@given(strategies.text(max_size=60))
def test_any_title_is_one_line_of_the_plan(title: str) -> None:
    """By the plan's own parser."""
    try:
        words = create.check_title(title)
    except BadInput:
        return
    line = create.plan_line(words, "t-abcdef", "ada", ["t-bcdefg"], "low")
    plan = f"- [ ] before\n- [ ] {line}\n- [ ] behind\n".encode("utf-8", "replace")
    parsed = PlanParser().parse(plan, frozenset({"ada", "bob"})).lines
    assert [one.title for one in parsed][::2] == ["before", "behind"] and len(parsed) == 3
    assert (parsed[1].seat, parsed[1].priority, parsed[1].after, parsed[1].fixed_id) == (
        "ada",
        "low",
        ("t-bcdefg",),
        "t-abcdef",
    )


def test_what_cannot_be_added_now_is_kept_and_added_later(tmp_path: Path) -> None:
    """A plan whose end is an open fence: the seat is told, a person mends it, the task comes in, once."""
    layout = project(tmp_path, PLAN + "```\nopen\n")
    with pytest.raises(CannotBeDone, match="is kept"):
        call(layout, "ada", "create-task", title="Later")
    assert "Later" not in Path(layout.plan).read_text()
    (file,) = taskfile.read_all(layout)[0].values()
    assert file.pending.startswith("Later ^t-")
    Path(layout.plan).write_text(PLAN)
    settle(layout, -10)
    for at in (60, 120):
        call(layout, "bob", "get-full-briefing", now=NOW + at)
    assert Path(layout.plan).read_text().count(f"- [ ] Later ^{file.id}") == 1


def test_a_cut_after_the_line_was_written_adds_no_second_line(tmp_path: Path) -> None:
    """The line carries the id: it is looked for before it is written."""
    layout = project(tmp_path)
    task = call(layout, "ada", "create-task", title="Once").data["task"]
    line = Path(layout.plan).read_text().splitlines()[-1].removeprefix("- [ ] ")
    taskfile.update(layout, task, {"pending": line}, NOW)
    assert mend.pending(layout, task, NOW) is not None
    assert Path(layout.plan).read_text().count("Once") == 1
    assert taskfile.read(layout, task).pending == ""  # type: ignore[union-attr]
