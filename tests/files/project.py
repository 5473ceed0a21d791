"""A project for tests of this room: folders and seats, nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

from coleo.files.layout import Layout

NOW = 1764496800.0
"""2025-11-30T10:00:00Z."""


def lay(root: Path, *seats: str, plan: str = "") -> Layout:
    """A project at `root` with these seats and this plan."""
    layout = Layout(os.path.realpath(root))
    os.makedirs(layout.seats, exist_ok=True)
    for seat in seats:
        os.makedirs(layout.seat(seat).dir, exist_ok=True)
        Path(layout.seat(seat).seat_md).write_text("---\nharness: shell\n---\n")
    if plan:
        Path(layout.plan).write_text(plan)
    return layout


def log(layout: Layout, action: str | None = None) -> list[dict[str, object]]:
    """The lines of the activity log, all days, or those of one action."""
    found: list[dict[str, object]] = []
    folder = Path(layout.activity)
    for file in sorted(folder.glob("*.jsonl")) if folder.is_dir() else []:
        found += [json.loads(line) for line in file.read_text().splitlines()]
    return [line for line in found if action in (None, line["action"])]


def where(layout: Layout, seat: str) -> dict[str, str]:
    """Message file name to folder, for every message file of a seat; a name in two folders is an AssertionError."""
    found: dict[str, str] = {}
    for folder in ("inbox", "inflight", "processed", "dead", "quarantine"):
        path = os.path.join(layout.seat(seat).dir, folder)
        for name in os.listdir(path) if os.path.isdir(path) else []:
            if name.startswith(".") or name.endswith(".reason"):
                continue
            assert name not in found, f"{name} lies in {found[name]} and in {folder}"
            found[name] = folder
    return found
