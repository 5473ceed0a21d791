"""``coleo plan`` and ``coleo inbox``: what coleo makes of a Markdown file. They change nothing."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from coleo.cli import out
from coleo.cli.app import Json, command, here
from coleo.model.errors import BadInput

File = Annotated[
    str | None, typer.Argument(metavar="[FILE]", help="Any Markdown file; without one, that of this project.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app."""
    command(app, "plan", "coleo plan", "coleo plan notes.md --json")(plan)
    command(app, "inbox", "coleo inbox", "coleo inbox ideas.md --json", "coleo inbox --unread")(inbox)


def plan(file: File = None, json: Json = False) -> None:
    """Show which tasks coleo sees in a plan. Works on any file, also outside of a project."""
    from coleo.files import explain

    facts = explain.plan_file(_path(file, "plan"))
    if json:
        out.emit(facts)
        return
    out.table(("LINE", "", "TITLE", "SECTION"), [_task_row(task) for task in facts["tasks"]], wide="TITLE")
    out.line(f"{len(facts['tasks'])} tasks, {sum(bool(task['done']) for task in facts['tasks'])} done")
    for warning in facts.get("warnings", ()):
        out.line(_warning(warning))


def _task_row(task: dict[str, Any]) -> tuple[str, str, str, str]:
    box = "[x]" if task["done"] else "[ ]"
    return str(task["line"]), box, "  " * int(task.get("depth") or 0) + str(task["title"]), str(task["section"] or "-")


def _warning(warning: Any) -> str:
    if isinstance(warning, dict):
        line = f":{warning['line']}" if warning.get("line") else ""
        return out.title(f"warning: {warning.get('file', '')}{line}: {warning.get('why', '')}")
    return out.title(f"warning: {warning}")


def _path(file: str | None, what: str) -> str:
    path = file if file is not None else getattr(here(), what)
    if not os.path.exists(path):
        raise BadInput("no such file", file=path, todo="coleo init makes one" if file is None else None)
    if os.path.isdir(path):
        raise BadInput("this is a folder", file=path, wanted="a Markdown file")
    return str(path)


def inbox(
    file: File = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="PLAN", help="Look for duplicates in this plan.")
    ] = None,
    unread: Annotated[
        bool, typer.Option("--unread", help="Show what made no task and nobody has looked at; then it counts as read.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what would become of an inbox: tasks, duplicates of known tasks, lines that make no task."""
    if unread:
        _unread(json)
        return
    from coleo.files import explain

    if file is None and against is None:
        against = here().plan
    facts = explain.inbox_file(_path(file, "inbox"), against)
    if json:
        out.emit(facts)
        return
    rows = [(str(item["line"]), str(item["title"]), _fate(item)) for item in facts["tasks"]]
    if rows:
        out.table(("LINE", "TITLE", "BECOMES"), rows, wide="TITLE")
    out.line(f"{len(rows)} items")
    for left in facts.get("unclaimed", ()):
        text = left.get("text", left) if isinstance(left, dict) else left
        out.line(out.title(f"makes no task: {text}"))


def _fate(item: dict[str, Any]) -> str:
    if item.get("duplicate_of"):
        return f"a note of {item['duplicate_of']}"
    return f"a task (similar to {item['similar_to']})" if item.get("similar_to") else "a task"
