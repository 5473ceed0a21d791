"""Mail as the loop handles it: what waits, what is on its way, and the moves that the brain decided.

A block of messages has an id, ``<first message>.<generation>.<milliseconds>``; each message of it names the block as
its holder (``brain:<block>``) in its own file, so a restarted brain finds the blocks again and asks the host what
became of them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping

from coleo.brain.facts import Flight, Letter
from coleo.daemon.terminals import Terminals
from coleo.files import atomic, mail, mailbox
from coleo.files.layout import Layout, make_private
from coleo.harness.receipts import Reader
from coleo.model.arm import Arm
from coleo.model.harness import Harness
from coleo.model.message import Message
from coleo.model.prompt import Prompt, block, fits, pointer

HOLDER = "brain:"
LEASE_MARGIN_S = 120.0


class Post:
    """All seats' mail. `log` writes one activity line: action, then fields."""

    def __init__(self, layout: Layout, terminals: Terminals, log: Callable[..., None]) -> None:
        self._layout = layout
        self._terminals = terminals
        self._log = log
        self._waiting: dict[str, list[Message]] = {}
        self._flying: dict[str, list[Message]] = {}
        self._readers: dict[str, tuple[int, Reader]] = {}
        self._stamps: dict[str, tuple[int, ...]] = {}

    def scan(self, seat: str, now: float, *, fully: bool) -> None:
        """Look at a seat's mail; unless `fully`, only when one of its folders changed."""
        boxes = [mailbox.folder(self._layout, seat, name) for name in ("inbox", "inflight")]
        stamp = tuple(_stamp(path) for path in boxes)
        if not fully and self._stamps.get(seat) == stamp:
            return
        if fully:
            mail.recover(self._layout, seat, now)
            for late in mail.expired_leases(self._layout, seat, now):
                if not late.holder.startswith(HOLDER):
                    mail.give_back(self._layout, seat, late, "its lease ran out", now)
        self._waiting[seat] = list(mail.scan(self._layout, seat, now).messages)
        self._flying[seat] = mail.inflight(self._layout, seat)
        self._stamps[seat] = tuple(_stamp(path) for path in boxes)

    def letters(self, seat: str) -> tuple[Letter, ...]:
        """What waits, in delivery order."""
        return tuple(
            Letter(
                message.id,
                message.sender,
                message.kind,
                message.priority,
                message.attempts,
                message.expires_at,
                len(message.text.encode("utf-8", "replace")) + 200,
                message.task or "",
            )
            for message in self._waiting.get(seat, [])
        )

    def flights(self, seat: str, arm: Arm, make_reader: Callable[[], Reader | None]) -> tuple[Flight, ...]:
        """The blocks on their way, with what host and receipts say of them.

        make_reader: of the receipts of this arm's harness; None where it writes none.
        """
        blocks: dict[str, list[Message]] = {}
        for message in self._flying.get(seat, []):
            if message.holder.startswith(HOLDER):
                blocks.setdefault(message.holder.removeprefix(HOLDER), []).append(message)
        if not blocks:
            return ()
        ids = [message.id for messages in blocks.values() for message in messages]
        receipts = self._receipts(seat, arm, make_reader, ids)
        return tuple(self._flight(seat, name, messages, receipts) for name, messages in blocks.items())

    def _flight(self, seat: str, name: str, messages: list[Message], receipts: Mapping[str, str]) -> Flight:
        typing = self._terminals.typing(seat, name)
        return Flight(
            name,
            tuple(message.id for message in messages),
            messages[0].generation,
            typing.state if typing else "unknown",
            typing.reason if typing else "",
            (typing is not None and typing.typed) or any(message.typed_at is not None for message in messages),
            tuple((message.id, receipts[message.id]) for message in messages if message.id in receipts),
            max(message.attempts for message in messages),
            typing.since_at if typing else max(message.typed_at or 0.0 for message in messages),
        )

    def _receipts(
        self, seat: str, arm: Arm, make_reader: Callable[[], Reader | None], ids: list[str]
    ) -> Mapping[str, str]:
        generation, reader = self._readers.get(seat, (-1, None))
        if reader is None or generation != arm.generation:
            reader = make_reader()
            if reader is None:
                return {}
            self._readers[seat] = (arm.generation, reader)
        return reader.look(ids)

    def mark_typed(self, seat: str, flights: tuple[Flight, ...], now: float) -> None:
        """Write down which blocks went out: it counts as an attempt. Leases of those at the gate go on."""
        by_id = {message.id: message for message in self._flying.get(seat, [])}
        for flight in flights:
            for message_id in flight.messages:
                message = by_id[message_id]
                if flight.typed and message.typed_at is None:
                    self._replace(seat, mail.typed(self._layout, seat, message, now=now))
                elif not flight.typed and (message.lease_until_at or 0.0) < now + LEASE_MARGIN_S:
                    self._replace(seat, mail.extend(self._layout, seat, message, now=now))

    def latest_typed_at(self) -> float | None:
        """When the latest block went out that has no receipt yet; None when none is on its way."""
        found = [
            message.typed_at or 0.0
            for messages in self._flying.values()
            for message in messages
            if message.holder.startswith(HOLDER)
        ]
        return max(found) if found else None

    def _replace(self, seat: str, message: Message | None) -> None:
        if message is not None:
            self._flying[seat] = [message if each.id == message.id else each for each in self._flying[seat]]

    def send_off(self, seat: str, ids: tuple[str, ...], arm: Arm, harness: Harness, now: float) -> None:
        """Take the messages and hand them to the host as one block."""
        waiting = {message.id: message for message in self._waiting.get(seat, [])}
        name = f"{ids[0]}.{arm.generation}.{int(now * 1000)}"
        taken = []
        for message_id in ids:
            message = waiting.get(message_id)
            if message is None:
                continue
            moved = mail.take(self._layout, seat, message, now=now, generation=arm.generation, holder=f"{HOLDER}{name}")
            if moved is not None:
                taken.append(moved)
        self._waiting[seat] = [message for message in self._waiting.get(seat, []) if message.id not in ids]
        if not taken:
            return
        self._flying.setdefault(seat, []).extend(taken)
        self._terminals.deliver(seat, name, self._text(seat, name, taken, harness))

    def _text(self, seat: str, name: str, messages: list[Message], harness: Harness) -> str:
        prompts = [prompt_of(message) for message in messages]
        nonce = os.urandom(6).hex()
        text = block(prompts, nonce)
        if fits(text) and (harness.composer != "none" or "\n" not in text):
            return text
        folder = os.path.join(self._layout.prompts, seat)
        make_private(folder)
        path = os.path.join(folder, f"{name}.md")
        atomic.write(path, text.encode("utf-8", "replace") + b"\n")
        return pointer(prompts, nonce, path)

    def finish(self, seat: str, message_id: str, receipt: str, now: float) -> None:
        """The agent has it."""
        mail.finish(self._layout, seat, message_id, receipt, now)
        self._drop(seat, message_id)

    def give_back(self, seat: str, message_id: str, reason: str, now: float) -> None:
        """To the inbox again."""
        for message in self._flying.get(seat, []):
            if message.id == message_id:
                mail.give_back(self._layout, seat, message, reason, now)
        self._drop(seat, message_id)
        self._stamps.pop(seat, None)

    def bury(self, seat: str, message_id: str, reason: str, now: float) -> None:
        """To dead."""
        mail.bury(self._layout, seat, message_id, reason, now)
        self._drop(seat, message_id)

    def _drop(self, seat: str, message_id: str) -> None:
        for box in (self._flying, self._waiting):
            box[seat] = [message for message in box.get(seat, []) if message.id != message_id]


def prompt_of(message: Message) -> Prompt:
    """A message as the agent will read it."""
    match message.kind:
        case "message" if message.sender == "human":
            kind = "human"
        case "message" if message.sender == "brain":
            kind = "notice"
        case _:
            kind = message.kind
    return Prompt(message.id, message.text, kind, message.sender)


def _stamp(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def prune_prompts(layout: Layout, keep_days: int, now: float) -> int:
    """Remove the files of long prompts that are older than `keep_days` days; how many went. 0 keeps all.

    A receipt is no reason to remove one: the agent reads the file after it, and may come back to it.
    """
    gone = 0
    if keep_days <= 0:
        return gone
    for folder, _folders, names in os.walk(layout.prompts):
        for path in (os.path.join(folder, name) for name in names):
            with contextlib.suppress(OSError):
                if os.lstat(path).st_mtime < now - keep_days * 86400:
                    os.unlink(path)
                    gone += 1
    return gone
