"""``coleo init`` and ``coleo check``: laying a project down, and finding what is wrong with it."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from coleo.cli import checks, out
from coleo.cli.app import Json, command, here


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app."""
    command(app, "init", "coleo init", "coleo init ~/shop --seat ada=worker --seat sh=shell")(init)
    command(app, "check", "coleo check", "coleo check --strict --json")(check)


def init(
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", help="Where; the current folder.")] = ".",
    seat: Annotated[
        list[str] | None,
        typer.Option("--seat", metavar="NAME[=TEMPLATE]", help="Seats to make; without it, one named shell."),
    ] = None,
    json: Json = False,
) -> None:
    """Lay down a project: .project/ for people, .coleo/ for the machine. Never overwrites anything."""
    from coleo.files import project

    root = os.path.realpath(folder)
    seats = {name: template or "worker" for name, _, template in (word.partition("=") for word in seat or ())}
    laid = project.init(root, seats=seats or None)
    if json:
        out.emit({"project": root, "files": laid})
        return
    for path in laid:
        out.line(f"  {path}")
    out.line(f"{root} is a project" if laid else f"{root} was a project already: nothing to do")
    if laid:
        out.line("next: write `- [ ] something` into .project/plan.md, then: coleo up")


def check(
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    json: Json = False,
) -> int:
    """Find every problem in what people write. Changes nothing.

    It looks at settings, seats, schedules, plan, task files, secrets, permissions and harness files. Exit 2 when
    something is wrong, 4 when permissions are unsafe; warnings count with --strict.
    """
    layout = here()
    found = checks.everything(layout, out.now())
    bad = [problem for problem in found if strict or problem.severity == "error"]
    unsafe = any(problem.unsafe for problem in bad)
    if json:
        out.emit({"project": layout.root, "ok": not bad, "problems": [problem.as_dict() for problem in found]})
    else:
        for problem in found:
            out.line(problem.text, lines=True)
        many = "1 problem" if len(found) == 1 else f"{len(found)} problems"
        out.line(many if found else "no problems found")
    return (4 if unsafe else 2) if bad else 0
