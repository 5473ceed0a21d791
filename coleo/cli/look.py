"""``coleo status why log``: what typer has to know of them. What they do is in modules that load quickly."""

from __future__ import annotations

from typing import Annotated

import typer

from coleo.cli import log as logs
from coleo.cli import status as statuses
from coleo.cli import why as whys
from coleo.cli.app import Json, command, complete_seats, complete_targets, complete_tasks


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app."""
    command(app, "status", "coleo status", "coleo status --watch", "coleo status --json | jq .tasks")(status)
    command(app, "why", "coleo why ada", "coleo why t-k3v9qz")(why)
    command(app, "log", "coleo log -n 50", "coleo log --seat ada --since 2h", "coleo log --follow --json")(log)


def status(
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep showing it until Ctrl-C.")] = False,
    json: Json = False,
) -> None:
    """Show how everything stands. Needs no running brain."""
    statuses.show(json=json, watch=watch)


def why(
    target: Annotated[str, typer.Argument(metavar="SEAT|TASK", autocompletion=complete_targets)],
    json: Json = False,
) -> None:
    """Explain a seat or a task.

    Its state, since when and why, which evidence shows it, and what will happen next and when.
    """
    whys.show(target=target, json=json)


def log(
    count: Annotated[int | None, typer.Option("-n", metavar="N", help="How many of the last entries; 20.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep showing new entries until Ctrl-C.")] = False,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="2h (ago), 10:30, 2026-12-01, or an ISO time.")
    ] = None,
    seat: Annotated[str | None, typer.Option("--seat", metavar="SEAT", autocompletion=complete_seats)] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="TASK", autocompletion=complete_tasks)] = None,
    action: Annotated[str | None, typer.Option("--action", metavar="ACTION", help="Such as complete_task.")] = None,
    json: Json = False,
) -> None:
    """Show what happened, the newest last. With --json one object a line."""
    logs.show(count=count, follow=follow, since=since, seat=seat, task=task, action=action, json=json)
