"""Taking the inbox, cut at every call: each word once in the archive, each task once in the plan, the inbox empty."""

from __future__ import annotations

import os
import shutil

from coleo.files import claims, inbox, inboxarchive, plan, taskfile, unread, work
from coleo.files.layout import Layout
from coleo.model.plan import Task, task_id
from tests.crash.room import NOW, PLAN, WALL, brain, lay, log, restart
from tests.crash.scenario import Outcome, Scenario

INBOX = """\
Words that make no task.

## Build the shed

With a d\u00f6or.

- [ ] buy nails
- [ ] Paint the wall!
- [ ] clean up
"""
CLEAN = task_id("plan.md", "Work", "clean up", 1)
MORE = "- [ ] a thought while it was being taken\n"


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _lay(root: str) -> None:
    lay(root)
    with open(Layout(root).inbox, "w", encoding="utf-8") as file:
        file.write(INBOX)


def _sync(root: str) -> None:
    layout = Layout(root)
    known = plan.read(layout, None, NOW, None, taskfile.bindings(layout)).taskset
    inbox.sync(layout, known, NOW + 10)


def _once(root: str, words: str, times: int = 1) -> None:
    found = _read(Layout(root).plan).count(f"- [ ] {words}")
    assert found == times, f"{words!r} is in the plan {found} times, not {times}"


def _named_again(root: str, task: str) -> int:
    file = taskfile.read(Layout(root), task)
    return sum("Named again in the inbox" in note for note in file.notes) if file else 0


def _archived(root: str) -> list[str]:
    return [one.data.decode() for path in inboxarchive.files(Layout(root)) for one in inboxarchive.records(path)]


def _lay_all(root: str) -> None:
    """An inbox, a task that is done and not ticked yet, and one whose claim was lost."""
    _lay(root)
    layout = Layout(root)
    work.take(layout, WALL, "alice", NOW)
    work.complete(layout, WALL.id, "alice", "Painted.", NOW + 1)
    clean = Task(CLEAN, "clean up", "Work", line=8)
    work.take(layout, clean, "bob", NOW)
    os.unlink(layout.claim(CLEAN))


def _brain_has_done_all(root: str, outcome: Outcome) -> None:
    layout = Layout(root)
    text = _read(layout.plan)
    assert text.startswith(PLAN.replace("[ ] paint", "[x] paint")), "a box is not ticked, or words were changed"
    assert _read(layout.inbox) == ""
    assert _archived(root) == [INBOX]
    for words in ("Build the shed", "buy nails"):
        _once(root, words)
    # The wall is done already, so a new wish is a new task; with its file unreadable for a moment, a note.
    wishes = text.count("- [ ] Paint the wall!")
    assert wishes + _named_again(root, WALL.id) == 1 and (wishes or outcome.disk_failed)
    assert _named_again(root, CLEAN) == 1
    claim = claims.read(layout, CLEAN)
    assert claim is not None and claim.seat == "bob", "the claim was not made again"
    assert [claim.task for claim in claims.held(layout)] == [CLEAN]


def _taken(root: str, _outcome: Outcome) -> None:
    _plan_and_archive(root, [INBOX])
    assert _read(Layout(root).plan).count("Named again") == 0
    files, bad = taskfile.read_all(Layout(root))
    assert not bad and set(files) <= {WALL.id, CLEAN}


def _plan_and_archive(root: str, batches: list[str]) -> None:
    """After a restart, however the taking ended: what had not happened has happened."""
    layout = Layout(root)
    assert _read(layout.inbox) == "", "the inbox was not emptied"
    assert _archived(root) == batches, "a word is lost from the archive, or in it twice"
    text = _read(layout.plan)
    assert text.startswith(PLAN), "words of a person were changed"
    _once(root, "Build the shed")
    _once(root, "buy nails")
    _once(root, "Paint the wall!", 0)
    _once(root, "clean up")
    assert text.count("With a d\u00f6or.") == 1
    for task in (WALL.id, CLEAN):
        assert _named_again(root, task) == 1, f"the repeat of {task} is noted {_named_again(root, task)} times"
    assert [row.text for row in unread.unread(layout)] == ["Words that make no task."]
    assert log(root)


def _person_writes_on(root: str) -> None:
    """Somebody adds a line before the restart."""
    layout = Layout(root)
    if MORE not in _read(layout.inbox) and MORE not in "".join(_archived(root)):
        with open(layout.inbox, "a", encoding="utf-8") as file:
            file.write(MORE)
    restart(root)


def _taken_with_more(root: str, _outcome: Outcome) -> None:
    archived = "".join(_archived(root))
    assert archived.count(MORE) == 1, f"the added line is archived {archived.count(MORE)} times"
    for line in INBOX.splitlines():
        assert archived.count(line + "\n") >= 1, f"{line!r} is lost"
    _once(root, "Build the shed")
    _once(root, "buy nails")
    _once(root, "clean up")
    _once(root, "a thought while it was being taken")
    assert _read(Layout(root).inbox) == ""


def _without_run(root: str) -> None:
    """Everything that can be rebuilt is gone: DESIGN.md section 2, principle 1."""
    shutil.rmtree(Layout(root).run, ignore_errors=True)
    restart(root)


def _taken_without_run(root: str, _outcome: Outcome) -> None:
    layout = Layout(root)
    assert _read(layout.inbox) == ""
    archived = _archived(root)
    assert archived and set(archived) == {INBOX}, "a word is lost from the archive"
    assert _read(layout.plan).startswith(PLAN)
    for words in ("Build the shed", "buy nails", "clean up"):
        _once(root, words)
    for task in (WALL.id, CLEAN):
        assert _named_again(root, task) == 1, f"the repeat of {task} is noted {_named_again(root, task)} times"


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("inbox", _lay, _sync, _taken, restart),
        Scenario("inbox_goes_on", _lay, _sync, _taken_with_more, _person_writes_on),
        Scenario("brain_start", _lay_all, brain, _brain_has_done_all, restart),
        Scenario("inbox_without_run", _lay, _sync, _taken_without_run, _without_run),
    )
}
