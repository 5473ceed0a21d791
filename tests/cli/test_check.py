"""`coleo check`: everything that is wrong, at once, each with its place; it changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coleo.files import project
from coleo.files.layout import Layout
from tests.cli.helpers import coleo, facts


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    project.init(str(tmp_path), seats={"ada": "shell", "bob": "shell"})
    return Layout(os.path.realpath(tmp_path))


def found(layout: Layout, code: int, *words: str) -> dict[str, list[dict[str, object]]]:
    """Problems by area."""
    areas: dict[str, list[dict[str, object]]] = {}
    for problem in facts(layout, "check", *words, code=code)["problems"]:
        areas.setdefault(str(problem["area"]), []).append(problem)
    return areas


def test_a_fresh_project_has_no_problems(layout: Layout) -> None:
    ran = coleo(layout, "check", "--strict")
    assert (ran.returncode, ran.stdout) == (0, "no problems found\n")


def test_every_area_is_looked_at_and_all_is_told_at_once(layout: Layout) -> None:
    Path(layout.config).write_text("orchestrator = 'eve'\n[brain]\nmax_arms = 'many'\nmax-arms = 3\n")
    Path(layout.seat("ada").seat_md).write_text("---\nharness: shell\nmax_crashes: many\n---\n")
    Path(layout.seat("bob").seat_md).write_text("---\nharness: nothere\n---\n")
    Path(layout.secrets_env).write_text("no equals sign\n")
    os.chmod(layout.secrets_env, 0o600)
    Path(layout.seat("ada").crons).write_text('{"crons": [1,\n]}')
    Path(layout.plan).write_text('- [ ] one after:"nothing like this"\n')
    Path(layout.tasks, "t-aaaaaa-x.md").write_text("---\nid: t-aaaaaa\nstatus: perhaps\n---\n# x\n")
    folder = Path(layout.coleo, "harness")
    folder.mkdir()
    (folder / "mine.toml").write_text("argv = 3\n")
    areas = found(layout, 2)
    assert {one["key"] for one in areas["settings"]} == {"brain.max_arms", "brain.max-arms", "orchestrator"}
    assert any(one["key"] == "max_crashes" and one["line"] == 3 for one in areas["seat"])
    assert any("nothere" in str(one["found"]) for one in areas["seat"])
    assert areas["secrets"][0]["line"] == 1
    assert areas["schedules"][0]["line"] == 2
    assert areas["plan"][0]["found"] == "nothing like this"
    assert "perhaps" in str(areas["tasks"][0]["found"])
    assert str(areas["harness"][0]["file"]).endswith("mine.toml")
    text = coleo(layout, "check").stdout
    assert "did you mean max_arms" in text
    assert text.index("error:") < text.index("warning:")


def test_warnings_alone_pass_unless_strict(layout: Layout) -> None:
    Path(layout.plan).write_text('- [ ] one after:"nothing like this"\n')
    assert coleo(layout, "check").returncode == 0
    assert coleo(layout, "check", "--strict").returncode == 2


def test_a_missing_program_is_named(layout: Layout) -> None:
    Path(layout.seat("ada").seat_md).write_text("---\nharness: shell\ncommand: [no-such-program-here]\n---\n")
    areas = found(layout, 2)
    assert "no-such-program-here" in str(areas["seat"][0])
    Path(layout.seat("ada").seat_md).write_text("---\nenabled: false\ncommand: [no-such-program-here]\n---\n")
    assert found(layout, 0) == {}


def test_unsafe_permissions_are_4(layout: Layout) -> None:
    os.chmod(layout.run, 0o777)
    assert found(layout, 4)["permissions"]


def test_wishes_that_cannot_be_read_are_told(layout: Layout) -> None:
    Path(layout.run, "desired.json").write_text("{")
    assert found(layout, 0)["run"]


def test_checking_changes_nothing(layout: Layout) -> None:
    def everything() -> dict[str, tuple[int, int]]:
        seen = {}
        for folder, _folders, names in os.walk(layout.root):
            for name in names:
                status = os.stat(os.path.join(folder, name))
                seen[os.path.join(folder, name)] = (status.st_mtime_ns, status.st_size)
        return seen

    before = everything()
    coleo(layout, "check")
    assert everything() == before


def test_single_schedules_are_checked_and_a_name_counts_once(layout: Layout) -> None:
    Path(layout.seat("ada").crons).write_text(
        '{"crons": [{"name":"hb","schedule":"4h","prompt":"x"}, {"name":"hb","schedule":4,"prompt":"y"}, {"nam":"x"}]}'
    )
    messages = [str(problem["message"]) for problem in found(layout, 2)["schedules"]]
    assert any(message.startswith("crons.1.schedule") for message in messages)
    assert any(message.startswith("crons.2.name") for message in messages)
    assert any("stands twice" in message for message in messages)
