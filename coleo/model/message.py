"""A message between seats: what it says, where it stands, the name of its file.

Theory of operation. A message is one JSON file, and it lies in exactly one folder of its recipient:

    inbox ──take──▶ inflight ──finish──▶ processed
      ▲  ◀──give back──┘ │
      └──────requeue─────┴──bury──▶ dead            what cannot be read: quarantine

The folder says where it stands; the ``delivery`` part of the file says the rest (lease, attempts, generation,
receipt). Each move writes the file first, in place and whole, then renames it: `settled_in` says to which folder a
file belongs that a kill left between the two. A lease is only for what was not typed yet; only typed bytes count as
an attempt; only a receipt makes a message processed (DESIGN.md section 6).
"""

from __future__ import annotations

import re

from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PRIORITIES = {"urgent": 0, "high": 1, "normal": 2, "low": 3}
LOWEST = 3
TEXT_LIMIT = 1024 * 1024
"""Bytes of UTF-8 that a text may have (case f10)."""
FILE_LIMIT = 2 * TEXT_LIMIT + 65536
"""Bytes of a message file: a larger one is not even read (case f10)."""
LEASE_S = 300.0
FLEETING = frozenset({"nudge"})
"""Kinds that say nothing new after a power cut: their files are whole, but not flushed."""
FOLDERS = ("inbox", "inflight", "processed", "dead", "quarantine")
SIGNED = ("id", "from", "to", "priority", "text", "created_at", "reply_to", "kind", "task", "expires_at")
"""What the sender says; the signature covers these, never the ``delivery`` part."""

_NAME = re.compile(r"(\d{1,9})-(\d{1,15})-from-([a-z0-9][a-z0-9_-]{0,31})-([A-Za-z0-9]{1,32})\.json")
_OWN_ID = re.compile(r"m-([a-z2-7]{13,26})")
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"


class FileName(Record):
    """The parts of ``<priority>-<epoch ms>-from-<sender>-<random>.json``; they decide the order, nothing else."""

    priority: int
    epoch_ms: int
    sender: str
    random: str

    @property
    def text(self) -> str:
        """The name itself."""
        return f"{self.priority}-{self.epoch_ms}-from-{self.sender}-{self.random}.json"

    @property
    def order(self) -> tuple[int, int, str, str]:
        """Numeric priority (an unknown one is the lowest), numeric time, random part as text (case f01)."""
        return (min(self.priority, LOWEST), self.epoch_ms, self.random, self.text)


class Message(Record):
    """One message as its file tells it.

    sender, to: seats; the sender may be ``human`` or ``brain``. priority: 0 urgent to 3 low. kind: ``message``,
    ``assignment``, ``nudge``, ``cron``, ``notice``, ``human``… (how it is framed). task: the task that it is about.
    note: what coleo changed or noticed in reading it. name: of its file.
    attempts: how often bytes of it were typed. holder: who took it (``brain`` or the seat itself), lease_until_at:
    until when, None once it was typed. typed_at: when. generation: of the arm it was taken for. receipt: what proves
    that the agent has it. reason: why it came back or was buried. dead_at: when it was buried. processed_at: when it
    was finished.
    """

    id: str
    sender: str
    to: str
    text: str
    priority: int = 2
    created_at: str = ""
    reply_to: str | None = None
    kind: str = "message"
    task: str | None = None
    expires_at: float | None = None
    note: str = ""
    name: str = ""
    attempts: int = 0
    holder: str = ""
    lease_until_at: float | None = None
    typed_at: float | None = None
    generation: int = 0
    receipt: str = ""
    reason: str = ""
    dead_at: float | None = None
    processed_at: float | None = None

    @property
    def order(self) -> tuple[int, int, str, str]:
        """Sort key within a mailbox (case f01)."""
        parts = parse_name(self.name)
        return parts.order if parts else (min(self.priority, LOWEST), 0, "", self.name)

    def expired(self, now: float) -> bool:
        """Whether it is too late to deliver it."""
        return self.expires_at is not None and now >= self.expires_at

    def leased(self, now: float) -> bool:
        """Whether somebody has taken it, has not typed it, and may still do so."""
        return self.lease_until_at is not None and now < self.lease_until_at


def parse_name(name: str) -> FileName | None:
    """The parts of a message's file name, or None for any other name (case f05)."""
    found = _NAME.fullmatch(name)
    if not found:
        return None
    return FileName(int(found[1]), int(found[2]), found[3], found[4])


def new_id(entropy: bytes) -> str:
    """``m-`` and base32 of at least 10 bytes of ``os.urandom`` (case f06: no seedable generator)."""
    number = int.from_bytes(entropy, "big")
    return "m-" + "".join(_BASE32[number >> shift & 31] for shift in range(0, len(entropy) * 8 - 4, 5))


def tag(message_id: str) -> str:
    """The random part of the file name of a message with this id: the same id always gives the same tag.

    So a folder listing tells whether an id is there already, without reading a file.
    """
    own = _OWN_ID.fullmatch(message_id)
    if own:
        return own[1]
    import hashlib

    number = int.from_bytes(hashlib.sha256(message_id.encode("utf-8", "replace")).digest()[:15], "big")
    return "".join(_BASE32[number >> shift & 31] for shift in range(0, 120, 5))


def settled_in(folder: str, delivery: dict[str, Any]) -> str:
    """The folder to which a file belongs that lies in `folder` with this ``delivery`` part.

    A kill between the write and the rename of a move leaves the file in the old folder with the new facts: a receipt
    (it is processed) or a burial (it is dead). A lease in an inbox is void, it was never taken.
    """
    if folder in ("inbox", "inflight"):
        if delivery.get("receipt"):
            return "processed"
        if delivery.get("dead_at"):
            return "dead"
    return folder
