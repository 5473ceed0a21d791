"""Scenarios that prove the driver: one operation that survives everything, and some that do not."""

from __future__ import annotations

import os

from tests.crash.scenario import Outcome, Scenario

OLD, NEW = b"old words\n" * 9, b"new words\n" * 11


def _read(root: str) -> bytes:
    with open(os.path.join(root, "file"), "rb") as file:
        return file.read()


def _lay(root: str) -> None:
    with open(os.path.join(root, "file"), "wb") as file:
        file.write(OLD)


def _by_rename(root: str) -> None:
    path = os.path.join(root, "file")
    fd = os.open(path + ".tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    rest = NEW
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.fsync(fd)
    os.close(fd)
    os.rename(path + ".tmp", path)


def _over_itself(root: str) -> None:
    with open(os.path.join(root, "file"), "wb") as file:
        file.write(NEW)


def _one_write(root: str) -> None:
    fd = os.open(os.path.join(root, "file.tmp"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(fd, NEW)
    os.close(fd)
    os.rename(os.path.join(root, "file.tmp"), os.path.join(root, "file"))


def _silent(root: str) -> None:
    try:
        _by_rename(root)
    except OSError:
        return


def _old_or_new(root: str, outcome: Outcome) -> None:
    found = _read(root)
    assert found == NEW or (found == OLD and not outcome.finished), f"torn or lost: {found!r}"


SCENARIOS = {
    "by_rename": Scenario("by_rename", _lay, _by_rename, _old_or_new),
    "over_itself": Scenario("over_itself", _lay, _over_itself, _old_or_new),
    "one_write": Scenario("one_write", _lay, _one_write, _old_or_new),
    "silent": Scenario("silent", _lay, _silent, _old_or_new),
}
