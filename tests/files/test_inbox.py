"""The inbox: what becomes a task, what is a repeat, what makes no task; and the order in which it is taken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coleo.files import explain, inbox, inboxarchive, taskfile, unread
from coleo.files.inbox import InboxTaken, Note
from coleo.files.inboxparse import parse
from coleo.files.markdown import PlanParser
from coleo.files.markdown import parse as parse_plan
from coleo.files.planadd import block
from coleo.model.errors import CannotBeDone
from coleo.model.titles import is_duplicate, is_similar, significant_words
from tests.files.people import Clocked
from tests.files.project import lay


@pytest.fixture
def project(tmp_path: Path) -> Clocked:
    """A settled plan of three tasks, one of them done."""
    made = Clocked(lay(tmp_path, "bob"))
    made.save("# P\n- [ ] Fix the login page\n- [ ] Write docs @bob\n- [x] Old thing\n", ago_s=60)
    made.read()
    return made


def drop(project: Clocked, text: str | bytes, *, ago_s: float = 60) -> None:
    project.save(text, "inbox.md", ago_s=ago_s)


def sync(project: Clocked, notes: list[Note] | None = None) -> InboxTaken:
    """One sync with what the last read of the plan knew."""
    assert project.tasks is not None
    note = None if notes is None else notes.append
    return inbox.sync(project.layout, project.tasks, project.now, write_note=note)


def added(project: Clocked) -> list[str]:
    """What stands below ## Inbox in the plan."""
    return [line.title for line in parse_plan(Path(project.layout.plan).read_bytes())[0] if line.section == "Inbox"]


def archived(project: Clocked) -> list[bytes]:
    return [record.data for path in inboxarchive.files(project.layout) for record in inboxarchive.records(path)]


# What an inbox says


def titles(text: str) -> list[str]:
    return [item.title for item in parse(text.encode()).items]


def test_a_header_with_its_text_is_a_task() -> None:
    """All of its body, sub-headings and plain lists too; a body of task items only makes a group."""
    read = parse(
        b"# Inbox\n\n## One\n\ntext\n\n### Steps\n\n1. a\n2. b\n\n```sh\n- [ ] no\n```\n\n## Group\n<!-- of two -->\n"
        b"- [ ] x\n* [X] y\n## Both\n- [ ] z\n\nafter\n\nSetext\n---\nbody\n"
    )
    assert [(item.title, item.section) for item in read.items] == [
        ("One", None), ("x", "Group"), ("y", "Group"), ("Both", None), ("z", "Both"), ("Setext", None),
    ]  # fmt: skip
    assert read.items[0].description == "text\n\n### Steps\n\n1. a\n2. b\n\n```sh\n- [ ] no\n```"
    assert read.items[3].description == "after" and read.items[5].description == "body"
    assert read.items[2].raw.done and read.unclaimed == ()


def test_an_item_keeps_what_is_below_it() -> None:
    read = parse(b"1. [ ] a\n   more\n\n   ```sh\n   \tx\n     y\n   ```\n   - [ ] sub\n\n- plain\n- [ ] b\nlazy\n")
    assert [(item.title, item.line, item.end) for item in read.items] == [("a", 1, 8), ("b", 11, 12)]
    assert read.items[0].raw.body == (b"more", b"", b"```sh", b"\tx", b"  y", b"```", b"- [ ] sub")
    assert [line.title for line in read.nested] == ["sub"] and read.unclaimed == ((10, "- plain"),)
    written = parse_plan(block([item.raw for item in read.items]))[0]
    assert [line.title for line in written] == ["a", "sub", "b"] and written[2].description == "lazy"


def test_words_stay_as_they_are() -> None:
    """Marks at the beginning are words; marks at the end become marks of the task in the plan."""
    read = parse(
        b"- [ ] @bob please look ^x\n- [ ] [docs](x.md) `a` <b>\n## ^id first @bob !high\n", frozenset({"bob"})
    )
    assert [item.raw.title for item in read.items] == [
        b"@bob please look ^x", b"[docs](x.md) `a` <b>", b"^id first @bob !high",
    ]  # fmt: skip
    assert [item.title for item in read.items] == ["@bob please look", "[docs](x.md) `a` <b>", "^id first"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n \n",
        "# Inbox\n",
        "# INBOX\n\n<!-- Drop thoughts here:\n\n## like this\n- [ ] or this\n-->\n",
        "\ufeff<!-- x -->",
    ],
)
def test_an_empty_inbox(project: Clocked, text: str) -> None:
    """White space, its own title and the template's comment: it is left as it is."""
    assert parse(text.encode()).is_empty
    drop(project, text)
    assert sync(project) == InboxTaken()
    assert Path(project.layout.inbox).read_text() == text and archived(project) == []


def test_text_that_makes_no_task() -> None:
    """Told line by line: free text, other titles, headers without words, look-alikes."""
    read = parse(
        b"free\n\n- plain\n- [ ]x\n> - [ ] quoted\n# Title\ntext\n\n##\n\n## <!-- c -->\n- [ ] <!-- d -->\n<!-- e -->\n"
    )
    assert read.items == ()
    assert read.unclaimed == (
        (1, "free"), (3, "- plain"), (4, "- [ ]x"), (5, "> - [ ] quoted"), (6, "Title"), (7, "text"), (11, "##"),
        (12, "- [ ]"),
    )  # fmt: skip


ROWS = [
    *(
        b"- [ ] a",
        b"- [x] b",
        b"## H",
        b"# I",
        b"H\n--",
        b"text",
        b"  more",
        b"",
        b"```",
        b"<!--",
        b"-->",
        b"> q",
        b"---",
    ),
    *(b"\xff", b"\t- [ ] c", b"- p", b"\xef\xbb\xbf", b"\r", b"## ", b"\0", b"1. [ ] d", b"<pre>"),
]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(ROWS), max_size=14).map(b"\n".join))
def test_every_line_is_a_task_or_told_of(data: bytes) -> None:
    """No word of an inbox is overlooked: it is in an item or unclaimed, or in a comment; and items are tasks."""
    read = parse(data)
    rows = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    claimed = {row for item in read.items for row in range(item.line, item.end + 1)} | {
        row for row, _ in read.unclaimed
    }
    headings = [heading.text for heading in PlanParser().parse(data).headings] + [""]
    comment = False
    for number, row in enumerate(rows, 1):
        text = row.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").strip().replace("\0", "\ufffd")
        comment |= "<!--" in text
        heads = text.startswith(("#", "--")) or any(text in head for head in headings)
        assert number in claimed or comment or heads or (number < 3 and rows[0][:3] == b"---"), (number, text)
    for item in read.items:
        assert parse_plan(block([item.raw]))[0][0].title == item.title


# Repeats


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Fix the login page", "fix login page!", True),
        ("Login page: fix it", "Fix it: the page (login)", True),
        ("CAFÉ öffnen", "cafe\u0301 o\u0308ffnen", True),
        ("Upgrade to 1.2", "Upgrade to 2.1", False),
        ("Release 12", "Release 13", False),
        ("Do it", "Do not do it", False),
        ("Don't ship", "Do ship", False),
        ("Don’t ship", "ship: don't", True),
        ("Learn C++", "Learn C#", False),
        ("???", "!!!", False),
        ("the", "a", False),
        ("", "", True),
    ],
)
def test_the_same_significant_words(one: str, other: str, same: bool) -> None:
    """Order, case, form, punctuation and articles do not count; numbers and negations do."""
    assert is_duplicate(significant_words(one), significant_words(other)) is same


def test_three_quarters_of_the_words_are_alike() -> None:
    words = significant_words("make login page faster")
    assert is_similar(words, significant_words("make login page better"))
    assert not is_similar(words, significant_words("make login nicer soon"))
    assert not is_similar(words, significant_words("make"))


def test_repeats_become_notes_and_likes_are_flagged(project: Clocked) -> None:
    """Of open tasks only; equal items of one batch are one task with the text of both."""
    drop(
        project,
        "- [ ] fix login page\n  on Safari\n- [ ] Old thing\n- [ ] Write more docs now please\n"
        "- [ ] New\n  a\n- [ ] new!\n  b\n",
    )
    notes: list[Note] = []
    taken = sync(project, notes)
    assert added(project) == ["Old thing", "Write more docs now please", "New"]
    assert [(other.item.line, other.of_id, other.of_line) for other in taken.duplicates] == [
        (1, project.task("Fix the login page").id, None),
        (7, None, 5),
    ]
    assert [note.task_id for note in notes] == [project.task("Fix the login page").id]
    assert notes[0].text.endswith("line 1): fix login page\non Safari")
    project.touch()
    project.settle()
    assert project.task("New").description == "a\n\nb"


def test_notes_are_written_into_the_tasks_file_once(project: Clocked) -> None:
    drop(project, "- [ ] fix login page\n  on Safari\n")
    sync(project)
    task = project.task("Fix the login page")
    file = taskfile.read(project.layout, task.id)
    assert file and len(file.notes) == 1 and "on Safari" in file.notes[0] and added(project) == []
    assert project.tasks
    again = Note(task.id, "Named again in the inbox (x, line 1): y\nz")
    for _time in range(2):
        inbox.note_in_task(project.layout, project.tasks, again, project.now)
    file = taskfile.read(project.layout, task.id)
    assert file and len(file.notes) == 2


def test_two_equal_notes_at_different_times(project: Clocked) -> None:
    """Both are taken: the first becomes a task, the second a note of it, once the plan knows the first."""
    drop(project, "- [ ] Once and again\n")
    sync(project)
    project.touch()
    project.read(0.5)
    drop(project, "- [ ] Once and again\n", ago_s=3)
    notes: list[Note] = []
    taken = sync(project, notes)
    assert taken.again_at is not None and notes == [] and Path(project.layout.inbox).read_bytes()
    project.settle()
    taken = sync(project, notes)
    assert [note.task_id for note in notes] == [project.task("Once and again").id]
    assert added(project) == ["Once and again"] and archived(project) == [b"- [ ] Once and again\n"] * 2


# Taking


def test_what_is_still_being_written_waits(project: Clocked) -> None:
    drop(project, "- [ ] half a tho", ago_s=0)
    taken = sync(project)
    assert taken == InboxTaken(again_at=project.now + 2) and added(project) == []
    Path(project.layout.project, ".#inbox.md").symlink_to(f"me@{os.uname().nodename}.{os.getpid()}:1")
    drop(project, "- [ ] half a thought", ago_s=5)
    assert sync(project).again_at is not None and added(project) == []
    Path(project.layout.project, ".#inbox.md").unlink()
    sync(project)
    assert added(project) == ["half a thought"] and Path(project.layout.inbox).read_bytes() == b""


def test_a_time_in_the_future_is_waited_for_from_now(project: Clocked) -> None:
    drop(project, "- [ ] a\n", ago_s=-3600)
    assert sync(project).again_at == project.now + 2
    project.now += 2
    sync(project)
    assert added(project) == ["a"]


def test_every_byte_is_archived(project: Clocked) -> None:
    """BOM, CRLF, a missing last line end, invalid UTF-8, NUL, text that looks like the archive's own lines."""
    texts = [
        b"\xef\xbb\xbf- [ ] a\r\n  b\xff\r\n\r\nfree \x00 text",
        b"- [ ] c\n<!-- end b-000000000000 -->\n<!-- taken 2026-01-01T00:00:00.000Z: 5 bytes, sha256 "
        + (b"0" * 64 + b", inode 1, batch b-000000000000 -->\nx"),
        b"\r- [ ] d\r",
    ]  # fmt: skip
    for text in texts:
        project.now += 60
        drop(project, text)
        sync(project)
        assert Path(project.layout.inbox).read_bytes() == b""
    assert archived(project) == texts and added(project) == ["a", "c", "d"]
    assert b"- [ ] a\n  b\xff\n" in Path(project.layout.plan).read_bytes()


def test_symlink_inode_and_mode_stay(project: Clocked) -> None:
    real = Path(project.layout.root, "thoughts.md")
    real.write_text("- [ ] a\n")
    os.utime(real, (project.now - 60, project.now - 60))
    real.chmod(0o640)
    Path(project.layout.inbox).symlink_to(real)
    before = real.stat()
    sync(project)
    assert (real.read_bytes(), real.stat().st_ino, real.stat().st_mode) == (b"", before.st_ino, before.st_mode)
    assert Path(project.layout.inbox).is_symlink()


def test_without_an_inbox_nothing_happens(project: Clocked) -> None:
    assert sync(project) == InboxTaken() and not os.path.exists(project.layout.inbox)


@pytest.mark.parametrize("text", ["```\nopen", "<<<<<<< a\n- [ ] x\n=======\n- [ ] y\n>>>>>>> b\n", None])
def test_nothing_is_taken_while_the_plan_cannot_have_it(project: Clocked, text: str | None) -> None:
    """An open fence, conflict markers, no plan at all: the inbox stays as it is, the error says why."""
    if text is None:
        os.unlink(project.layout.plan)
    else:
        project.save(text)
    drop(project, "- [ ] a\n")
    with pytest.raises(CannotBeDone):
        sync(project)
    assert Path(project.layout.inbox).read_text() == "- [ ] a\n" and archived(project) == []
    project.save("# P\n")
    sync(project)
    assert added(project) == ["a"] and archived(project) == [b"- [ ] a\n"]


def test_groups_are_named_below_their_items(project: Clocked) -> None:
    drop(project, "## Group\n- [ ] x\n- [ ] y\n  text\n")
    sync(project)
    project.touch()
    project.settle()
    assert project.task("x").description == "Group in the inbox: Group"
    assert project.task("y").description == "text\n\nGroup in the inbox: Group"


# Text that makes no task


def test_unread_until_somebody_has_looked(project: Clocked) -> None:
    drop(project, "a thought\n- [ ] a\n")
    assert sync(project).unclaimed == ((1, "a thought"),)
    project.now += 60
    drop(project, "\nanother\n")
    sync(project)
    assert [(row.line, row.text) for row in unread.unread(project.layout)] == [(1, "a thought"), (2, "another")]
    unread.mark_seen(project.layout)
    assert unread.unread(project.layout) == ()
    os.unlink(os.path.join(project.layout.cache, unread.NAME))
    assert [row.text for row in unread.unread(project.layout)] == ["a thought", "another"], "from the archive again"


def test_a_list_of_unread_that_is_broken_is_made_again(project: Clocked) -> None:
    drop(project, "a thought\n")
    sync(project)
    Path(project.layout.cache, unread.NAME).write_text('[{"at": 1}]')
    assert [row.text for row in unread.unread(project.layout)] == ["a thought"]


# Shown for any file


def test_explain_an_inbox_against_a_plan(project: Clocked) -> None:
    drop(project, "- [ ] fix login page\n- [ ] Write more docs @bob\n  - [ ] sub\n- [ ] write docs more!\n\nfree\n")
    facts = explain.inbox_file(project.layout.inbox, project.layout.plan)
    known = project.task("Fix the login page")
    assert [(task["title"], task["line"]) for task in facts["tasks"]] == [("Write more docs", 2), ("sub", 3)]
    assert facts["duplicates"] == [
        {"line": 1, "title": "fix login page", "of": {"id": known.id, "title": known.title}},
        {"line": 4, "title": "write docs more!", "of": {"line": 2, "title": "Write more docs"}},
    ]
    assert facts["no_task"] == [{"line": 6, "text": "free"}] and facts["similar"] == []
    assert sorted(os.listdir(project.layout.root)) == [".project"], "nothing was changed"


def test_explain_a_plan(project: Clocked) -> None:
    project.save("- [ ] a @bob after:b\n  - [x] b !low\n- [ ]c\n<<<<<<< x\n=======\n>>>>>>> y\n")
    facts = explain.plan_file(project.layout.plan)
    a, b = facts["tasks"]
    assert (a["title"], a["seat"], a["after"], b["parent"], b["priority"]) == ("a", "bob", [b["id"]], a["id"], "low")
    assert [(warning["line"], warning["why"].split(":")[0]) for warning in facts["warnings"]] == [
        (None, "conflict markers"),
        (3, "no space after box"),
    ]
