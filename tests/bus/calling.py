"""Calling verbs in tests: a project whose plan has been still for long, and one function for a call."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from coleo.bus import tasks
from coleo.bus.context import Context, Reply
from coleo.bus.verbs import VERBS
from coleo.files.layout import Layout
from tests.files.project import NOW, lay

PLAN = """# Project

## First
- [ ] Write the parser
- [ ] Test the parser after:"Write the parser"
- [ ] Draw a picture @bob
- [ ] Put out the fire !high
- [x] Plan the work

## Second
- [ ] Clean up !low
"""


def project(root: Path, plan: str = PLAN, *seats: str) -> Layout:
    """A project with the seats ada and bob (or `seats`), and a plan that is a minute old."""
    layout = lay(root, *(seats or ("ada", "bob")), plan=plan)
    settle(layout)
    return layout


def settle(layout: Layout, age_s: float = 60.0) -> None:
    """Make the plan look as if it had been still."""
    os.utime(layout.plan, (NOW - age_s, NOW - age_s))


def context(layout: Layout, seat: str | None = "ada", now: float = NOW, **environ: str) -> Context:
    """A call of a seat."""
    return Context(layout, seat, now, environ, layout.root)


def call(layout: Layout, seat: str, verb: str, /, *, now: float = NOW, **values: Any) -> Reply:
    """One verb of one seat."""
    return VERBS[verb].run(context(layout, seat, now), **values)


def ids(layout: Layout, now: float = NOW) -> dict[str, str]:
    """Title to id of every task."""
    return {one.title: one.id for one in tasks.view(layout, now)}
