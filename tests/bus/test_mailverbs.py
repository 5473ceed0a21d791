"""Messages by verbs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from coleo.files import mail
from coleo.model.errors import BadInput
from tests.bus.calling import call, project
from tests.files.project import NOW, where


def test_send_check_acknowledge(tmp_path: Path) -> None:
    """The text arrives quoted, with its id and how to answer; what is not acknowledged comes again."""
    layout = project(tmp_path)
    sent = call(layout, "ada", "send-message", to="bob", priority="high", text="hello\n=== END", task="t-abcdef")
    reply = call(layout, "bob", "check-inbox", now=NOW + 10)
    assert (
        "> hello\n> === END" in reply.text
        and sent.data["message"] in reply.text
        and "about task t-abcdef" in reply.text
    )
    assert f"coleo bus send-message ada normal '<your reply>' {sent.data['message']}" in reply.text
    assert set(where(layout, "bob").values()) == {"inflight"}
    again = call(layout, "bob", "check-inbox", now=NOW + 20)
    assert [one["id"] for one in again.data["messages"]] == [sent.data["message"]]
    assert call(layout, "bob", "ack-inbox", message=[sent.data["message"]]).data["acknowledged"]
    assert call(layout, "bob", "check-inbox", now=NOW + 30).text == "No messages."


def test_a_lease_that_ran_out_gives_the_message_back(tmp_path: Path) -> None:
    """After 300 s it waits again: the brain may type it, or the seat takes it again."""
    layout = project(tmp_path)
    call(layout, "ada", "send-message", to="bob", priority="normal", text="hello")
    call(layout, "bob", "check-inbox", now=NOW + 10)
    assert mail.expired_leases(layout, "bob", NOW + 309) == []
    (late,) = mail.expired_leases(layout, "bob", NOW + 311)
    assert late.attempts == 0, "nothing was typed"
    assert len(call(layout, "bob", "check-inbox", now=NOW + 311).data["messages"]) == 1


def test_what_the_brain_has_in_hand_is_not_taken(tmp_path: Path) -> None:
    """A message on its way into the terminal is not shown by check-inbox, but its acknowledgement counts."""
    layout = project(tmp_path)
    sent = mail.send(layout, "bob", "ada", "typed by the brain", now=NOW)
    mail.take(layout, "bob", sent, now=NOW, holder="brain:b1")
    mail.typed(layout, "bob", sent, now=NOW + 1)
    assert call(layout, "bob", "check-inbox", now=NOW + 10).data["messages"] == []
    assert call(layout, "bob", "ack-inbox", message=[sent.id]).data["acknowledged"] == [sent.id]
    assert where(layout, "bob") == {sent.name: "processed"}


def test_expired_messages_are_not_delivered(tmp_path: Path) -> None:
    """A cron prompt whose next slot has come goes to dead, with a reason."""
    layout = project(tmp_path)
    mail.send(layout, "bob", "brain", "ping", kind="cron", message_id="cron-ping-1", now=NOW, expires_at=NOW + 60)
    assert call(layout, "bob", "check-inbox", now=NOW + 61).data["messages"] == []
    assert set(where(layout, "bob").values()) == {"dead"}


def test_an_unknown_seat_gets_its_mail_later_and_the_sender_a_warning(tmp_path: Path) -> None:
    """Nothing is refused, nothing is lost."""
    layout = project(tmp_path)
    reply = call(layout, "ada", "send-message", to="later", priority="low", text="hi")
    assert reply.exit_code == 0 and reply.data["known"] is False and "Warning" in reply.text
    assert len(os.listdir(layout.seat("later").inbox)) == 1


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({"to": "ada", "priority": "normal", "text": "x"}, "another seat"),
        ({"to": "../x", "priority": "normal", "text": "x"}, "a-z"),
        ({"to": "bob", "priority": "now", "text": "x"}, "urgent"),
        ({"to": "bob", "priority": "normal", "text": " "}, "at least one word"),
        ({"to": "bob", "priority": "normal", "text": "x" * (1 << 20) + "x"}, "1048576"),
        ({"to": "bob", "priority": "normal", "text": "x", "reply_to": "a b"}, "m-"),
        ({"to": "bob", "priority": "normal", "text": "x", "task": "../x"}, "t-"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, values: dict[str, Any], wanted: str) -> None:
    """Exit 2, with what would be right; nothing is sent."""
    layout = project(tmp_path)
    with pytest.raises(BadInput) as found:
        call(layout, "ada", "send-message", **values)
    assert found.value.exit_code == 2 and wanted in str(found.value)
    assert where(layout, "bob") == {}
