"""``coleo plan`` and ``coleo inbox``: what coleo makes of a Markdown file. They change nothing."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from coleo.cli import out
from coleo.cli.app import Json, command, here
from coleo.files import explain
from coleo.files import unread as unread_lines
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
    facts = explain.plan_file(_path(file, "plan"))
    if json:
        out.emit(facts)
        return
    out.table(("LINE", "", "TITLE", "SECTION"), [_task_row(task) for task in facts["tasks"]], wide="TITLE")
    out.line(f"{len(facts['tasks'])} tasks, {sum(bool(task['done']) for task in facts['tasks'])} done")
    for warning in facts["warnings"]:
        out.line(_warning(warning))


def _task_row(task: dict[str, Any]) -> tuple[str, str, str, str]:
    box = "[x]" if task["done"] else "[ ]"
    return str(task["line"]), box, "  " * int(task.get("depth") or 0) + str(task["title"]), str(task["section"] or "-")


def _warning(warning: dict[str, Any]) -> str:
    line = f":{warning['line']}" if warning["line"] else ""
    text = f" ({warning['text']})" if warning["text"] else ""
    return out.title(f"warning: {warning['file']}{line}: {warning['why']}{text}")


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
    """Show what would become of an inbox.

    Tasks, repeats of known tasks, and lines that make no task. Works on any file, also outside of a project.
    """
    if unread:
        _unread(json)
        return
    if file is None and against is None:
        against = here().plan
    facts = explain.inbox_file(_path(file, "inbox"), against)
    if json:
        out.emit(facts)
        return
    rows = [(item["line"], item["title"], _fate(item)) for item in facts["tasks"]]
    rows += [(item["line"], item["title"], f"a note of {_name(item['of'])}") for item in facts["duplicates"]]
    if rows:
        sorted_rows = [(str(line), str(title), fate) for line, title, fate in sorted(rows)]
        out.table(("LINE", "TITLE", "BECOMES"), sorted_rows, wide="TITLE")
    out.line(f"{len(facts['tasks'])} tasks, {len(facts['duplicates'])} repeats")
    for left in facts["no_task"]:
        out.line(out.title(f"makes no task, line {left['line']}: {left['text']}"))
    for warning in facts["warnings"]:
        out.line(_warning(warning))


def _fate(item: dict[str, Any]) -> str:
    if item.get("done"):
        return "a task, done"
    return f"a task, similar to {_name(item['similar_to'])}" if item.get("similar_to") else "a task"


def _name(of: dict[str, Any]) -> str:
    return str(of["id"]) if "id" in of else f"line {of['line']}"


def _unread(json: bool) -> None:
    layout = here()
    rows = unread_lines.unread(layout)
    if json:
        out.emit({"unread": [row.as_dict() for row in rows]})
    for row in rows:
        if not json:
            out.line(out.title(f"{row.at}  line {row.line}: {row.text}", 500))
    if not rows and not json:
        out.line("nothing: every line of the inbox became a task or was looked at")
    if rows:
        unread_lines.mark_seen(layout)
