"""Mail: sending, moving, finding, keeping; and by a state machine that every message ends in exactly one place."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings, strategies
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from coleo.files import atomic, letters, mail, mailbox
from coleo.files.layout import Layout
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.message import Message, new_id, parse_name, settled_in, tag
from tests.files.project import NOW, lay, log, where


def sent(layout: Layout, text: str = "hello", **more: object) -> Message:
    """A message from bob to ada."""
    return mail.send(layout, "ada", "bob", text, now=NOW, **more)  # type: ignore[arg-type]


def test_a_message_says_who_to_whom_and_what(tmp_path: Path) -> None:
    """The file on disk has the parts that the design names, and its name sorts by priority and time."""
    layout = lay(tmp_path, "ada", "bob")
    message = sent(layout, "line one\nline ü", priority="high", reply_to="m-before", task="t-abcdef")
    raw = json.loads((Path(layout.seat("ada").inbox) / message.name).read_text())
    assert (raw["from"], raw["to"], raw["priority"], raw["reply_to"]) == ("bob", "ada", 1, "m-before")
    assert raw["text"] == "line one\nline ü" and raw["created_at"] == "2025-11-30T10:00:00.000Z"
    assert message.name.startswith(f"1-{int(NOW * 1000)}-from-bob-")
    (seen,) = mail.scan(layout, "ada", NOW + 10).messages
    assert seen == message


def test_mail_for_a_seat_that_is_not_there_waits(tmp_path: Path) -> None:
    """An unknown recipient gets a folder; nobody is refused."""
    layout = lay(tmp_path, "bob")
    message = mail.send(layout, "later", "bob", "for when you come", now=NOW)
    assert not mail.known(layout, "later")
    assert where(layout, "later") == {message.name: "inbox"}
    assert mail.find(layout, message.id) is not None


@pytest.mark.parametrize(
    ("to", "sender", "text", "priority"),
    [
        ("../../etc", "bob", "x", "normal"),
        ("human", "bob", "x", "normal"),
        ("ada", "bob\n", "x", "normal"),
        ("ada", "bob", " \n\t", "normal"),
        ("ada", "bob", "x", "soon"),
        ("ada", "bob", "x", 7),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(
    tmp_path: Path, to: str, sender: str, text: str, priority: str | int
) -> None:
    """Names that could leave the mailbox, empty texts, unknown priorities."""
    layout = lay(tmp_path, "ada", "bob")
    with pytest.raises(BadInput):
        mail.send(layout, to, sender, text, priority=priority, now=NOW)
    assert where(layout, "ada") == {}


def test_a_key_makes_forged_mail_visible(tmp_path: Path) -> None:
    """With a signing key: what is unsigned, changed, or signed for another seat goes to quarantine."""
    layout = lay(tmp_path, "ada", "bob", "eve")
    unsigned = sent(layout, "no key yet")
    os.makedirs(layout.run, exist_ok=True)
    Path(layout.key).write_bytes(os.urandom(32).hex().encode())
    good, changed = sent(layout, "good"), sent(layout, "pay 10")
    inbox = Path(layout.seat("ada").inbox)
    path = inbox / changed.name
    path.write_text(path.read_text().replace("pay 10", "pay 99"))
    elsewhere = mail.send(layout, "eve", "bob", "for eve only", now=NOW)
    shutil.copy(Path(layout.seat("eve").inbox) / elsewhere.name, inbox)
    found = mail.scan(layout, "ada", NOW + 60)
    assert [message.id for message in found.messages] == [good.id]
    assert set(found.quarantined) == {unsigned.name, changed.name, elsewhere.name}
    taken = mail.take(layout, "ada", good, now=NOW + 60)
    assert taken is not None
    mail.give_back(layout, "ada", taken, "test", NOW + 61)
    assert [message.id for message in mail.scan(layout, "ada", NOW + 62).messages] == [good.id], "moves keep it valid"
    again = mail.requeue(layout, unsigned.name, NOW + 63)
    assert again is not None, "a person's word signs it"
    assert {message.id for message in mail.scan(layout, "ada", NOW + 64).messages} == {good.id, unsigned.id}


def test_unknown_fields_survive_every_move(tmp_path: Path) -> None:
    """What other programs put into a message is theirs."""
    layout = lay(tmp_path, "ada")
    inbox = Path(layout.seat("ada").inbox)
    inbox.mkdir()
    (inbox / "2-1764496800000-from-bob-a1.json").write_text(
        json.dumps({"id": "x1", "from": "bob", "text": "hi", "thread": {"deep": [1, 2]}})
    )
    (message,) = mail.scan(layout, "ada", NOW).messages
    taken = mail.take(layout, "ada", message, now=NOW)
    assert taken is not None
    done = mail.finish(layout, "ada", taken, "turn", NOW)
    assert done is not None
    raw = json.loads((Path(layout.seat("ada").processed) / done.name).read_text())
    assert raw["thread"] == {"deep": [1, 2]} and raw["delivery"]["receipt"] == "turn"


def test_an_acknowledged_message_that_was_never_taken_is_processed(tmp_path: Path) -> None:
    """An agent may have read it in the briefing."""
    layout = lay(tmp_path, "ada", "bob")
    message = sent(layout)
    assert mail.finish(layout, "ada", message.id, "ack", NOW) is not None
    assert set(where(layout, "ada").values()) == {"processed"}
    assert [line["action"] for line in log(layout)] == ["message_sent", "message_processed"]


@pytest.mark.parametrize("act", ["finish", "bury"])
@pytest.mark.parametrize("folder", ["inbox", "inflight"])
def test_a_cut_move_is_finished(tmp_path: Path, act: str, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill between the write and the rename leaves the file in the old folder, with the new facts inside."""
    layout = lay(tmp_path, "ada", "bob")
    message = sent(layout)
    if folder == "inflight":
        assert mail.take(layout, "ada", message, now=NOW) is not None
    with monkeypatch.context() as patched:

        def killed(*_args: object) -> None:
            raise KeyboardInterrupt

        real = os.rename
        patched.setattr(os, "rename", lambda a, b: killed() if os.path.dirname(a) != os.path.dirname(b) else real(a, b))
        with pytest.raises(KeyboardInterrupt):
            getattr(mail, act)(layout, "ada", message, "why", NOW)
    assert where(layout, "ada") == {message.name: folder}
    assert mail.recover(layout, "ada", NOW)
    assert where(layout, "ada") == {message.name: "processed" if act == "finish" else "dead"}
    assert mail.recover(layout, "ada", NOW) == []


def test_old_temp_files_of_ours_are_swept(tmp_path: Path) -> None:
    """Only of our own pattern, only after an hour."""
    layout = lay(tmp_path, "ada")
    inbox = Path(layout.seat("ada").inbox)
    inbox.mkdir()
    names = [".2-1-from-bob-aa.json.0123456789ab.tmp", ".2-1-from-bob-bb.json.0123456789ab.tmp", ".something.tmp"]
    for name, age in zip(names, (3601, 60, 9999), strict=True):
        (inbox / name).write_text("{")
        os.utime(inbox / name, (NOW - age, NOW - age))
    mail.recover(layout, "ada", NOW)
    assert sorted(os.listdir(inbox)) == sorted(names[1:])


def test_mail_that_git_clean_took_is_written_back(tmp_path: Path) -> None:
    """What vanished from every folder comes back; what moved on, or was purged by a person, does not."""
    layout = lay(tmp_path, "ada", "bob")
    gone, moved, purged, flying = (sent(layout, text) for text in ("gone", "moved", "purged", "flying"))
    mail.take(layout, "ada", flying, now=NOW)
    kept = mail.snapshot(layout)
    assert mail.snapshot(layout, kept) == kept
    mail.finish(layout, "ada", moved, "turn", NOW)
    mail.bury(layout, "ada", purged, "by a person", NOW)
    mail.purge(layout, "ada", ("dead",), now=NOW)
    shutil.rmtree(layout.seat("ada").inbox)
    shutil.rmtree(layout.seat("ada").inflight)
    back = mail.restore(layout, kept, NOW)
    assert sorted(back) == sorted([("ada", gone.name), ("ada", flying.name)])
    assert where(layout, "ada") == {gone.name: "inbox", flying.name: "inflight", moved.name: "processed"}
    assert mail.restore(layout, kept, NOW) == []
    shutil.rmtree(layout.project)
    assert mail.restore(layout, kept, NOW) == [], "a project that is gone is not made again"


def test_requeue_forgets_attempts(tmp_path: Path) -> None:
    """A dead message starts afresh; one that waits is not requeued."""
    layout = lay(tmp_path, "ada", "bob")
    message = sent(layout)
    with pytest.raises(CannotBeDone):
        mail.requeue(layout, message.id, NOW)
    mail.take(layout, "ada", message, now=NOW)
    mail.typed(layout, "ada", message, now=NOW)
    mail.bury(layout, "ada", message, "typed 5 times without a receipt", NOW)
    again = mail.requeue(layout, message.id, NOW)
    assert again is not None and again.attempts == 0
    (seen,) = mail.scan(layout, "ada", NOW + 10).messages
    assert (seen.id, seen.attempts, seen.dead_at) == (message.id, 0, None)


def test_ids_and_tags() -> None:
    """The same id always gives the same tag, our own ids are their tag, and the tag fits a file name."""
    own = new_id(b"\xff" * 10)
    assert tag(own) == own[2:]
    for message_id in (own, "cron-ping-2026-12-01T10.00", "x"):
        name = f"2-1-from-bob-{tag(message_id)}.json"
        assert parse_name(name) is not None and tag(message_id) == tag(message_id)
    assert settled_in("inbox", {"lease_until": "2026-01-01T00:00:00Z"}) == "inbox"
    assert settled_in("inflight", {"receipt": "turn"}) == "processed"
    assert settled_in("dead", {"receipt": "turn"}) == "dead"


def test_what_is_no_inbox_is_an_empty_one(tmp_path: Path) -> None:
    """A missing folder, and a file in its place."""
    layout = lay(tmp_path, "ada")
    assert mail.scan(layout, "ada", NOW) == mail.Scan()
    Path(layout.seat("ada").inbox).write_text("?")
    assert mail.scan(layout, "ada", NOW) == mail.Scan()


def test_a_message_named_folder_or_link_is_no_message(tmp_path: Path) -> None:
    """Only regular files are; the others are told of once and stay."""
    layout = lay(tmp_path, "ada")
    inbox = Path(layout.seat("ada").inbox)
    inbox.mkdir()
    (inbox / "2-1-from-bob-a1.json").mkdir()
    (inbox / "2-1-from-bob-a2.json").symlink_to("/etc/passwd")
    found = mail.scan(layout, "ada", NOW)
    assert found.messages == () and len(found.reported) == 2
    assert mail.scan(layout, "ada", NOW).reported == ()
    assert len(os.listdir(inbox)) == 2


class OneMailbox(RuleBasedStateMachine):
    """Random senders, brains, agents, people and kills on one mailbox.

    After every step each message that was ever sent lies in exactly one folder; nothing is delivered twice unless
    somebody gave it back; attempts count typings.
    """

    messages = Bundle("messages")

    @initialize()
    def start(self) -> None:
        """An empty project."""
        self.folder = tempfile.mkdtemp()
        self.layout = lay(Path(self.folder), "ada", "bob")
        self.now = NOW
        self.sent: set[str] = set()
        self.typed: dict[str, int] = {}

    def teardown(self) -> None:
        """No file stays."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(target=messages, text=strategies.sampled_from(["done", "x" * 9000]), priority=strategies.integers(0, 3))
    def send(self, text: str, priority: int) -> Message:
        """A new message."""
        message = mail.send(self.layout, "ada", "bob", text, priority=priority, now=self.now)
        self.sent.add(message.id)
        return message

    @rule(target=messages, slot=strategies.integers(0, 2))
    def send_by_id(self, slot: int) -> Message:
        """A sender that may try again."""
        message = mail.send(self.layout, "ada", "brain", "ping", message_id=f"cron-ping-{slot}", now=self.now)
        self.sent.add(message.id)
        return message

    @rule(message=messages)
    def take(self, message: Message) -> None:
        """Taking works exactly for what waits."""
        waits = {each.id for each in mail.scan(self.layout, "ada", self.now + 60).messages}
        assert (mail.take(self.layout, "ada", message, now=self.now) is not None) == (message.id in waits)

    @rule(message=messages)
    def type_it(self, message: Message) -> None:
        """Bytes were typed."""
        if mail.typed(self.layout, "ada", message, now=self.now) is not None:
            self.typed[message.id] = self.typed.get(message.id, 0) + 1

    @rule(message=messages)
    def give_back(self, message: Message) -> None:
        """It is proved that the agent has it nowhere."""
        mail.give_back(self.layout, "ada", message, "lost", self.now)

    @rule(message=messages)
    def finish(self, message: Message) -> None:
        """A receipt."""
        mail.finish(self.layout, "ada", message, "turn", self.now)

    @rule(message=messages)
    def bury(self, message: Message) -> None:
        """Too many attempts."""
        mail.bury(self.layout, "ada", message, "hopeless", self.now)

    @rule(message=messages)
    def requeue(self, message: Message) -> None:
        """A person wants it again."""
        try:
            mail.requeue(self.layout, message.id, self.now)
        except CannotBeDone:
            return
        self.typed[message.id] = 0

    @rule(message=messages, act=strategies.sampled_from(["take", "finish", "bury", "give_back", "typed"]))
    def cut(self, message: Message, act: str) -> None:
        """The same acts, killed before their rename; then somebody recovers, or nobody yet."""
        real = os.rename

        def killed(source: str, target: str) -> None:
            if os.path.dirname(source) != os.path.dirname(target):
                raise KeyboardInterrupt
            real(source, target)

        os.rename = killed  # type: ignore[assignment]
        try:
            match act:
                case "take" | "typed":
                    got = getattr(mail, act)(self.layout, "ada", message, now=self.now)
                    if act == "typed" and got is not None:
                        self.typed[message.id] = self.typed.get(message.id, 0) + 1
                case _:
                    getattr(mail, act)(self.layout, "ada", message, "cut", self.now)
        except KeyboardInterrupt:
            pass
        finally:
            os.rename = real

    @rule()
    def recover(self) -> None:
        """A brain starts, or an agent checks its inbox."""
        mail.recover(self.layout, "ada", self.now)
        for late in mail.expired_leases(self.layout, "ada", self.now):
            mail.give_back(self.layout, "ada", late, "lease", self.now)

    @rule(seconds=strategies.sampled_from([1, 299, 301]))
    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.now += seconds

    @rule()
    def clean(self) -> None:
        """`git clean -fdx` under a running brain, which remembers."""
        kept = mail.snapshot(self.layout)
        for folder in ("inbox", "inflight"):
            shutil.rmtree(mailbox.folder(self.layout, "ada", folder), ignore_errors=True)
        mail.restore(self.layout, kept, self.now)

    @invariant()
    def every_message_is_in_one_place(self) -> None:
        """Neither lost nor doubled, and never quarantined."""
        if not hasattr(self, "layout"):
            return
        places = where(self.layout, "ada")
        ids = []
        for name, folder in places.items():
            data = atomic.read(os.path.join(mailbox.folder(self.layout, "ada", folder), name))
            assert data is not None and folder != "quarantine"
            message = letters.decode(data, name, "ada", None)
            ids.append(message.id)
            assert message.attempts == self.typed.get(message.id, 0)
        assert sorted(ids) == sorted(self.sent)


OneMailbox.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestOneMailbox = OneMailbox.TestCase
