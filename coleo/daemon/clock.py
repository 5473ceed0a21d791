"""The seam to time. Tests pass a clock that they move; nothing else in coleo asks the system."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two readings: `now` in seconds since the epoch, `monotonic` in seconds that no clock change moves."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Seconds that no change of the clock moves."""


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since some fixed point; stands still while a laptop sleeps on Linux."""
        return time.monotonic()


class SleepGauge:
    """Tells how long the machine was asleep between two looks.

    Wall time and awake time are compared: what the wall clock gained is sleep (or a clock change, which must not
    count as an arm's idleness either). Below `slack_s` it is noise.
    """

    def __init__(self, clock: Clock, slack_s: float = 5.0) -> None:
        self._clock = clock
        self._slack_s = slack_s
        self._now, self._monotonic = clock.now(), clock.monotonic()

    def lost_s(self) -> float:
        """Seconds that passed on the wall but not awake since the last call; 0.0 for none, negative never."""
        now, monotonic = self._clock.now(), self._clock.monotonic()
        lost = (now - self._now) - (monotonic - self._monotonic)
        self._now, self._monotonic = now, monotonic
        return lost if lost > self._slack_s else 0.0
