"""Task files: made on first touch, edited by coleo and by people, never written over when they cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies

from coleo.files import taskbody, taskfile, taskindex
from coleo.files.layout import Layout
from coleo.model.errors import BadInput
from coleo.model.plan import Task
from coleo.model.task import TaskStatus
from tests.files.project import NOW, lay

TASK = Task("t-abcdef", "Write: the [parser] # now", "Phase 1", description="from the plan")


def path_of(layout: Layout) -> Path:
    """The file of `TASK`."""
    (path,) = Path(layout.tasks).glob("*.md")
    return path


def test_a_task_has_no_file_until_it_is_touched(tmp_path: Path) -> None:
    """And then a readable one, whose name begins with its id."""
    layout = lay(tmp_path)
    assert taskfile.read(layout, TASK.id) is None
    made = taskfile.touch(layout, TASK, NOW)
    assert path_of(layout).name == "t-abcdef-write-the-parser-now.md"
    assert (made.id, made.title, made.section, made.status) == (TASK.id, TASK.title, "Phase 1", TaskStatus.OPEN)
    assert taskfile.touch(layout, TASK.replace(title="other"), NOW + 5) == made, "a second touch changes nothing"
    assert path_of(layout).stat().st_mode & 0o777 == 0o600


def test_the_description_of_a_seats_own_task_is_in_the_file(tmp_path: Path) -> None:
    """A task of the plan keeps its description in the plan; headings of ours in it are text."""
    layout = lay(tmp_path)
    made = taskfile.touch(layout, TASK.replace(origin="seat:ada", description="one\n## Notes\n- x"), NOW)
    assert made.origin == "seat:ada" and made.notes == ()
    assert made.description == "one\n\\## Notes\n- x"
    assert taskfile.touch(layout, TASK.replace(id="t-bcdefg"), NOW).description == ""


def test_notes_attempts_and_results_are_kept_in_order(tmp_path: Path) -> None:
    """Text of agents cannot begin a heading or an item of its own."""
    layout = lay(tmp_path)
    taskfile.add_note(layout, TASK, "ada", "first\n## Result\n- a list\n```\nopen fence", NOW)
    taskfile.update(layout, TASK.id, {"attempts": 1}, NOW + 1, attempt=("ada", "failed", "no\n1. key"))
    taskfile.update(layout, TASK.id, {}, NOW + 2, result=("bob", "done", "3 passed\n## Notes"))
    taskfile.add_note(layout, TASK, "bob", "second", NOW + 3)
    file = taskfile.read(layout, TASK.id)
    assert file is not None
    assert [note.partition(" ")[2] for note in file.notes] == [
        "ada: first\n## Result\n- a list\n```\nopen fence",
        "bob: second",
    ]
    assert [reason.partition(" ")[2] for reason in file.reasons] == ["ada failed: no\n1. key"]
    assert "3 passed" in file.result and "## Notes" in file.result
    assert file.attempts == 1


@pytest.mark.parametrize(
    ("word", "status"),
    [("blocked", "blocked"), ("In Progress", "in_progress"), ("DONE", "done"), ("", "open"), ('"failed"', "failed")],
)
def test_a_status_written_by_hand_counts(tmp_path: Path, word: str, status: str) -> None:
    """People write it in their own way."""
    layout = lay(tmp_path)
    taskfile.touch(layout, TASK, NOW)
    path = path_of(layout)
    path.write_text(path.read_text().replace("status: open", f"status: {word}"))
    file = taskfile.read(layout, TASK.id)
    assert file is not None and file.status == status


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("status: open", "status: nearly", 6),
        ("status: open", "status: [open", 6),
        ("file: plan.md", "file: plan.md\nattempts: many", 6),
        ("---\n# ", "# ", 1),
    ],
)
def test_bad_front_matter_is_told_with_its_line_and_left_alone(tmp_path: Path, old: str, new: str, line: int) -> None:
    """No word of it is written over, by no verb."""
    layout = lay(tmp_path)
    taskfile.touch(layout, TASK, NOW)
    path = path_of(layout)
    path.write_text(path.read_text().replace(old, new, 1))
    before = path.read_bytes()
    acts: list[Callable[[], object]] = [
        lambda: taskfile.read(layout, TASK.id),
        lambda: taskfile.add_note(layout, TASK, "ada", "note", NOW),
        lambda: taskfile.update(layout, TASK.id, {"status": "done"}, NOW),
    ]
    for act in acts:
        with pytest.raises(BadInput) as found:
            act()
        assert found.value.line is not None and abs(found.value.line - line) <= 1
        assert found.value.file == f".project/tasks/{path.name}"
    assert path.read_bytes() == before


def test_what_a_person_adds_stays_byte_for_byte(tmp_path: Path) -> None:
    """Keys that coleo does not know, comments, CRLF, text between and behind the sections, a symlink."""
    layout = lay(tmp_path)
    real = tmp_path / "elsewhere.md"
    real.write_bytes(
        b"---\r\nid: t-abcdef\r\n# mine\r\nowner: me\r\nstatus: open\r\n---\r\n"
        b"My words.\r\n\r\n## Notes\r\n\r\n* old\r\n"
        b"\r\n## Own section\r\n\r\nkept"
    )
    os.makedirs(layout.tasks)
    link = Path(layout.tasks) / "t-abcdef-x.md"
    link.symlink_to(real)
    taskfile.add_note(layout, TASK, "ada", "new\nmore", NOW)
    assert link.is_symlink()
    lines = real.read_bytes().split(b"\r\n")
    assert lines[:5] == [b"---", b"id: t-abcdef", b"# mine", b"owner: me", b"status: open"]
    assert lines[7:] == [
        b"My words.",
        b"",
        b"## Notes",
        b"",
        b"* old",
        b"- 2025-11-30T10:00:00.000Z ada: new",
        b"  more",
        b"",
        b"## Own section",
        b"",
        b"kept",
    ]


def test_a_file_that_a_person_made_without_front_matter_is_taken(tmp_path: Path) -> None:
    """Its name gives the id, its heading the title."""
    layout = lay(tmp_path)
    os.makedirs(layout.tasks)
    (Path(layout.tasks) / "t-abcdef-mine.md").write_text("# Mine\n\nText.\n")
    file = taskfile.read(layout, "t-abcdef")
    assert file is not None and (file.title, file.description, file.status) == ("Mine", "Text.", TaskStatus.OPEN)
    after = taskfile.update(layout, "t-abcdef", {"status": "blocked"}, NOW)
    assert after.status is TaskStatus.BLOCKED and path_of(layout).read_text().endswith("# Mine\n\nText.\n")


def test_ids_that_begin_alike_are_told_apart(tmp_path: Path) -> None:
    """``^rel`` and ``^rel-2`` are two tasks."""
    layout = lay(tmp_path)
    one, two = Task("rel", "2 things"), Task("rel-2", "things")
    taskfile.touch(layout, two, NOW)
    assert taskfile.read(layout, "rel") is None
    taskfile.touch(layout, one, NOW)
    assert {taskfile.read(layout, task.id).title for task in (one, two)} == {"2 things", "things"}  # type: ignore[union-attr]


def test_junk_in_the_folder_is_passed_over(tmp_path: Path) -> None:
    """Editor files are not even read (case c10)."""
    layout = lay(tmp_path)
    taskfile.touch(layout, TASK, NOW)
    for name in (".#t-abcdef-x.md", "t-abcdef-x.md~", "#t-abcdef.md#", "4913", "notes.txt", ".t-abcdef.md.swp"):
        (Path(layout.tasks) / name).write_text("---\nid: [")
    files, bad = taskfile.read_all(layout)
    assert set(files) == {"t-abcdef"} and not bad


def test_a_cache_reads_only_what_changed(tmp_path: Path) -> None:
    """And keeps the last good state of a file that cannot be read now."""
    layout = lay(tmp_path)
    taskfile.touch(layout, TASK, NOW)
    path = path_of(layout)
    cache = taskfile.Cache(layout, clock=lambda: path.stat().st_mtime + 60)
    assert cache.refresh() == {"t-abcdef"} and cache.refresh() == frozenset()
    taskfile.update(layout, TASK.id, {"status": "blocked"}, NOW)
    assert cache.refresh() == {"t-abcdef"}
    path.write_text("---\nstatus: [\n---\n")
    cache.refresh()
    assert cache.files["t-abcdef"].status is TaskStatus.BLOCKED and len(cache.bad) == 1
    path.unlink()
    cache.refresh()
    assert cache.files == {} and cache.bad == []


def test_the_index_gives_what_the_files_say(tmp_path: Path) -> None:
    """Also after a file has changed, and when it is rubbish; results of done tasks are read when they are asked for."""
    layout = lay(tmp_path)
    letters = "abcdefghijklmnopqrstuvwxyz234567"
    tasks = [Task(f"t-abcde{letter}", f"Task {letter}") for letter in letters]
    for task in tasks:
        taskfile.touch(layout, task, NOW)
        taskfile.update(layout, task.id, {"status": "done"}, NOW, result=("ada", "did it", ""))
    for path in Path(layout.tasks).iterdir():
        os.utime(path, (NOW, NOW))
    first, _bad = taskindex.read_all(layout)
    assert (Path(layout.cache) / "tasks.json").exists()
    again, _bad = taskindex.read_all(layout)
    assert {one.id: taskindex.whole(one) for one in again.values()} == first
    assert all(one.partial for one in again.values())
    taskfile.update(layout, tasks[0].id, {"status": "open"}, NOW)
    assert taskindex.read_all(layout)[0][tasks[0].id].status is TaskStatus.OPEN
    (Path(layout.cache) / "tasks.json").write_text('{"version": 1, "files": {"x": [1]}}')
    assert set(taskindex.read_all(layout)[0]) == {task.id for task in tasks}


TEXT = strategies.text(strategies.sampled_from("ab #-*1.`~\n\r\t[]x:>\\|é\u2028"), max_size=60)


@given(
    TEXT, strategies.lists(strategies.tuples(strategies.sampled_from(["note", "attempt", "result"]), TEXT), max_size=4)
)
def test_additions_keep_what_is_there(text: str, additions: list[tuple[str, str]]) -> None:
    """Whatever a person has written: every old line stays, in order, and each addition is found again."""
    body = text
    for kind, words in additions:
        before = taskbody.parse(body)
        match kind:
            case "note":
                changed = taskbody.add(body, taskbody.NOTES, taskbody.note("at", "ada", words))
                assert len(taskbody.parse(changed).notes) == len(before.notes) + 1
            case "attempt":
                item = taskbody.attempt(1, "at", "ada", "failed", words)
                changed = taskbody.add(body, taskbody.ATTEMPTS, item)
                assert len(taskbody.parse(changed).attempts) == len(before.attempts) + 1
            case _:
                changed = taskbody.add(body, taskbody.RESULT, taskbody.result("at", "ada", words, words))
        after = taskbody.parse(changed)
        assert (after.title, after.description) == (before.title, before.description)
        _is_part_of(body, changed)
        body = changed


def _is_part_of(old: str, new: str) -> None:
    """Every line of `old` is a line of `new`, in the same order."""
    rest = iter(new.splitlines())
    for line in old.splitlines():
        assert any(line == other for other in rest), line
