"""What people write, held against a pydantic model: every problem at once, and all that is right still counts.

Cases g06 and g07: a wrong type is an error that names file, line, key, what was found and what is wanted; an unknown
key is a warning with the nearest known name. Types are strict: ``true`` is no integer, ``"3"`` is no number, ``8.0``
is no integer.
"""

from __future__ import annotations

import difflib
import json
import re
import zoneinfo
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from functools import cache
from typing import Annotated, Any, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter, ValidationError

from coleo.files import redact
from coleo.model.errors import BadInput
from coleo.model.names import check_seat
from coleo.model.problem import ERROR, WARNING, Problem

Path = tuple[str | int, ...]
Lines = Callable[[Path], int | None]

_WHOLE = re.compile(r"[0-9]{1,9}")
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?")
_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "float",
    str: "string",
    list: "list",
    tuple: "list",
    dict: "table",
    type(None): "nothing",
}


class Strict(BaseModel):
    """Base of all models of files that people write."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


def _zone(value: str) -> str:
    if value:
        try:
            zoneinfo.ZoneInfo(value)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("a time zone such as Europe/Berlin") from None
    return value


def _seat_name(value: str) -> str:
    if value:
        try:
            check_seat(value)
        except BadInput as error:
            raise ValueError(f"a seat name: {error.wanted}") from None
    return value


Zone = Annotated[str, AfterValidator(_zone)]
"""A time zone by its name; "" for none."""

SeatName = Annotated[str, AfterValidator(_seat_name)]
"""The name of a seat; "" for none."""


def read_table(
    model: type[BaseModel],
    table: Mapping[str, Any],
    file: str,
    lines: Lines,
    path: Path = (),
    hints: Mapping[str, str] | None = None,
) -> tuple[dict[str, Any], list[Problem]]:
    """(what is right in `table`, nested as it is; what is wrong). lines: the line of a path, where it is known.

    hints: unknown key to what to do instead.
    """
    right: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in table.items():
        here = (*path, name)
        field = model.model_fields.get(str(name))
        if field is None:
            problems.append(_unknown(model, str(name), file, lines(here), path, hints or {}))
        elif (below := table_of(field.annotation)) is not None:
            right[name], more = _table(below, value, file, lines, here)
            problems += more
        elif (each := tables_of(field.annotation)) is not None and isinstance(value, Mapping):
            right[name] = {}
            for one, inner in value.items():
                checked, more = _table(each, inner, file, lines, (*here, one))
                problems += more
                if not any(problem.severity == ERROR for problem in more):
                    right[name][one] = checked
        else:
            try:
                right[name] = adapter(model, name).validate_python(value)
            except ValidationError as error:
                problems += [_wrong(model, here, dict(item), file, lines) for item in error.errors()]
    return right, problems


def _table(
    model: type[BaseModel], value: Any, file: str, lines: Lines, here: Path
) -> tuple[dict[str, Any], list[Problem]]:
    if not isinstance(value, Mapping):
        return {}, [Problem(file, lines(here), key_of(here), found(value), "table")]
    right, problems = read_table(model, value, file, lines, here)
    if any(problem.severity == ERROR for problem in problems):
        return right, problems
    try:
        model.model_validate(right)
    except ValidationError as error:
        problems += [_wrong(model, here, dict(item), file, lines) for item in error.errors()]
    return right, problems


def table_of(annotation: Any) -> type[BaseModel] | None:
    """The model of a field that is a table with keys of its own; None for any other field."""
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def tables_of(annotation: Any) -> type[BaseModel] | None:
    """The model of the values of a field that is a table of tables with names of their own; None for any other."""
    return table_of(get_args(annotation)[1]) if get_origin(annotation) is dict else None


@cache
def adapter(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    """The validator of one field."""
    field = model.model_fields[name]
    annotated: Any = Annotated[field.annotation, field]
    return TypeAdapter(annotated, config=ConfigDict(strict=True))


@cache
def wanted(model: type[BaseModel], name: str) -> str:
    """What a field takes, in words: ``integer, 100 to 86400000``, ``list of strings``, ``one of off, auto``."""
    return _words(adapter(model, name).json_schema())


def _words(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(_words(one) for one in schema["anyOf"])
    kind = str(schema.get("type", "table"))
    if kind == "boolean":
        return "boolean, true or false"
    if kind == "array":
        items = _words(schema.get("items", {}))
        return f"list of {items}s" if "," not in items and " " not in items else f"list of: {items}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"table with {_words(values)} values" if isinstance(values, Mapping) else "table"
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    most = schema.get("maximum")
    kind += " above" if "exclusiveMinimum" in schema else ","
    match least, most:
        case None, None:
            return kind.rstrip(",")
        case _, None:
            return f"{kind} {least:g}" if kind.endswith("above") else f"{kind} >= {least:g}"
        case None, _:
            return f"{kind} <= {most}"
        case _:
            return f"{kind} {least}{' and up' if kind.endswith('above') else ''} to {most}"


def found(value: object) -> str:
    """What somebody wrote, with its type: ``string "30000"``. Long values are cut, secrets masked."""
    if isinstance(value, (datetime, date, time)):
        return f"date or time {value}"
    kind = _TYPES.get(type(value)) or next((name for cls, name in _TYPES.items() if isinstance(value, cls)), "value")
    if value is None or isinstance(value, Mapping):
        return kind
    shown = redact.redact(json.dumps(value, ensure_ascii=False, default=str))
    return f"{kind} {shown if len(shown) <= 80 else shown[:79] + '…'}"


def key_of(path: Path) -> str:
    """``brain.max_arms``, ``args[2]``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _wrong(model: type[BaseModel], here: Path, item: Mapping[str, Any], file: str, lines: Lines) -> Problem:
    where = (*here, *(part for part in item["loc"] if part not in ("[key]",)))
    message = str(item["msg"])
    if item["type"] == "value_error":
        want = message.removeprefix("Value error, ")
    elif where == here:
        want = wanted(model, str(here[-1]))
    else:
        want = message.removeprefix("Input should be ").removeprefix("a valid ")
    if item["type"] == "list_type" and where == here:
        want = "list of strings"
    value = item["input"] if item["type"] != "missing" else None
    return Problem(file, lines(where), key_of(where), found(value), want)


def _unknown(
    model: type[BaseModel], name: str, file: str, line: int | None, path: Path, hints: Mapping[str, str]
) -> Problem:
    known = list(model.model_fields)
    if name in hints:
        return Problem(file, line, key_of((*path, name)), "unknown key", hints[name], WARNING)
    return Problem(
        file,
        line,
        key_of((*path, name)),
        "unknown key",
        "one of " + ", ".join(known),
        WARNING,
        nearest(name, known),
    )


def nearest(name: str, known: list[str]) -> str | None:
    """The known name that was probably meant."""
    folded = {one.casefold().replace("-", "_"): one for one in known}
    close = difflib.get_close_matches(name.casefold().replace("-", "_"), list(folded), n=1, cutoff=0.7)
    return folded[close[0]] if close else None


def parse_text(model: type[BaseModel], name: str, text: str) -> Any:
    """The value of a field written as text (environment, command line); ValueError with what is wanted (case g12).

    Integers are ``[0-9]{1,9}`` and nothing else that Python would take for one.
    """
    kind = adapter(model, name).json_schema().get("type")
    value: Any = text
    stripped = text.strip()
    if kind == "integer":
        value = int(stripped) if _WHOLE.fullmatch(stripped) else text
    elif kind == "number":
        value = float(stripped) if _NUMBER.fullmatch(stripped) else text
    elif kind == "boolean":
        value = {"true": True, "false": False}.get(stripped.lower(), text)
    elif kind == "string" and "\n" not in stripped:
        value = stripped
    try:
        return adapter(model, name).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "value_error":
            raise ValueError(str(first["msg"]).removeprefix("Value error, ")) from None
        raise ValueError(wanted(model, name)) from None
