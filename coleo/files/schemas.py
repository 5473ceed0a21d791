"""JSON Schemas of every file that people edit, from the same models that check them.

`lay` puts them into ``.coleo/schemas/``; the templates point there, so that editors complete keys and mark faults:
``#:schema`` in config.toml (taplo and what builds on it), ``# yaml-language-server: $schema=`` in a seat.md,
``$schema`` in a crons.json. They are coleo's own: `lay` brings them up to date.
"""

from __future__ import annotations

import json
import os
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from coleo.files import atomic, checked, settings
from coleo.files.checked import SeatName, Strict, Zone
from coleo.files.layout import Layout, make_private
from coleo.files.seatfile import SeatFile
from coleo.model.names import SEAT, TASK

#: How long a comment line of a settings file may be.
WIDTH = 110

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class TaskFront(Strict):
    """The front matter of a task's file in tasks/. People may change it at any time; keys of their own stay."""

    model_config = ConfigDict(extra="allow")

    id: Annotated[str, Field(pattern=f"^{TASK.pattern}$")]
    """The task's id, for good."""
    title: str
    """Its words in the plan, without marks."""
    section: str = ""
    """The heading that it stands under."""
    file: str = "plan.md"
    """The plan that holds it, relative to .project/."""
    number: Annotated[int, Field(ge=1)] = 1
    """Which one of several with the same words."""
    status: Literal["open", "claimed", "in_progress", "blocked", "done", "failed", "withdrawn"] = "open"
    """Where it stands. The box in the plan decides about done and open."""
    seat: SeatName = ""
    """Who holds it; when it is done, who did it."""
    token: str = ""
    """The claim that may complete it."""
    claimed_at: str = ""
    """When it was taken."""
    acknowledged_at: str = ""
    """When its seat said yes."""
    by: str = ""
    """Who gave it to its seat."""
    generation: Annotated[int, Field(ge=0)] = 0
    """The conversation of its seat that took it."""
    ended: list[str] = Field(default_factory=list)
    """Claims that are over."""
    origin: Annotated[str, Field(pattern=f"^(plan|inbox|seat:{SEAT.pattern})$")] = "plan"
    """Who wrote it: people in plan or inbox, or a seat."""
    attempts: Annotated[int, Field(ge=0)] = 0
    """Failed or released attempts."""
    reasons: list[str] = Field(default_factory=list)
    """Why they ended, oldest first."""
    declined: list[str] = Field(default_factory=list)
    """Seats that cannot do it."""
    progress: str = ""
    """The last word on how it goes."""
    pending: str = ""
    """Its words, while they are still to be written into the plan."""
    created_at: str = ""
    """When this file was made."""
    updated_at: str = ""
    """When coleo last changed it."""
    done_at: str = ""
    """When it was completed."""
    ticked_at: str = ""
    """When its box was ticked."""


class CronEntry(Strict):
    """One schedule of a seat."""

    name: Annotated[str, Field(pattern=f"^{TASK.pattern}$")]
    """Its name, once per seat."""
    schedule: Annotated[str, Field(min_length=2, max_length=200)]
    """20m or 4h; five fields as in crontab; at 2026-12-01T20:00."""
    prompt: Annotated[str, Field(min_length=1, max_length=8192)]
    """What the agent is told when it is due."""
    enabled: bool = True
    """Whether it fires."""
    timezone: Zone = ""
    """Whose clock the schedule means; empty for the seat's."""
    last_fired_slot: str = ""
    """The slot that fired last, written by coleo."""


class CronsFile(Strict):
    """crons.json: the schedules of a seat."""

    schema_: Annotated[str, Field(alias="$schema")] = ""
    """Where this schema lies, for editors."""
    updated_at: str = ""
    """When coleo or an agent last changed this file."""
    crons: list[CronEntry] = Field(default_factory=list)
    """The schedules."""


#: What each schema is called, and the model that it comes from.
MODELS: dict[str, type[BaseModel]] = {
    "config": settings.Settings,
    "seat": SeatFile,
    "task": TaskFront,
    "crons": CronsFile,
}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one kind of file: ``config``, ``seat``, ``task`` or ``crons``. KeyError for any other."""
    made = MODELS[name].model_json_schema(by_alias=True)
    return {"$schema": DIALECT, "title": f"coleo {name}", **{key: _plain(made[key]) for key in made if key != "title"}}


def _plain(value: Any) -> Any:
    """Without the titles that pydantic makes up from names: editors would show them in the place of the key."""
    if isinstance(value, dict):
        named = isinstance(value.get("title"), str) and ("type" in value or "$ref" in value or "enum" in value)
        return {key: _plain(one) for key, one in value.items() if not (named and key == "title")}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def path_of(layout: Layout, name: str) -> str:
    """Where a schema is laid."""
    return os.path.join(layout.coleo, "schemas", f"{name}.schema.json")


def lay(layout: Layout) -> list[str]:
    """Write the schemas of a project, or bring them up to date; the paths that were written."""
    written = []
    for name in MODELS:
        path = path_of(layout, name)
        data = json.dumps(schema(name), indent=2, ensure_ascii=False).encode() + b"\n"
        if atomic.read(path) != data:
            make_private(os.path.dirname(path))
            atomic.write(path, data)
            written.append(path)
    return written


def settings_template() -> str:
    """``config.toml`` as a new project gets it: every key with what it means, what it takes, and its default."""
    lines = [
        "#:schema ./schemas/config.schema.json",
        "",
        "# Settings of this project. Every key is shown with its default; take the # away to change one.",
        "# The command line and COLEO_* variables win over this file, this file wins over ~/.coleo/config.toml.",
        "# `coleo config list` shows what counts and where it comes from; `coleo check` finds mistakes.",
        *_table(settings.Settings, ""),
    ]
    return "\n".join(lines) + "\n"


def _table(model: type[BaseModel], prefix: str) -> list[str]:
    lines: list[str] = []
    for name, field in model.model_fields.items():
        below = checked.table_of(field.annotation)
        if below is not None:
            lines += ["", f"# {(below.__doc__ or '').strip()}", f"[{prefix}{name}]", *_table(below, f"{prefix}{name}.")]
        elif checked.adapter(model, name).json_schema().get("type") == "object":
            lines += ["", f"# {field.description}", f"[{prefix}{name}]", '# "Release" = "make check"']
        else:
            default = json.dumps(field.default, ensure_ascii=False)
            wanted = "" if isinstance(field.default, str) and not _choices(model, name) else checked.wanted(model, name)
            comment = f"# {field.description}"
            both = f"{comment} ({wanted})"
            lines += ["", *([comment] if not wanted else [both] if len(both) <= WIDTH else [comment, f"# ({wanted})"])]
            lines.append(f"# {name} = {default}")
    return lines


def _choices(model: type[BaseModel], name: str) -> bool:
    return "enum" in checked.adapter(model, name).json_schema()
