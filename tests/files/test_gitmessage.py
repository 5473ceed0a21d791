"""The words of a commit: what was done, from the contents before and after."""

from __future__ import annotations

from coleo.files.gitmessage import MOST_LINES, Change, message
from coleo.model.plan import Task, TaskSet

OLD = b"# Plan\n\n- [ ] One\n- [ ] Two @rand\n- [x] Three\n"
TASKS = TaskSet(
    (
        Task("t-aaaaaa", "One", None, line=3),
        Task("t-bbbbbb", "Two", None, line=4),
        Task("t-cccccc", "Three", None, line=5),
        Task("t-dddddd", "Call Ada", "Inbox", line=9),
    )
)


def task_file(status: str, title: str = "One", note: str = "") -> bytes:
    return f"---\nid: t-aaaaaa\ntitle: {title}\nstatus: {status}\n---\n\n# {title}\n{note}".encode()


def test_ticks_and_additions_are_told_by_id() -> None:
    new = OLD.replace(b"[ ]", b"[x]") + b"\n## Inbox\n\n- [ ] Call Ada\n- [ ] Unread by now\n"
    archive = Change("archive/inbox-2026-01-01.md", b"earlier\n", b"earlier\n- [ ] Call Ada\n")
    subject, text = message([Change("plan.md", OLD, new), archive], TASKS)
    assert subject == "coleo: 2 tasks done, 1 taken from the inbox, 1 added"
    assert text.splitlines() == [
        *(subject, "", "t-aaaaaa done: One", "t-bbbbbb done: Two"),
        *("t-dddddd taken from the inbox: Call Ada", "added: Unread by now"),
    ]


def test_a_tick_and_its_task_file_are_one_task() -> None:
    changes = [Change("plan.md", OLD, OLD.replace(b"[ ] One", b"[x] One")), Change("tasks/t-aaaaaa-one.md", None, b"")]
    changes[1] = changes[1].replace(after=task_file("done"))
    assert message(changes, TASKS)[0] == "coleo: 1 task done"


def test_what_became_of_tasks_is_told_and_notes_when_there_is_no_more() -> None:
    def subject(before: bytes | None, after: bytes) -> str:
        return message([Change("tasks/t-aaaaaa-one.md", before, after)], TASKS)[0]

    assert subject(None, task_file("in_progress")) == "coleo: 1 task in work"
    assert subject(task_file("claimed"), task_file("failed")) == "coleo: 1 task failed"
    assert subject(task_file("claimed"), task_file("blocked")) == "coleo: 1 task blocked"
    assert subject(task_file("done"), task_file("open")) == "coleo: 1 task open again"
    assert subject(task_file("open"), task_file("open", note="more")) == "coleo: 1 task with notes"
    assert subject(None, b"---\nstatus: nonsense\n---\n") == "coleo: 1 file changed"


def test_titles_of_strangers_stay_in_their_line() -> None:
    """A title is quoted text: it begins no paragraph, no trailer, and carries nothing that a terminal obeys."""
    title = "x\x1b[31m\x00" + "y" * 300
    plan = f"- [ ] {title}\n".encode()
    _subject, text = message([Change("plan.md", plan, plan.replace(b"[ ]", b"[x]"))], TaskSet())
    rows = text.splitlines()
    assert len(rows) == 3
    assert rows[2].startswith("done: x")
    assert len(rows[2]) < 120
    assert not any(ord(char) < 32 for char in rows[2])


def test_a_message_has_an_end() -> None:
    old = b"".join(b"- [ ] task %d\n" % number for number in range(500))
    subject, text = message([Change("plan.md", old, old.replace(b"[ ]", b"[x]"))], TaskSet())
    assert subject == "coleo: 500 tasks done"
    assert text.splitlines()[-1] == f"and {500 - MOST_LINES} more"


def test_files_that_are_no_tasks_are_counted() -> None:
    changes = [Change("seats/rand/crons.json", None, b"{}"), Change("inbox.md", b"x", b"")]
    assert message(changes, TaskSet()) == ("coleo: 2 files changed", "coleo: 2 files changed\n")
