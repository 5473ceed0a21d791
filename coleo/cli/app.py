"""What all commands share: the app itself, its options, help with examples, completion of seats and tasks."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from coleo import __version__
from coleo.cli import out
from coleo.files.layout import Layout, find

Act = TypeVar("Act", bound=Callable[..., int | None])

#: ``--json`` of every command that prints facts.
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

SUMMARY = """Keeps a team of coding agents at work from plain files."""

EPILOG = """\b
Examples:
  coleo init && coleo seat add ada --template worker && coleo up
  coleo status --watch
  coleo why ada
"""


def new_app() -> typer.Typer:
    """An app without commands. No rich markup in help: what is written there is shown as it is."""
    app = typer.Typer(
        help=SUMMARY,
        epilog=EPILOG,
        rich_markup_mode=None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_options)
    return app


def group(summary: str, *lines: str) -> typer.Typer:
    """A group of commands such as ``coleo seat``; `lines` are examples."""
    return typer.Typer(help=summary, epilog=examples(*lines), rich_markup_mode=None, no_args_is_help=True)


def examples(*lines: str) -> str:
    """The end of a command's help. Lines stay as they are written."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def command(app: typer.Typer, name: str, *lines: str, rest: bool = False) -> Callable[[Act], Act]:
    """Register a command with example lines in its help. rest: it reads its words itself (``ctx.args``)."""
    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []} if rest else None
    return app.command(name, epilog=examples(*lines), context_settings=settings)


def _version(wanted: bool) -> None:
    if wanted:
        out.line(f"coleo {__version__}")
        raise typer.Exit


def _options(
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="FOLDER", help="The project, instead of the one around this folder."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    if project is not None:
        os.environ["COLEO_PROJECT"] = find(os.path.abspath(project), {}).root


def here() -> Layout:
    """The project around the current folder, or that of ``--project`` or ``COLEO_PROJECT``; BadInput without one."""
    return find()


def complete_seats(incomplete: str) -> list[str]:
    """Seats that begin with what is typed."""
    try:
        return [seat for seat in here().seats_present() if seat.startswith(incomplete)]
    except Exception:  # a completion has nobody to tell
        return []


def complete_tasks(incomplete: str) -> list[tuple[str, str]]:
    """Ids of tasks that begin with what is typed, with their titles."""
    from coleo.bus import tasks

    try:
        views = tasks.view(here())
        return [(view.id, out.title(view.title, 60)) for view in views if view.id.startswith(incomplete)]
    except Exception:  # a completion has nobody to tell
        return []


def complete_targets(incomplete: str) -> list[str | tuple[str, str]]:
    """Seats and tasks, for ``coleo why``."""
    return [*complete_seats(incomplete), *complete_tasks(incomplete)]


Seat = Annotated[str, typer.Argument(metavar="SEAT", help="A seat of this project.", autocompletion=complete_seats)]
Task = Annotated[
    str, typer.Argument(metavar="TASK", help="A task's id, as `coleo tasks` shows it.", autocompletion=complete_tasks)
]
