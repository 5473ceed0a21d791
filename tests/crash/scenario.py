"""What the driver kills: one operation, the state before it, and what must hold after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def nothing(_root: str) -> None:
    """The recovery of what needs none: the next reader copes."""


@dataclass(frozen=True)
class Scenario:
    """All functions get the real path of a folder of their own.

    prepare: lays the state before. act: the operation. recover: what a restart does.
    check(root, finished): raises AssertionError when something is lost, doubled or torn; `finished` says that `act`
    returned without an error, so that its effect must be there.
    """

    name: str
    prepare: Callable[[str], None]
    act: Callable[[str], object]
    check: Callable[[str, bool], None]
    recover: Callable[[str], object] = nothing
