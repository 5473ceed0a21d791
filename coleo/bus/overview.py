"""How everything stands, as values: what `coleo status` shows. Reads files only; needs no brain and wakes none."""

from __future__ import annotations

import os
import re

from coleo.bus import tasks
from coleo.bus.tasks import Board
from coleo.files import arms, atomic, desired, front, gitlook, heartbeats, locks, mailbox, unread
from coleo.files.layout import Layout
from coleo.files.process import valid_pid
from coleo.model.arm import Arm, ArmState
from coleo.model.instant import iso
from coleo.model.task import TaskStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOXES = ("inbox", "inflight", "dead", "quarantine")
_WORD = re.compile(r"^(enabled|harness):[ \t]*[\"']?([A-Za-z0-9_.-]+)", re.MULTILINE)


def overview(layout: Layout, now: float) -> dict[str, Any]:
    """Brain, seats, tasks, what waits for a person. Instants are ISO text; what is not known is None."""
    with gitlook.Uncommitted(layout, now) as uncommitted:
        facts = _overview(layout, now)
        files = uncommitted.count()
    return {**facts, "uncommitted": {"files": files, "hint": gitlook.hint(layout, files)} if files else None}


def _overview(layout: Layout, now: float) -> dict[str, Any]:
    board = tasks.board(layout, now)
    wishes = desired.read(layout)
    recorded = arms.read_all(layout)
    seats = [seat_facts(layout, name, recorded.get(name), wishes, board) for name in layout.seats_present()]
    return {
        "project": layout.root,
        "now": iso(now),
        "brain": brain(layout),
        "paused_all": wishes.paused_all,
        "seats": seats,
        "tasks": counts(board),
        "plan_warnings": [_warning(warning) for warning in board.plan.warnings],
        "problems": [*board.problems.values(), *([wishes.problem] if wishes.problem else []), *_disk(layout)],
        "unread": len(unread.unread(layout)),
    }


LEAST_FREE = 1 << 20


def _disk(layout: Layout) -> list[str]:
    """What a full disk keeps from being written; [] while there is room."""
    try:
        found = os.statvfs(layout.coleo)
    except OSError:
        return []
    free = found.f_bavail * found.f_frsize
    if free >= LEAST_FREE:
        return []
    return [f"the disk is full ({free // 1024} KiB left): nothing is taken or delivered until there is room"]


def brain(layout: Layout) -> dict[str, Any]:
    """``{"running", "pid"}``: pid is None when none runs, and when the one that does has not said who it is."""
    path = layout.lock("brain")
    held = locks.holder(path)
    return {"running": held is not None, "pid": valid_pid(held.get("pid")) if held else None}


def seat_facts(layout: Layout, name: str, arm: Arm | None, wishes: desired.Desired, board: Board) -> dict[str, Any]:
    """One seat: its arm, what people want of it, its tasks and its mail."""
    made = arm or Arm(name)
    wish = wishes.of(name)
    config = configured(layout, name)
    beat = heartbeats.read(layout, name)
    held = board.of_seat(name)
    return {
        "seat": name,
        "state": made.state.value,
        "since": _iso(made.since_at),
        "before": made.before.value if made.before else None,
        "generation": made.generation,
        "pid": made.child.pid if made.child else None,
        "harness": config.get("harness"),
        "enabled": config.get("enabled", "true") != "false",
        "paused": wishes.paused(name),
        "stopped": wish.stopped,
        "parked": made.parked or None,
        "stopping": made.stopping or None,
        "deaths": made.deaths,
        "tasks": [{"id": one.id, "title": one.title, "status": one.status.value} for one in held],
        "mail": {
            **{box: len(mailbox.names(mailbox.folder(layout, name, box))) for box in BOXES},
            "undelivered": len(mailbox.undelivered(layout, name)),
        },
        "waiting": made.waiting or None,
        "next": made.next or None,
        "next_at": _iso(made.next_at),
        "heartbeat": _iso(beat.model.at) if beat.model else None,
    }


def configured(layout: Layout, seat: str) -> dict[str, str]:
    """`enabled` and `harness` as a glance at seat.md shows them: for display; `seatfile` reads it properly."""
    try:
        parts = front.split(atomic.read(layout.seat(seat).seat_md, limit=65536) or b"")
    except (front.BadFront, OSError):
        return {}
    return dict(_WORD.findall(parts.block.decode("utf-8", "replace"))) if parts else {}


def counts(board: Board) -> dict[str, int]:
    """How many tasks have which status; ``waiting`` are the open ones that others have to be done for first."""
    found = {status.value: 0 for status in TaskStatus}
    waiting = 0
    for task in board.plan.tasks:
        status = board.status(task.id)
        found[status.value] += 1
        waiting += status is TaskStatus.OPEN and bool(task.after) and bool(board.waiting_for(task))
    for task_id in board.files.keys() - board.tasks.keys():
        found[board.status(task_id).value] += 1
    return {**found, "waiting": waiting}


def _warning(warning: Any) -> dict[str, Any]:
    return {"file": warning.file, "line": warning.line, "why": warning.why, "text": warning.text}


def _iso(at: float | None) -> str | None:
    return iso(at) if at else None


def needs_person(seat: dict[str, Any]) -> str:
    """Why this seat waits for a person; "" when it does not."""
    if seat["state"] == ArmState.FAILED.value:
        return f"parked: {seat['parked'] or 'it could not start'}"
    if seat["mail"]["undelivered"] or seat["mail"]["quarantine"]:
        return "it has mail that could not be delivered or read"
    return ""
