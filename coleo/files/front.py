"""Front matter at the price of string handling: the flat part of YAML that coleo itself writes, and a way out.

Agents' verbs cannot afford a YAML library (150 ms). `parse` reads ``key: value`` lines, quoted or not, and lists of
words; whatever is richer goes to ruamel.yaml, loaded only then. `change` replaces the lines of the keys that change
and leaves every other byte alone; where a person's YAML is too rich for that it is done by ruamel's round trip.

All values are text, or lists of text: their meaning is the reader's business.
"""

from __future__ import annotations

import json
import re

from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Value = str | tuple[str, ...]
    New = Value | int | None

BOM = b"\xef\xbb\xbf"
_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ ]*-[ ]+(.+)")
_SAFE = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+:-]*(?: [A-Za-z0-9_./@+-]+)*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"})
_NUMBER = re.compile(r"[-+.]?[0-9][0-9_.,:eExXoO+-]*|[-+]?\.(?:inf|nan)")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_HIDDEN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")


class BadFront(Exception):
    """Front matter that cannot be read. line: 1-based, in the file."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class Front(Record):
    """The three parts of a file: `head` (BOM and opening line), `block` (the YAML), `tail` (closing line and body)."""

    head: bytes
    block: bytes
    tail: bytes

    @property
    def body(self) -> bytes:
        """What follows the closing line."""
        return self.tail.partition(b"\n")[2] if b"\n" in self.tail else self.tail.partition(b"\r")[2]


def split(data: bytes) -> Front | None:
    """The parts of `data`, or None when it does not begin with front matter. Raises BadFront when it never ends."""
    start = len(BOM) if data.startswith(BOM) else 0
    lines = data[start:].splitlines(keepends=True)
    if not lines or lines[0].rstrip() != b"---":
        return None
    at = start + len(lines[0])
    head = data[:at]
    for line in lines[1:]:
        if line.rstrip() in (b"---", b"..."):
            return Front(head, data[start + len(lines[0]) : at], data[at:])
        at += len(line)
    raise BadFront("the front matter is not closed by a line ---", 1)


def read(data: bytes) -> tuple[dict[str, Value], str]:
    """(values, body) of a file; no front matter gives no values. Bytes that are no UTF-8 become U+FFFD."""
    parts = split(data)
    if parts is None:
        body = data.removeprefix(BOM)
        return {}, body.decode("utf-8", "replace")
    return parse(parts.block), parts.body.decode("utf-8", "replace")


def parse(block: bytes) -> dict[str, Value]:
    """The values of a YAML block. Raises BadFront with the line in the file (the block begins in line 2)."""
    flat = _flat(block.decode("utf-8", "replace"))
    if flat is not None:
        return {key: value for key, value, _first, _last in flat}
    return _rich(block)


def _flat(text: str) -> list[tuple[str, Value, int, int]] | None:
    """(key, value, first line, line after) of each entry, or None when the text is richer than we read."""
    lines = text.splitlines()
    found: list[tuple[str, Value, int, int]] = []
    seen: set[str] = set()
    number = 0
    while number < len(lines):
        line, first = lines[number].rstrip(), number
        number += 1
        if not line or line.startswith("#"):
            continue
        entry = _KEY.fullmatch(line)
        if not entry or entry[1] in seen:
            return None
        value: Value | None
        if entry[2]:
            value = _value(entry[2].strip())
        else:
            items: list[str] = []
            while number < len(lines) and (item := _ITEM.fullmatch(lines[number].rstrip())):
                one = _value(item[1].strip())
                if not isinstance(one, str):
                    return None
                items.append(one)
                number += 1
            value = tuple(items) if items else ""
        if value is None:
            return None
        seen.add(entry[1])
        found.append((entry[1], value, first, number))
    return found


def _value(text: str) -> Value | None:
    """The meaning of what stands behind a colon; None when it needs a YAML library."""
    first = text[0]
    if first in '"[':
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if isinstance(value, list):
            return tuple(value) if all(isinstance(item, str) for item in value) else None
        return value if isinstance(value, str) else None
    if first == "'":
        inner = text[1:-1]
        return (
            inner.replace("''", "'")
            if len(text) > 1 and text[-1] == "'" and "'" not in inner.replace("''", "")
            else None
        )
    if first in ",]{}#&*!|>%@`" or (first in "-?:" and (len(text) == 1 or text[1] == " ")):
        return None
    if ": " in text or " #" in text or text.endswith(":"):
        return None
    return "" if text in ("null", "~", "Null", "NULL") else text


def _rich(block: bytes) -> dict[str, Value]:
    """The values by ruamel.yaml: scalars and lists of scalars as text, deeper ones as JSON text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError

    from coleo.files import yamledit

    try:
        yamledit.guard(block.decode("utf-8", "replace"))
    except yamledit.BadYaml as error:
        raise BadFront(error.reason, error.line + 1) from None
    try:
        found = YAML(typ="base", pure=True).load(block.decode("utf-8", "replace"))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadFront(str(error.problem or error.context or error), (mark.line if mark else 0) + 2) from None
    except Exception as error:  # the library raises anything on odd input
        raise BadFront(str(error).partition("\n")[0] or type(error).__name__, 2) from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise BadFront(f"the front matter is a {type(found).__name__}, not a list of keys and values", 2)
    return {str(key): _as_text(value) for key, value in found.items()}


def _as_text(value: Any) -> Value:
    if value is None:
        return ""
    if isinstance(value, str):
        return "" if value in ("null", "~") else value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def change(data: bytes, changes: Mapping[str, New]) -> bytes:
    """`data` with some keys of its front matter changed (None: removed); new keys come last. Other bytes stay.

    A file without front matter gets one. Raises BadFront.
    """
    parts = split(data)
    end = _line_end(data)
    if parts is None:
        bom, body = (BOM, data[len(BOM) :]) if data.startswith(BOM) else (b"", data)
        fresh = "".join(f"{key}: {dump(value)}\n" for key, value in changes.items() if value is not None)
        block = fresh.encode().replace(b"\n", end)
        return bom + b"---" + end + block + b"---" + end + body
    flat = _change_flat(parts.block, changes, end)
    return parts.head + (_change_rich(parts.block, changes, end) if flat is None else flat) + parts.tail


def _change_flat(block: bytes, changes: Mapping[str, New], end: bytes) -> bytes | None:
    text = block.decode("utf-8", "surrogateescape")
    entries = _flat(text)
    if entries is None:
        return None
    lines = text.splitlines(keepends=True)
    where = {key: (first, last) for key, _value, first, last in entries}
    old = {key: value for key, value, _first, _last in entries}
    added = []
    for key, value in changes.items():
        if key in where and (value is None or plain(value) != old[key]):
            first, last = where[key]
            lines[first:last] = [""] * (last - first)
            if value is not None:
                lines[first] = f"{key}: {dump(value)}{end.decode()}"
        elif key not in where and value is not None:
            added.append(f"{key}: {dump(value)}{end.decode()}")
    return "".join([*lines, *added]).encode("utf-8", "surrogateescape")


def _change_rich(block: bytes, changes: Mapping[str, New], end: bytes) -> bytes:
    """A YAML of a person's: by the line when the result proves right, else by the round trip of ruamel.yaml."""
    before = parse(block)
    wanted = {key: value for key, value in before.items() if key not in changes}
    wanted |= {key: plain(value) for key, value in changes.items() if value is not None}
    needed = {
        key: value for key, value in changes.items() if before.get(key) != (None if value is None else plain(value))
    }
    by_line = _change_lines(block, needed, before, end)
    try:
        if parse(by_line) == wanted:
            return by_line
    except BadFront:
        pass
    try:
        changed = _round_trip(block, needed, end)
        if parse(changed) == wanted:
            return changed
    except Exception:  # the library raises anything on odd input
        pass
    raise BadFront(f"{', '.join(needed)} cannot be changed in YAML as rich as this: write it in simpler lines", 2)


def _change_lines(block: bytes, changes: Mapping[str, New], before: Mapping[str, Value], end: bytes) -> bytes:
    """Each ``key: value`` line changed where it stands, its comment kept; new keys come last."""
    text = block.decode("utf-8", "surrogateescape")
    for key, value in changes.items():
        if key in before:
            line = re.compile(rf"^{key}:[ \t]*[^\r\n]*?([ \t]+#[^\r\n]*)?(\r?\n)", re.MULTILINE)
            found = line.search(text)
            if found:
                put = "" if value is None else f"{key}: {dump(value)}{found[1] or ''}{found[2]}"
                text = text[: found.start()] + put + text[found.end() :]
        elif value is not None:
            text += f"{key}: {dump(value)}{end.decode()}"
    return text.encode("utf-8", "surrogateescape")


def _round_trip(block: bytes, changes: Mapping[str, New], end: bytes) -> bytes:
    import io

    from ruamel.yaml import YAML
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, PlainScalarString

    yaml = YAML(typ="rt")
    yaml.width = 1 << 20
    yaml.preserve_quotes = True
    found = yaml.load(block.decode("utf-8", "replace").replace("\r\n", "\n"))
    for key, value in changes.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, str):
            found[key] = PlainScalarString(value) if dump(value) == value else DoubleQuotedScalarString(value)
        else:
            found[key] = list(value) if isinstance(value, tuple) else value
    out = io.StringIO()
    yaml.dump(found, out)
    return out.getvalue().encode("utf-8").replace(b"\n", end)


def plain(value: Value | int) -> Value:
    """A new value as `parse` will give it back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else value


def dump(value: Value | int) -> str:
    """One value as YAML on one line: plain where that is safe, else as a JSON string, lists as JSON lists."""
    if isinstance(value, int):
        return str(plain(value))
    if isinstance(value, tuple):
        return "[" + ", ".join(_quoted(item) for item in value) + "]"
    if _INSTANT.fullmatch(value):
        return value
    plain_word = value.lower() not in _WORDS and not _NUMBER.fullmatch(value)
    if plain_word and _SAFE.fullmatch(value) and ": " not in value and value[-1] != ":":
        return value
    return _quoted(value)


def _quoted(value: str) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _line_end(data: bytes) -> bytes:
    """The line ending of the first line."""
    at = data.find(b"\n")
    return b"\r\n" if at > 0 and data[at - 1 : at] == b"\r" else b"\n"
