"""What the driver kills: one operation, the state before it, and what must hold after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """How the operation ended. finished: it returned without an error, so its effect must be there.

    disk_failed: a call of it failed, so that the activity log, which never stops an act, may lack a line.
    """

    finished: bool
    disk_failed: bool = False


def nothing(_root: str) -> None:
    """The recovery of what needs none: the next reader copes."""


@dataclass(frozen=True)
class Scenario:
    """All functions get the real path of a folder of their own.

    prepare: lays the state before. act: the operation. recover: what a restart does.
    check: raises AssertionError when something is lost, doubled or torn.
    """

    name: str
    prepare: Callable[[str], None]
    act: Callable[[str], object]
    check: Callable[[str, Outcome], None]
    recover: Callable[[str], object] = nothing
