"""The plan through its files: when words count, sub-plans, what cannot be read, the cache, ticks and additions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coleo.files import inplace, plan, planadd, plancache
from coleo.files.markdown import parse
from coleo.files.planadd import PlanItem, addition, item
from coleo.model.errors import CannotBeDone
from coleo.model.plan import Task, TaskSet
from tests.files.people import Clocked
from tests.files.project import NOW, lay


@pytest.fixture
def project(tmp_path: Path) -> Clocked:
    """A settled plan of two tasks, in a project with the seat bob."""
    made = Clocked(lay(tmp_path, "bob"))
    made.save("# P\n- [ ] one\n- [ ] two\n", ago_s=60)
    made.read()
    return made


# When words count


def test_a_plan_that_was_still_is_taken_at_once(tmp_path: Path) -> None:
    """By the file's own time: a command without a brain sees what was saved a minute ago, in one read."""
    project = Clocked(lay(tmp_path))
    project.save("- [ ] a\n", ago_s=60)
    read = project.read()
    assert read.first and project.kinds() == ["Added"] and read.again_at is None


def test_a_new_line_waits_until_the_file_is_still(project: Clocked) -> None:
    """Each save begins the wait anew; `again_at` is the exact time."""
    project.save("# P\n- [ ] one\n- [ ] two\n- [ ] th\n")
    read = project.read()
    assert project.kinds() == [] and read.again_at == project.now + 2
    project.now += 1
    project.save("# P\n- [ ] one\n- [ ] two\n- [ ] three\n")
    read = project.read()
    assert read.again_at == project.now + 2
    project.read(1.99)
    assert project.kinds() == []
    project.read(0.02)
    assert project.kinds() == ["Added"] and project.titles() == ["one", "two", "three"]


def test_a_file_time_that_cannot_be_true_is_not_believed(project: Clocked) -> None:
    """In the future (another machine's clock), or older than the last look: the wait counts from when it is seen."""
    for ago_s in (-3600, 3600):
        project.save(f"# P\n- [ ] one\n- [ ] two\n- [ ] n {ago_s}\n", ago_s=ago_s)
        read = project.read(1)
        assert "Added" not in project.kinds() and read.again_at == project.now + 2
        project.read(2)
        assert "Added" in project.kinds()


def test_a_clock_that_is_set_back_stops_nothing(project: Clocked) -> None:
    project.save("# P\n- [ ] one\n- [ ] two\n- [ ] three\n")
    project.read()
    project.read(-3600)
    project.read(2)
    assert project.kinds() == ["Added"]


def test_boxes_count_while_words_wait(project: Clocked) -> None:
    project.save("# P\n- [x] one\n- [ ] two\n- [ ] three\n")
    project.read()
    assert project.kinds() == ["Ticked"] and project.task("one").done


@pytest.mark.parametrize("lock", [".#plan.md", ".~lock.plan.md#", ".plan.md.kate-swp", ".plan.md.swp"])
def test_unsaved_changes_in_an_editor_hold_new_words_back(project: Clocked, lock: str) -> None:
    """For a minute; the warning names the lock, and a lock that goes is noticed without an event."""
    path = Path(project.layout.project, lock)
    if lock == ".#plan.md":
        path.symlink_to(f"me@{os.uname().nodename}.{os.getpid()}:1")
    else:
        path.write_bytes(swap(os.getpid(), changed=True) if lock.endswith(".swp") else b"")
    project.save("# P\n- [ ] one\n- [ ] two\n- [ ] three\n")
    project.settle()
    read = project.read(30)
    assert project.titles() == ["one", "two"] and [w.text for w in read.warnings] == [lock]
    assert read.again_at is not None and read.again_at - project.now <= 2
    path.unlink()
    project.read(2)
    assert project.titles() == ["one", "two", "three"]


def test_an_editor_that_is_left_with_unsaved_changes_does_not_stop_the_plan(project: Clocked) -> None:
    """What it has saved counts after a minute, whatever it holds besides (case c08)."""
    Path(project.layout.project, ".#plan.md").symlink_to("somebody@another-machine.77:1")
    project.settle("# P\n- [ ] one\n- [ ] two\n- [ ] three\n")
    assert project.titles() == ["one", "two"]
    project.read(60)
    assert project.titles() == ["one", "two", "three"]


def swap(pid: int, *, changed: bool, host: str = "") -> bytes:
    """The head of a swap file as vim and nano write it."""
    head = bytearray(4096)
    head[:2] = b"b0"
    head[24:28] = pid.to_bytes(4, "little")
    name = (host or os.uname().nodename).encode()
    head[68 : 68 + len(name)] = name
    head[1007] = 0x55 if changed else 0
    return bytes(head)


@pytest.mark.parametrize(
    ("lock", "content"),
    [
        pytest.param(".plan.md.swp", swap(os.getpid(), changed=False), id="vim is open, all is saved"),
        pytest.param(".plan.md.swp", swap(0, changed=True), id="vim is dead"),
        pytest.param("plan.md~", b"- [ ] old\n", id="a backup"),
        pytest.param(".plan.md.un~", b"undo", id="an undo file"),
        pytest.param("#plan.md#", b"auto-save", id="an auto-save"),
    ],
)
def test_what_holds_nothing_back(project: Clocked, lock: str, content: bytes) -> None:
    Path(project.layout.project, lock).write_bytes(content)
    project.settle("# P\n- [ ] one\n- [ ] two\n- [ ] three\n")
    assert project.titles() == ["one", "two", "three"]


def test_a_dead_emacs_holds_nothing_back(project: Clocked) -> None:
    Path(project.layout.project, ".#plan.md").symlink_to(f"me@{os.uname().nodename}.4000000:1")
    project.settle("# P\n- [ ] one\n- [ ] two\n- [ ] three\n")
    assert project.titles() == ["one", "two", "three"]


# What cannot be believed or read


CONFLICT = "# P\n- [ ] one\n<<<<<<< HEAD\n- [x] two\n=======\n- [ ] two, changed\n>>>>>>> other\n"


def test_conflict_markers_keep_the_last_good_tasks(project: Clocked) -> None:
    """Warned of once; boxes do not count either; when they are gone the plan is read again."""
    before = project.tasks
    project.save(CONFLICT)
    read = project.read()
    assert read.conflict and project.kinds() == [] and before and project.tasks
    assert project.tasks.tasks == before.tasks
    assert [warning.why for warning in read.fresh] == [
        "conflict markers: the last good tasks stay until they are resolved"
    ]
    read = project.read(3600)
    assert read.conflict and read.fresh == () and len(read.warnings) == 1
    project.settle("# P\n- [ ] one\n- [ ] two, changed\n")
    assert project.last and not project.last.conflict and "Added" in project.kinds()


def test_a_rule_of_equal_signs_is_no_conflict(project: Clocked) -> None:
    project.settle("# P\n- [ ] one\n- [ ] two\n\nHead\n=======\n- [ ] three\n>>>>>>> quoted\n")
    assert project.last and not project.last.conflict and project.titles() == ["one", "two", "three"]


def test_a_plan_that_cannot_be_read_keeps_its_tasks(project: Clocked) -> None:
    """A folder, a pipe that would wait for ever, a broken symlink in its place: one warning each."""
    plan_path = Path(project.layout.plan)
    plan_path.unlink()
    plan_path.mkdir()
    read = project.read(3600)
    assert project.titles() == ["one", "two"] and len(read.fresh) == 1
    plan_path.rmdir()
    os.mkfifo(plan_path)
    project.read(3600)
    assert project.titles() == ["one", "two"]
    plan_path.unlink()
    plan_path.symlink_to(plan_path.name)
    project.read(3600)
    assert project.titles() == ["one", "two"]


def test_a_plan_that_is_gone_is_doubted_then_missing_then_withdrawn(project: Clocked) -> None:
    """A rename in progress is no deletion; and what comes back keeps its ids."""
    ids = [task.id for task in project.tasks.tasks] if project.tasks else []
    os.unlink(project.layout.plan)
    assert project.read(1).events == ()
    project.read(2)
    assert project.kinds() == ["Missing", "Missing"]
    project.read(11)
    assert project.kinds() == ["Withdrawn", "Withdrawn"]
    project.settle("# P\n- [ ] one\n- [ ] two\n")
    assert project.kinds() == ["Returned", "Returned"] and project.tasks
    assert [task.id for task in project.tasks.tasks] == ids


def test_a_project_without_a_plan(tmp_path: Path) -> None:
    project = Clocked(lay(tmp_path))
    read = project.read()
    assert read.taskset.tasks == () and [warning.why for warning in read.warnings] == ["there is no such file"]


# Sub-plans


def test_sub_plans_are_part_of_the_plan(project: Clocked) -> None:
    """Below .project, from any plan to any other, in circles too; each file once."""
    project.save("# P\n- [ ] one, see [part](parts/a.md)\n- [ ] two\n\n[self](plan.md)\n", ago_s=30)
    project.save("- [ ] in a\n\n[b](b.md#top), [up](../plan.md)\n", "parts/a.md", ago_s=30)
    project.save("- [ ] in b\n\n[a](a.md) [b](./b.md)\n", "parts/b.md", ago_s=30)
    project.tasks = None
    project.read()
    assert project.titles() == ["one, see [part](parts/a.md)", "two", "in a", "in b"]
    assert [task.file for task in project.tasks.tasks][2:] == ["parts/a.md", "parts/b.md"] if project.tasks else False
    assert plan.tick(project.layout, project.task("in b"))
    assert Path(project.layout.project, "parts/b.md").read_text().startswith("- [x] in b")


@pytest.mark.parametrize(
    "link",
    [
        *("tasks/t-a.md", "archive/inbox.md", "seats/bob/seat.md", "proposals/p.md", "approvals/a.md", "inbox.md"),
        *("../out.md", "x/../../out.md", "/etc/x.md", "http://a/b.md", "%2e%2e/out.md", "a.txt", ".hidden.md"),
    ],
)
def test_what_is_no_sub_plan(project: Clocked, link: str) -> None:
    """coleo's own folders, the inbox, what is outside: links like any other, not even a warning."""
    for name in ("tasks/t-a.md", "archive/inbox.md", "proposals/p.md", "approvals/a.md", "inbox.md", ".hidden.md"):
        project.save("- [ ] not mine\n", name, ago_s=30)
    Path(project.layout.root, "out.md").write_text("- [ ] not mine\n")
    read = project.settle(f"# P\n- [ ] one\n- [ ] two\n[x]({link})\n")
    assert project.titles() == ["one", "two"] and read.warnings == ()


def test_symlinks_do_not_lead_out(project: Clocked) -> None:
    """A plan itself may be a symlink to anywhere; a sub-plan may be one to another place inside."""
    outside = Path(project.layout.root, "outside")
    outside.mkdir()
    (outside / "x.md").write_text("- [ ] not mine\n")
    here = Path(project.layout.project)
    (here / "x.md").symlink_to(outside / "x.md")
    (here / "folder").symlink_to(outside)
    (here / "own.md").symlink_to(here / "seats" / "bob" / "seat.md")
    project.save("- [ ] mine\n", "real.md", ago_s=30)
    (here / "good.md").symlink_to(here / "real.md")
    read = project.settle("# P\n- [ ] one\n[a](x.md) [b](folder/x.md) [c](own.md) [d](good.md) [e](real.md)\n")
    assert project.titles() == ["one", "mine"]
    assert [warning.text for warning in read.warnings] == ["x.md", "own.md"], "x.md is one file under two names"
    assert {warning.why for warning in read.warnings} == {
        "a link that leads out of the project's folder is not followed"
    }


def test_a_missing_sub_plan_is_a_warning(project: Clocked) -> None:
    """With the line of the link; its tasks wait as those of a deleted line do."""
    project.save("- [ ] in a\n", "a.md", ago_s=30)
    project.settle("# P\n- [ ] one\n\n[a](a.md)\n")
    os.unlink(os.path.join(project.layout.project, "a.md"))
    project.read(3)
    read = project.read(3)
    assert [(w.file, w.line, w.why, w.text) for w in read.warnings] == [("plan.md", 4, "there is no such file", "a.md")]
    assert project.task("in a").missing_since_at is not None
    assert "Withdrawn" in {type(event).__name__ for event in project.read(12).events}


def test_a_link_that_is_taken_out_takes_its_tasks_along(project: Clocked) -> None:
    project.save("- [ ] in a\n", "a.md", ago_s=30)
    project.settle("# P\n- [ ] one\n- [ ] two\n[a](a.md)\n")
    project.settle("# P\n- [ ] one\n- [ ] two\n")
    assert project.task("in a").missing_since_at is not None
    project.read(12)
    assert project.titles() == ["one", "two"] and project.tasks and set(project.tasks.files) == {"plan.md"}


def test_marks_of_seats_follow_the_seats(project: Clocked) -> None:
    project.settle("- [ ] a @bob\n- [ ] b @ann\n")
    assert (project.task("a").seat, project.task("b @ann").seat) == ("bob", None)
    before = project.task("b @ann").id
    lay(Path(project.layout.root), "ann")
    project.read(1)
    assert (project.task("b").seat, project.task("b").id) == ("ann", before)


# Ten thousand


@pytest.mark.parametrize("headings", [False, True])
def test_ten_thousand_tasks_and_one_change(tmp_path: Path, headings: bool) -> None:
    """One event for one change, wherever it stands; nothing else is touched. (`scripts/bench` says how fast.)"""
    rows = [f"- [ ] task {number} of many" for number in range(10_000)]
    if headings:
        rows = [row if number % 20 else f"## Part {number}\n\n{row}" for number, row in enumerate(rows)]
    project = Clocked(lay(tmp_path))
    project.save("\n".join(rows) + "\n", ago_s=60)
    project.read()
    assert project.tasks and len(project.tasks.tasks) == 10_000
    ids = [task.id for task in project.tasks.tasks]
    rows[7000] = rows[7000].replace("[ ]", "[x]")
    project.settle("\n".join(rows) + "\n")
    rows.insert(40, "- [ ] another one")
    project.save("\n".join(rows) + "\n")
    project.read(1)
    project.read(2)
    assert project.kinds() == ["Added"]
    assert [task.id for task in project.tasks.tasks if task.title != "another one"] == ids
    assert project.task("task 7000 of many").done and project.task("another one").line == (45 if headings else 41)
    fresh = plan.read(project.layout, None, project.now)
    assert [(task.line, task.title, task.section) for task in fresh.taskset.tasks] == [
        (task.line, task.title, task.section) for task in project.tasks.tasks
    ]


# Cache


def test_the_cache_says_what_a_read_says(project: Clocked) -> None:
    project.settle("# P\n- [x] one @bob !high\n- [ ] two after:one\n  d\n  ```sh\n  ls\n  ```\n  > Comment: c\n")
    assert project.tasks
    plancache.save(project.layout, project.tasks)
    assert plancache.tasks(project.layout, project.now) == project.tasks == plancache.load(project.layout)


def test_the_cache_is_stale_when_a_file_changed_or_a_wait_ran_out(project: Clocked) -> None:
    project.save("- [ ] in a\n", "a.md", ago_s=30)
    project.settle("# P\n- [ ] one\n[a](a.md) [b](b.md)\n")
    assert project.tasks
    plancache.save(project.layout, project.tasks)
    assert plancache.tasks(project.layout) is not None
    assert project.tasks.again_at and plancache.tasks(project.layout, project.tasks.again_at) is None
    project.touch("a.md", ago_s=1)
    assert plancache.tasks(project.layout) is None
    project.read(20)
    plancache.save(project.layout, project.tasks)
    project.save("", "b.md")
    assert plancache.tasks(project.layout) is None, "the missing file came"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": 0}', b'{"version": 1, "tasks": [{}]}', b"\xff" * 9]
)
def test_a_cache_that_is_none_is_no_cache(project: Clocked, content: bytes) -> None:
    os.makedirs(project.layout.cache)
    Path(plancache.path(project.layout)).write_bytes(content)
    assert plancache.tasks(project.layout) is None


# Ticks


def test_a_tick_finds_its_line_wherever_it_is(project: Clocked) -> None:
    """Moved to another section, with other marks; but never a line that is another task."""
    task = project.task("two")
    project.save("# New\n\n- [ ] one\n- [ ] two !high\n")
    assert plan.tick(project.layout, task)
    assert Path(project.layout.plan).read_text() == "# New\n\n- [ ] one\n- [x] two !high\n"
    assert plan.tick(project.layout, task) and plan.tick(project.layout, task, False)
    project.save("# New\n- [ ] two\n# Other\n- [ ] two\n")
    assert not plan.tick(project.layout, task), "two lines could be it"
    project.save("# New\n- [ ] twofold\n")
    assert not plan.tick(project.layout, task)
    os.unlink(project.layout.plan)
    assert not plan.tick(project.layout, task)


def test_a_tick_races_a_save_and_the_save_wins(project: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file changes between our look and our write: look again, nothing of the person's is lost."""
    real = inplace.set_byte
    saves = iter(["# P\n- [ ] zero\n- [ ] one\n- [ ] two\n", "# P\n- [ ] zero\n- [x] one\n- [ ] two\nmore\n"])

    def slow(path: str, expected: bytes, offset: int, byte: int) -> None:
        text = next(saves, None)
        if text is not None:
            project.save(text)
        real(path, expected, offset, byte)

    monkeypatch.setattr(inplace, "set_byte", slow)
    assert plan.tick(project.layout, project.task("two"))
    assert Path(project.layout.plan).read_text() == "# P\n- [ ] zero\n- [x] one\n- [x] two\nmore\n"


def test_a_plan_in_conflict_is_not_ticked(project: Clocked) -> None:
    """Which of the two sides it would be is for a person to say: try again later."""
    project.save(CONFLICT)
    with pytest.raises(inplace.Busy):
        plan.tick(project.layout, project.task("one"))
    assert Path(project.layout.plan).read_text() == CONFLICT


def test_a_tick_keeps_symlink_inode_and_mode(project: Clocked) -> None:
    real = Path(project.layout.root, "real.md")
    os.rename(project.layout.plan, real)
    real.chmod(0o640)
    Path(project.layout.plan).symlink_to(real)
    before = real.stat()
    assert plan.tick(project.layout, project.task("one"))
    assert Path(project.layout.plan).is_symlink() and "[x] one" in real.read_text()
    assert (real.stat().st_ino, real.stat().st_mode) == (before.st_ino, before.st_mode)


# Additions


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"## Inbox\n\n- [ ] new\n"),
        (b"# P\n- [ ] a\n", b"# P\n- [ ] a\n\n## Inbox\n\n- [ ] new\n"),
        (b"# P\n- [ ] a", b"# P\n- [ ] a\n\n## Inbox\n\n- [ ] new\n"),
        (b"# P\r\n- [ ] a\r\n", b"# P\r\n- [ ] a\r\n\r\n## Inbox\r\n\r\n- [ ] new\r\n"),
        (b"# P\r- [ ] a", b"# P\r- [ ] a\r\r## Inbox\r\r- [ ] new\r"),
        (b"## Inbox\n\n- [x] a\n", b"## Inbox\n\n- [x] a\n- [ ] new\n"),
        (b"## Inbox\n\n1. [x] a\n   ```sh\n   x\n", b"## Inbox\n\n1. [x] a\n   ```sh\n   x\n- [ ] new\n"),
        (b"## Inbox\n# End\ntext\n\n\n", b"## Inbox\n# End\ntext\n\n\n## Inbox\n\n- [ ] new\n"),
        (b"<div>\n", b"<div>\n\n## Inbox\n\n- [ ] new\n"),
        (b"## Inbox\n> quote\n", b"## Inbox\n> quote\n- [ ] new\n"),
        (b"\xff\xfe", b"\xff\xfe\n\n## Inbox\n\n- [ ] new\n"),
    ],
)
def test_additions_stand_below_inbox_at_the_end(before: bytes, after: bytes) -> None:
    """Line ends as in the file; the heading only when the last section is another one."""
    assert before + addition(before, [item("new")]) == after


@pytest.mark.parametrize("before", [b"```sh\nls\n", b"text\n<!-- not closed\n", b"<pre>\n", b"~~~~\n~~~\n"])
def test_an_open_end_is_not_added_to(project: Clocked, before: bytes) -> None:
    """What would become code or a comment is not written; the error says what to do."""
    project.save(before)
    with pytest.raises(CannotBeDone) as caught:
        plan.add_items(project.layout, [item("new")])
    assert caught.value.todo and caught.value.file == ".project/plan.md"
    assert Path(project.layout.plan).read_bytes() == before


@pytest.mark.parametrize("text", [CONFLICT, None])
def test_no_addition_to_a_conflict_or_to_nothing(project: Clocked, text: str | None) -> None:
    if text is None:
        os.unlink(project.layout.plan)
    else:
        project.save(text)
    with pytest.raises(CannotBeDone):
        plan.add_items(project.layout, [item("new")])
    assert os.path.exists(project.layout.plan) is (text is not None)


def test_what_is_added_comes_out_as_it_went_in(project: Clocked) -> None:
    """Titles in one line, bodies with code, rules, headings, tabs, blank lines and foreign bytes."""
    body = "---\n\n# no heading\n```sh\n\tx\n\n  y\n```\n> Comment: c\n1. x\n<!-- open\n\n    deep"
    plan.add_items(
        project.layout,
        [
            item("two\nlines  and\ttabs", body, seat="bob", priority="high", after=["one", "a b"], fixed_id="t-fix222"),
            item("plain"),
            PlanItem(b"caf\xe9", (b"\xff\xfe", b"", b"- [ ] sub"), done=True),
        ],
    )
    lines = parse(Path(project.layout.plan).read_bytes(), seats=frozenset({"bob"}))[0][2:]
    assert [line.title for line in lines] == ["two lines and tabs", "plain", "caf\ufffd", "sub"]
    assert {line.section for line in lines} == {"Inbox"}
    first = lines[0]
    assert (first.seat, first.priority, first.after, first.fixed_id) == ("bob", "high", ("one", "a b"), "t-fix222")
    assert first.description == body.replace("> Comment: c\n", "") and first.comments == ("c",)
    assert [(block.lang, block.code) for block in first.blocks] == [("sh", "\tx\n\n  y\n")]
    assert (lines[2].done, lines[3].parent) == (True, 4)


def test_what_would_be_no_task_by_itself() -> None:
    assert planadd.is_task(item("x")) and planadd.is_task(item("```")) and planadd.is_task(item("# x"))
    assert not planadd.is_task(item("")) and not planadd.is_task(item("<!-- x -->"))


def test_an_empty_set_is_empty() -> None:
    tasks = TaskSet((Task("t-a", "a", missing_since_at=NOW), Task("t-b", "b", after=("t-a", "?"))))
    assert [task.id for task in tasks.present()] == ["t-b"] and tasks.unmet(tasks.tasks[1]) == ("t-a", "?")
    assert TaskSet().unmet(Task("t-c", "c")) == () and TaskSet().by_id() == {}
