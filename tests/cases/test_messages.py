"""Cases of theme f (messages), and the mail part of a17."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coleo.bus import entry
from coleo.files import atomic, mail, mailscan
from coleo.files.layout import Layout
from coleo.files.letters import Unreadable
from coleo.model.errors import BadInput
from coleo.model.message import Message
from coleo.model.prompt import fits
from tests.files.project import NOW, lay, log, where

DATA = Path(__file__).parent / "data"


def case(case_id: str, tmp_path: Path, *seats: str) -> tuple[Layout, dict[str, Any]]:
    """A project whose seat ``rand`` has the case's inbox, and what is expected. The files are not young."""
    layout = lay(tmp_path, "rand", *seats)
    expected = json.loads((DATA / case_id / "expected.json").read_text())
    inbox = Path(layout.seat("rand").inbox)
    shutil.copytree(DATA / case_id / "inbox", inbox)
    for path in inbox.rglob("*"):
        os.utime(path, (NOW - 60, NOW - 60))
    return layout, expected


def test_f01_order_is_numeric_and_an_unknown_priority_is_last(tmp_path: Path) -> None:
    """Priority 10 comes after 2, a short time stamp before a long one; a sender's future clock delays nothing."""
    layout, expected = case("f01", tmp_path)
    found = mail.scan(layout, "rand", NOW)
    assert [message.name for message in found.messages] == expected["deliver_order"]
    assert found.reported == ("10-1764496800000-from-x-dd44.json",)
    assert mail.scan(layout, "rand", NOW + 1).reported == ()


def test_f02_bad_files_are_quarantined_once_and_block_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Good messages arrive in the same round; each bad file moves once, with a reason and one line in the log."""
    layout, expected = case("f02", tmp_path)
    reads: dict[str, int] = {}
    real_read = atomic.read

    def counted(path: str, limit: int | None = None) -> bytes | None:
        reads[os.path.basename(path)] = reads.get(os.path.basename(path), 0) + 1
        return real_read(path, limit)

    monkeypatch.setattr(atomic, "read", counted)
    before = {path.name: path.read_bytes() for path in Path(layout.seat("rand").inbox).iterdir()}
    first = mail.scan(layout, "rand", NOW)
    for at in range(1, 10):
        mail.scan(layout, "rand", NOW + at)
    assert [message.id for message in first.messages] == expected["delivered"]
    assert sorted(first.quarantined) == expected["quarantined"]
    quarantine = Path(layout.seat("rand").quarantine)
    for name in expected["quarantined"]:
        assert (quarantine / name).read_bytes() == before[name], "kept byte for byte"
        assert (quarantine / f"{name}.reason").read_text().strip()
        assert reads[name] <= 3
    about = [line for line in log(layout) if line.get("file") in expected["quarantined"]]
    assert len(about) == expected["log_lines_about_them"]


def test_f02_a_young_unreadable_file_gets_a_second_try(tmp_path: Path) -> None:
    """A sender that does not write atomically is given 2 s; what it completes is delivered."""
    layout = lay(tmp_path, "rand")
    inbox = Path(layout.seat("rand").inbox)
    inbox.mkdir()
    slow, never = inbox / "2-1764496800000-from-bob-a1.json", inbox / "2-1764496800001-from-bob-a2.json"
    slow.write_text('{"id": "m1", "from": "bob", "te')
    never.write_text('{"id": "m2", "from": "bob", "te')
    for path in (slow, never):
        os.utime(path, (NOW, NOW))
    found = mail.scan(layout, "rand", NOW + 0.5)
    assert sorted(found.waiting) == [slow.name, never.name] and not found.quarantined
    slow.write_text('{"id": "m1", "from": "bob", "text": "whole"}')
    os.utime(slow, (NOW + 1, NOW + 1))
    found = mail.scan(layout, "rand", NOW + 1.5)
    assert [message.text for message in found.messages] == ["whole"] and found.waiting == (never.name,)
    found = mail.scan(layout, "rand", NOW + 2.5)
    assert found.quarantined == (never.name,)


def test_f05_only_files_named_as_messages_are_messages(tmp_path: Path) -> None:
    """Temp, backup and editor files and folders are left alone; a .json that is no message is told of once."""
    layout, expected = case("f05", tmp_path)
    seat = Path(layout.seat("rand").dir)
    before = {name: (seat / name).read_bytes() for name in expected["untouched"]}
    found = mail.scan(layout, "rand", NOW)
    again = mail.scan(layout, "rand", NOW + 10)
    assert [message.id for message in found.messages] == expected["delivered"]
    assert [f"inbox/{name}" for name in found.reported] == expected["reported_once"] and again.reported == ()
    assert {name: (seat / name).read_bytes() for name in expected["untouched"]} == before


SENDER = """
import os, random, sys
from coleo.files import mail
from coleo.files.layout import Layout
from coleo.files.letters import Unreadable
random.seed(1)
children = []
for number in range(8):
    pid = os.fork()
    if not pid:
        for each in range(125):
            mail.send(Layout(sys.argv[1]), "rand", "bob", "x", now=1764496800.0)
        os._exit(0)
    children.append(pid)
sys.exit(any(os.waitpid(pid, 0)[1] for pid in children))
"""


def test_f06_equal_clock_and_seed_give_no_equal_names(tmp_path: Path) -> None:
    """1000 sends from 8 forked processes in the same millisecond are 1000 files: exclusive create, kernel random."""
    layout = lay(tmp_path, "rand", "bob")
    subprocess.run([sys.executable, "-c", SENDER, layout.root], check=True, timeout=100)
    names = os.listdir(layout.seat("rand").inbox)
    assert len(names) == 1000
    assert len({json.loads((Path(layout.seat("rand").inbox) / name).read_text())["id"] for name in names}) == 1000


def test_f09_bytes_that_are_no_text_raise_nowhere(tmp_path: Path) -> None:
    """Bad UTF-8 and lone surrogates are replaced, NUL is dropped, a BOM is fine, UTF-16 is quarantined."""
    layout, expected = case("f09", tmp_path)
    found = mail.scan(layout, "rand", NOW)
    assert {message.id: message.text for message in found.messages} == expected["delivered_text"]
    assert list(found.quarantined) == expected["quarantined"]
    notes = {message.id: message.note for message in found.messages}
    assert notes["n1"] and notes["n2"] and not notes["n3"]
    for message in found.messages:
        taken = mail.take(layout, "rand", message, now=NOW)
        assert taken is not None and taken.text == expected["delivered_text"][message.id], "it survives a move"


@pytest.mark.parametrize("size", [8191, 8192, 8193, 1048576, 1048577, 5000000])
def test_f10_sizes(tmp_path: Path, size: int) -> None:
    """Up to 1 MiB is sent; above 8 KiB it is not pasted as it is; a larger file that somebody made is quarantined."""
    layout = lay(tmp_path, "rand", "bob")
    expected = json.loads((DATA / "f10" / "expected.json").read_text())[str(size)]
    text = "x" * size
    if expected in ("inline", "pointer"):
        mail.send(layout, "rand", "bob", text, now=NOW)
        (message,) = mail.scan(layout, "rand", NOW + 10).messages
        assert message.text == text and fits(message.text) == (expected == "inline")
        return
    with pytest.raises(BadInput) as refused:
        mail.send(layout, "rand", "bob", text, now=NOW)
    assert refused.value.exit_code == 2
    name = "2-1764496800000-from-bob-a1.json"
    inbox = Path(layout.seat("rand").inbox)
    inbox.mkdir(exist_ok=True)
    (inbox / name).write_text(json.dumps({"id": "big", "from": "bob", "text": text}))
    found = mail.scan(layout, "rand", NOW)
    assert found.messages == () and found.quarantined == (name,)


def test_f10_a_file_of_megabytes_is_not_read_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is looked at first."""
    layout = lay(tmp_path, "rand")
    inbox = Path(layout.seat("rand").inbox)
    inbox.mkdir()
    (inbox / "2-1764496800000-from-bob-a1.json").write_text("x" * 5_000_000)
    monkeypatch.setattr(mailscan._Look, "_read", lambda *_: pytest.fail("it was read"))
    assert len(mail.scan(layout, "rand", NOW).quarantined) == 1


def test_f12_hand_written_json_arrives_or_its_sender_is_told(tmp_path: Path) -> None:
    """Raw line breaks in strings are accepted; for what is no JSON the sender gets one notice, with line and column."""
    layout, expected = case("f12", tmp_path, *json.loads((DATA / "f12" / "expected.json").read_text())["notices_to"])
    found = mail.scan(layout, "rand", NOW)
    mail.scan(layout, "rand", NOW + 60)
    assert {message.id: message.text for message in found.messages} == expected["delivered_text"]
    assert found.messages[0].note
    assert sorted(found.quarantined) == expected["quarantined"]
    (notified,) = expected["notices_to"]
    notices = mail.scan(layout, notified, NOW).messages
    assert len(notices) == 2, "one for each file"
    assert all("line 1 column" in notice.text and notice.sender == "brain" for notice in notices)


def test_f12_a_notice_is_sent_once_even_when_the_move_was_cut(tmp_path: Path) -> None:
    """A kill between the notice and the rename leaves the bad file; the next look sends nothing new."""
    layout, _expected = case("f12", tmp_path, "amy")
    name = "2-1764496800002-from-amy-a2.json"
    mailscan._tell_sender(layout, "rand", name, Unreadable("it is no JSON"), NOW)
    mail.scan(layout, "rand", NOW)
    about = [message for message in mail.scan(layout, "amy", NOW).messages if name in message.text]
    assert len(about) == 1


def test_f14_what_was_typed_stays_in_flight_however_long_it_takes(tmp_path: Path) -> None:
    """The 300 s are for what was taken and not typed; a busy agent never gets a second copy."""
    layout = lay(tmp_path, "rand", "bob")
    typed, waits = (mail.send(layout, "rand", "bob", text, now=NOW) for text in ("typed", "waits"))
    for message in (typed, waits):
        assert mail.take(layout, "rand", message, now=NOW) is not None
    mail.typed(layout, "rand", typed, now=NOW + 1)
    assert [message.id for message in mail.expired_leases(layout, "rand", NOW + 299)] == []
    assert [message.id for message in mail.expired_leases(layout, "rand", NOW + 1200)] == [waits.id]
    (still,) = [message for message in mail.inflight(layout, "rand") if message.id == typed.id]
    assert still.attempts == 1
    assert mail.finish(layout, "rand", typed, "turn", NOW + 1200) is not None
    assert where(layout, "rand")[still.name] == "processed"


def test_f14_a_second_acknowledgement_is_no_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Unknown or processed already: exit 0, "already done"."""
    layout = lay(tmp_path, "rand", "bob")
    message = mail.send(layout, "rand", "bob", "hello", now=NOW)
    environ = {"COLEO_PROJECT": layout.root, "COLEO_SEAT": "rand"}
    assert entry.main(["ack-inbox", message.id], environ, NOW) == 0
    assert entry.main(["ack-inbox", message.id, "m-neverheardofit"], environ, NOW) == 0
    assert capfd.readouterr().out.count("already done") == 2
    assert set(where(layout, "rand").values()) == {"processed"}


def test_f14_ended_mail_can_be_cleared(tmp_path: Path) -> None:
    """Purge deletes what has ended, and only that."""
    layout = lay(tmp_path, "rand", "bob")
    done, waits = (mail.send(layout, "rand", "bob", text, now=NOW) for text in ("done", "waits"))
    mail.finish(layout, "rand", done, "turn", NOW)
    assert len(mail.purge(layout, "rand", now=NOW)) == 1
    assert where(layout, "rand") == {waits.name: "inbox"}


def test_a17_the_id_decides_never_the_text(tmp_path: Path) -> None:
    """Equal texts of two senders, and one cron prompt on two slots, all arrive; the same id arrives once."""
    layout = lay(tmp_path, "rand", "amy", "bob")

    def fire(slot: str) -> Message:
        return mail.send(layout, "rand", "brain", "ping", kind="cron", message_id=f"cron-ping-{slot}", now=NOW)

    for sender in ("amy", "bob"):
        mail.send(layout, "rand", sender, "done", now=NOW)
    first = fire("2026-12-01T10.00")
    fire("2026-12-01T10.01")
    assert fire("2026-12-01T10.00").id == first.id
    found = mail.scan(layout, "rand", NOW + 10).messages
    assert sorted(message.text for message in found) == ["done", "done", "ping", "ping"]
    for message in found:
        mail.finish(layout, "rand", message, "turn", NOW + 20)
    assert fire("2026-12-01T10.00").receipt == "turn", "also when it was processed long ago"
    assert mail.scan(layout, "rand", NOW + 30).messages == ()


def test_a17_a_file_made_by_hand_with_a_known_id_is_not_delivered_again(tmp_path: Path) -> None:
    """Programs that do not use coleo may write the same message twice."""
    layout = lay(tmp_path, "rand")
    inbox = Path(layout.seat("rand").inbox)
    inbox.mkdir()

    def drop(random: str) -> str:
        name = f"2-1764496800000-from-amy-{random}.json"
        (inbox / name).write_text(json.dumps({"id": "done-1", "from": "amy", "text": "done"}))
        return name

    drop("a1")
    (message,) = mail.scan(layout, "rand", NOW).messages
    mail.take(layout, "rand", message, now=NOW)
    mail.finish(layout, "rand", message.id, "turn", NOW)
    second = drop("b2")
    found = mail.scan(layout, "rand", NOW)
    assert found.messages == () and found.quarantined == (second,)
