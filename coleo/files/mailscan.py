"""Looking into an inbox: what can be delivered, in which order, and what has to go to quarantine.

One bad file never blocks the others (case f02). It is moved once to ``quarantine/`` with a ``.reason`` file and one
log line, and never read again; JSON that cannot be read and is younger than 2 s gets a second try first, its sender
may still be writing. Its sender gets one notice (case f12). What is no message by its name is left alone, and a
``.json`` among these is reported once (case f05).

Order of the writes for a bad file: notice (its id names the file, so it is sent once), reason, rename, log line. A
kill anywhere leaves the bad file in the inbox, and the next look does the rest.

What was tried and reported is remembered in ``run/cache/mail-<seat>.json``; without it a report comes twice.
"""

from __future__ import annotations

import errno
import os
import stat

from coleo.files import activity, atomic, letters, mailbox
from coleo.files.layout import Layout, is_junk, make_private
from coleo.files.letters import Unreadable
from coleo.model.message import FILE_LIMIT, LOWEST, FileName, Message, parse_name, tag
from coleo.model.record import Record

YOUNG_S = 2.0
YOUNG_READS = 2
"""Reads of one bad file while it is young; one more follows when it is not (case f02: at most 3)."""
_REMEMBERED = 2000
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EINTR})
"""What says something about this process, not about the file: nothing goes to quarantine for it."""


class Scan(Record):
    """What a look into an inbox found.

    messages: what can be delivered, in order. quarantined: file names moved away now. reported: file names told of
    now. waiting: file names that get another try, look again in 2 s.
    """

    messages: tuple[Message, ...] = ()
    quarantined: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def scan(layout: Layout, seat: str, now: float) -> Scan:
    """The deliverable messages of a seat; moves what is malformed to quarantine. No file can make it raise."""
    inbox = mailbox.folder(layout, seat, "inbox")
    try:
        found = os.listdir(inbox)
    except OSError:
        return Scan()
    if not found:
        return Scan()
    return _Look(layout, seat, inbox, now).over(found)


class _Look:
    """One look into one inbox."""

    def __init__(self, layout: Layout, seat: str, inbox: str, now: float) -> None:
        self.layout = layout
        self.seat = seat
        self.inbox = inbox
        self.now = now
        self.memory = Memory(layout, seat)
        self.messages: list[Message] = []
        self.quarantined: list[str] = []
        self.reported: list[str] = []
        self.waiting: list[str] = []

    def over(self, found: list[str]) -> Scan:
        """All names of the inbox, in delivery order."""
        parts = []
        for name in found:
            if is_junk(name):
                continue
            parsed = parse_name(name)
            if parsed is None:
                self._foreign(name)
            else:
                parts.append(parsed)
        secret = letters.key(self.layout) if parts else None
        for parsed in sorted(parts, key=lambda each: each.order):
            self._one(parsed, secret)
        self._doubles()
        self.memory.forget_all_but(found)
        self.memory.save()
        return Scan(tuple(self.messages), tuple(self.quarantined), tuple(self.reported), tuple(self.waiting))

    def _foreign(self, name: str) -> None:
        """Not named as a message: left alone; a ``.json`` file is told of once."""
        if name.endswith(".json") and _is_file(os.path.join(self.inbox, name)):
            self._report(name, "its name is not <priority>-<epoch ms>-from-<sender>-<random>.json")

    def _report(self, name: str, reason: str) -> None:
        if self.memory.report(name):
            self.reported.append(name)
            file = os.path.join("seats", self.seat, "inbox", name)
            activity.append(self.layout, "warning", now=self.now, seat=self.seat, file=file, reason=reason)

    def _one(self, parts: FileName, secret: bytes | None) -> None:
        name = parts.text
        path = os.path.join(self.inbox, name)
        try:
            here = os.lstat(path)
        except OSError:
            return
        if not stat.S_ISREG(here.st_mode):
            self._report(name, "it is named as a message and is no regular file")
            return
        young = abs(self.now - here.st_mtime) < YOUNG_S
        if young and self.memory.tried(name, here):
            self.waiting.append(name)
            return
        try:
            if here.st_size > FILE_LIMIT:
                raise Unreadable(f"it has {here.st_size} bytes, more than {FILE_LIMIT}")
            self.messages.append(self._read(path, name, secret))
            if parts.priority > LOWEST:
                self._report(name, f"priority {parts.priority} is unknown and counts as the lowest")
        except FileNotFoundError:
            return
        except OSError:
            self.waiting.append(name)
        except Unreadable as error:
            if error.syntax and young:
                self.memory.try_again(name, here)
                self.waiting.append(name)
            elif quarantine(self.layout, self.seat, name, here, error, self.now):
                self.quarantined.append(name)

    def _read(self, path: str, name: str, secret: bytes | None) -> Message:
        try:
            data = atomic.read(path, limit=FILE_LIMIT + 1)
        except OSError as error:
            if error.errno in _OURS:
                raise
            raise Unreadable(f"it cannot be read: {errno.errorcode.get(error.errno or 0, error)}") from None
        if data is None:
            raise FileNotFoundError(path)
        if len(data) > FILE_LIMIT:
            raise Unreadable(f"it has more than {FILE_LIMIT} bytes")
        return letters.decode(data, name, self.seat, secret)

    def _doubles(self) -> None:
        """The same id arrives once: what is on its way or was processed is not delivered again (case a17)."""
        if not self.messages:
            return
        elsewhere = set()
        for where in ("inflight", "processed"):
            for name in mailbox.names(mailbox.folder(self.layout, self.seat, where)):
                elsewhere.add(name.rpartition("-")[2].removesuffix(".json"))
        kept: dict[str, Message] = {}
        for message in self.messages:
            if message.id not in kept and tag(message.id) not in elsewhere:
                kept[message.id] = message
                continue
            try:
                here = os.lstat(os.path.join(self.inbox, message.name))
            except OSError:
                continue
            error = Unreadable(f"a message with the id {message.id} is here already or was processed")
            if quarantine(self.layout, self.seat, message.name, here, error, self.now, tell=False):
                self.quarantined.append(message.name)
        self.messages = list(kept.values())


def quarantine(
    layout: Layout, seat: str, name: str, seen: os.stat_result, why: Unreadable, now: float, *, tell: bool = True
) -> bool:
    """Move a file of the inbox out of the way, whole, with the reason beside it. False when it has changed or gone.

    seen: the file that was found bad. tell: its sender gets a notice.
    """
    if tell:
        _tell_sender(layout, seat, name, why, now)
    source = os.path.join(mailbox.folder(layout, seat, "inbox"), name)
    with mailbox.lock(layout, seat):
        try:
            here = os.lstat(source)
        except OSError:
            return False
        if (here.st_ino, here.st_size, here.st_mtime_ns) != (seen.st_ino, seen.st_size, seen.st_mtime_ns):
            return False
        folder = mailbox.make_folder(layout, seat, "quarantine")
        target = mailbox.free_name(folder, name)
        try:
            atomic.write(os.path.join(folder, f"{target}.reason"), f"{why.reason}\n".encode("utf-8", "replace"))
            os.rename(source, os.path.join(folder, target))
        except OSError:
            return False
        atomic.sync_folder(folder)
    activity.append(layout, "message_quarantined", now=now, seat=seat, file=name, reason=why.reason)
    return True


def _tell_sender(layout: Layout, seat: str, name: str, why: Unreadable, now: float) -> None:
    """One notice to the seat that the file name gives as its sender, if there is such a seat."""
    from coleo.files import mail

    parts = parse_name(name)
    if parts is None or parts.sender == seat or not os.path.isfile(_seat_md(layout, parts.sender)):
        return
    text = (
        f"Your message to {seat} could not be delivered: {why.reason}.\n"
        f"It is kept in the quarantine folder of {seat} as {name}.\n"
        f"Send it again with: coleo bus send-message {seat} normal '<text>'"
    )
    mail.send(
        layout,
        parts.sender,
        "brain",
        text,
        kind="notice",
        message_id=f"bad-{seat}-{name.removesuffix('.json')}",
        now=now,
    )


def _seat_md(layout: Layout, seat: str) -> str:
    return os.path.join(layout.seats, seat, "seat.md")


class Memory:
    """What was tried and reported of one mailbox. A memory that cannot be read or written is an empty one."""

    def __init__(self, layout: Layout, seat: str) -> None:
        self.path = os.path.join(layout.cache, f"mail-{seat}.json")
        self.folder = layout.cache
        self.data: dict[str, dict[str, list[int]]] | None = None
        self.changed = False

    def _load(self) -> dict[str, dict[str, list[int]]]:
        if self.data is None:
            try:
                found = atomic.read_json(self.path)
            except (ValueError, OSError):
                found = None
            parts = found if isinstance(found, dict) else {}
            self.data = {key: dict(parts[key]) if isinstance(parts.get(key), dict) else {} for key in _PARTS}
        return self.data

    def report(self, name: str) -> bool:
        """True the first time for a name."""
        reported = self._load()["reported"]
        if name in reported:
            return False
        reported[name] = []
        self.changed = True
        return True

    def tried(self, name: str, seen: os.stat_result) -> bool:
        """Whether this content was read before and found bad, or the young file had its reads."""
        if self.data is None and not os.path.exists(self.path):
            return False
        before = self._load()["tries"].get(name)
        if not isinstance(before, list) or len(before) != 3:
            return False
        return before[0] >= YOUNG_READS or before[1:] == [seen.st_mtime_ns, seen.st_size]

    def try_again(self, name: str, seen: os.stat_result) -> None:
        """One read more of a young file that could not be read."""
        tries = self._load()["tries"]
        before = tries.get(name)
        count = before[0] if isinstance(before, list) and len(before) == 3 else 0
        tries[name] = [count + 1, seen.st_mtime_ns, seen.st_size]
        self.changed = True

    def purged(self, names: list[str]) -> None:
        """Remember file names that a person had removed: nobody writes them back (`mailkeep.restore`)."""
        for name in names:
            self._load()["purged"][name] = []
            self.changed = True

    def was_purged(self, name: str) -> bool:
        """Whether a person had it removed."""
        return name in self._load()["purged"]

    def forget_all_but(self, names: list[str]) -> None:
        """Drop what is remembered of files that are not in the inbox any more."""
        if self.data is None and not os.path.exists(self.path):
            return
        here = set(names)
        data = self._load()
        for key in ("reported", "tries"):
            for name in [name for name in data[key] if name not in here]:
                del data[key][name]
                self.changed = True
        for name in list(data["purged"])[:-_REMEMBERED]:
            del data["purged"][name]
            self.changed = True

    def save(self) -> None:
        """Write it down, if there is something new."""
        if not self.changed or self.data is None:
            return
        try:
            make_private(self.folder)
            atomic.write_json(self.path, self.data)
        except OSError:
            pass
        self.changed = False


_PARTS = ("reported", "tries", "purged")


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
