"""The folders of one seat's mail, its lock, and the one way in which a message moves.

A move is two steps under the lock ``mail-<seat>``: the file is rewritten in place (atomically) with the new facts,
then renamed into the other folder. A kill before the rename leaves the file where it was, whole, with the new facts;
`coleo.model.message.settled_in` says where it belongs and `mailkeep.recover` moves it there. At no instant is a
message in two folders or in none.
"""

from __future__ import annotations

import os

from coleo.files import atomic, letters, locks
from coleo.files.layout import Layout, is_junk, make_private
from coleo.model.message import FLEETING, FOLDERS, Message, parse_name, tag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

LOCK_WAIT_S = 30.0


def folder(layout: Layout, seat: str, name: str) -> str:
    """The path of one of the five folders of a seat. Raises BadInput for what is no seat name."""
    return os.path.join(layout.seat(seat).dir, name)


def lock(layout: Layout, seat: str) -> AbstractContextManager[object]:
    """Held by whoever moves a message of this seat; reading needs no lock."""
    make_private(layout.locks)
    return locks.hold(layout.lock(f"mail-{seat}"), wait_s=LOCK_WAIT_S, note="mail")


def names(path: str) -> list[str]:
    """The message file names in a folder, in delivery order; none in an absent one. Anything else is passed over."""
    try:
        found = os.listdir(path)
    except OSError:
        return []
    parsed = [parts for name in found if not is_junk(name) and (parts := parse_name(name)) is not None]
    return [parts.text for parts in sorted(parsed, key=lambda parts: parts.order)]


def undelivered(layout: Layout, seat: str) -> list[str]:
    """Dead messages that somebody wrote: what coleo itself had called off or let expire is nobody's concern."""
    return [name for name in names(folder(layout, seat, "dead")) if "-from-brain-" not in name]


def read_all(layout: Layout, seat: str, where: str) -> list[Message]:
    """The readable messages of a folder, in delivery order."""
    path = folder(layout, seat, where)
    found = []
    for name in names(path):
        try:
            got = letters.read(path, name, seat)
        except (letters.Unreadable, OSError):
            continue
        if got is not None:
            found.append(got[0])
    return found


def locate(layout: Layout, seat: str, message_id: str, folders: tuple[str, ...] = FOLDERS) -> tuple[str, str] | None:
    """(folder, file name) of the message with this id in the mail of `seat`, or None.

    coleo's own files carry the id in their name; files that others made are read. With the lock held the answer
    stays true; without it the message may have moved on.
    """
    ending = f"-{tag(message_id)}.json"
    foreign: list[tuple[str, str]] = []
    for where in folders:
        for name in names(folder(layout, seat, where)):
            if name.endswith(ending):
                return where, name
            if len(name.rpartition("-")[2]) - 5 < 13:
                foreign.append((where, name))
    for where, name in foreign:
        try:
            got = letters.read(folder(layout, seat, where), name, seat)
        except (letters.Unreadable, OSError):
            continue
        if got is not None and got[0].id == message_id:
            return where, name
    return None


def move(layout: Layout, message: Message, raw: dict[str, Any], source: str, target: str) -> Message:
    """Write the facts of `message` into its file in `source`, then rename it to `target`. The lock is held.

    Outside of the inbox a file that somebody made by hand gets the name that its id has, so that the same id is
    known again. The message with its new name. The facts are flushed, the rename is not: should a power cut undo it,
    `settled_in` puts the message where its facts say.
    """
    here = folder(layout, message.to, source)
    raw = {**raw, letters.DELIVERY: letters.delivery(message)}
    atomic.write(os.path.join(here, message.name), letters.dump(raw), durable=message.kind not in FLEETING)
    if source == target:
        return message
    there = make_folder(layout, message.to, target)
    name = free_name(there, own_name(message))
    os.rename(os.path.join(here, message.name), os.path.join(there, name))
    return message.replace(name=name)


def own_name(message: Message) -> str:
    """The file name with the tag of the message's id as its random part."""
    parts = parse_name(message.name)
    return parts.replace(random=tag(message.id)).text if parts else message.name


def free_name(path: str, name: str) -> str:
    """`name`, or with a number behind its random part when that exists: a rename never covers another file."""
    stem, number, candidate = name.removesuffix(".json"), 1, name
    while os.path.lexists(os.path.join(path, candidate)):
        number += 1
        candidate = f"{stem}x{number}.json"
    return candidate


def make_folder(layout: Layout, seat: str, where: str) -> str:
    """The path of a mail folder, made when it is missing (0700)."""
    path = folder(layout, seat, where)
    if not os.path.isdir(path):
        make_private(path)
    return path
