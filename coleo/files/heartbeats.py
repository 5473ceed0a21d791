"""``run/heartbeats/<seat>.json``: the model's own heartbeat and the daemon's, two separate facts in one file.

The model says by ``update-heartbeat`` what it does; the daemon says that the arm's process lives. Neither overwrites
the other, and the daemon's never counts as work (DESIGN.md section 5).
"""

from __future__ import annotations

from coleo.files import atomic, locks
from coleo.files.layout import Layout, make_private
from coleo.model.instant import iso, parse
from coleo.model.record import Record

MODEL, DAEMON = "model", "daemon"


class Heartbeat(Record):
    """at: when. status: one word, such as working or idle. text: what for. task: the task that it names."""

    at: float
    status: str
    text: str = ""
    task: str | None = None


class Heartbeats(Record):
    """The last heartbeat of each kind; None when there was none."""

    model: Heartbeat | None = None
    daemon: Heartbeat | None = None


def read(layout: Layout, seat: str) -> Heartbeats:
    """The heartbeats of a seat; a file that cannot be read holds none."""
    try:
        data = atomic.read_json(layout.heartbeat(seat))
    except (ValueError, OSError):
        data = None
    found = data if isinstance(data, dict) else {}
    return Heartbeats(_one(found.get(MODEL)), _one(found.get(DAEMON)))


def write(
    layout: Layout, seat: str, who: str, status: str, now: float, *, text: str = "", task: str | None = None
) -> Heartbeats:
    """Record a heartbeat. who: `MODEL` or `DAEMON`."""
    beat = Heartbeat(now, status, text, task)
    make_private(layout.heartbeats)
    with locks.hold(layout.lock(f"heartbeat-{seat}"), wait_s=10.0, note="heartbeat"):
        before = read(layout, seat)
        after = before.replace(model=beat) if who == MODEL else before.replace(daemon=beat)
        atomic.write_json(layout.heartbeat(seat), {MODEL: _json(after.model), DAEMON: _json(after.daemon)})
    return after


def _json(beat: Heartbeat | None) -> dict[str, object] | None:
    return None if beat is None else {"at": iso(beat.at), "status": beat.status, "text": beat.text, "task": beat.task}


def _one(value: object) -> Heartbeat | None:
    if not isinstance(value, dict) or not isinstance(value.get("at"), str):
        return None
    at, status, text, task = parse(value["at"]), value.get("status"), value.get("text"), value.get("task")
    if at is None or not isinstance(status, str):
        return None
    return Heartbeat(at, status, text if isinstance(text, str) else "", task if isinstance(task, str) else None)
