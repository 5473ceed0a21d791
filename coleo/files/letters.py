"""Bytes of a message file to a `Message` and back, and the signature.

Reading is lenient in what does not change the meaning (a BOM, a byte that is no UTF-8, raw line feeds in strings,
unknown fields) and says so in `Message.note`; all else raises `Unreadable` with the place (cases f02, f09, f12).
"""

from __future__ import annotations

import json
import os
import re

from coleo.files import atomic
from coleo.files.layout import Layout
from coleo.model.errors import BadInput
from coleo.model.instant import iso, parse
from coleo.model.message import LOWEST, PRIORITIES, SIGNED, TEXT_LIMIT, Message, parse_name
from coleo.model.names import MESSAGE, RESERVED_SEATS, check_sender

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEY_MIN = 16
DELIVERY = "delivery"

_SURROGATES = re.compile("[\ud800-\udfff]")


class Unreadable(Exception):
    """A message file that cannot be delivered. syntax: it is no JSON, so it may still be being written.

    line, column: 1-based, for broken JSON.
    """

    def __init__(self, reason: str, *, syntax: bool = False, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.syntax = syntax
        self.line = line
        self.column = column


def key(layout: Layout) -> bytes | None:
    """The project's signing key, or None when there is none (nothing is signed or checked then)."""
    found = atomic.read(layout.key, limit=4096)
    if found is None:
        return None
    found = found.strip()
    return found if len(found) >= KEY_MIN else None


def signature(data: dict[str, Any], secret: bytes) -> str:
    """HMAC-SHA256 in hex over what the sender says (`SIGNED`), whatever the order and spelling of the JSON."""
    import hmac

    said = json.dumps([data.get(name) for name in SIGNED], separators=(",", ":"))
    return hmac.new(secret, said.encode(), "sha256").hexdigest()


def load(data: bytes) -> tuple[dict[str, Any], list[str]]:
    """The JSON object in a message file, and notes on what was odd about it. Raises Unreadable."""
    notes = []
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        notes.append("bytes that are no UTF-8 were replaced")
    if not text.strip("\0 \t\r\n"):
        raise Unreadable("it is empty", syntax=True, line=1, column=1)
    try:
        found = json.loads(text)
    except ValueError:
        found, extra = _lenient(text)
        notes += extra
    except RecursionError:
        raise Unreadable("its JSON is nested too deeply") from None
    if not isinstance(found, dict):
        raise Unreadable(f"it holds a {type(found).__name__}, not an object")
    return found, notes


def _lenient(text: str) -> tuple[object, list[str]]:
    """Agents that write JSON by hand leave raw line feeds and tabs in strings: these are taken (case f12)."""
    try:
        return json.loads(text, strict=False), ["raw control characters inside strings were accepted"]
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise Unreadable(
            f"it is no JSON: {error.msg} at {where}", syntax=True, line=error.lineno, column=error.colno
        ) from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is no JSON that can be read: {error}") from None


def decode(data: bytes, name: str, seat: str, secret: bytes | None) -> Message:
    """The message in the file `name` of the mailbox of `seat`. Raises Unreadable.

    With a key, what is unsigned, changed after signing, or signed for another seat is refused.
    """
    raw, notes = load(data)
    if secret is not None:
        _check_signature(raw, seat, secret)
    return from_raw(raw, notes, name, seat)


def _check_signature(raw: dict[str, Any], seat: str, secret: bytes) -> None:
    given = raw.get("signature")
    if not isinstance(given, str) or not given:
        raise Unreadable("it is not signed, and this project has a signing key")
    import hmac

    if not hmac.compare_digest(given.encode("utf-8", "replace"), signature(raw, secret).encode()):
        raise Unreadable("its signature does not fit what it says")
    if raw.get("to") != seat:
        raise Unreadable(f"it is signed for {raw.get('to')!r}, not for {seat}")


def from_raw(raw: dict[str, Any], notes: list[str], name: str, seat: str) -> Message:
    """The message that a JSON object is; the file's name gives the priority. Raises Unreadable."""
    text = raw.get("text")
    if not isinstance(text, str):
        raise Unreadable("it has no text" if text is None else "its text is no string")
    message_id, sender = raw.get("id"), raw.get("from")
    if not isinstance(message_id, str) or not MESSAGE.fullmatch(message_id):
        raise Unreadable("it has no id" if message_id is None else f"its id is no id: {message_id!r:.100}")
    if not isinstance(sender, str):
        raise Unreadable('it does not say who it is from ("from" is missing)')
    try:
        check_sender(sender)
    except BadInput:
        raise Unreadable(f"its sender is no seat name: {sender!r:.100}") from None
    parts = parse_name(name)
    if sender in RESERVED_SEATS and parts is not None and parts.sender != sender:
        raise Unreadable(f"it says that it is from {sender}, its file name says {parts.sender}")
    clean = clean_text(text)
    if clean != text:
        notes = [*notes, "characters that no text can hold were replaced or dropped"]
    size = len(clean.encode("utf-8"))
    if size > TEXT_LIMIT:
        raise Unreadable(f"its text has {size} bytes, more than {TEXT_LIMIT}")
    if parts is not None and parts.sender != sender:
        notes = [*notes, f"its file name says that it is from {parts.sender}"]
    where = raw.get(DELIVERY)
    return _with_delivery(
        Message(
            id=message_id,
            sender=sender,
            to=seat,
            text=clean,
            priority=min(parts.priority if parts else _priority(raw.get("priority")), LOWEST),
            created_at=_text(raw.get("created_at")),
            reply_to=_text(raw.get("reply_to")) or None,
            kind=_text(raw.get("kind")) or "message",
            task=_text(raw.get("task")) or None,
            expires_at=_instant(raw.get("expires_at")),
            note="; ".join(notes),
            name=name,
        ),
        where if isinstance(where, dict) else {},
    )


def _with_delivery(message: Message, where: dict[str, Any]) -> Message:
    return message.replace(
        attempts=_count(where.get("attempts")),
        holder=_text(where.get("holder")),
        lease_until_at=_instant(where.get("lease_until")),
        typed_at=_instant(where.get("typed_at")),
        generation=_count(where.get("generation")),
        receipt=_text(where.get("receipt")),
        reason=_text(where.get("reason")),
        dead_at=_instant(where.get("dead_at")),
        processed_at=_instant(where.get("processed_at")),
    )


def to_raw(message: Message, secret: bytes | None) -> dict[str, Any]:
    """The JSON object of a new message, signed when there is a key."""
    raw: dict[str, Any] = {
        "id": message.id,
        "from": message.sender,
        "to": message.to,
        "priority": message.priority,
        "text": message.text,
        "created_at": message.created_at,
        "reply_to": message.reply_to,
        "kind": message.kind,
        "task": message.task,
        "expires_at": None if message.expires_at is None else iso(message.expires_at),
    }
    if secret is not None:
        raw["signature"] = signature(raw, secret)
    return raw


def delivery(message: Message) -> dict[str, Any]:
    """The ``delivery`` part of the file: what is not said by the folder. Empty values are left out."""
    values: dict[str, Any] = {
        "attempts": message.attempts,
        "holder": message.holder,
        "lease_until": message.lease_until_at,
        "typed_at": message.typed_at,
        "generation": message.generation,
        "receipt": message.receipt,
        "reason": message.reason,
        "dead_at": message.dead_at,
        "processed_at": message.processed_at,
    }
    return {name: iso(value) if isinstance(value, float) else value for name, value in values.items() if value}


def dump(raw: dict[str, Any]) -> bytes:
    """The bytes of a message file: one line of JSON, UTF-8; what is no text (lone surrogates) as escapes."""
    return (json.dumps(raw, ensure_ascii=False).encode("utf-8", "backslashreplace")) + b"\n"


def read(path: str, name: str, seat: str) -> tuple[Message, dict[str, Any]] | None:
    """The message at `path` and its JSON object, unchecked by signature; None when it is gone. Raises Unreadable."""
    data = atomic.read(os.path.join(path, name))
    if data is None:
        return None
    raw, notes = load(data)
    return from_raw(raw, notes, name, seat), raw


def clean_text(text: str) -> str:
    """`text` without what no file and no terminal can hold: NUL dropped, lone surrogates as U+FFFD (case f09)."""
    text = text.replace("\0", "")
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def check_priority(value: str | int) -> int:
    """0 to 3 from a word or a number. Raises BadInput."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in PRIORITIES:
            return PRIORITIES[word]
        if word.isdigit() and len(word) == 1:
            value = int(word)
    if isinstance(value, int) and 0 <= value <= LOWEST:
        return value
    raise BadInput("not a priority", found=repr(value), wanted=", ".join(PRIORITIES))


def _text(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return clean_text(value)


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < 1 << 31 else 0


def _priority(value: object) -> int:
    return value if type(value) is int and 0 <= value <= LOWEST else LOWEST


def _instant(value: object) -> float | None:
    return parse(value) if isinstance(value, str) else None
