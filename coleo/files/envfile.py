"""Secret files (``.coleo/secrets.env``, a seat's ``.env``) and the environment that an arm is given (case h03).

A line is ``NAME=value``, with or without ``export``; a value may be quoted, and then run over several lines. What is
wrong is reported by its line and never by its text: it may be half a secret.
"""

from __future__ import annotations

import os
import re

from coleo.files import atomic, redact
from coleo.files.layout import Layout
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: What an arm gets of coleo's own environment (DESIGN.md section 10); besides, ``LC_*``.
ALLOWED = frozenset({"PATH", "HOME", "LANG", "TERM", "TZ", "USER", "SHELL", "TMPDIR"})
TERMINAL = "xterm-256color"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LINE = re.compile(r"\s*(?:export\s+)?([^=\s#]*)\s*(=?)\s*(.*)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_COMMENT = re.compile(r"(?:^|\s)#.*")


class EnvFile(Record):
    """What a secret file holds. problems: (line, what is wrong) of the lines that were skipped."""

    values: Mapping[str, str] = {}
    problems: tuple[tuple[int, str], ...] = ()


def parse(data: bytes) -> EnvFile:
    """Read the bytes of an env file; never raises. BOM, CRLF and bytes that are no UTF-8 are taken as they come.

    Of a name that comes twice the last counts, as in a shell.
    """
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    values: dict[str, str] = {}
    problems: list[tuple[int, str]] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, rest = _split(line)
        if not equals or not _NAME.fullmatch(name):
            problems.append((number, "not NAME=value" if not equals else "not a variable's name before ="))
            continue
        if rest[:1] in ("'", '"'):
            value, used = _quoted(rest, lines[number:])
            if value is None:
                problems.append((number, f"the quote {rest[0]} is never closed"))
                continue
            number += used
        else:
            value = _COMMENT.sub("", rest).rstrip()
        if "\0" in value:
            problems.append((number, "a NUL byte"))
            continue
        values[name] = value
    return EnvFile(values, tuple(problems))


def read(path: str) -> EnvFile:
    """The env file at `path`; empty when there is none. Raises OSError when it cannot be read."""
    data = atomic.read(path)
    return EnvFile() if data is None else parse(data)


def _split(line: str) -> tuple[str, str, str]:
    found = _LINE.match(line)
    return (found[1], found[2], found[3]) if found else ("", "", "")


def _quoted(first: str, following: list[str]) -> tuple[str | None, int]:
    """The value that begins with a quote, and how many more lines it takes; None when the quote is never closed."""
    quote = first[0]
    value: list[str] = []
    for used, line in enumerate([first[1:], *following]):
        if used:
            value.append("\n")
        at = 0
        while at < len(line):
            if line[at] == quote:
                return "".join(value), used
            if line[at] == "\\" and quote == '"' and at + 1 < len(line):
                at += 1
                value.append(_ESCAPES.get(line[at], line[at]))
            else:
                value.append(line[at])
            at += 1
    return None, 0


def arm_environment(
    parent: Mapping[str, str],
    layout: Layout | None = None,
    seat: str | None = None,
    pass_env: Iterable[str] = (),
    secrets: Mapping[str, str] | None = None,
    seat_env: Mapping[str, str] | None = None,
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The whole environment of an arm: an allow-list of `parent`, never more (DESIGN.md section 10, case h03).

    layout, seat: whom the arm speaks for (None: `extra` says it). pass_env: names that the seat's settings let in
    besides. secrets, seat_env: the values of the two secret files, the seat's own win. extra: what coleo adds (``TZ``,
    the harness's variables, ``COLEO_ORCHESTRATOR``…). ``COLEO_*`` comes only from coleo: no file and no `parent` can
    make an arm speak for another seat or project.
    """
    found = {name: value for name, value in parent.items() if name in ALLOWED or name.startswith("LC_")}
    found["TERM"] = TERMINAL
    found.update((name, parent[name]) for name in pass_env if name in parent and not _is_ours(name))
    for more in (extra, secrets, seat_env):
        found.update((name, value) for name, value in (more or {}).items() if not _is_ours(name))
    found.update((name, value) for name, value in (extra or {}).items() if _is_ours(name))
    if layout is not None and seat is not None:
        found |= {"COLEO_PROJECT": layout.root, "COLEO_SEAT": seat, "COLEO_SEAT_DIR": layout.seat(seat).dir}
    return found


def _is_ours(name: str) -> bool:
    return name.startswith("COLEO_")


_cache: dict[str, tuple[tuple[int, ...], frozenset[str]]] = {}


def known_secrets(layout: Layout) -> frozenset[str]:
    """The values of all secret files of the project that are to be masked in logs; a file that cannot be read has none.

    Each file is read again only when it has changed.
    """
    found: set[str] = set()
    for path in (layout.secrets_env, *(layout.seat(seat).env for seat in layout.seats_present())):
        found |= _values(path)
    return frozenset(found)


def _values(path: str) -> frozenset[str]:
    try:
        there = os.stat(path)
        stamp = (there.st_ino, there.st_size, there.st_mtime_ns)
        known = _cache.get(path)
        if known is None or known[0] != stamp:
            known = _cache[path] = (stamp, frozenset(redact.secret_values(read(path).values)))
        return known[1]
    except OSError:
        return frozenset()
