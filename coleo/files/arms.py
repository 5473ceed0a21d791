"""``run/arms/<seat>.json``: what is recorded of each seat's arm. The brain writes, everybody reads.

A file decides nothing about processes: a pid in it counts only with its start time and boot id (case h09), and what
does not fit its type is dropped with the rest of the record kept.
"""

from __future__ import annotations

import os

from coleo.files import atomic
from coleo.files.layout import Layout, is_junk, make_private
from coleo.files.process import valid_pid
from coleo.model.arm import Arm, ArmState, ProcessId
from coleo.model.names import SEAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NUMBERS = ("since_at", "freed_at")
_MAYBE_NUMBERS = (
    "spawned_at",
    "detected_at",
    "retry_at",
    "parked_at",
    "stop_asked_at",
    "prompted_at",
    "next_at",
)
_TEXTS = ("evidence", "reason", "parked", "config_key", "stopping", "freed", "waiting", "next")
_COUNTS = ("generation", "deaths", "nudges")
_FLAGS = ("final", "freed_counts")
_LISTS = ("tasks", "offered")


def process_to_json(process: ProcessId | None) -> dict[str, object] | None:
    """``{"pid", "start", "boot"}`` or None."""
    return None if process is None else {"pid": process.pid, "start": process.start, "boot": process.boot}


def process_from_json(value: object) -> ProcessId | None:
    """The process that a file names, or None when it names none that could be one (case h09)."""
    if not isinstance(value, dict):
        return None
    pid, start, boot = valid_pid(value.get("pid")), value.get("start"), value.get("boot")
    if pid is None or type(start) is not int or not isinstance(boot, str):
        return None
    return ProcessId(pid, start, boot)


def to_json(arm: Arm) -> dict[str, object]:
    """The record as its file holds it."""
    data: dict[str, object] = arm.as_dict()
    data["state"] = arm.state.value
    data["before"] = arm.before.value if arm.before else None
    data["host"] = process_to_json(arm.host)
    data["child"] = process_to_json(arm.child)
    data["tasks"] = list(arm.tasks)
    data["offered"] = list(arm.offered)
    return data


def from_json(seat: str, data: object) -> Arm | None:
    """The record, or None for what is no record of an arm. Fields of the wrong type take their default."""
    if not isinstance(data, dict):
        return None
    state = _state(data.get("state"))
    if state is None:
        return None
    fields: dict[str, Any] = {"seat": seat, "state": state, "before": _state(data.get("before"))}
    fields["host"] = process_from_json(data.get("host"))
    fields["child"] = process_from_json(data.get("child"))
    for name in _NUMBERS + _MAYBE_NUMBERS:
        if type(data.get(name)) in (int, float):
            fields[name] = float(data[name])
    for name in _TEXTS:
        if isinstance(data.get(name), str):
            fields[name] = data[name]
    for name in _COUNTS:
        if type(data.get(name)) is int and data[name] >= 0:
            fields[name] = data[name]
    for name in _FLAGS:
        if isinstance(data.get(name), bool):
            fields[name] = data[name]
    for name in _LISTS:
        if isinstance(data.get(name), list):
            fields[name] = tuple(item for item in data[name] if isinstance(item, str))
    return Arm(**fields)


def _state(value: object) -> ArmState | None:
    try:
        return ArmState(str(value))
    except ValueError:
        return None


def read(layout: Layout, seat: str) -> Arm | None:
    """The recorded arm of a seat; None when there is none or its file is no record."""
    try:
        data = atomic.read_json(layout.arm(seat))
    except ValueError:
        return None
    return from_json(seat, data)


def write(layout: Layout, arm: Arm) -> None:
    """Record an arm, whole; not flushed: a power cut ends the arm too."""
    make_private(layout.arms)
    atomic.write(layout.arm(arm.seat), atomic.json_bytes(to_json(arm)), durable=False)


def read_all(layout: Layout) -> dict[str, Arm]:
    """Every recorded arm by seat, also of seats whose folder is gone."""
    try:
        names = sorted(os.listdir(layout.arms))
    except OSError:
        return {}
    arms = {}
    for name in names:
        seat = name.removesuffix(".json")
        if is_junk(name) or not name.endswith(".json") or not SEAT.fullmatch(seat):
            continue
        arm = read(layout, seat)
        if arm is not None:
            arms[seat] = arm
    return arms
