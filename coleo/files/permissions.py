"""Who else can read or write what coleo works from (case h06).

State that another user owns or everybody may write can make coleo run anything; it is refused with exit code 4.
Secrets and mail that others can read are a warning. Nothing is followed through a symbolic link. What git checks out
below ``.coleo/`` may be readable: it is no secret.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from coleo.files.layout import Layout
from coleo.model.errors import Unsafe
from coleo.model.problem import ERROR, WARNING, Problem

_MAILBOXES = ("inbox", "inflight", "processed", "dead", "quarantine")


def check_permissions(layout: Layout) -> list[Problem]:
    """What is unsafe (``error``) or too open (``warning``) about the files of a project."""
    closed = _mode(layout.coleo) & 0o077 == 0
    problems: list[Problem] = []
    for path in _below(layout.coleo):
        committed = path == layout.coleo or not path.startswith((layout.run, layout.activity, layout.secrets_env))
        problems += _look(path, private=True, secret=not closed and not committed)
    for seat in _entries(layout.seats):
        for path in (os.path.join(seat, ".env"), *(os.path.join(seat, box) for box in _MAILBOXES)):
            problems += [problem for one in _below(path) for problem in _look(one, private=True, secret=True)]
    for path in _people(layout):
        problems += _look(path, private=False, secret=False)
    return problems


def require_safe(layout: Layout) -> None:
    """Raise Unsafe, which names everything that is, when coleo must not work with this project."""
    unsafe = [problem for problem in check_permissions(layout) if problem.severity == ERROR]
    if not unsafe:
        return
    one = unsafe[0]
    if len(unsafe) == 1:
        raise Unsafe("unsafe permissions", file=one.file, found=one.found, wanted=one.wanted)
    raise Unsafe(f"unsafe permissions in {len(unsafe)} places:" + "".join(f"\n  {problem}" for problem in unsafe))


def _people(layout: Layout) -> Iterator[str]:
    """What decides which commands are run: others may read it, but only its people write it."""
    yield from (layout.project, layout.plan, layout.inbox, layout.tasks, layout.seats)
    for seat in _entries(layout.seats):
        yield from (seat, os.path.join(seat, "seat.md"))


def _below(folder: str) -> Iterator[str]:
    yield folder
    for path in _entries(folder):
        if os.path.isdir(path) and not os.path.islink(path):
            yield from _below(path)
        else:
            yield path


def _entries(folder: str) -> list[str]:
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder))
    except OSError:
        return []


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except OSError:
        return 0


def _look(path: str, *, private: bool, secret: bool) -> list[Problem]:
    """private: nobody else may own it; secret: nobody else may read it."""
    try:
        there = os.lstat(path)
    except OSError:
        return []
    if stat.S_ISLNK(there.st_mode):
        return []
    mode = stat.S_IMODE(there.st_mode)
    if private and there.st_uid != os.geteuid():
        return [Problem(path, None, "", f"a file of user id {there.st_uid}", f"one of user id {os.geteuid()}")]
    if mode & stat.S_IWOTH:
        wanted = "chmod go-rwx" if private else "chmod o-w"
        return [Problem(path, None, "", f"mode {mode:04o}, everybody may write", wanted)]
    if secret and mode & 0o077:
        return [Problem(path, None, "", f"mode {mode:04o}, not only yours", "chmod go-rwx", WARNING)]
    return []
