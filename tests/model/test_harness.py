"""A harness as a record: whole through JSON, and every mistake in it named."""

from __future__ import annotations

import pytest

from coleo.model.harness import Harness, Receipts, Rule, check, from_json, to_json
from tests.agents.setup import LINES, SCRIPTED


def test_through_json() -> None:
    """As the host gets it in its spec."""
    full = SCRIPTED.replace(
        argv=("x", "{seat}"),
        env=(("A", "b"),),
        receipts=Receipts("jsonl", "p", "t", "u"),
        exit_keys=("/exit", "\r"),
        interrupt_keys=("\x1b",),
    )
    for harness in (SCRIPTED, LINES, full):
        assert from_json(to_json(harness)) == harness
        assert check(harness) == []


@pytest.mark.parametrize(
    ("harness", "why"),
    [
        (Harness("x", composer="maybe"), "composer is 'maybe'"),
        (Harness("x"), "needs a composer_empty rule"),
        (Harness("x", rules=(Rule("composer_empty", ">"),)), "needs composer_begin or a draft rule"),
        (LINES.replace(rules=(Rule("asleep", "z"),)), "rule kind 'asleep'"),
        (LINES.replace(rules=(Rule("busy", "z", "last:0"),)), "region 'last:0'"),
        (LINES.replace(rules=(Rule("busy", "z", "composer"),)), "composer_begin does not say"),
        (LINES.replace(rules=(Rule("busy", "(z"),)), "pattern '(z'"),
        (LINES.replace(composer_end="["), "pattern '['"),
        (LINES.replace(receipts=Receipts(turn="*")), "pattern '*'"),
    ],
)
def test_mistakes_have_names(harness: Harness, why: str) -> None:
    """In a sentence each."""
    assert any(why in problem for problem in check(harness)), check(harness)


def test_what_is_no_harness() -> None:
    """ValueError, whatever it is."""
    for data in ({}, {"name": "x", "rules": 5}, {"name": "x", "no such": 1}, {"name": "x", "env": []}, {"name": "x"}):
        with pytest.raises(ValueError, match="not a harness"):
            from_json(data)


def test_priorities() -> None:
    """A rule's own, else that of its kind."""
    assert Rule("dialog", "x").weight > Rule("busy", "x").weight > Rule("draft", "x").weight > Rule("ready", "x").weight
    assert Rule("ready", "x", priority=99).weight == 99
