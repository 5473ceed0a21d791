"""What agents' verbs do to tasks and mail, cut at every call: one claim, one result, one place for each message."""

from __future__ import annotations

import os

from coleo.files import claims, letters, mail, mailbox, plan, taskfile, work
from coleo.files.layout import Layout
from coleo.model.errors import Taken
from coleo.model.message import Message
from coleo.model.task import TaskFile, TaskStatus
from tests.crash.room import LATER, NOW, WALL, at_rest, lay, logged, mails, restart
from tests.crash.scenario import Outcome, Scenario

WORDS = "Painted it twice.\n\nThe \u00e4 is for the encoding. " + "And more. " * 40
MESSAGE = "m-aaaaaaaaaaaaa"


def _file(root: str) -> TaskFile | None:
    return taskfile.read(Layout(root), WALL.id)


def _text(root: str) -> str:
    path = taskfile.locate(Layout(root), WALL.id)
    if path is None:
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def _box(root: str) -> bool:
    with open(Layout(root).plan) as file:
        return "- [x] paint the wall" in file.read()


def _logged(root: str, action: str, times: int, outcome: Outcome) -> None:
    found = logged(root, action)
    off = found - times
    assert off == 0 or (outcome.disk_failed and abs(off) == 1), f"{found} lines of {action} in the log, not {times}"


# Tasks.


def _take(root: str) -> None:
    work.take(Layout(root), WALL, "alice", NOW)


def _claimed(root: str, outcome: Outcome) -> None:
    at_rest(root)
    layout, task = Layout(root), WALL
    claim = claims.read(layout, task.id)
    assert claim is not None or not outcome.finished, "the claim is lost"
    _logged(root, "claim_task", (claim is not None) + logged(root, "release_task"), outcome)
    try:
        work.take(layout, task, "bob", LATER)
        assert claim is None, "two claims succeeded"
    except Taken:
        assert claim is not None and claim.seat == "alice", "nobody holds it, and nobody can have it"


def _lay_held(root: str) -> None:
    lay(root)
    _take(root)


def _complete(root: str) -> None:
    layout, task = Layout(root), WALL
    work.complete(layout, task.id, "alice", WORDS, NOW + 60, output="$ make test\nok")
    assert plan.tick(layout, task)


def _completed(root: str, outcome: Outcome) -> None:
    at_rest(root)
    file = _file(root)
    assert file is not None
    done = file.status is TaskStatus.DONE
    assert done or (file.status is TaskStatus.IN_PROGRESS and not outcome.finished), file.status
    assert _box(root) is done, "box and file differ"
    assert _text(root).count("Painted it twice.") == done, "the result is lost or doubled"
    _logged(root, "complete_task", done, outcome)


def _fail(root: str) -> None:
    work.fail(Layout(root), WALL.id, "alice", "No paint left.", NOW + 60)


def _failed(root: str, outcome: Outcome) -> None:
    at_rest(root)
    file = _file(root)
    assert file is not None
    failed = file.status is TaskStatus.FAILED
    assert failed or (file.status is TaskStatus.IN_PROGRESS and not outcome.finished), file.status
    assert (file.attempts, len(file.reasons)) == ((1, 1) if failed else (0, 0)), "an attempt is lost or counted twice"
    _logged(root, "fail_task", failed, outcome)
    assert not _box(root)


def _release(root: str) -> None:
    work.release(Layout(root), WALL.id, "Going home.", NOW + 60, seat="alice")


def _released(root: str, outcome: Outcome) -> None:
    at_rest(root)
    file = _file(root)
    assert file is not None
    free = file.status is TaskStatus.OPEN
    assert free or (file.status is TaskStatus.IN_PROGRESS and not outcome.finished), file.status
    _logged(root, "release_task", free, outcome)


def _note(root: str) -> None:
    taskfile.add_note(Layout(root), WALL, "human", WORDS, NOW + 60)


def _noted(root: str, outcome: Outcome) -> None:
    at_rest(root)
    found = _text(root).count("Painted it twice.")
    assert found == 1 or (found == 0 and not outcome.finished), f"the note is there {found} times"


# Mail.


def _letter(root: str) -> Message:
    got = mail.find(Layout(root), MESSAGE, "bob")
    assert got is not None
    return got[2]


def _send(root: str) -> None:
    mail.send(Layout(root), "bob", "alice", WORDS, message_id=MESSAGE, now=NOW)


def _send_anew(root: str) -> None:
    mail.send(Layout(root), "bob", "alice", WORDS, now=NOW)


def _sent(root: str, outcome: Outcome) -> None:
    at_rest(root)
    there = mails(root)
    assert there in ({}, {"inbox": there.get("inbox")}), there
    assert len(there.get("inbox", [])) in ((1,) if outcome.finished else (0, 1)), there
    for message in mail.scan(Layout(root), "bob", LATER).messages:
        assert message.text == WORDS


def _sent_once(root: str, outcome: Outcome) -> None:
    _sent(root, outcome)
    _send(root)
    assert len(mails(root)["inbox"]) == 1, "the same id was sent twice"


def _lay_sent(root: str) -> None:
    lay(root)
    _send(root)


def _lay_taken(root: str) -> None:
    _lay_sent(root)
    _take_mail(root)


def _take_mail(root: str) -> None:
    assert mail.take(Layout(root), "bob", _letter(root), now=NOW + 1, generation=3)


def _type_mail(root: str) -> None:
    assert mail.typed(Layout(root), "bob", _letter(root), now=NOW + 2)


def _finish_mail(root: str) -> None:
    assert mail.finish(Layout(root), "bob", _letter(root), "turn", NOW + 3)


def _return_mail(root: str) -> None:
    assert mail.give_back(Layout(root), "bob", _letter(root), "not shown", NOW + 3)


def _bury_mail(root: str) -> None:
    assert mail.bury(Layout(root), "bob", _letter(root), "five attempts", NOW + 3)


def _in_one_place(root: str, *allowed: str) -> str:
    """The only folder that holds the message, whole and readable; nothing else is anywhere."""
    at_rest(root)
    there = mails(root)
    assert sum(map(len, there.values())) == 1, f"not in exactly one place: {there}"
    folder = next(iter(there))
    assert folder in allowed, f"it is in {folder}"
    got = letters.read(mailbox.folder(Layout(root), "bob", folder), there[folder][0], "bob")
    assert got is not None and got[0].text == WORDS, "its words have changed"
    assert os.path.isdir(Layout(root).seat("bob").inbox)
    return folder


def _taken(root: str, outcome: Outcome) -> None:
    folder = _in_one_place(root, "inflight", "inbox")
    assert folder == "inflight" or not outcome.finished
    if folder == "inbox":
        _take_mail(root)
    assert _letter(root).attempts == 0, "only typed bytes count as an attempt"


def _typed(root: str, outcome: Outcome) -> None:
    _in_one_place(root, "inflight")
    found = _letter(root)
    assert (found.attempts, found.typed_at is not None) in (
        ((1, True),) if outcome.finished else ((0, False), (1, True))
    )


def _finished(root: str, outcome: Outcome) -> None:
    folder = _in_one_place(root, "processed", "inflight")
    assert folder == "processed" or not outcome.finished
    assert bool(_letter(root).receipt) is (folder == "processed"), "a receipt, and not processed"


def _returned(root: str, outcome: Outcome) -> None:
    assert _in_one_place(root, "inbox", "inflight") == "inbox" or not outcome.finished


def _buried(root: str, outcome: Outcome) -> None:
    assert _in_one_place(root, "dead", "inflight") == "dead" or not outcome.finished


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("claim", lay, _take, _claimed, restart),
        Scenario("complete", _lay_held, _complete, _completed, restart),
        Scenario("fail", _lay_held, _fail, _failed, restart),
        Scenario("release", _lay_held, _release, _released, restart),
        Scenario("note", lay, _note, _noted, restart),
        Scenario("note_again", _lay_held, _note, _noted, restart),
        Scenario("send", lay, _send_anew, _sent, restart),
        Scenario("send_with_id", lay, _send, _sent_once, restart),
        Scenario("take", _lay_sent, _take_mail, _taken, restart),
        Scenario("typed", _lay_taken, _type_mail, _typed, restart),
        Scenario("finish", _lay_taken, _finish_mail, _finished, restart),
        Scenario("return", _lay_taken, _return_mail, _returned, restart),
        Scenario("bury", _lay_taken, _bury_mail, _buried, restart),
    )
}
