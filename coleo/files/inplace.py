"""Changes of people's files, in place (DESIGN.md section 4 "Writing").

Nothing is ever renamed over such a file: symlink, inode, owner and mode stay, and a program that holds it open goes
on in the same file. Each change says which bytes it expects; it happens under a kernel lease, only while the file
holds exactly those (`Changed` else), and only while nobody has it open for writing (`Busy` else). `retrying` is how
callers put up with both.

One byte and a truncation are one system call. Longer changes are journalled: an error undoes them, and what a kill
left half done is completed by `recover`; either way the file never stays torn, and no word of anybody is in it twice.
"""

from __future__ import annotations

from time import monotonic, sleep

from coleo.files import atomic, journal
from coleo.files.lease import Busy, Changed, Opened, lease_available, used_fallback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

__all__ = [
    "Busy",
    "Changed",
    "append",
    "clear",
    "lease_available",
    "recover",
    "replace",
    "retrying",
    "set_byte",
    "used_fallback",
]

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.05


def set_byte(path: str, expected: bytes, offset: int, byte: int) -> None:
    """Change one byte of a file that holds exactly `expected`; nothing when it is so already.

    Raises Changed, Busy, OSError (then nothing has changed), ValueError for an offset outside of `expected`.
    """
    if not 0 <= offset < len(expected):
        raise ValueError(f"no byte {offset} in {len(expected)} bytes")
    if expected[offset] == byte:
        return
    with Opened(path) as file:
        file.verify(expected)
        file.write(bytes((byte,)), offset)
        file.sync()


def append(path: str, expected: bytes, addition: bytes, journal: str) -> None:
    """Add to the end of a file that holds exactly `expected`. journal: the project's (`Layout.journal`).

    Raises Changed, Busy, OSError: then nothing has changed.
    """
    _change(path, expected, expected + addition, journal, append=True)


def replace(path: str, expected: bytes, new: bytes, journal: str) -> None:
    """Put `new` in the place of exactly `expected`, in the same file; nothing when they are equal.

    Raises Changed, Busy, OSError: then nothing has changed.
    """
    _change(path, expected, new, journal, append=False)


def clear(path: str, expected: bytes) -> None:
    """Empty a file that holds exactly `expected`. Raises Changed, Busy, OSError: then nothing has changed."""
    if not expected:
        return
    with Opened(path) as file:
        file.verify(expected)
        file.truncate(0)
        file.sync()


def retrying(
    change: Callable[[bytes], T],
    path: str,
    deadline_s: float = 10.0,
    *,
    monotonic: Callable[[], float] = monotonic,
    pause: Callable[[float], None] = sleep,
) -> T:
    """Read the file, call `change` with its bytes, and again with fresh ones while it raises Changed or Busy.

    After `deadline_s` the last Changed or Busy is raised. Blocks meanwhile: a loop that must go on gives a short
    deadline and comes back. Raises FileNotFoundError when there is no file.
    """
    end = monotonic() + deadline_s
    wait_s = _FIRST_PAUSE_S
    while True:
        data = atomic.read(path)
        if data is None:
            raise FileNotFoundError(2, "no such file", path)
        try:
            return change(data)
        except (Changed, Busy):
            if monotonic() + wait_s >= end:
                raise
        pause(wait_s)
        wait_s = min(wait_s * 2, _LONGEST_PAUSE_S)


def recover(journal_dir: str) -> list[str]:
    """Complete what a kill interrupted; one sentence for the log for each file in which there was something to do.

    To be called by whoever takes the project. Changes that are under way in living processes are left alone; one that
    somebody has written over since is put aside, and a file that is busy is left for the next time.
    """
    notes = []
    for entry, what in journal.pending(journal_dir):
        try:
            note = _complete(entry, what)
        except Busy:
            entry.close(done=False)
            continue
        except OSError as error:
            entry.close(done=False)
            note = f"a change of {what.path} was interrupted and cannot be completed now: {error.strerror or error}"
        if note:
            notes.append(note)
    return notes


def _change(path: str, old: bytes, new: bytes, journal_dir: str, *, append: bool) -> None:
    if old == new:
        return
    with Opened(path) as file:
        file.verify(old)  # an early no, before anything is written to disk
    what = journal.change(path, old, new)
    entry = journal.begin(journal_dir, what)
    settled = True
    try:
        with Opened(path, append=append) as file:
            file.verify(old)
            settled = False
            try:
                _write(file, what)
            except Changed:
                settled = True  # written to a file that is at no path any more
                raise
            except BaseException:
                _undo(file, what)
                settled = True
                raise
            settled = True
    finally:
        entry.close(done=settled)


def _write(file: Opened, what: journal.Change) -> None:
    file.write(what.new, what.same)
    if len(what.new) < len(what.old):
        file.truncate(what.same + len(what.new))
    file.sync()


def _undo(file: Opened, what: journal.Change) -> None:
    if what.is_at(file.read()) in ("torn", "new"):
        file.write(what.old, what.same)
        file.truncate(what.same + len(what.old))
        file.sync()


def _complete(entry: journal.Entry, what: journal.Change) -> str:
    """Complete one change, or undo it where there is no room for it; a sentence where there was something to do."""
    try:
        file = Opened(what.path)
    except FileNotFoundError:
        return f"{what.path} is gone; what was to be written to it is in {journal.keep(entry)}"
    with file:
        found = what.is_at(file.read())
        done = "complete"
        if found == "torn":
            try:
                _write(file, what)
            except OSError:
                _undo(file, what)
                done = "undone"
    if found == "other":
        return (
            f"{what.path} was being changed when coleo was ended, and somebody has changed it since; "
            f"what was to be written is in {journal.keep(entry)}"
        )
    entry.close(done=True)
    return f"an interrupted change of {what.path} is {done} now" if found == "torn" else ""
