"""The places that settings come from: files, variables and the command line, each brought to ``{key: value}``.

Nothing here knows a setting by name: the models in `coleo.files.settings` are walked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from coleo.model.errors import BadInput
from coleo.model.problem import Problem
from coleo.model.record import Record

#: The first seed's names; they are settings of the brain.
OLDER = {
    "OCTOPAI_POLL_INTERVAL_MS": "brain.poll_interval_ms",
    "OCTOPAI_MAX_ARMS": "brain.max_arms",
    "OCTOPAI_ARM_GRACE_PERIOD_MINUTES": "brain.arm_grace_period_minutes",
}
#: ``COLEO_*`` variables that are no settings, or (ORCHESTRATOR) are given to arms as well.
NOT_SETTINGS = frozenset(
    f"COLEO_{name}"
    for name in ("PROJECT", "SEAT", "SEAT_DIR", "ORCHESTRATOR", "TELEGRAM_CHAT_ID", "HOST", "GENERATION")
)
_WHOLE = re.compile(r"[0-9]{1,9}")
_DECIMAL = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_KINDS = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "float",
    dict: "table",
    list: "list",
}


class Text(Record):
    """A value that came as text and still has to become what its key wants. place: what to call where it was."""

    text: str
    place: str


class Place(Record):
    """One place. data: nested tables; a `Text` is a value to be converted. lines: by dotted key, where known."""

    name: str
    file: str
    data: dict[str, Any]
    lines: Mapping[str, int] = {}
    problems: tuple[Problem, ...] = ()


def fields(model: type[BaseModel], prefix: str = "") -> dict[str, FieldInfo]:
    """The fields that hold values (not tables) by dotted key, in their order."""
    found: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        below = table_of(field)
        found.update(fields(below, f"{prefix}{name}.") if below else {prefix + name: field})
    return found


def table_of(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a field that is a table; None for a value."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def keys(model: type[BaseModel]) -> list[str]:
    """All dotted keys, in their order."""
    return list(fields(model))


def flat(settings: BaseModel) -> dict[str, Any]:
    """The values by dotted key."""
    found: dict[str, Any] = {}
    for key in keys(type(settings)):
        value: Any = settings
        for part in key.split("."):
            value = getattr(value, part)
        found[key] = value
    return found


def put(data: dict[str, Any], key: str, value: Any) -> None:
    """Set a value in nested tables by its dotted key; a table with free names is merged into the one that is there."""
    *tables, name = key.split(".")
    for table in tables:
        data = data.setdefault(table, {})
    there = data.get(name)
    data[name] = {**there, **value} if isinstance(there, dict) and isinstance(value, dict) else value


def variables(model: type[BaseModel]) -> dict[str, str]:
    """Every variable that sets a key, weakest first: older names, short names of the brain's keys, full names."""
    names = dict(OLDER)
    names |= {_variable(key.removeprefix("brain.")): key for key in keys(model) if key.startswith("brain.")}
    names |= {_variable(key): key for key in keys(model)}
    return names


def _variable(key: str) -> str:
    return "COLEO_" + key.upper().replace(".", "_")


def key_of(model: type[BaseModel], name: str) -> str:
    """The key that a person named: ``brain.max_arms``, ``brain_max_arms`` or ``max_arms``. BadInput with the nearest.

    Below ``verify.sections`` any name is a key.
    """
    known = fields(model)
    if name in known or _open_table(model, name):
        return name
    folded = name.lower().replace("-", "_").replace(".", "_")
    same = [key for key in known if folded in (key.replace(".", "_"), key.removeprefix("brain.").replace(".", "_"))]
    if len(same) == 1:
        return same[0]
    near = nearest(name, known)
    raise BadInput("no such setting", found=name, wanted=near or "a key that `coleo config list` shows")


def _open_table(model: type[BaseModel], key: str) -> str:
    """The key of the table with free names that `key` lies in; "" when it is in none."""
    for name, field in fields(model).items():
        if get_origin(field.annotation) is dict and key.startswith(name + ".") and len(key) > len(name) + 1:
            return name
    return ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    names = {one.rpartition(".")[2]: one for one in known} | {one: one for one in known}
    close = get_close_matches(name.lower().replace("-", "_"), list(names), n=1, cutoff=0.7)
    return names[close[0]] if close else None


def from_environment(model: type[BaseModel], environ: Mapping[str, str]) -> Place:
    """Variables that are set and not empty. One that is almost the name of a setting is a warning."""
    known = variables(model)
    data: dict[str, Any] = {}
    for name, key in known.items():
        if environ.get(name, "").strip():
            put(data, key, Text(environ[name], f"environment {name}"))
    problems = []
    for name in sorted(environ):
        if name.startswith("COLEO_") and name not in known and name not in NOT_SETTINGS:
            near = get_close_matches(name, list(known), n=1, cutoff=0.85)
            if near:
                problems.append(
                    Problem(f"environment {name}", None, "", "no such setting", "a known name", "warning", near[0])
                )
    return Place("environment", "environment", data, problems=tuple(problems))


def from_command_line(model: type[BaseModel], overrides: Mapping[str, Any]) -> Place:
    """``KEY=VALUE`` pairs; an unknown key is an error there, for nobody types one without meaning it."""
    data: dict[str, Any] = {}
    problems = []
    for name, value in overrides.items():
        try:
            key = key_of(model, name)
        except BadInput as error:
            problems.append(
                Problem(
                    "command line",
                    None,
                    name,
                    "no such setting",
                    error.wanted or "",
                    suggest=nearest(name, fields(model)),
                )
            )
            continue
        put(data, key, Text(value, "command line") if isinstance(value, str) else value)
    return Place("command line", "command line", data, problems=tuple(problems))


def check(model: type[BaseModel], place: Place) -> tuple[dict[str, tuple[Any, str]], list[Problem]]:
    """``{key: (value, where it comes from)}`` of the values that are right, and everything else as problems."""
    good: dict[str, tuple[Any, str]] = {}
    problems = list(place.problems)
    for key, value in _leaves(model, place, place.data, "", problems):
        field = fields(model)[key]
        name, file = place.name, place.file
        if isinstance(value, dict):
            value = {one: _bare(two) for one, two in value.items()}
        if isinstance(value, Text):
            name = file = value.place
            value = convert(value.text, field)
        wrong = _wrong(model, key, value)
        if wrong is None:
            good[key] = (value, name)
        else:
            problems.append(Problem(file, place.lines.get(key), key, *wrong))
    return good, problems


def _bare(value: Any) -> Any:
    return value.text if isinstance(value, Text) else value


def _leaves(
    model: type[BaseModel], place: Place, data: Mapping[str, Any], prefix: str, problems: list[Problem]
) -> Iterable[tuple[str, Any]]:
    for name, value in data.items():
        key = prefix + name
        field = model.model_fields.get(name)
        if field is None:
            near = nearest(name, model.model_fields)
            line = place.lines.get(key, place.lines.get(f"{key}[0]"))
            problems.append(Problem(place.file, line, key, "unknown, it has no effect", "", "warning", near))
            continue
        below = table_of(field)
        if below is None:
            yield key, value
        elif isinstance(value, dict):
            yield from _leaves(below, place, value, key + ".", problems)
        else:
            problems.append(Problem(place.file, place.lines.get(key), key, shown(value), f"a table [{key}]"))


def convert(text: str, field: FieldInfo) -> Any:
    """What text from a variable or an argument stands for; the text itself where it stands for nothing (case g12).

    Only plain decimal digits are a number: ``int()`` takes ``3_000``, full-width digits and more.
    """
    word = text.strip()
    if field.annotation is int and _WHOLE.fullmatch(word):
        return int(word)
    if field.annotation is float and _DECIMAL.fullmatch(word):
        return float(word)
    if field.annotation is bool and word in ("true", "false"):
        return word == "true"
    return text if field.annotation is str else word


def _wrong(model: type[BaseModel], key: str, value: Any) -> tuple[str, str] | None:
    """(found, wanted) when the value is not right for its key."""
    data: dict[str, Any] = {}
    put(data, key, value)
    try:
        model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = len(key.split("."))
        if first["type"] == "value_error":
            return shown(value), str(first["ctx"]["error"])
        if len(first["loc"]) > at and isinstance(value, dict):
            name = str(first["loc"][at])
            return f"{name} is {shown(value.get(name))}", "a string"
        return shown(value), wanted(fields(model)[key])
    return None


def wanted(field: FieldInfo) -> str:
    """What a field takes, in words: ``integer, 100 to 86400000``; ``one of "off", "suggest", "auto"``."""
    kind = field.annotation
    if get_origin(kind) is dict:
        return "a table of strings"
    if get_origin(kind) is list:
        return "list of strings"
    if kind not in _KINDS:
        return "one of " + ", ".join(f'"{choice}"' for choice in getattr(kind, "__args__", ()))
    assert isinstance(kind, type)
    low = next((rule.ge for rule in field.metadata if hasattr(rule, "ge")), None)
    high = next((rule.le for rule in field.metadata if hasattr(rule, "le")), None)
    word = "number" if kind is float else _KINDS[kind]
    if low is not None and high is not None:
        return f"{word}, {low} to {high}"
    return f"{word}, >= {low}" if low is not None else word


def shown(value: Any) -> str:
    """A value as a person sees it, with its kind: ``string "30000"``, ``boolean true``; long ones are cut."""
    kind = _KINDS.get(type(value), "date or time")
    if isinstance(value, bool):
        return f"{kind} {str(value).lower()}"
    if isinstance(value, int | float):
        return f"{kind} {value}"
    if isinstance(value, str):
        return f'{kind} "{value if len(value) <= 60 else value[:57] + "..."}"'
    return kind
