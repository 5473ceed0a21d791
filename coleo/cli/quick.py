"""A light reading of the command lines that are typed all the time.

It takes an exact command, known options and plain values; anything else (help, a typing error, an option cut short)
is None and goes to typer, which stays the one place that says what a command takes. A test holds that both read the
same command line alike.
"""

from __future__ import annotations

from importlib import import_module

from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Value = str | int | bool | None


class Quick(Record):
    """A command: the function that does it, and what may follow its name.

    flags: option to argument; values: option to (argument, its type); words: names of the plain words, all needed.
    """

    module: str
    function: str
    flags: Mapping[str, str] = {}
    values: Mapping[str, tuple[str, type[str] | type[int]]] = {}
    words: tuple[str, ...] = ()


class Call(Record):
    """A command line that was understood."""

    quick: Quick
    arguments: Mapping[str, Value]


QUICK = {
    "status": Quick("coleo.cli.status", "show", flags={"--json": "json"}),
    "tasks": Quick("coleo.cli.tasklist", "show", flags={"--json": "json", "--all": "everything"}),
    "why": Quick("coleo.cli.why", "show", flags={"--json": "json"}, words=("target",)),
    "log": Quick(
        "coleo.cli.log",
        "show",
        flags={"--json": "json", "--follow": "follow", "-f": "follow"},
        values={
            "-n": ("count", int),
            "--seat": ("seat", str),
            "--task": ("task", str),
            "--action": ("action", str),
            "--since": ("since", str),
        },
    ),
}


def parse(words: Sequence[str]) -> Call | None:
    """The call that the words make, or None when typer has to look at them."""
    quick = QUICK.get(words[0]) if words else None
    if quick is None:
        return None
    arguments: dict[str, Value] = {}
    plain: list[str] = []
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word in quick.flags:
            arguments[quick.flags[word]] = True
        elif word in quick.values:
            name, kind = quick.values[word]
            value = _value(rest.pop(0), kind) if rest else None
            if value is None:
                return None
            arguments[name] = value
        elif word.startswith("-") or not word:
            return None
        else:
            plain.append(word)
    if len(plain) != len(quick.words):
        return None
    arguments.update(zip(quick.words, plain, strict=True))
    return Call(quick, arguments)


def _value(word: str, kind: type[str] | type[int]) -> str | int | None:
    if word.startswith("-") or not word:
        return None
    if kind is str:
        return word
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else None


def run(call: Call) -> int:
    """Do it; gives the exit code."""
    code = getattr(import_module(call.quick.module), call.quick.function)(**call.arguments)
    return code if isinstance(code, int) else 0
