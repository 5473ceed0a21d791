"""``coleo send`` and ``coleo mail``: messages to seats, and what became of them."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from coleo.bus import doorbell
from coleo.cli import ages, named, out
from coleo.cli.app import Json, Seat, command, complete_seats, group, here
from coleo.files import mail, mailbox
from coleo.files.layout import Layout
from coleo.model.errors import BadInput
from coleo.model.instant import iso, parse
from coleo.model.message import FOLDERS, PRIORITIES, TEXT_LIMIT, Message

WORDS = {number: word for word, number in PRIORITIES.items()}

mails = group("Look at messages; bring them back or delete them.", "coleo mail list ada", "coleo mail show m-7h2k9q")


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app."""
    command(app, "send", "coleo send ada 'Stop after this task.'", "git diff | coleo send ada - --priority high")(send)
    app.add_typer(mails, name="mail")


def send(
    seat: Seat,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to say; - reads it from standard input.")],
    priority: Annotated[str, typer.Option("--priority", "-p", help=" ".join(PRIORITIES) + ".")] = "normal",
    reply_to: Annotated[str | None, typer.Option("--reply-to", metavar="ID", help="The message this answers.")] = None,
    json: Json = False,
) -> None:
    """Send a message to a seat, from you. It is typed into the agent's terminal when that is ready."""
    layout = here()
    named.seat(layout, seat)
    if text == "-":
        data = sys.stdin.buffer.read(TEXT_LIMIT + 1)
        text = data.decode("utf-8", "replace")
    sent = mail.send(layout, seat, "human", text, priority=priority, reply_to=reply_to, kind="human", now=out.now())
    doorbell.ring(layout)
    if json:
        out.emit(_facts(sent, "inbox"))
        return
    running = "" if named.brain_pid(layout) is not None else "; no brain runs, it is delivered after `coleo up`"
    out.line(f"{sent.id} waits for {seat}{running}")


@command(mails, "list", "coleo mail list", "coleo mail list ada --folder dead --json")
def list_(
    seat: Annotated[str | None, typer.Argument(metavar="[SEAT]", autocompletion=complete_seats)] = None,
    folder: Annotated[
        str | None, typer.Option("--folder", metavar="FOLDER", help=" ".join(FOLDERS) + ", or all.")
    ] = None,
    json: Json = False,
) -> None:
    """List messages that wait, are on their way, or went wrong.

    Processed ones are listed with --folder processed.
    """
    layout = here()
    seats = [named.seat(layout, seat)] if seat else layout.seats_present()
    chosen = _folders(folder)
    rows = [(name, box, message) for name in seats for box in chosen for message in mailbox.read_all(layout, name, box)]
    bad = [(name, file) for name in seats if "quarantine" in chosen for file in _unreadable(layout, name)]
    if json:
        facts = [_facts(message, box) for _name, box, message in rows]
        out.emit({"messages": facts, "quarantine": [{"seat": name, "file": file} for name, file in bad]})
        return
    if not rows and not bad:
        out.line("no messages")
        return
    at = out.now()
    lines = [
        (m.id, name, box, WORDS.get(m.priority, "low"), m.sender, out.ago(parse(m.created_at), at), out.title(m.text))
        for name, box, m in rows
    ]
    lines += [(file, name, "quarantine", "-", "-", "-", "cannot be read: see its .reason file") for name, file in bad]
    out.table(("ID", "SEAT", "WHERE", "PRIORITY", "FROM", "AGE", "TEXT"), lines, wide="TEXT")


def _folders(folder: str | None) -> tuple[str, ...]:
    if folder is None:
        return ("inbox", "inflight", "dead", "quarantine")
    if folder == "all":
        return FOLDERS
    if folder not in FOLDERS:
        raise BadInput("no such folder", found=folder, wanted=", ".join((*FOLDERS, "all")))
    return (folder,)


def _unreadable(layout: Layout, seat: str) -> list[str]:
    readable = {message.name for message in mailbox.read_all(layout, seat, "quarantine")}
    return [name for name in mailbox.names(mailbox.folder(layout, seat, "quarantine")) if name not in readable]


@command(mails, "show", "coleo mail show m-7h2k9qabcdefg")
def show(message_id: Annotated[str, typer.Argument(metavar="ID")], json: Json = False) -> None:
    """Show one message and where it stands."""
    _seat, box, message = _found(here(), message_id)
    facts = _facts(message, box)
    if json:
        out.emit(facts)
        return
    for name, value in facts.items():
        if name != "text" and value not in (None, "", 0):
            out.line(f"{name + ':':<14} {value}")
    out.line()
    out.line(message.text, lines=True)


@command(mails, "requeue", "coleo mail requeue m-7h2k9qabcdefg")
def requeue(message_id: Annotated[str, typer.Argument(metavar="ID")], json: Json = False) -> None:
    """Put an ended message back into its seat's inbox.

    A dead, quarantined or processed one; its attempts are forgotten.
    """
    layout = here()
    again = mail.requeue(layout, message_id, out.now())
    doorbell.ring(layout)
    if json:
        out.emit({"id": message_id, "message": _facts(again, "inbox") if again else None})
    elif again is None:
        out.line(f"{message_id} is back in the inbox, but still cannot be read: the next look says what is wrong")
    else:
        out.line(f"{again.id} waits for {again.to} again")


@command(
    mails,
    "purge",
    "coleo mail purge ada --folder dead",
    "coleo mail purge --older-than 7d",
    "coleo mail purge ada --waiting",
)
def purge(
    seat: Annotated[str | None, typer.Argument(metavar="[SEAT]", autocompletion=complete_seats)] = None,
    folder: Annotated[
        list[str] | None,
        typer.Option("--folder", metavar="FOLDER", help="Only this one of processed, dead and quarantine."),
    ] = None,
    message_id: Annotated[str | None, typer.Option("--id", metavar="ID", help="Only this message.")] = None,
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="AGE", help="Only what is older, such as 12h or 7d.")
    ] = None,
    waiting: Annotated[bool, typer.Option("--waiting", help="Also what was not delivered yet.")] = False,
    json: Json = False,
) -> None:
    """Delete messages for good: processed, dead and unreadable ones. What still waits only with --waiting."""
    layout = here()
    at = out.now()
    seats = [named.seat(layout, seat)] if seat else layout.seats_present()
    ended = tuple(folder or ("processed", "dead", "quarantine"))
    if waiting:
        ended = ("dead", *(name for name in ended if name != "dead"))
    before_at = at - ages.seconds(older_than) if older_than else None
    gone: list[str] = []
    for one in seats:
        if waiting:
            _bury(layout, one, message_id, before_at, at)
        gone += mail.purge(layout, one, ended, message_id=message_id, before_at=before_at, now=at)
    if json:
        out.emit({"purged": gone})
    else:
        out.line(f"{len(gone)} {'message is' if len(gone) == 1 else 'messages are'} gone for good")


def _bury(layout: Layout, seat: str, message_id: str | None, before_at: float | None, at: float) -> None:
    for box in ("inbox", "inflight"):
        for message in mailbox.read_all(layout, seat, box):
            sent_at = parse(message.created_at)
            young = before_at is not None and (sent_at is None or sent_at >= before_at)
            if not young and message_id in (None, message.id):
                mail.bury(layout, seat, message, "purged by a person", at)


def _found(layout: Layout, message_id: str) -> tuple[str, str, Message]:
    found = mail.find(layout, message_id)
    if found is None:
        raise BadInput("no such message", found=message_id, wanted="an id as `coleo mail list --folder all` shows it")
    return found


def _facts(message: Message, box: str) -> dict[str, object]:
    """A message for ``--json``: instants in ISO, the priority as a word."""
    facts: dict[str, object] = message.as_dict()
    facts["priority"] = WORDS.get(message.priority, "low")
    for name, value in facts.items():
        if name.endswith("_at") and isinstance(value, float):
            facts[name] = iso(value)
    return {"folder": box, **facts}
