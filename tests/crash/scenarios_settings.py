"""`coleo config set` and one key of seat.md, cut at every call: the old value or the new one, no byte else."""

from __future__ import annotations

import os

from coleo.files import atomic, inplace, seatfile, settings, settings_edit
from coleo.files.layout import Layout
from tests.crash.scenario import Outcome, Scenario

CONFIG = b"""# Words of a person, before everything.
orchestrator = "alice"   # and behind a key

[brain]
# poll_interval_ms = 30000
max_arms = 4

[git]
commit = "off"
"""

SEAT = b"""---
# who sits here
harness: shell
enabled: true   # for now
pass_env: [A, 'B']
---

Words of a person. --- And more.
"""


def _layout(root: str) -> Layout:
    return Layout(root)


def _lay_without(root: str) -> None:
    layout = _layout(root)
    os.makedirs(layout.run, mode=0o700)
    os.makedirs(layout.seat("alice").dir, mode=0o700)
    with open(layout.seat("alice").seat_md, "wb") as file:
        file.write(SEAT)


def _lay(root: str) -> None:
    _lay_without(root)
    with open(_layout(root).config, "wb") as file:
        file.write(CONFIG)


def _recover(root: str) -> None:
    inplace.recover(_layout(root).journal)


def _set(root: str) -> None:
    settings_edit.set_value(_layout(root).config, "brain.poll_interval_ms", "5000")


def _set_key(root: str) -> None:
    seatfile.set_key(_layout(root), "alice", "enabled", False)


def _no_leftovers(root: str) -> None:
    journal = _layout(root).journal
    assert not os.path.isdir(journal) or not os.listdir(journal), "an interrupted change was left"


def _config(root: str, outcome: Outcome) -> None:
    _no_leftovers(root)
    found = atomic.read(_layout(root).config)
    new = settings_edit.changed(CONFIG, ["brain", "poll_interval_ms"], 5000, "config.toml")
    assert found == new or (found == CONFIG and not outcome.finished), found
    loaded = settings.load(_layout(root), environ={})
    assert not loaded.problems
    assert loaded.settings.brain.poll_interval_ms == (5000 if found == new else 30000)
    assert loaded.settings.brain.max_arms == 4


def _config_made(root: str, outcome: Outcome) -> None:
    _no_leftovers(root)
    loaded = settings.load(_layout(root), environ={})
    assert not loaded.problems, "half a file was made"
    assert loaded.settings.brain.poll_interval_ms in ((5000,) if outcome.finished else (5000, 30000))


def _seat(root: str, outcome: Outcome) -> None:
    _no_leftovers(root)
    found = atomic.read(_layout(root).seat("alice").seat_md)
    new = SEAT.replace(b"enabled: true ", b"enabled: false ")
    assert found is not None
    changed = found.replace(b"false ", b"true ", 1) if found != SEAT else found
    assert found in (new, SEAT) or changed.split() == SEAT.split(), found
    assert found != SEAT or not outcome.finished
    assert seatfile.read(_layout(root), "alice").enabled is (found == SEAT)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("config_set", _lay, _set, _config, _recover),
        Scenario("config_made", _lay_without, _set, _config_made, _recover),
        Scenario("seat_key", _lay, _set_key, _seat, _recover),
    )
}
