"""Verbs about the seat itself: heartbeat, log lines, skills."""

from __future__ import annotations

import os
import re

from coleo.bus import doorbell, tasks
from coleo.bus.context import Context, Reply
from coleo.files import activity, atomic, front, heartbeats
from coleo.files.layout import is_junk
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.names import check_task
from coleo.model.prompt import one_line
from coleo.model.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_SKILL_LIMIT = 256 * 1024


def update_heartbeat(ctx: Context, status: str, text: str = "", task: str | None = None) -> Reply:
    """The model says what it does. One that says idle is told what it could do (DESIGN.md section 5)."""
    me = ctx.me()
    word = _word(status, "status").lower()
    if task:
        check_task(task)
    heartbeats.write(ctx.layout, me, heartbeats.MODEL, word, ctx.now, text=text, task=task)
    activity.append(
        ctx.layout, "heartbeat", now=ctx.now, seat=me, by="model", status=word, text=text or None, task=task
    )  # fmt: skip
    doorbell.ring(ctx.layout, "heartbeats")
    data: dict[str, Any] = {"seat": me, "status": word}
    if word != "idle":
        return Reply("Noted.", data)
    board = tasks.board(ctx.layout, ctx.now)
    many = len(board.of_seat(me)) + len(board.free_ids(me))
    data["tasks"] = many
    if not many:
        return Reply("Noted. No task is waiting for you.", data)
    plural = "task" if many == 1 else "tasks"
    return Reply(f"Noted. You have {many} {plural}: call coleo bus get-full-briefing", data)


def log_event(ctx: Context, event: str, text: str = "", severity: str = "info", meta: str | None = None) -> Reply:
    """A line of the seat's own in the activity log. meta: a JSON object; what is none is refused, never dropped."""
    me = ctx.me()
    more: object = None
    if meta is not None:
        import json

        try:
            more = json.loads(meta)
        except (ValueError, RecursionError) as error:
            raise BadInput("--meta is no JSON", found=meta[:200], wanted="a JSON object", todo=str(error)) from None
        if not isinstance(more, dict):
            raise BadInput("--meta is no object", found=meta[:200], wanted='a JSON object such as {"version": "1.2"}')
    word = _word(event, "event")
    written = activity.append(
        ctx.layout, "log_event", now=ctx.now, seat=me, event=word, text=text or None, severity=severity, meta=more
    )  # fmt: skip
    if not written:
        raise CannotBeDone("the line could not be written", file=ctx.layout.activity, todo="is the disk full?")
    return Reply("Logged.", {"seat": me, "event": word})


def _word(value: str, what: str) -> str:
    if not _WORD.fullmatch(value):
        raise BadInput(
            f"{what} is no word", found=repr(value), wanted="letters, digits, _ . - ; put the rest into the text"
        )
    return value


def list_skills(ctx: Context) -> Reply:
    """The skills of the seat: name and description of each ``skills/<name>/SKILL.md``; broken ones are reported."""
    me = ctx.me()
    folder = ctx.layout.seat(me).skills
    skills: list[dict[str, str]] = []
    problems: list[dict[str, str]] = []
    seen: dict[str, str] = {}
    for path in _skill_files(folder):
        shown = os.path.relpath(path, ctx.layout.root)
        name, description, problem = read_skill(path)
        if not problem and name in seen:
            problem = f"the name {name!r} is that of {seen[name]} already"
        if problem:
            problems.append({"file": shown, "problem": problem})
            continue
        seen[name] = shown
        skills.append({"name": name, "description": description, "file": shown})
    rows = [f"{one_line(skill['name'])}: {one_line(skill['description'])} ({skill['file']})" for skill in skills]
    rows = rows or ["No skills."]
    rows += [f"Not usable: {show(problem['file'])}: {show(problem['problem'])}" for problem in problems]
    return Reply("\n".join(rows), {"skills": skills, "problems": problems})


def _skill_files(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    folders = [os.path.join(folder, name) for name in names if not is_junk(name)]
    return [os.path.join(path, "SKILL.md") for path in folders if os.path.isdir(path)]


def read_skill(path: str) -> tuple[str, str, str]:
    """(name, description, problem) of a SKILL.md; problem is "" when it can be used."""
    try:
        data = atomic.read(path, limit=_SKILL_LIMIT)
    except OSError as error:
        return "", "", f"it cannot be read: {error.strerror}"
    if data is None:
        return "", "", "there is no SKILL.md in this folder"
    try:
        values, _body = front.read(data)
    except front.BadFront as error:
        return "", "", f"line {error.line}: {error.reason}"
    name, description = values.get("name", ""), values.get("description", "")
    if not isinstance(name, str) or not name.strip():
        return "", "", "its front matter has no name"
    if not isinstance(description, str) or not description.strip():
        return name, "", "its front matter has no description"
    return name.strip(), description.strip(), ""
