"""``run/claims/<task>.json``: who holds a task. One file per claim, made by exclusive create.

The file is the right: whoever made it holds the task, with a token that nobody else has. Two claims can never both
succeed, because the kernel lets one create win (the lock ``task-<id>`` only keeps a claim and the task's own file in
step, see `coleo.files.work`). Who brings a token that is not the one in the file changes nothing.

A claim that was lost with ``run/`` is made again from the task's file, which remembers its token (`work.mend`).
"""

from __future__ import annotations

import os

from coleo.files import atomic
from coleo.files.layout import Layout, is_junk, make_private
from coleo.model.errors import CannotBeDone, Taken
from coleo.model.instant import iso, parse
from coleo.model.names import SEAT, TASK, check_seat, check_task
from coleo.model.record import Record


class Claim(Record):
    """One seat's right to do a task.

    token: 32 hex digits, new for each claim. acknowledged_at: when the seat said yes; None for an assignment that it
    has not answered. generation: of the arm that claimed. by: ``seat``, ``brain`` or ``human``.
    """

    task: str
    seat: str
    token: str
    claimed_at: float
    acknowledged_at: float | None = None
    generation: int = 0
    by: str = "seat"

    def as_json(self) -> dict[str, object]:
        """The content of the file."""
        return {
            **self.as_dict(),
            "claimed_at": iso(self.claimed_at),
            "acknowledged_at": None if self.acknowledged_at is None else iso(self.acknowledged_at),
        }


def new_token() -> str:
    """32 hex digits from the kernel."""
    return os.urandom(16).hex()


def claim(
    layout: Layout,
    task_id: str,
    seat: str,
    now: float,
    by: str = "seat",
    *,
    generation: int = 0,
    token: str = "",
    acknowledged: bool | None = None,
) -> Claim:
    """Take the right to do a task. Raises Taken with the holder and since when.

    A claim by the seat itself is acknowledged at once (`acknowledged` overrides that). token: only to make a lost
    claim again from the task's file.
    """
    check_task(task_id)
    check_seat(seat)
    yes = by == "seat" if acknowledged is None else acknowledged
    made = Claim(task_id, seat, token or new_token(), now, now if yes else None, generation, by)
    make_private(layout.claims)
    if not atomic.create(layout.claim(task_id), _bytes(made)):
        raise taken(layout, task_id)
    return made


def taken(layout: Layout, task_id: str) -> Taken:
    """The error for a claim that came second: it names the holder and since when."""
    try:
        holder = read(layout, task_id)
    except CannotBeDone as error:
        return Taken(f"task {task_id} is taken, and its claim cannot be read", found=error.found, file=error.file)
    if holder is None:
        return Taken(f"task {task_id} was just taken and given back", todo="try again")
    return Taken(
        f"task {task_id} is taken",
        found=f"held by {holder.seat} since {iso(holder.claimed_at)}",
        todo="take another one: coleo bus get-full-briefing",
    )


def read(layout: Layout, task_id: str) -> Claim | None:
    """The claim on a task, or None. Raises CannotBeDone for a file that is none: it still counts as held."""
    path = layout.claim(check_task(task_id))
    try:
        found = atomic.read_json(path)
    except ValueError as error:
        raise CannotBeDone("a claim cannot be read", file=path, found=str(error), todo="remove the file") from None
    if found is None:
        return None
    made = _from_json(task_id, found)
    if made is None:
        raise CannotBeDone("a claim cannot be read", file=path, found=f"{found!r:.200}", todo="remove the file")
    return made


def held(layout: Layout) -> list[Claim]:
    """All claims that can be read, oldest first."""
    try:
        names = os.listdir(layout.claims)
    except OSError:
        return []
    found = []
    for name in names:
        task_id = name.removesuffix(".json")
        if is_junk(name) or not name.endswith(".json") or not TASK.fullmatch(task_id):
            continue
        try:
            made = read(layout, task_id)
        except CannotBeDone:
            continue
        if made is not None:
            found.append(made)
    return sorted(found, key=lambda made: (made.claimed_at, made.task))


def of_seat(layout: Layout, seat: str) -> list[Claim]:
    """What a seat holds, oldest first."""
    return [made for made in held(layout) if made.seat == seat]


def acknowledge(layout: Layout, task_id: str, token: str, now: float) -> Claim | None:
    """The holder says yes. None when the token is not that of the claim. The task's lock is held."""
    made = read(layout, task_id)
    if made is None or made.token != token:
        return None
    if made.acknowledged_at is None:
        made = made.replace(acknowledged_at=now)
        atomic.write(layout.claim(task_id), _bytes(made))
    return made


def release(layout: Layout, task_id: str, token: str | None = None, reason: str = "") -> Claim | None:
    """End a claim: its file is removed. The claim that was there, or None when the token is an old one.

    token None: whoever holds it (a person decides). reason: why, for the caller's log. The task's lock is held.
    """
    try:
        made = read(layout, task_id)
    except CannotBeDone:
        if token is not None:
            raise
        made = Claim(task_id, "unknown", "", 0.0)
    if made is None or (token is not None and made.token != token):
        return None
    try:
        os.unlink(layout.claim(task_id))
    except FileNotFoundError:
        return None
    return made


def _bytes(made: Claim) -> bytes:
    import json

    return json.dumps(made.as_json()).encode() + b"\n"


def _from_json(task_id: str, data: object) -> Claim | None:
    if not isinstance(data, dict):
        return None
    seat, token, at = data.get("seat"), data.get("token"), data.get("claimed_at")
    if not isinstance(seat, str) or not SEAT.fullmatch(seat) or not isinstance(token, str) or not token:
        return None
    claimed_at = parse(at) if isinstance(at, str) else None
    if claimed_at is None:
        return None
    said = data.get("acknowledged_at")
    generation, by = data.get("generation"), data.get("by")
    return Claim(
        task_id,
        seat,
        token,
        claimed_at,
        parse(said) if isinstance(said, str) else None,
        generation if type(generation) is int and generation >= 0 else 0,
        by if isinstance(by, str) else "seat",
    )
