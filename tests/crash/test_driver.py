"""The crash driver finds what it is there to find: torn files, trusted short writes, swallowed errors."""

from __future__ import annotations

import pytest

from tests.crash.running import CrashRun


def test_a_careful_writer_survives_every_point(crash: CrashRun) -> None:
    """Write all, fsync, rename: old or new at every call, in every mode."""
    crash.survives("scenarios_self:by_rename")


@pytest.mark.parametrize(
    ("scenario", "mode"),
    [
        ("over_itself", "before"),  # truncated, and then the power goes
        ("over_itself", "half"),
        ("over_itself", "full"),
        ("one_write", "short"),  # believes that a write writes all
        ("silent", "fail"),  # says that it is done when it is not
    ],
)
def test_a_careless_writer_is_found_out(crash: CrashRun, scenario: str, mode: str) -> None:
    """A driver that cannot fail protects nothing."""
    result = crash(f"scenarios_self:{scenario}", mode)[mode]
    assert result["faults"], "the driver saw nothing wrong"


def test_the_points_of_a_writer_are_its_calls(crash: CrashRun) -> None:
    """open, write, fsync and rename: each is one point, none is missed."""
    assert crash("scenarios_self:by_rename", "before")["before"]["points"] == 4
