"""JSON Schemas: editors and coleo say the same, and the settings file shows every key as it is."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from coleo.files import checked, schemas, seatfile, settings
from coleo.model.task import TaskFile, TaskStatus
from tests.files.project import lay

ROOT = Path(__file__).resolve().parents[2]

#: Fields of a task that its file holds in the body, or not at all.
NOT_IN_FRONT = {"description", "notes", "result", "path", "partial"}


@pytest.mark.parametrize("name", schemas.MODELS)
def test_every_key_is_explained(name: str) -> None:
    """An editor shows the description while somebody types; the key's own name stays its title."""
    for path, one in _properties(schemas.schema(name)):
        assert one.get("description") or "$ref" in one, path
        assert "title" not in one, path


def _properties(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    tables = {"": schema, **schema.get("$defs", {})}
    return [(f"{name}.{key}", one) for name, table in tables.items() for key, one in table["properties"].items()]


@pytest.mark.parametrize("name", ["config", "seat", "crons"])
def test_unknown_keys_are_marked(name: str) -> None:
    """As `coleo check` warns of them. A task's file may hold keys of people's own."""
    schema = schemas.schema(name)
    assert schema["$schema"] == schemas.DIALECT
    assert all(table["additionalProperties"] is False for table in [schema, *schema.get("$defs", {}).values()])
    assert schemas.schema("task")["additionalProperties"] is True


def test_ranges_and_choices_come_from_the_models() -> None:
    """What the reader refuses is what the editor marks."""
    brain = schemas.schema("config")["$defs"]["Brain"]["properties"]
    assert (brain["poll_interval_ms"]["minimum"], brain["poll_interval_ms"]["maximum"]) == (100, 86_400_000)
    assert brain["poll_interval_ms"]["default"] == 30_000
    assert schemas.schema("seat")["properties"]["trust"]["enum"] == ["people", "agents"]
    assert schemas.schema("crons")["$defs"]["CronEntry"]["required"] == ["name", "schedule", "prompt"]
    assert set(schemas.schema("seat")["properties"]) == set(seatfile.SeatFile.model_fields)
    assert "$schema" in schemas.schema("crons")["properties"]


def test_the_front_matter_of_a_task_is_whole() -> None:
    """Every field that coleo writes there has its key in the schema, with the same statuses."""
    properties = schemas.schema("task")["properties"]
    assert set(properties) == set(TaskFile.__match_args__) - NOT_IN_FRONT
    assert properties["status"]["enum"] == [status.value for status in TaskStatus]


def test_lay_brings_them_up_to_date_and_writes_nothing_twice(tmp_path: Path) -> None:
    """An older version's schemas, and ones that somebody edited, become ours; what is right is not touched."""
    layout = lay(tmp_path)
    written = schemas.lay(layout)
    assert written == [schemas.path_of(layout, name) for name in schemas.MODELS]
    assert schemas.lay(layout) == []
    Path(written[1]).write_text("{}")
    assert schemas.lay(layout) == [written[1]]
    assert json.loads(Path(written[1]).read_text()) == schemas.schema("seat")
    assert os.stat(written[0]).st_mode & 0o777 == 0o600


def test_the_settings_template_is_what_the_model_says() -> None:
    """Write it again with: python -c "from coleo.files import schemas; print(schemas.settings_template(), end='')"."""
    laid = (ROOT / "project-template" / "coleo" / "config.toml").read_text()
    assert laid == schemas.settings_template()
    assert laid.startswith("#:schema ./schemas/config.schema.json\n")


def test_each_line_of_the_settings_template_can_be_uncommented() -> None:
    """Every key stands there with its default, in its table; a person only takes a # away."""
    text = schemas.settings_template()
    lines = [line.removeprefix("# ") if _is_key(line) else line for line in text.split("\n")]
    table = tomllib.loads("\n".join(lines))
    sections = table["verify"].pop("sections")
    assert sections == {"Release": "make check"}
    right, problems = checked.read_table(settings.Settings, table, "config.toml", lambda _path: None)
    assert not problems
    defaults = settings.flat(settings.Settings())
    found = settings.flat(settings.Settings.model_validate(right))
    assert found == defaults
    assert max(len(line) for line in text.split("\n")) <= 120
    assert sum(_is_key(line) for line in text.split("\n")) == len(settings.keys())
    assert tomllib.loads(text) == {name: value for name, value in tomllib.loads(text).items() if not _values(value)}


def _is_key(line: str) -> bool:
    """A commented-out key, and no sentence that happens to hold an equals sign."""
    name, equals, _value = line.removeprefix("# ").partition(" = ")
    return line.startswith("# ") and bool(equals) and (name.isidentifier() or name.startswith('"'))


def _values(value: Any) -> bool:
    return any(map(_values, value.values())) if isinstance(value, dict) else True
