"""Whole verbs as agents call them, cut at every call, with no brain: what the next start finds is whole."""

from __future__ import annotations

import os

from coleo.bus import create, mailverbs, taskverbs
from coleo.bus.context import Context
from coleo.files import claims, taskfile
from coleo.files.layout import Layout
from coleo.model.task import TaskStatus
from tests.crash.room import NOW, PLAN, WALL, at_rest, lay, logged, mails, restart
from tests.crash.scenario import Outcome, Scenario

TITLE = "mend the *fence* behind the wall"


def _as(root: str, seat: str, now: float = NOW + 60) -> Context:
    return Context(Layout(root), seat, now, {}, root)


def _plan(root: str) -> str:
    with open(Layout(root).plan, encoding="utf-8") as file:
        return file.read()


def _logged(root: str, action: str, times: int, outcome: Outcome) -> None:
    found = logged(root, action)
    off = found - times
    assert off == 0 or (outcome.disk_failed and abs(off) == 1), f"{found} lines of {action} in the log, not {times}"


def _create(root: str) -> None:
    create.create_task(_as(root, "alice"), TITLE, "Two lines\nof it.", assignee="bob", priority="high")


def _created(root: str, outcome: Outcome) -> None:
    plan = _plan(root)
    assert plan.startswith(PLAN), "words of a person were changed"
    lines = [line for line in plan.splitlines() if "behind the wall" in line]
    assert len(lines) == 1 or (not lines and not outcome.finished), f"lost or doubled: {lines}"
    files = [file for file in taskfile.read_all(Layout(root))[0].values() if file.id != WALL.id]
    assert len(files) == len(lines), "a line without its file, or a file without its line"
    assert all(f"^{file.id}" in lines[0] for file in files)
    assert len(mails(root).get("inbox", [])) in ((1,) if outcome.finished else (0, 1))
    assert logged(root, "create_task") <= 1


def _claim(root: str) -> None:
    taskverbs.claim_task(_as(root, "alice"), WALL.id)


def _claimed(root: str, outcome: Outcome) -> None:
    at_rest(root)
    claim = claims.read(Layout(root), WALL.id)
    assert claim is not None or not outcome.finished
    _logged(root, "claim_task", (claim is not None) + logged(root, "release_task"), outcome)


def _lay_held(root: str) -> None:
    lay(root)
    _claim(root)


def _complete(root: str) -> None:
    taskverbs.complete_task(_as(root, "alice", NOW + 120), WALL.id, "Painted it twice.")


def _completed(root: str, outcome: Outcome) -> None:
    at_rest(root)
    file = taskfile.read(Layout(root), WALL.id)
    assert file is not None
    done = file.status is TaskStatus.DONE
    assert done or not outcome.finished
    assert ("- [x] paint the wall" in _plan(root)) is done, "box and file differ"
    assert file.result.count("Painted it twice.") == done
    _logged(root, "complete_task", done, outcome)


def _send(root: str) -> None:
    mailverbs.send_message(_as(root, "alice"), "bob", "high", "The wall is white.")


def _sent(root: str, outcome: Outcome) -> None:
    at_rest(root)
    assert set(mails(root)) <= {"inbox"}
    assert len(mails(root).get("inbox", [])) in ((1,) if outcome.finished else (0, 1))


def _lay_sent(root: str) -> None:
    lay(root)
    _send(root)


def _check(root: str) -> None:
    mailverbs.check_inbox(_as(root, "bob", NOW + 70))


def _checked(root: str, outcome: Outcome) -> None:
    at_rest(root)
    there = mails(root)
    assert sum(map(len, there.values())) == 1, there
    # A file that the disk cannot read goes to quarantine: it blocks nobody, and a person is told.
    assert set(there) <= {"inbox", "inflight"} | ({"quarantine"} if outcome.disk_failed else set())
    assert "inflight" in there or not outcome.finished or outcome.disk_failed
    assert os.path.isdir(Layout(root).seat("bob").inbox)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("create_task", lay, _create, _created, restart),
        Scenario("claim_task", lay, _claim, _claimed, restart),
        Scenario("complete_task", _lay_held, _complete, _completed, restart),
        Scenario("send_message", lay, _send, _sent, restart),
        Scenario("check_inbox", _lay_sent, _check, _checked, restart),
    )
}
