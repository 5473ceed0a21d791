"""Who holds a task: what the claim and the task's file say together, and the error for a seat that does not hold it.

The claim file decides who may act, unless it is over: its token has `ended` in the task's file (a kill kept it from
being removed), or a person wrote another status there. A claim that was lost with ``run/`` still stands in the file.
"""

from __future__ import annotations

from coleo.files import claims, taskfile
from coleo.files.claims import Claim
from coleo.files.layout import Layout
from coleo.model.errors import Taken
from coleo.model.instant import iso, parse
from coleo.model.record import Record
from coleo.model.task import TaskFile, TaskStatus

ENDED_KEPT = 12
_HELD = (TaskStatus.CLAIMED, TaskStatus.IN_PROGRESS)


class Lost(Taken):
    """The caller does not hold the task (any more): nothing was changed."""


class Done(Record):
    """What an act left: the task's file, and the claim that it made, used or ended."""

    file: TaskFile
    claim: Claim | None


def holder(layout: Layout, task_id: str, file: TaskFile | None = None) -> Claim | None:
    """Who holds a task: by its claim, or by its file when the claim was lost with ``run/``."""
    file = file or taskfile.read(layout, task_id)
    there = claims.read(layout, task_id)
    if there is not None:
        return None if is_over(there, file) else there
    return claim_in(file) if file else None


def is_over(claim: Claim, file: TaskFile | None) -> bool:
    """Whether a claim has ended although its file is there: a kill kept it, or a person wrote another status."""
    if file is None:
        return False
    return claim.token in file.ended or (claim.token == file.token and file.status not in _HELD)


def settled(layout: Layout, task_id: str, now: float) -> tuple[Claim | None, TaskFile | None]:
    """Who holds a task and its file, after a claim that is over has been put away. The lock is held."""
    file = taskfile.read(layout, task_id)
    there = claims.read(layout, task_id)
    if there is not None and file is not None and is_over(there, file):
        from coleo.files import mend

        mend.put_away(layout, there, file, now)
        there, file = None, taskfile.read(layout, task_id)
    return there or (claim_in(file) if file else None), file


def claim_in(file: TaskFile) -> Claim | None:
    """The claim that a task's file remembers; None when it says that nobody holds it."""
    if file.status not in _HELD or not file.seat or not file.token or file.token in file.ended:
        return None
    at = parse(file.claimed_at) or parse(file.updated_at) or 0.0
    yes = parse(file.acknowledged_at) if file.acknowledged_at else None
    return Claim(file.id, file.seat, file.token, at, yes, file.generation, file.by or "seat")


def held_values(made: Claim) -> dict[str, str | int | None]:
    """The front matter of a task that is held by this claim."""
    yes = made.acknowledged_at
    return {
        "status": (TaskStatus.CLAIMED if yes is None else TaskStatus.IN_PROGRESS).value,
        "seat": made.seat,
        "token": made.token,
        "claimed_at": iso(made.claimed_at),
        "acknowledged_at": None if yes is None else iso(yes),
        "by": made.by,
        "generation": made.generation or None,
    }


def ended_values(file: TaskFile | None, mine: Claim) -> dict[str, str | int | tuple[str, ...] | None]:
    """The front matter of a claim that is over: its token can change nothing any more."""
    before = tuple(token for token in (file.ended if file else ()) if token != mine.token)
    gone: dict[str, str | int | tuple[str, ...] | None] = dict.fromkeys(
        ("token", "claimed_at", "acknowledged_at", "by", "generation", "progress")
    )
    return {**gone, "ended": (*before, mine.token)[-ENDED_KEPT:]}


def own(layout: Layout, task_id: str, seat: str, now: float, token: str | None = None) -> tuple[Claim, TaskFile | None]:
    """The claim of this seat (and this token, when one is brought) on a task. Raises Lost. The lock is held."""
    there, file = settled(layout, task_id, now)
    if there is None:
        state = f"it is {file.status.value}" if file else "nobody has claimed it"
        raise Lost(
            f"you do not hold task {task_id}", found=state, todo=f"claim it first: coleo bus claim-task {task_id}"
        )  # fmt: skip
    if there.seat != seat:
        raise Lost(
            f"you do not hold task {task_id} any more",
            found=f"held by {there.seat} since {iso(there.claimed_at)}",
            todo="take another one: coleo bus get-full-briefing",
        )
    if token is not None and token != there.token:
        raise Lost(
            f"this token of task {task_id} is an old one", found=f"a newer claim of {iso(there.claimed_at)}",
            todo="leave the token out to act for the claim that you hold now",
        )  # fmt: skip
    return made_again(layout, there), file


def made_again(layout: Layout, there: Claim) -> Claim:
    """The claim with its file in place."""
    if claims.read(layout, there.task) is None:
        claims.claim(
            layout, there.task, there.seat, there.claimed_at, there.by, generation=there.generation,
            token=there.token, acknowledged=there.acknowledged_at is not None,
        )  # fmt: skip
    return there
