"""The way in for people: find the command, load only its module, turn what goes wrong into text and an exit code.

Exit codes: 0 done, 1 cannot be done now, 2 bad input, 3 taken by somebody else, 4 unsafe permissions, 130 Ctrl-C. What
is none of these is our bug: it passes through to ``coleo.__main__``, which writes a report and exits 70. With
``--json`` an error is ``{"error": {message, file, line, found, wanted, todo, exit_code}}`` on standard error.

typer and the pydantic below it take 150 ms to load, so the few commands that people and scripts call all the time
are read by `coleo.cli.quick` first; what that does not know to the letter goes to typer.
"""

from __future__ import annotations

import os
from importlib import import_module

from coleo import __version__
from coleo.cli import out, quick
from coleo.model.errors import BadInput, ColeoError, refused_by_system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer import Typer

#: Module of `coleo.cli`: the commands it registers, in the order in which ``coleo --help`` shows them.
MODULES: dict[str, tuple[str, ...]] = {
    "project": ("init", "check"),
    "brain": ("up", "down", "pause", "resume", "wake"),
    "look": ("status", "why", "log"),
    "tasks": ("tasks", "task"),
    "documents": ("plan", "inbox"),
    "seats": ("seat", "arm"),
    "mails": ("send", "mail"),
    "screens": ("attach", "screen"),
    "settings": ("config",),
    "others": ("demo", "bus"),
}

#: Options of `coleo` itself that take a value; what follows them is no command.
_WITH_VALUE = ("--project",)


def main(argv: Sequence[str]) -> int:
    """Run one command; `argv` without the program's name. Gives the exit code; raises only what is our own bug."""
    out.prepare()
    words = list(argv)
    project = os.environ.get("COLEO_PROJECT")
    try:
        found = None if "_COLEO_COMPLETE" in os.environ else quick.parse(words)
        code = quick.run(found) if found else _with_typer(words)
        out.flush()
    except out.ReaderGone:
        return 0
    except ColeoError as problem:
        out.error(problem, as_object=_wants_json(words))
        return problem.exit_code
    except OSError as error:
        refused = refused_by_system(error)
        if refused is None:
            raise
        out.error(refused, as_object=_wants_json(words))
        return refused.exit_code
    except KeyboardInterrupt:
        return 130
    finally:
        # ``--project`` says it for one command, also where several are run in one process.
        if project is None:
            os.environ.pop("COLEO_PROJECT", None)
        else:
            os.environ["COLEO_PROJECT"] = project
    return code


def command_of(words: Sequence[str]) -> str | None:
    """The first word that is no option: the command."""
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _WITH_VALUE:
            skip = True
        elif not word.startswith("-"):
            return word
    return None


def build(command: str | None) -> Typer:
    """The typer app with the module of one command, or with all of them when there is no such command (for help)."""
    from coleo.cli.app import new_app

    app = new_app()
    for module, names in MODULES.items():
        if command in names or not any(command in known for known in MODULES.values()):
            import_module(f"coleo.cli.{module}").register(app)
    return app


def _with_typer(words: list[str]) -> int:
    if words == ["--version"]:
        out.line(f"coleo {__version__}")
        return 0
    from typer.main import get_command

    completing = "_COLEO_COMPLETE" in os.environ
    command = get_command(build(None if completing else command_of(words)))
    try:
        code = command.main(args=words, prog_name="coleo", standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return _usage(error)
    return code if isinstance(code, int) else 0


def _usage(error: Exception) -> int:
    """A command line that typer refuses: its own words in our form."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "coleo"
    message = str(error.format_message())  # type: ignore[attr-defined]
    if type(error).__name__ == "NoArgsIsHelpError":
        out.raw(message + "\n")
        return 2
    raise BadInput(message[:1].lower() + message[1:].rstrip("."), todo=f"{path} --help")


def _wants_json(words: list[str]) -> bool:
    return "--json" in (words[: words.index("--")] if "--" in words else words)
