"""A clock that only the test moves."""

from __future__ import annotations

START = 1_796_000_000.0


class HandClock:
    """Both readings go forward together by `forward`; `sleep` moves only the wall clock."""

    def __init__(self) -> None:
        self._now = START
        self._awake = 0.0

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._now

    def monotonic(self) -> float:
        """Seconds awake."""
        return self._awake

    def forward(self, seconds: float) -> None:
        """Time passes."""
        self._now += seconds
        self._awake += seconds

    def sleep(self, seconds: float) -> None:
        """The machine sleeps."""
        self._now += seconds
