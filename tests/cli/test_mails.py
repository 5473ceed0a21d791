"""`coleo send` and `coleo mail`."""

from __future__ import annotations

from pathlib import Path

import pytest

from coleo.files import mail
from coleo.files.layout import Layout
from coleo.model.message import TEXT_LIMIT
from tests.cli.helpers import coleo, facts, project

NOW = 1_800_000_000.0


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return project(tmp_path, "ada", "bob")


def test_send_from_the_command_line_and_from_standard_input(layout: Layout) -> None:
    sent = facts(layout, "send", "ada", "Stop after this task.", "--priority", "urgent")
    assert (sent["sender"], sent["priority"], sent["folder"]) == ("human", "urgent", "inbox")
    ran = coleo(layout, "send", "ada", "-", "--reply-to", sent["id"], stdin="Zeile eins\nзеile zwei\n")
    assert (ran.returncode, "coleo up" in ran.stdout) == (0, True)
    texts = {message.text: message for message in mail.scan(layout, "ada", NOW).messages}
    assert texts["Zeile eins\nзеile zwei\n"].reply_to == sent["id"]


@pytest.mark.parametrize(
    "words",
    [["ada", ""], ["ada", "x", "--priority", "soon"], ["ada", "x", "--reply-to", "../x"], ["eve", "x"], ["ada"]],
)
def test_send_refuses_what_cannot_be_a_message(layout: Layout, words: list[str]) -> None:
    assert coleo(layout, "send", *words).returncode == 2


def test_send_refuses_more_than_a_mebibyte(layout: Layout) -> None:
    """Case f10: exit 2 at the sender, nothing is queued."""
    assert coleo(layout, "send", "ada", "-", stdin="x" * (TEXT_LIMIT + 1)).returncode == 2
    assert mail.scan(layout, "ada", NOW).messages == ()


def test_list_shows_what_waits_and_what_went_wrong(layout: Layout) -> None:
    assert coleo(layout, "mail", "list").stdout == "no messages\n"
    one = mail.send(layout, "ada", "bob", "hello\nworld", now=NOW)
    two = mail.send(layout, "ada", "human", "gone", now=NOW)
    mail.bury(layout, "ada", two, "typed 5 times without a receipt", NOW)
    Path(layout.seat("bob").dir, "quarantine").mkdir()
    Path(layout.seat("bob").dir, "quarantine", "2-1-from-ada-x1.json").write_text("{")
    found = facts(layout, "mail", "list")
    assert {(m["id"], m["folder"]) for m in found["messages"]} == {(one.id, "inbox"), (two.id, "dead")}
    assert found["quarantine"] == [{"seat": "bob", "file": "2-1-from-ada-x1.json"}]
    text = coleo(layout, "mail", "list").stdout
    assert "hello world" in text
    assert "2-1-from-ada-x1.json" in text
    assert len(facts(layout, "mail", "list", "ada", "--folder", "dead")["messages"]) == 1
    assert coleo(layout, "mail", "list", "--folder", "attic").returncode == 2


def test_show_requeue_and_purge(layout: Layout) -> None:
    sent = mail.send(layout, "ada", "bob", "hello", now=NOW)
    mail.bury(layout, "ada", sent, "typed 5 times without a receipt", NOW)
    shown = coleo(layout, "mail", "show", sent.id).stdout
    assert "typed 5 times" in shown
    assert "dead" in shown
    assert facts(layout, "mail", "requeue", sent.id)["message"]["folder"] == "inbox"
    assert coleo(layout, "mail", "requeue", sent.id).returncode == 1
    assert facts(layout, "mail", "purge", "ada")["purged"] == []
    assert facts(layout, "mail", "list")["messages"]
    purged = coleo(layout, "mail", "purge", "ada", "--waiting")
    assert purged.stdout.startswith("1 message is gone")
    assert mail.find(layout, sent.id) is None
    assert coleo(layout, "mail", "show", sent.id).returncode == 2


def test_purge_by_age_and_by_id_leaves_the_rest(layout: Layout) -> None:
    kept = mail.send(layout, "ada", "bob", "young", now=NOW)
    gone = mail.send(layout, "ada", "bob", "this one", now=NOW)
    for message in (kept, gone):
        mail.finish(layout, "ada", message, "turn", NOW)
    assert facts(layout, "mail", "purge", "--older-than", "7d")["purged"] == []
    assert len(facts(layout, "mail", "purge", "--id", gone.id)["purged"]) == 1
    assert mail.find(layout, kept.id) is not None
    assert coleo(layout, "mail", "purge", "--older-than", "soon").returncode == 2
    assert coleo(layout, "mail", "purge", "--folder", "inbox").returncode in (1, 2)
