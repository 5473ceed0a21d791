"""One setting changed in a ``config.toml`` of people's: comments, order and every other line stay as they are.

The change is made in place under the file lease (`coleo.files.inplace`), so a save that races it wins. tomlkit changes
what is there; a key that stands there commented out, as `coleo init` lays it down, comes to life right below its
comment. Whatever was done, the result is read again and must say what was asked for and nothing else that is new.
"""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from coleo.files import atomic, checked, inplace, settings
from coleo.files.layout import make_private
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.problem import Problem, raise_if_any

_BOM = b"\xef\xbb\xbf"
_TABLE = re.compile(r"^[ \t]*\[[^\[\n]", re.MULTILINE)


def set_value(path: str, key: str, value: Any) -> Any:
    """Write a setting into the file at `path`, which is made when there is none. The value as it will count.

    value: of the key's type, or text as on a command line. BadInput for an unknown key, a wrong value, or a file that
    is broken already (it stays as it is); CannotBeDone while somebody keeps the file open, or it cannot be written.
    """
    try:
        name = settings.canonical(key)
    except KeyError as error:
        raise BadInput("no such setting", found=key, wanted=error.args[0]) from None
    right = _right(name, value)
    parts = settings.parts_of(name)
    journal = os.path.join(os.path.dirname(path), "run", "journal")
    try:
        inplace.recover(journal)
        if not os.path.exists(path):
            make_private(os.path.dirname(path))
            atomic.create(path, b"")
        inplace.retrying(lambda data: inplace.replace(path, data, changed(data, parts, right, path), journal), path)
    except (inplace.Busy, inplace.Changed):
        raise CannotBeDone(
            "somebody is writing to this file", file=path, todo="save and close it, then again"
        ) from None
    except OSError as error:
        raise CannotBeDone("this file cannot be changed", file=path, found=error.strerror) from error
    return right


def _right(name: str, value: Any) -> Any:
    found = settings.checked_value(name, value, "command line")
    if isinstance(found, Problem):
        raise BadInput(f"{name} does not take this", found=found.found, wanted=found.wanted)
    return found


def changed(data: bytes, parts: list[str], value: Any, path: str) -> bytes:
    """The bytes of a settings file with one value changed. parts: the tables and the key. BadInput for broken TOML."""
    _text, before, problem = settings.parse(data, path)
    if problem is not None:
        raise_if_any([problem], "this file")
    if _at(before, parts) == value and type(_at(before, parts)) is type(value):
        return data
    bom = _BOM if data.startswith(_BOM) else b""
    text = data[len(bom) :].decode()
    wanted = _with(before, parts, value)
    for new in (_below_its_comment(text, parts, value), _by_tomlkit(text, parts, value, path)):
        if new is not None:
            made = bom + new.encode()
            if settings.parse(made, path)[1:] == (wanted, None):
                return made
    raise BadInput("this setting cannot be written here", file=path, found=".".join(parts), todo="write it by hand")


def _at(table: Any, parts: list[str]) -> Any:
    for part in parts:
        table = table.get(part) if isinstance(table, dict) else None
    return table


def _with(table: dict[str, Any], parts: list[str], value: Any) -> dict[str, Any]:
    first, *rest = parts
    below = table.get(first)
    new = _with(below if isinstance(below, dict) else {}, rest, value) if rest else value
    return {**table, first: new}


def _below_its_comment(text: str, parts: list[str], value: Any) -> str | None:
    """The text with a line for the key after its own commented-out line in its table; None where there is none."""
    *tables, name = parts
    start = 0
    if tables:
        header = re.search(rf"^[ \t]*\[[ \t]*{re.escape('.'.join(tables))}[ \t]*\][^\n]*\n?", text, re.MULTILINE)
        if header is None:
            return None
        start = header.end()
    following = _TABLE.search(text, start)
    inside = text[start : following.start() if following else len(text)]
    comment = re.search(rf"^#[ \t]*{re.escape(name)}[ \t]*=[^\n]*(?:\n|\Z)", inside, re.MULTILINE)
    if comment is None:
        return None
    end = "\r\n" if "\r\n" in text else "\n"
    at = start + comment.end()
    gap = "" if text[:at].endswith("\n") else end
    return f"{text[:at]}{gap}{name} = {tomlkit.item(value).as_string()}{end}{text[at:]}"


def _by_tomlkit(text: str, parts: list[str], value: Any, path: str) -> str | None:
    *tables, name = parts
    try:
        document = tomlkit.parse(text)
        here: Any = document
        for part in tables:
            if part not in here:
                here[part] = tomlkit.table()
            here = here[part]
        if not isinstance(here, MutableMapping):
            raise BadInput("not a table", file=path, found=checked.found(here), wanted=f"[{'.'.join(tables)}]")
        here[name] = value
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError, ValueError):
        return None
