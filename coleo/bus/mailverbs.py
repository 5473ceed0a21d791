"""Verbs about messages: send, check, acknowledge."""

from __future__ import annotations

import os

from coleo.bus import doorbell
from coleo.bus.context import Context, Reply
from coleo.files import mail
from coleo.model.errors import BadInput
from coleo.model.message import LEASE_S, PRIORITIES, Message
from coleo.model.names import check_message, check_seat, check_task
from coleo.model.prompt import one_line, quote

WORDS = {number: word for word, number in PRIORITIES.items()}


def send_message(
    ctx: Context, to: str, priority: str, text: str, reply_to: str | None = None, task: str | None = None
) -> Reply:
    """Queue a message for a seat. An unknown seat is no error: its mail waits, and the answer warns."""
    me = ctx.me()
    check_seat(to)
    if to == me:
        raise BadInput("a message to yourself", found=to, wanted="another seat", todo="use log-event or task-progress")
    if task:
        check_task(task)
    sent = mail.send(ctx.layout, to, me, text, priority=priority, reply_to=reply_to, task=task, now=ctx.now)
    doorbell.ring(ctx.layout, "mail")
    answer = f"Sent to {to}: {sent.id}"
    known = mail.known(ctx.layout, to)
    if not known:
        seats = ", ".join(ctx.layout.seats_present()) or "none"
        answer += f"\nWarning: there is no seat {to} (yet); the message waits for it. Seats: {seats}"
    return Reply(answer, {"message": sent.id, "to": to, "known": known})


def check_inbox(ctx: Context) -> Reply:
    """Take what waits, and show again what was taken before and not acknowledged. Each has a lease of 300 s."""
    me = ctx.me()
    mine = take_all(ctx, me)
    if not mine:
        return Reply("No messages.", {"messages": []})
    parts = [f"{len(mine)} message{'s' if len(mine) > 1 else ''}. Acknowledge each: coleo bus ack-inbox <id>"]
    parts += [show(message) for message in mine]
    return Reply("\n\n".join(parts), {"messages": [facts(message) for message in mine]})


def take_all(ctx: Context, me: str) -> list[Message]:
    """The messages that the seat holds by its own ``check-inbox``, after taking what waits; expired ones are buried."""
    layout, now = ctx.layout, ctx.now
    mail.recover(layout, me, now)
    for late in mail.expired_leases(layout, me, now):
        mail.give_back(layout, me, late, "its lease ran out", now)
    for message in mail.scan(layout, me, now).messages:
        if message.expired(now):
            mail.bury(layout, me, message, "expired before it was delivered", now)
        else:
            mail.take(layout, me, message, now=now, generation=ctx.generation, lease_s=LEASE_S, holder="seat")
    mine = [m for m in mail.inflight(layout, me) if m.holder == "seat" and m.typed_at is None and not m.receipt]
    return [mail.extend(layout, me, m, now=now, lease_s=LEASE_S) or m for m in mine]


def show(message: Message) -> str:
    """A message for a model: the text is quoted, so that it cannot imitate a line of coleo's own."""
    head = f"Message {message.id} from {message.sender} ({WORDS.get(message.priority, 'low')}"
    head += f", answers {one_line(message.reply_to)}" if message.reply_to else ""
    head += f", about task {one_line(message.task)}" if message.task else ""
    rows = [f"{head}, {one_line(message.created_at)}):", quote(message.text)]
    if message.note:
        rows.append(f"(note: {message.note})")
    if message.kind == "message":
        rows.append(f"Reply using: coleo bus send-message {message.sender} normal '<your reply>' {message.id}")
    return "\n".join(rows)


def facts(message: Message) -> dict[str, object]:
    """A message as data."""
    return {
        "id": message.id,
        "from": message.sender,
        "priority": WORDS.get(message.priority, "low"),
        "kind": message.kind,
        "created_at": message.created_at,
        "reply_to": message.reply_to,
        "task": message.task,
        "note": message.note,
        "text": message.text,
    }


def ack_inbox(ctx: Context, message: list[str] | str) -> Reply:
    """The seat has these messages: processed. What is unknown or processed already is no error (case f14)."""
    me = ctx.me()
    given = [message] if isinstance(message, str) else message
    done: list[str] = []
    already: list[str] = []
    for message_id in given:
        check_message(message_id)
        finished = mail.finish(ctx.layout, me, message_id, "ack", ctx.now)
        (done if finished is not None else already).append(message_id)
    if done:
        doorbell.ring(ctx.layout, "mail")
    rows = [f"Acknowledged: {', '.join(done)}"] if done else []
    rows += [f"{message_id}: already done" for message_id in already]
    return Reply("\n".join(rows), {"acknowledged": done, "already_done": already})


def waiting(ctx: Context, me: str) -> list[Message]:
    """What waits for the seat or was taken by it; nothing is moved. For the briefing."""
    from coleo.files import mailbox

    if not os.path.isdir(ctx.layout.seat(me).dir):
        return []
    found = mailbox.read_all(ctx.layout, me, "inbox")
    found += [m for m in mailbox.read_all(ctx.layout, me, "inflight") if m.holder == "seat"]
    return [m for m in found if not m.expired(ctx.now)]
