"""``coleo bus VERB …``: a small command line over the verbs, at the price of the standard library's cheap part.

Exit codes: 0, 1 cannot be done, 2 bad input, 3 taken by another, 4 unsafe, 70 our bug. An answer goes to standard
output, an error to standard error; with ``--json`` both are one JSON object on standard output.
"""

from __future__ import annotations

import os
import sys

from coleo.bus import context
from coleo.bus.verbs import VERBS, Param, Verb
from coleo.model.errors import BadInput, ColeoError, refused_by_system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

STDIN_LIMIT = 2 * 1024 * 1024


class Call:
    """What a command line says: the verb's values and the options that every verb has."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.json = False
        self.help = False
        self.seat: str | None = None


def main(args: Sequence[str], environ: Mapping[str, str] = os.environ, now: float | None = None) -> int:
    """Run one verb; the exit code. Raises only what is a bug of ours."""
    as_json = "--json" in args
    try:
        return _main(list(args), environ, _clock() if now is None else now)
    except ColeoError as error:
        return _refuse(error, as_json)
    except OSError as error:
        refused = refused_by_system(error)
        if refused is None:
            raise
        return _refuse(refused, as_json)


def _refuse(error: ColeoError, as_json: bool) -> int:
    if as_json:
        _say(1, _dump({"error": error.as_dict()}))
    else:
        _say(2, f"coleo: {error}")
    return error.exit_code


def _main(args: list[str], environ: Mapping[str, str], now: float) -> int:
    if not args or args[0] in ("--help", "-h", "help"):
        _say(1, overview())
        return 0 if args else 2
    verb = VERBS.get(args[0]) or VERBS.get(args[0].replace("_", "-"))
    if verb is None:
        raise _unknown(args[0])
    call = parse(verb, args[1:])
    if call.help:
        _say(1, usage(verb))
        return 0
    for param in verb.params:
        if param.text and call.values.get(param.key) == "-":
            call.values[param.key] = _stdin()
    ctx = context.create(environ, now=now, seat=call.seat)
    reply = verb.run(ctx, **call.values)
    _say(1, _dump(reply.data) if call.json else reply.text)
    return reply.exit_code


def parse(verb: Verb, args: Sequence[str]) -> Call:
    """The values in a command line. Raises BadInput with the usage."""
    call = Call()
    options = {param.name: param for param in verb.params if param.option}
    places: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            places += rest
            break
        name, equals, value = word[2:].partition("=") if word.startswith("--") else ("", "", "")
        name = {"desc": "description"}.get(name, name)
        if word in ("--json", "--help", "-h"):
            call.json |= word == "--json"
            call.help |= word != "--json"
        elif name == "seat" and "seat" not in options:
            call.seat = value if equals else _next(rest, word)
        elif name in options:
            _option(call, options[name], word, value if equals else None, rest)
        elif name and name.replace("-", "").isalnum():
            raise _bad(verb, f"there is no option --{name}")
        else:
            places.append(word)
    if not call.help:
        _place(verb, call, places)
    return call


def _option(call: Call, param: Param, word: str, value: str | None, rest: list[str]) -> None:
    if param.flag:
        call.values[param.key] = True
        return
    given = _next(rest, word) if value is None else value
    _check(param, given)
    if param.many:
        call.values.setdefault(param.key, []).append(given)
    else:
        call.values[param.key] = given


def _place(verb: Verb, call: Call, places: list[str]) -> None:
    """The values that are given by their place."""
    for param in verb.params:
        if param.option:
            continue
        if param.many:
            given, places = places, []
            if given:
                call.values[param.key] = given
        elif places:
            given_one = places.pop(0)
            _check(param, given_one)
            call.values[param.key] = given_one
        if param.required and param.key not in call.values:
            raise _bad(verb, f"{param.name} is missing: {param.help}")
    if places:
        raise _bad(verb, f"too many words, from {places[0]!r} on: put a text with blanks into quotes")


def _check(param: Param, value: str) -> None:
    if param.choices and value not in param.choices:
        raise BadInput(f"{param.name} is wrong", found=repr(value), wanted=", ".join(param.choices))


def _next(rest: list[str], word: str) -> str:
    if not rest:
        raise BadInput(f"{word} needs a value")
    return rest.pop(0)


def _bad(verb: Verb, message: str) -> BadInput:
    return BadInput(f"{verb.name}: {message}", wanted=line(verb), todo=f"for example: {verb.example}")


def _unknown(name: str) -> BadInput:
    from difflib import get_close_matches

    near = get_close_matches(name, VERBS, n=2, cutoff=0.5)
    return BadInput("there is no such verb", found=name, wanted=" or ".join(near) or ", ".join(VERBS))


def line(verb: Verb) -> str:
    """The usage of a verb in one line."""
    words = ["coleo bus", verb.name]
    for param in verb.params:
        word = f"--{param.name}" if param.option else param.name.upper()
        if param.option and not param.flag:
            word += f" {'|'.join(param.choices) or param.name.upper()}"
        elif param.choices:
            word = "|".join(param.choices)
        word += "…" if param.many else ""
        words.append(word if param.required else f"[{word}]")
    return " ".join(words)


def usage(verb: Verb) -> str:
    """The help of one verb."""
    rows = [line(verb), "", verb.summary + ".", ""]
    for param in verb.params:
        name = f"--{param.name}" if param.option else param.name.upper()
        more = " (- reads standard input)" if param.text else ""
        rows.append(f"  {name:<16} {param.help}{more}")
    rows += [
        f"  {'--json':<16} answer with data",
        f"  {'--seat':<16} for whom; COLEO_SEAT when not given",
        "",
        f"Example: {verb.example}",
    ]
    return "\n".join(rows)


def overview() -> str:
    """The help of ``coleo bus``."""
    rows = ["coleo bus VERB …: what agents call. They need no running brain.", ""]
    rows += [f"  {verb.name:<22} {verb.summary}" for verb in VERBS.values()]
    rows += ["", "coleo bus VERB --help shows how one is called. Example: coleo bus get-full-briefing"]
    return "\n".join(rows)


def _stdin() -> str:
    """Standard input as text; what is longer than any verb takes is cut there and refused by it."""
    parts, size = [], 0
    while size <= STDIN_LIMIT:
        part = os.read(0, 1 << 16)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts).decode("utf-8", "replace")


def _say(descriptor: int, text: str) -> None:
    """Write a text whatever the locale; a reader that went away is no error."""
    data = (text if text.endswith("\n") else text + "\n").encode("utf-8", "backslashreplace")
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    except BrokenPipeError:
        return
    except BlockingIOError:
        sys.stdout.buffer.write(view)


def _dump(data: Mapping[str, Any]) -> str:
    import json

    return json.dumps(data, ensure_ascii=False, indent=1, default=str)


def _clock() -> float:
    import time

    return time.time()
