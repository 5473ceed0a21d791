"""Keeping mail: what a kill left half-way, what `git clean` took, what a person wants back or gone."""

from __future__ import annotations

import os

from coleo.files import activity, atomic, letters, mailbox
from coleo.files.layout import Layout
from coleo.files.mailscan import Memory
from coleo.model.errors import CannotBeDone
from coleo.model.message import FOLDERS, Message, parse_name, settled_in
from coleo.model.names import RESERVED_SEATS, SEAT, check_message
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TEMP_AGE_S = 3600.0
KEPT = ("inbox", "inflight")
_ENDED = ("processed", "dead", "quarantine")


class Snapshot(Record):
    """Mail in work as a running brain remembers it: (seat, folder, file name) -> (mtime_ns, inode, bytes)."""

    files: Mapping[tuple[str, str, str], tuple[int, int, bytes]] = {}


def mailboxes(layout: Layout) -> list[str]:
    """Every folder below ``seats/`` that can be a seat, also those that nobody laid out but somebody wrote to."""
    try:
        found = os.listdir(layout.seats)
    except OSError:
        return []
    valid = [name for name in found if SEAT.fullmatch(name) and name not in RESERVED_SEATS]
    return sorted(name for name in valid if os.path.isdir(os.path.join(layout.seats, name)))


def snapshot(layout: Layout, previous: Snapshot | None = None) -> Snapshot:
    """What lies in the inboxes and inflight folders now; unchanged files are taken from `previous`, not read."""
    before = previous.files if previous else {}
    files: dict[tuple[str, str, str], tuple[int, int, bytes]] = {}
    for seat in mailboxes(layout):
        for where in KEPT:
            path = mailbox.folder(layout, seat, where)
            for name in mailbox.names(path):
                key = (seat, where, name)
                try:
                    here = os.stat(os.path.join(path, name))
                    old = before.get(key)
                    if old is not None and old[:2] == (here.st_mtime_ns, here.st_ino):
                        files[key] = old
                        continue
                    data = atomic.read(os.path.join(path, name))
                except OSError:
                    continue
                if data is not None:
                    files[key] = (here.st_mtime_ns, here.st_ino, data)
    return Snapshot(files)


def restore(layout: Layout, kept: Snapshot, now: float) -> list[tuple[str, str]]:
    """Write back what has vanished from every folder of its seat since `kept` was made: (seat, file name) of each.

    ``git clean -fdx`` and ``git stash -a`` take mailboxes away. What moved on, or what a person purged, stays gone;
    nothing is written when ``.project`` itself is gone.
    """
    if not os.path.isdir(layout.project):
        return []
    back = []
    for (seat, where, name), (_mtime, _inode, data) in kept.files.items():
        if os.path.lexists(os.path.join(mailbox.folder(layout, seat, where), name)):
            continue
        with mailbox.lock(layout, seat):
            if _is_somewhere(layout, seat, name, data) or Memory(layout, seat).was_purged(name):
                continue
            path = mailbox.make_folder(layout, seat, where)
            if not atomic.create(os.path.join(path, name), data):
                continue
        back.append((seat, name))
        activity.append(layout, "restored", now=now, seat=seat, file=name, reason="mail vanished from its folder")
    return back


def _is_somewhere(layout: Layout, seat: str, name: str, data: bytes) -> bool:
    if any(os.path.lexists(os.path.join(mailbox.folder(layout, seat, where), name)) for where in FOLDERS):
        return True
    try:
        raw, notes = letters.load(data)
        message = letters.from_raw(raw, notes, name, seat)
    except letters.Unreadable:
        return False
    return mailbox.locate(layout, seat, message.id) is not None


def recover(layout: Layout, seat: str, now: float) -> list[str]:
    """Finish the moves that a kill left between write and rename; sweep our own temp files older than an hour.

    What was done, for a person.
    """
    done = []
    for where in KEPT:
        path = mailbox.folder(layout, seat, where)
        for name in mailbox.names(path):
            try:
                got = letters.read(path, name, seat)
            except (letters.Unreadable, OSError):
                continue
            raw = got[1].get(letters.DELIVERY) if got else None
            if got is None or not isinstance(raw, dict) or settled_in(where, raw) == where:
                continue
            target = settled_in(where, raw)
            with mailbox.lock(layout, seat):
                again = letters.read(path, name, seat)
                if again is None:
                    continue
                moved = mailbox.move(layout, again[0], again[1], where, target)
            done.append(f"message {moved.id} of {seat} belongs to {target}: moved")
            reason = "a move was interrupted"
            activity.append(layout, f"message_{target}", now=now, seat=seat, message=moved.id, reason=reason)
    _sweep(layout, seat, now)
    return done


def _sweep(layout: Layout, seat: str, now: float) -> None:
    """Temp files of our own pattern, left by a kill."""
    for where in FOLDERS:
        path = mailbox.folder(layout, seat, where)
        try:
            found = os.listdir(path)
        except OSError:
            continue
        for name in found:
            if not (name.startswith(".") and name.endswith(".tmp") and "-from-" in name and ".json." in name):
                continue
            try:
                if now - os.lstat(os.path.join(path, name)).st_mtime > TEMP_AGE_S:
                    os.unlink(os.path.join(path, name))
            except OSError:
                continue


def requeue(layout: Layout, message_id: str, now: float, seat: str | None = None) -> Message | None:
    """Bring a dead, quarantined or processed message back into its inbox, with its attempts forgotten.

    message_id: or the file name of one that cannot be read. A person's word signs it anew. None when the file could
    not be read: it is back in the inbox all the same, and the next look says what is wrong with it. Raises
    CannotBeDone when nobody has it, or when it still waits.
    """
    for name in [seat] if seat else mailboxes(layout):
        with mailbox.lock(layout, name):
            there = _ended(layout, name, message_id)
            if there is None:
                continue
            message = _back(layout, name, *there)
        activity.append(
            layout, "message_returned", now=now, seat=name, message=message_id, reason="requeued by a person"
        )
        return message
    raise CannotBeDone(
        "no such message to requeue", found=message_id, wanted="one in dead, quarantine or processed",
        todo="see: coleo mail list",
    )  # fmt: skip


def _ended(layout: Layout, seat: str, message_id: str) -> tuple[str, str] | None:
    if parse_name(message_id):
        for where in _ENDED:
            if os.path.lexists(os.path.join(mailbox.folder(layout, seat, where), message_id)):
                return where, message_id
        return None
    return mailbox.locate(layout, seat, check_message(message_id), _ENDED)


def _back(layout: Layout, seat: str, where: str, name: str) -> Message | None:
    path = mailbox.folder(layout, seat, where)
    reason_file = os.path.join(path, f"{name}.reason")
    try:
        got = letters.read(path, name, seat)
    except letters.Unreadable:
        got = None
    if got is None:
        inbox = mailbox.make_folder(layout, seat, "inbox")
        os.rename(os.path.join(path, name), os.path.join(inbox, mailbox.free_name(inbox, name)))
        moved = None
    else:
        message, raw = got
        secret = letters.key(layout)
        if secret is not None:
            raw = {**raw, "to": seat}
            raw["signature"] = letters.signature(raw, secret)
        fresh = message.replace(
            attempts=0, holder="", lease_until_at=None, typed_at=None, receipt="", dead_at=None, processed_at=None
        )
        moved = mailbox.move(layout, fresh, raw, where, "inbox")
    try:
        os.unlink(reason_file)
    except OSError:
        pass
    return moved


def purge(
    layout: Layout,
    seat: str,
    folders: tuple[str, ...] = _ENDED,
    *,
    message_id: str | None = None,
    before_at: float | None = None,
    now: float,
) -> list[str]:
    """Delete ended mail of a seat for good: the file names. Waiting mail is buried first (`mail.bury`), never deleted.

    message_id: only this one. before_at: only what was last changed before.
    """
    gone = []
    memory = Memory(layout, seat)
    with mailbox.lock(layout, seat):
        for where in folders:
            if where not in _ENDED:
                raise CannotBeDone(
                    "waiting mail is not purged", found=where, todo="bury it first: coleo mail purge --waiting"
                )
            path = mailbox.folder(layout, seat, where)
            only = mailbox.locate(layout, seat, message_id, (where,)) if message_id else None
            for name in mailbox.names(path):
                if message_id and (only is None or name != only[1]) and name != message_id:
                    continue
                full = os.path.join(path, name)
                try:
                    if before_at is not None and os.lstat(full).st_mtime >= before_at:
                        continue
                    memory.purged([name])
                    memory.save()
                    os.unlink(full)
                    gone.append(name)
                    os.unlink(f"{full}.reason")
                except OSError:
                    continue
    if gone:
        activity.append(layout, "message_purged", now=now, seat=seat, count=len(gone), folders=",".join(folders))
    return gone
