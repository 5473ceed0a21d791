"""``coleo tasks`` and ``coleo task``: what is to be done, and a person's word about it."""

from __future__ import annotations

from typing import Annotated

import typer

from coleo.brain import texts
from coleo.bus import doorbell, tasks
from coleo.bus.tasks import TaskView
from coleo.cli import named, out, tasklist
from coleo.cli.app import Json, Seat, Task, command, complete_seats, group, here
from coleo.files import mail, taskfile, work
from coleo.files.layout import Layout
from coleo.model.errors import BadInput, CannotBeDone

task = group("Look at one task, and decide about it.", "coleo task show t-k3v9qz", "coleo task assign t-k3v9qz ada")
Reason = Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Stands in the task's file.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app."""
    command(app, "tasks", "coleo tasks", "coleo tasks --all", "coleo tasks --status blocked --json")(tasks_)
    app.add_typer(task, name="task")


def tasks_(
    everything: Annotated[bool, typer.Option("--all", help="Also done and withdrawn ones.")] = False,
    status: Annotated[str | None, typer.Option("--status", metavar="STATUS", help="Only these.")] = None,
    seat: Annotated[
        str | None,
        typer.Option("--seat", metavar="SEAT", help="Held by it or marked for it.", autocompletion=complete_seats),
    ] = None,
    json: Json = False,
) -> None:
    """List the tasks that are not over, with who holds them."""
    tasklist.show(everything=everything, status=status, seat=seat, json=json)


@command(task, "show", "coleo task show t-k3v9qz", "coleo task show t-k3v9qz --json")
def show(task_id: Task, json: Json = False) -> None:
    """Show everything that is known of a task."""
    view = _view(here(), task_id)
    facts = view.facts()
    if json:
        out.emit(facts)
        return
    out.line(f"{view.id}  {out.title(view.title)}")
    for name in ("status", "source", "section", "holder", "claimed_at", "seat", "priority", "waiting_for", "attempts",
                 "declined", "similar_to", "progress", "path", "problem"):  # fmt: skip
        value = facts[name]
        if value not in (None, "", [], 0, "normal"):
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            out.line(f"  {name.replace('_', ' ') + ':':<13} {out.title(shown)}")
    _text("description", view.description)
    _text("attempts", "\n".join(f"{number}. {reason}" for number, reason in enumerate(view.reasons, 1)))
    _text("notes", "\n".join(f"- {note}" for note in view.notes))
    _text("result", view.result)


def _text(name: str, text: str) -> None:
    if text.strip():
        out.line()
        out.line(f"{name}:")
        out.line("  " + text.strip().replace("\n", "\n  "), lines=True)


@command(task, "assign", "coleo task assign t-k3v9qz ada")
def assign(task_id: Task, seat: Seat, json: Json = False) -> None:
    """Give a task to a seat. It is told by a message and has to acknowledge it in time, or it is open again."""
    layout = here()
    named.seat(layout, seat)
    view = _view(layout, task_id)
    _not_over(view)
    if view.seat not in (None, seat):
        out.note(f"the plan marks it for @{view.seat}; your word is the later one")
    if view.waiting_for:
        out.note(f"it waits for {', '.join(view.waiting_for)}")
    at = out.now()
    made = work.take(layout, view.task, seat, at, by="human")
    sent = None
    if made.claim is not None and made.claim.acknowledged_at is None:
        sent = mail.send(
            layout,
            seat,
            "brain",
            texts.assignment(view.id, view.title, view.source),
            kind="assignment",
            message_id=f"{view.id}-assignment-{made.claim.token[:8]}",
            now=at,
            task=view.id,
        )
    doorbell.ring(layout, "claims")
    if json:
        out.emit({"task": view.id, "seat": seat, "message": sent.id if sent else None})
    else:
        out.line(f"{view.id} is {seat}'s: {out.title(view.title)}")


@command(task, "reopen", "coleo task reopen t-k3v9qz --reason 'the server is up again'")
def reopen(task_id: Task, reason: Reason = "a person said so", json: Json = False) -> None:
    """Open a failed, blocked or done task again.

    Its attempts count from nothing; a ticked box is unticked.
    """
    layout = here()
    view = _view(layout, task_id)
    if view.task.done and view.in_plan:
        from coleo.files import plan

        plan.tick(layout, view.task, done=False)
    work.reopen(layout, view.task, reason, out.now())
    _done(layout, view, "open", json)


@command(task, "block", "coleo task block t-k3v9qz --reason 'wait for the contract'")
def block(task_id: Task, reason: Reason = "a person said so", json: Json = False) -> None:
    """Let nobody take a task until you open it again. A seat that holds it is told."""
    layout = here()
    view = _view(layout, task_id)
    _not_over(view)
    at = out.now()
    work.block(layout, view.task, reason, at)
    if view.claim is not None:
        text = texts.released(view.id, view.title, f"a person blocked it: {reason}")
        message_id = f"{view.id}-blocked-{view.claim.token[:8]}"
        mail.send(layout, view.claim.seat, "brain", text, kind="notice", message_id=message_id, now=at, task=view.id)
    _done(layout, view, "blocked", json)


@command(task, "note", "coleo task note t-k3v9qz 'The password is in the vault.'")
def note(task_id: Task, text: Annotated[str, typer.Argument(metavar="TEXT")], json: Json = False) -> None:
    """Write a note into a task's file.

    Whoever works on it reads it in its briefing.
    """
    layout = here()
    if not text.strip():
        raise BadInput("a note needs a text", found=repr(text))
    view = _view(layout, task_id)
    taskfile.add_note(layout, view.task, "human", text, out.now())
    _done(layout, view, "noted", json)


def _view(layout: Layout, task_id: str) -> TaskView:
    return named.task(tasks.view(layout, out.now()), task_id)


def _not_over(view: TaskView) -> None:
    if view.status in tasklist.OVER:
        raise CannotBeDone(f"task {view.id} is {view.status.value}", todo=f"coleo task reopen {view.id}")


def _done(layout: Layout, view: TaskView, what: str, json: bool) -> None:
    doorbell.ring(layout, "tasks")
    if json:
        out.emit({"task": view.id, "status": what})
    else:
        out.line(f"{view.id} is {what}: {out.title(view.title)}")
