"""The briefing: everything that an agent needs to begin, in one answer.

coleo's own lines stand at the left edge; every word that somebody else wrote is behind ``> `` (case h08). The first
character is never one that opens a menu in an agent's composer.
"""

from __future__ import annotations

import os

from coleo.bus import mailverbs, tasks, taskverbs
from coleo.bus.context import Context, Reply
from coleo.bus.tasks import Board, TaskView
from coleo.files import activity, atomic, front
from coleo.model.instant import iso
from coleo.model.message import Message
from coleo.model.prompt import one_line, quote

HEAD_LINES = 40
HEAD_BYTES = 4096
SHOWN = 10
MESSAGE_CHARS = 600

REPORT = """How to work:
  coleo bus claim-task <id>                        take a task (only one at a time)
  coleo bus acknowledge-task <id>                  say yes to a task that was assigned to you
  coleo bus task-progress <id> '<text>'            note where it stands [--status WORD: on_track blocked issues_found
                                                   needs_review completed_with_issues]
  coleo bus complete-task <id> '<what was done>'   finish it: it is verified and ticked
  coleo bus fail-task <id> '<why>'                 give up this attempt
  coleo bus release-task <id> '<why>' --cannot     leave it to another seat
  coleo bus create-task '<title>'                  add a task to the plan [--assignee SEAT --after ID]
  coleo bus send-message <seat> normal '<text>'    talk to another seat
  coleo bus check-inbox / ack-inbox <id>           take messages / say that you have them
  coleo bus update-heartbeat working|idle '<text>' say what you do"""


def get_full_briefing(ctx: Context) -> Reply:
    """Seat and goals, guardrails, messages, own tasks, the next task, what others hold, how to report."""
    me = ctx.me()
    board = tasks.mended_board(ctx.layout, ctx.now)
    mine = [full for one in board.of_seat(me) if (full := board.full(one)) is not None]
    free = board.free_ids(me)
    best = board.get(free[0]) if free else None
    next_one = board.full(best) if best else None
    letters = mailverbs.waiting(ctx, me)
    parts = [f"coleo briefing for seat {me}, {iso(ctx.now)}, project {one_line(ctx.layout.root)}"]
    goals, guardrails = _head(ctx, me, "GOALS.md"), _head(ctx, me, "GUARDRAILS.md")
    parts += [f"{title}\n{quote(text)}" for title, text in (("Goals:", goals), ("Guardrails:", guardrails)) if text]
    parts.append(_messages(letters))
    parts.append(_own(mine))
    parts.append(_next(next_one, len(free), bool(mine)))
    held = _held_by_others(board, me)
    if held:
        parts.append(held)
    parts.append(REPORT)
    activity.append(
        ctx.layout, "get_full_briefing", now=ctx.now, seat=me, tasks=len(mine), free=len(free), messages=len(letters)
    )  # fmt: skip
    data = {
        "seat": me,
        "project": ctx.layout.root,
        "goals": goals,
        "guardrails": guardrails,
        "messages": [mailverbs.facts(message) for message in letters],
        "tasks": [one.facts() for one in mine],
        "next": next_one.facts() if next_one else None,
        "free": len(free),
        "held": [
            {"task": claim.task, "seat": claim.seat, "since": iso(claim.claimed_at)}
            for claim in board.claims.values()
            if claim.seat != me
        ],
    }
    return Reply("\n\n".join(parts), data)


def _messages(letters: list[Message]) -> str:
    if not letters:
        return "Messages: none."
    rows = [f"Messages: {len(letters)}. Take them with coleo bus check-inbox, then coleo bus ack-inbox <id> for each."]
    for message in letters[:SHOWN]:
        text = message.text if len(message.text) <= MESSAGE_CHARS else message.text[:MESSAGE_CHARS] + " […]"
        rows.append(f"{message.id} from {message.sender}:\n{quote(text)}")
    if len(letters) > SHOWN:
        rows.append(f"… and {len(letters) - SHOWN} more.")
    return "\n".join(rows)


def _own(mine: list[TaskView]) -> str:
    if not mine:
        return "Your tasks: none."
    parts = [f"Your tasks: {len(mine)}."]
    for one in mine[:SHOWN]:
        said = "" if one.claim and one.claim.acknowledged_at else f"; say yes: coleo bus acknowledge-task {one.id}"
        parts.append(f"Task {one.id} ({one.status.value}{said})\n{taskverbs.describe(one)}")
    return "\n\n".join(parts)


def _next(one: TaskView | None, free: int, busy: bool) -> str:
    if one is None:
        return "Next task: none is free for you. Say so: coleo bus update-heartbeat idle"
    first = "When that is done, the next task" if busy else "Next task"
    more = f" ({free} are free for you)" if free > 1 else ""
    after = f"\nIt waited for: {', '.join(map(one_line, one.task.after))} (done)" if one.task.after else ""
    return f"{first}{more}: {one.id}\n{taskverbs.describe(one)}{after}\nTake it: coleo bus claim-task {one.id}"


def _held_by_others(board: Board, me: str) -> str:
    held = [claim for claim in board.claims.values() if claim.seat != me and board.claim(claim.task) is not None]
    if not held:
        return ""
    rows = ["Other seats hold:"]
    for claim in held[:SHOWN]:
        one = board.get(claim.task)
        rows.append(f"{claim.task}, {claim.seat} since {iso(claim.claimed_at)}:\n{quote(one.title if one else '?')}")
    if len(held) > SHOWN:
        rows.append(f"… and {len(held) - SHOWN} more.")
    return "\n".join(rows)


def _head(ctx: Context, seat: str, name: str) -> str:
    """The beginning of one of the seat's files; a longer one is cut, with its path."""
    path = os.path.join(ctx.layout.seat(seat).dir, name)
    try:
        data = atomic.read(path, limit=HEAD_BYTES + 1)
    except OSError:
        return ""
    if not data or not data.strip():
        return ""
    lines = data[:HEAD_BYTES].decode("utf-8", "replace").strip().split("\n")
    text = "\n".join(lines[:HEAD_LINES])
    cut = len(data) > HEAD_BYTES or len(lines) > HEAD_LINES
    return f"{text}\n[…] the rest is in {os.path.relpath(path, ctx.layout.root)}" if cut else text


def get_my_instructions(ctx: Context) -> Reply:
    """The body of seat.md, personality and convictions of its front matter, and the tasks that the seat holds."""
    me = ctx.me()
    path = ctx.layout.seat(me).seat_md
    data = atomic.read(path) or b""
    shown = os.path.relpath(path, ctx.layout.root)
    problem, body = "", ""
    values: dict[str, str | tuple[str, ...]] = {}
    try:
        values, body = front.read(data)
    except front.BadFront as error:
        problem = f"{shown}:{error.line}: {error.reason}"
        body = data.decode("utf-8", "replace")
    personality = values.get("personality", "")
    convictions = values.get("convictions", ())
    listed = [convictions] if isinstance(convictions, str) and convictions else list(convictions)
    board = tasks.mended_board(ctx.layout, ctx.now)
    mine = [full for one in board.of_seat(me) if (full := board.full(one)) is not None]
    parts = [f"coleo instructions for seat {me} (from {shown})"]
    if body.strip():
        parts.append(body.strip("\n"))
    if isinstance(personality, str) and personality.strip():
        parts.append(f"Personality:\n{quote(personality)}")
    if listed:
        parts.append("Convictions:\n" + "\n".join(quote(str(one)) for one in listed))
    if problem:
        parts.append(f"A person should mend {problem}")
    parts.append(_own(mine))
    parts.append("All the rest: coleo bus get-full-briefing")
    activity.append(ctx.layout, "get_my_instructions", now=ctx.now, seat=me, tasks=len(mine))
    found = {
        "seat": me,
        "text": body,
        "personality": personality,
        "convictions": listed,
        "problem": problem or None,
        "tasks": [one.facts() for one in mine],
    }
    return Reply("\n\n".join(parts), found)
