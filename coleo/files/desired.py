"""What people want of the arms: ``run/desired.json``, read by the brain in every cycle.

Pausing, stopping and restarting are facts in this file; ringing the brain's doorbell only makes it look sooner. So a
wish holds whether a brain runs now, later, or dies in between. `enabled: false` in seat.md is the lasting form of
`stopped`.

    {"paused_all": false,
     "seats": {"ada": {"paused": true, "stopped": false, "restart_at": null, "unpark_at": null}}}
"""

from __future__ import annotations

import os

from coleo.files import atomic, locks
from coleo.files.layout import Layout, make_private
from coleo.model.instant import iso, parse
from coleo.model.names import check_seat
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Wish(Record):
    """What people want of one seat's arm.

    paused: None follows ``coleo pause --all``; a seat that was paused or resumed by name has its own. restart_at: an
    arm that was spawned before is to be ended and started afresh. unpark_at: a seat that was parked before may be
    tried again.
    """

    paused: bool | None = None
    stopped: bool = False
    restart_at: float = 0.0
    unpark_at: float = 0.0


class Desired(Record):
    """All wishes. problem: why the file could not be read ("" when it could); then everything is at its default."""

    paused_all: bool = False
    seats: Mapping[str, Wish] = {}
    problem: str = ""

    def of(self, seat: str) -> Wish:
        """The wish for a seat as it was said; defaults for a seat that nobody said anything about."""
        return self.seats.get(seat, Wish())

    def paused(self, seat: str) -> bool:
        """Whether nothing may be typed into this seat: paused by name, or all are and it was not resumed by name."""
        own = self.of(seat).paused
        return self.paused_all if own is None else own


def path(layout: Layout) -> str:
    """Where the wishes lie."""
    return os.path.join(layout.run, "desired.json")


def read(layout: Layout) -> Desired:
    """The wishes; never raises. A file that cannot be read gives defaults and a `problem`: keep what was known."""
    try:
        found = atomic.read_json(path(layout))
    except (ValueError, OSError) as error:
        return Desired(problem=f"{path(layout)}: {error}")
    if found is None:
        return Desired()
    if not isinstance(found, dict) or not isinstance(found.get("seats", {}), dict):
        return Desired(problem=f"{path(layout)}: not a table of seats")
    seats = {str(name): _wish(value) for name, value in found.get("seats", {}).items() if isinstance(value, dict)}
    return Desired(found.get("paused_all") is True, seats)


def change(
    layout: Layout,
    seat: str | None,
    *,
    paused: bool | None = None,
    stopped: bool | None = None,
    restart_at: float | None = None,
    unpark_at: float | None = None,
) -> Desired:
    """Change the wish for one seat, or with `seat` None for all of them (only `paused`); what is None stays.

    Pausing or resuming all overrides what was said by name before. Several callers at once are put in a row by a lock.
    A file that cannot be read is kept beside the new one as ``desired.json.bad``.
    """
    make_private(layout.run)
    with locks.hold(layout.lock("desired"), wait_s=10.0, note="changing what people want"):
        now = read(layout)
        if now.problem:
            os.replace(path(layout), path(layout) + ".bad")
        seats = dict(now.seats)
        paused_all = now.paused_all
        if seat is None:
            if paused is not None:
                paused_all = paused
                seats = {name: wish.replace(paused=None) for name, wish in seats.items()}
        else:
            wish = seats.get(check_seat(seat), Wish())
            seats[seat] = wish.replace(
                paused=wish.paused if paused is None else paused,
                stopped=wish.stopped if stopped is None else stopped,
                restart_at=wish.restart_at if restart_at is None else restart_at,
                unpark_at=wish.unpark_at if unpark_at is None else unpark_at,
            )
        after = Desired(paused_all, {name: wish for name, wish in sorted(seats.items()) if wish != Wish()})
        if after != now or now.problem:
            atomic.write_json(path(layout), _as_json(after))
        return after


def _wish(value: dict[str, object]) -> Wish:
    paused = value.get("paused")
    return Wish(
        paused=paused if isinstance(paused, bool) else None,
        stopped=value.get("stopped") is True,
        restart_at=_instant(value.get("restart_at")),
        unpark_at=_instant(value.get("unpark_at")),
    )


def _instant(value: object) -> float:
    return (parse(value) or 0.0) if isinstance(value, str) else 0.0


def _as_json(wishes: Desired) -> dict[str, object]:
    seats = {
        name: {
            "paused": wish.paused,
            "stopped": wish.stopped,
            "restart_at": iso(wish.restart_at) if wish.restart_at else None,
            "unpark_at": iso(wish.unpark_at) if wish.unpark_at else None,
        }
        for name, wish in wishes.seats.items()
    }
    return {"paused_all": wishes.paused_all, "seats": seats}
