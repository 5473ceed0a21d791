"""Mail: sending, taking, and what becomes of a message.

Who calls what: a sender calls `send`. The brain calls `scan`, `take` (with a lease, before it gives the text to a
host), `typed` when bytes were written, then `finish` with the receipt, `give_back`, or `bury`. A seat's own
``check-inbox`` takes, its ``ack-inbox`` finishes. Each call that moved something leaves one line in the activity log
and gives the message as it is now, or None when it is not there any more (somebody else moved it).

Theory and recovery: `coleo.model.message` and `mailbox`. A message that was taken, not typed, and whose lease ran
out is given back by whoever looks next (`expired_leases`).
"""

from __future__ import annotations

import os

from coleo.files import activity, atomic, letters, mailbox
from coleo.files.layout import Layout
from coleo.files.mailkeep import Snapshot, mailboxes, purge, recover, requeue, restore, snapshot
from coleo.files.mailscan import Scan, scan
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.instant import iso
from coleo.model.message import FILE_LIMIT, FLEETING, FOLDERS, LEASE_S, TEXT_LIMIT, FileName, Message, new_id, tag
from coleo.model.names import check_message, check_seat, check_sender

__all__ = [
    "Scan",
    "Snapshot",
    "bury",
    "expired_leases",
    "extend",
    "find",
    "finish",
    "give_back",
    "inflight",
    "known",
    "mailboxes",
    "purge",
    "recover",
    "requeue",
    "restore",
    "scan",
    "send",
    "snapshot",
    "take",
    "typed",
]

_TRIES = 100


def known(layout: Layout, seat: str) -> bool:
    """Whether somebody has laid out this seat; mail for any other is queued, and its sender warned."""
    return os.path.isfile(layout.seat(seat).seat_md)


def send(
    layout: Layout,
    to: str,
    sender: str,
    text: str,
    *,
    priority: str | int = "normal",
    kind: str = "message",
    reply_to: str | None = None,
    message_id: str | None = None,
    now: float,
    expires_at: float | None = None,
    task: str | None = None,
) -> Message:
    """Put a message into the inbox of `to`, whole and at once; its folder is made when it is missing.

    message_id: given by senders that may try again; a message with this id that lies in any folder of the seat is
    returned and nothing is sent (case a17: the id decides, never the text). Raises BadInput for an empty text, one
    above 1 MiB (case f10), a bad name or priority.
    """
    check_seat(to)
    check_sender(sender)
    number = letters.check_priority(priority)
    text = letters.clean_text(text)
    size = len(text.encode())
    if not text.strip():
        raise BadInput("a message needs a text", found=repr(text), wanted="at least one word")
    if size > TEXT_LIMIT:
        raise _too_large(size)
    if reply_to:
        check_message(reply_to)
    draft = Message(
        id=check_message(message_id) if message_id else "",
        sender=sender,
        to=to,
        text=text,
        priority=number,
        created_at=iso(now),
        reply_to=reply_to or None,
        kind=kind,
        task=task,
        expires_at=expires_at,
    )
    secret = letters.key(layout)
    inbox = mailbox.make_folder(layout, to, "inbox")
    if message_id:
        with mailbox.lock(layout, to):
            there = mailbox.locate(layout, to, message_id)
            if there is not None:
                return _as_sent(layout, to, there, draft)
            sent = _create(inbox, draft, secret, now)
    else:
        sent = _create(inbox, draft, secret, now)
    activity.append(
        layout,
        "message_sent",
        now=now,
        seat=to,
        message=sent.id,
        sender=sender,
        priority=number,
        kind=kind,
        reply_to=reply_to,
        task=task,
        bytes=size,
    )
    return sent


def _create(inbox: str, draft: Message, secret: bytes | None, now: float) -> Message:
    """One file of its own for the draft: exclusive create, a new random part when the name is taken (case f06)."""
    millis = int(now * 1000)
    for _ in range(_TRIES):
        message = draft if draft.id else draft.replace(id=new_id(os.urandom(10)))
        name = FileName(message.priority, millis, message.sender, tag(message.id)).text
        data = letters.dump(letters.to_raw(message, secret))
        if len(data) > FILE_LIMIT:
            raise _too_large(len(data))
        if atomic.create(os.path.join(inbox, name), data, durable=message.kind not in FLEETING):
            return message.replace(name=name)
        if draft.id:
            return message.replace(name=name)
    raise CannotBeDone("no free name for a message", file=inbox, todo="try again")


def _too_large(size: int) -> BadInput:
    return BadInput(
        "the message is too large",
        found=f"{size} bytes",
        wanted=f"at most {TEXT_LIMIT} bytes of text",
        todo="put the text into a file and send its path",
    )


def _as_sent(layout: Layout, seat: str, there: tuple[str, str], draft: Message) -> Message:
    where, name = there
    try:
        got = letters.read(mailbox.folder(layout, seat, where), name, seat)
    except letters.Unreadable:
        got = None
    return got[0] if got else draft.replace(name=name)


def take(
    layout: Layout,
    seat: str,
    message: Message,
    *,
    now: float,
    generation: int = 0,
    lease_s: float = LEASE_S,
    holder: str = "brain",
) -> Message | None:
    """Inbox to inflight under a lease. No attempt is counted: nothing was typed yet."""
    with mailbox.lock(layout, seat):
        got = _reread(layout, seat, message, ("inbox",))
        if got is None:
            return None
        _where, current, raw = got
        leased = current.replace(
            holder=holder, lease_until_at=now + lease_s, generation=generation, typed_at=None, reason=""
        )
        moved = mailbox.move(layout, leased, raw, "inbox", "inflight")
    _log(layout, "message_claimed", moved, now, holder=holder, generation=generation)
    return moved


def extend(layout: Layout, seat: str, message: Message, *, now: float, lease_s: float = LEASE_S) -> Message | None:
    """A new end for the lease of a message that was taken and not typed."""
    with mailbox.lock(layout, seat):
        got = _reread(layout, seat, message, ("inflight",))
        if got is None or got[1].typed_at is not None:
            return None
        return mailbox.move(layout, got[1].replace(lease_until_at=now + lease_s), got[2], "inflight", "inflight")


def typed(layout: Layout, seat: str, message: Message, *, now: float) -> Message | None:
    """Bytes of it were typed: this counts as an attempt and ends the lease. It waits for its receipt from now on."""
    with mailbox.lock(layout, seat):
        got = _reread(layout, seat, message, ("inflight",))
        if got is None:
            return None
        current = got[1]
        now_typed = current.replace(attempts=current.attempts + 1, lease_until_at=None, typed_at=now)
        moved = mailbox.move(layout, now_typed, got[2], "inflight", "inflight")
    _log(layout, "message_typed", moved, now, attempt=moved.attempts)
    return moved


def give_back(layout: Layout, seat: str, message: Message, reason: str, now: float) -> Message | None:
    """Inflight to inbox: it is to be delivered (again). Attempts stay counted."""
    with mailbox.lock(layout, seat):
        got = _reread(layout, seat, message, ("inflight",))
        if got is None:
            return None
        back = got[1].replace(holder="", lease_until_at=None, typed_at=None, reason=reason)
        moved = mailbox.move(layout, back, got[2], "inflight", "inbox")
    _log(layout, "message_returned", moved, now, reason=reason)
    return moved


def finish(layout: Layout, seat: str, message: Message | str, receipt: str, now: float) -> Message | None:
    """To processed, with what proves that the agent has it. Also from the inbox: an agent may have read it there."""
    return _end(layout, seat, message, "processed", now, receipt=receipt, processed_at=now)


def bury(layout: Layout, seat: str, message: Message | str, reason: str, now: float) -> Message | None:
    """To dead: too many attempts, expired, or a person said so. `requeue` brings it back."""
    return _end(layout, seat, message, "dead", now, reason=reason, dead_at=now)


def _end(layout: Layout, seat: str, message: Message | str, target: str, now: float, **facts: object) -> Message | None:
    with mailbox.lock(layout, seat):
        got = _reread(layout, seat, message, ("inflight", "inbox"))
        if got is None:
            return None
        where, current, raw = got
        ended = current.replace(lease_until_at=None, **facts)
        moved = mailbox.move(layout, ended, raw, where, target)
    _log(layout, f"message_{target}", moved, now, receipt=moved.receipt or None, reason=moved.reason or None)
    return moved


def inflight(layout: Layout, seat: str) -> list[Message]:
    """The messages that were taken and have no receipt yet, in delivery order."""
    return mailbox.read_all(layout, seat, "inflight")


def expired_leases(layout: Layout, seat: str, now: float) -> list[Message]:
    """Taken, never typed, and the lease is over: to be given back. What was typed is never among them (case f14)."""
    return [m for m in inflight(layout, seat) if m.typed_at is None and not m.receipt and not m.leased(now)]


def find(layout: Layout, message_id: str, seat: str | None = None) -> tuple[str, str, Message] | None:
    """(seat, folder, message) of an id, in the mail of one seat or of all; None when nobody has it."""
    check_message(message_id)
    for name in [seat] if seat else mailboxes(layout):
        there = mailbox.locate(layout, name, message_id, FOLDERS)
        if there is None:
            continue
        try:
            got = letters.read(mailbox.folder(layout, name, there[0]), there[1], name)
        except letters.Unreadable:
            continue
        if got is not None:
            return name, there[0], got[0]
    return None


def _reread(
    layout: Layout, seat: str, message: Message | str, folders: tuple[str, ...]
) -> tuple[str, Message, dict[str, object]] | None:
    """(folder, message, JSON object) as the file says now. The lock is held."""
    wanted = message if isinstance(message, str) else message.id
    for where in folders:
        path = mailbox.folder(layout, seat, where)
        name = "" if isinstance(message, str) else message.name
        if not name or not os.path.lexists(os.path.join(path, name)):
            there = mailbox.locate(layout, seat, wanted, (where,))
            if there is None:
                continue
            name = there[1]
        try:
            got = letters.read(path, name, seat)
        except letters.Unreadable:
            continue
        if got is not None and got[0].id == wanted:
            return where, got[0], got[1]
    return None


def _log(layout: Layout, action: str, message: Message, now: float, **fields: object) -> None:
    activity.append(
        layout,
        action,
        now=now,
        seat=message.to,
        message=message.id,
        sender=message.sender,
        **{name: value for name, value in fields.items() if value is not None},
    )
