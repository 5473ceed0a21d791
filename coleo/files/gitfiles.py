"""Which files below ``.project/`` coleo itself writes, and may therefore commit (`gitwork.py`)."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator

from coleo.files.layout import Layout, is_junk
from coleo.model.names import SEAT
from coleo.model.plan import PLAN, TaskSet

_OF_SEATS = ("crons.json", "record.json")
_ARCHIVE = re.compile(r"inbox-\d{4}-\d\d-\d\d\.md")


class Own:
    """The files, by path below ``.project/``. plans: the plan and its sub-plans; inbox: its name."""

    def __init__(self, layout: Layout, tasks: TaskSet) -> None:
        self._layout = layout
        self.plans = frozenset({PLAN, *tasks.files})
        self.inbox = os.path.basename(layout.inbox)

    def __contains__(self, path: str) -> bool:
        """Whether it is one of them, a plain file, and no symlink leads to it."""
        if path not in self.plans and path != self.inbox and not _is_in_folder(path):
            return False
        whole = os.path.join(self._layout.project, path)
        base = os.path.realpath(self._layout.project)
        return os.path.isfile(whole) and os.path.realpath(whole) == os.path.join(base, path)

    def stamp(self) -> int:
        """A number that is another one when one of them was written since. Costs one stat for each."""
        seen = []
        for path in self._paths():
            with contextlib.suppress(OSError):
                status = os.stat(path)
                seen.append((path, status.st_mtime_ns, status.st_size, status.st_ino))
        return hash(tuple(seen))

    def _paths(self) -> Iterator[str]:
        layout = self._layout
        for name in sorted(self.plans | {self.inbox}):
            yield os.path.join(layout.project, name)
        for folder in (layout.tasks, layout.archive):
            with contextlib.suppress(OSError):
                yield from sorted(entry.path for entry in os.scandir(folder))
        for seat in layout.seats_present():
            yield from (layout.seat(seat).crons, layout.seat(seat).record)


def _is_in_folder(path: str) -> bool:
    match path.split("/"):
        case ["tasks", name]:
            return name.endswith(".md") and not is_junk(name)
        case ["archive", name]:
            return _ARCHIVE.fullmatch(name) is not None
        case ["seats", seat, name]:
            return name in _OF_SEATS and SEAT.fullmatch(seat) is not None
        case _:
            return False
