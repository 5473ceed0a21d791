"""What the brain keeps in memory so that sweeping git commands lose nothing.

``git clean -fdx`` takes the mailboxes, claims and signing key (they are ignored files), ``git stash -u`` takes task
files that were not committed yet and puts older ones in place of changed ones. Nothing in coleo removes a mailbox
folder, a folder of claims or the file of a task in work: so when such a thing is gone, somebody swept, and it is
written again from here, with a notice in the log. What was moved or ended in the ordinary way is not brought back.
"""

from __future__ import annotations

import os

from coleo.files import atomic
from coleo.files.layout import Layout, is_junk, make_private
from coleo.model.record import Record

_MAIL = ("inbox", "inflight")
_RUN_FILES = ("signing.key", "desired.json")


class Kept(Record):
    """A file as it was last seen: its signature (mtime_ns, size, inode) and its bytes."""

    signature: tuple[int, int, int]
    data: bytes


class Memory:
    """Remembers small files by folder; `restore` writes back whole folders that were swept away."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._folders: dict[str, dict[str, Kept]] = {}
        self._stamps: dict[str, tuple[int, int]] = {}

    def remember(self, seats: list[str]) -> None:
        """Take in what lies in the guarded folders now; a folder that is gone keeps what was known of it."""
        for folder in self._guarded(seats):
            self._remember(folder)

    def restore(self, seats: list[str]) -> list[str]:
        """Write back guarded folders that are gone. Returns one sentence for each, for the log."""
        notes = []
        for seat in seats:
            make_private(os.path.dirname(self._layout.seat(seat).transcript))
        for folder in self._guarded(seats):
            known = self._folders.get(folder)
            if known is None or os.path.isdir(folder) or not self._has_place(folder):
                continue
            make_private(folder)
            for name, kept in sorted(known.items()):
                atomic.write(os.path.join(folder, name), kept.data)
            self._stamps.pop(folder, None)
            where = os.path.relpath(folder, self._layout.root)
            notes.append(f"{where} was swept away; it is there again with {len(known)} files")
        return notes

    def _has_place(self, folder: str) -> bool:
        """Whether the folder around it is there: a seat or a project that was moved away is not made anew."""
        around = self._layout.coleo if folder.startswith(self._layout.coleo) else os.path.dirname(folder)
        return os.path.isdir(around)

    def tasks_gone(self, in_work: set[str]) -> list[str]:
        """Task files of tasks in work that vanished are written back. Returns one sentence for each."""
        folder = self._layout.tasks
        notes: list[str] = []
        if not os.path.isdir(self._layout.project):
            return notes
        for name, kept in sorted(self._folders.get(folder, {}).items()):
            path = os.path.join(folder, name)
            if _task_of(name, in_work) is None:
                continue
            if not os.path.lexists(path):
                os.makedirs(folder, exist_ok=True)
                atomic.write(path, kept.data, mode=0o644)
                notes.append(f"{name} vanished while its task was in work; it is there again")
        return notes

    def remember_tasks(self, in_work: set[str]) -> None:
        """Take in the files of tasks in work; one that vanished stays known until its task is over."""
        folder = self._layout.tasks
        known = self._folders.get(folder, {})
        self._remember(folder, only=in_work)
        self._folders[folder] = {
            name: kept
            for name, kept in {**known, **self._folders.get(folder, {})}.items()
            if _task_of(name, in_work) is not None
        }

    def _guarded(self, seats: list[str]) -> list[str]:
        boxes = [os.path.join(self._layout.seat(seat).dir, box) for seat in seats for box in _MAIL]
        return [self._layout.run, self._layout.claims, self._layout.arms, *boxes]

    def _remember(self, folder: str, *, only: set[str] | None = None) -> None:
        try:
            status = os.stat(folder)
        except OSError:
            return
        stamp = (status.st_ino, status.st_mtime_ns)
        if self._stamps.get(folder) == stamp and only is None:
            return
        known = self._folders.get(folder, {})
        found: dict[str, Kept] = {}
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            if folder == self._layout.run and entry.name not in _RUN_FILES:
                continue
            if only is not None and _task_of(entry.name, only) is None:
                continue
            kept = _read(entry, known.get(entry.name))
            if kept is not None:
                found[entry.name] = kept
        self._folders[folder] = found
        self._stamps[folder] = stamp


def _task_of(name: str, tasks: set[str]) -> str | None:
    """The task of the set whose file has this name."""
    stem = name.removesuffix(".md")
    parts = stem.split("-")
    for count in range(1, len(parts) + 1):
        candidate = "-".join(parts[:count])
        if candidate in tasks:
            return candidate
    return None


def _read(entry: os.DirEntry[str], known: Kept | None) -> Kept | None:
    """The entry as a kept file; nothing for junk, folders and sockets, and for what vanishes meanwhile."""
    if is_junk(entry.name):
        return None
    try:
        if not entry.is_file(follow_symlinks=False):
            return None
        status = entry.stat(follow_symlinks=False)
        signature = (status.st_mtime_ns, status.st_size, status.st_ino)
        if known is not None and known.signature == signature:
            return known
        if status.st_size > 4 * 1024 * 1024:
            return None
        data = atomic.read(entry.path)
    except OSError:
        return None
    return None if data is None else Kept(signature, data)
