"""Whether somebody has unsaved changes of a file: the lock and swap files that editors put beside it.

Emacs locks while a buffer is changed. vim and nano keep their file as long as they have ours open and say in it
whether it was changed (the byte at 1007), so an editor that is merely open stops nothing. What a dead editor left
behind counts for nothing either. DESIGN.md section 4, Markdown rules.
"""

from __future__ import annotations

import os
import re

from coleo.files import process

_EMACS = re.compile(r".+@(?P<host>.+)\.(?P<pid>\d+)(?::\d+)?$")
_VIM_PID, _VIM_HOST, _VIM_CHANGED = slice(24, 28), slice(68, 108), 1007
_VIM_MAGIC, _CHANGED = b"b0", 0x55


def unsaved(path: str) -> str | None:
    """The name of the file that says so, or None."""
    for place in dict.fromkeys((path, os.path.realpath(path))):
        folder, name = os.path.split(place)
        for lock, counts in (
            (f".#{name}", _emacs),
            (f".{name}.swp", _vim),
            (f".{name}.kate-swp", os.path.lexists),
            (f".~lock.{name}#", os.path.lexists),
        ):
            if counts(os.path.join(folder, lock)):
                return lock
    return None


def _emacs(lock: str) -> bool:
    """A dangling symlink ``user@host.pid:boot``; a regular file with the same text where there are no symlinks."""
    try:
        owner = os.readlink(lock)
    except OSError:
        return os.path.lexists(lock)
    found = _EMACS.fullmatch(owner)
    return found is None or _lives(found["host"], int(found["pid"]))


def _vim(lock: str) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return os.path.lexists(lock)
    try:
        head = os.read(descriptor, 1024)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    if not head.startswith(_VIM_MAGIC) or len(head) <= _VIM_CHANGED:
        return True
    host = head[_VIM_HOST].split(b"\0")[0].decode("utf-8", "replace")
    pid = int.from_bytes(head[_VIM_PID], "little")
    return head[_VIM_CHANGED] == _CHANGED and _lives(host, pid)


def _lives(host: str, pid: int) -> bool:
    """Whether the editor may still run; on another machine it may."""
    if host not in (os.uname().nodename, os.uname().nodename.split(".")[0]):
        return True
    return 0 < pid <= 1 << 22 and process.identity(pid) is not None
