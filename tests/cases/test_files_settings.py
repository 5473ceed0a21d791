"""Cases of theme g about settings (g06 g07 g12), and who can read and write what coleo keeps (h06).

The cases name seats in config.toml; in this product a seat is a folder with a seat.md, so that the ``[[seats]]`` of a
case are written there, and a name cannot come twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from coleo.files import project, seatfile, settings
from coleo.files.layout import Layout
from coleo.model.errors import BadInput, Unsafe
from coleo.model.problem import ERROR, WARNING, Problem
from tests.files.project import lay

DATA = Path(__file__).parent / "data"
ROOT = str(Path(__file__).resolve().parents[2])


def case(case_id: str, tmp_path: Path) -> tuple[Layout, settings.Loaded, Any]:
    """A project with the case's config.toml, its settings, and what is expected."""
    layout = lay(tmp_path)
    os.makedirs(layout.coleo)
    Path(layout.config).write_bytes((DATA / case_id / "config.toml").read_bytes())
    expected = json.loads((DATA / case_id / "expected.json").read_text())
    return layout, settings.load(layout, {}, {"HOME": str(tmp_path / "home")}), expected


def seat_problems(layout: Layout, seat: dict[str, Any]) -> tuple[Problem, ...]:
    """What is wrong with one ``[[seats]]`` of a case, written as a seat.md."""
    keys = "".join(f"{key}: {json.dumps(value)}\n" for key, value in seat.items() if key != "name")
    os.makedirs(layout.seat(seat["name"]).dir, exist_ok=True)
    Path(layout.seat(seat["name"]).seat_md).write_text(f"---\n{keys}---\n")
    return seatfile.look(layout, seat["name"]).problems


def short(problem: Problem, prefix: str = "") -> str:
    """A problem in the words of g06: ``brain.max_arms: float, want integer``; a range is its lower end."""
    kind, _, range_ = problem.wanted.partition(", ")
    found = problem.found.split(" ")[0]
    if found == kind:
        return f"{prefix}{problem.key}: want >= {range_.split(' to ')[0]}"
    return f"{prefix}{problem.key}: {found}, want {kind}"


def test_g06_every_wrong_type_and_range_is_told_at_once(tmp_path: Path) -> None:
    """Nothing of a wrong type passes (a boolean is no integer, "false" is not true); start is refused with exit 2."""
    layout, loaded, expected = case("g06", tmp_path)
    table = tomllib.loads((DATA / "g06" / "config.toml").read_text())
    first = seat_problems(layout, table["seats"][0])
    errors = [problem for problem in loaded.problems if problem.severity == ERROR]
    found = [short(problem) for problem in errors] + [short(problem, "seats[0].") for problem in first]
    assert found == [line for line in expected["errors"] if "duplicate" not in line]
    assert seat_problems(layout, table["seats"][1]) == ()
    assert {problem.file for problem in errors} == {layout.config} and all(problem.line for problem in errors)
    with pytest.raises(BadInput) as caught:
        loaded.raise_if_bad()
    assert caught.value.exit_code == 2
    assert all(str(problem) in str(caught.value) for problem in errors)
    assert not [problem for problem in loaded.problems if problem.key in expected["not_an_error"]]


def test_g06_a_running_brain_keeps_the_last_good_settings(tmp_path: Path) -> None:
    """A bad edit changes nothing, and is told of once."""
    from coleo.daemon.wishes import Wishes

    layout = lay(tmp_path)
    os.makedirs(layout.coleo)
    config = Path(layout.config)
    config.write_text("[brain]\nmax_arms = 3\n")
    said: list[str] = []
    wishes = Wishes(layout, {}, lambda _key, text: said.append(text), {"HOME": str(tmp_path / "home")})
    wishes.start()
    config.write_bytes((DATA / "g06" / "config.toml").read_bytes())
    for _ in range(3):
        wishes.read({"settings"}, fully=False)
    assert wishes.settings.brain.max_arms == 3
    assert [text for text in said if "brain.max_arms" in text] == said and len(said) == 1
    config.write_text("[brain]\nmax_arms = 4\n")
    wishes.read({"settings"}, fully=False)
    assert wishes.settings.brain.max_arms == 4


def test_g07_an_unknown_key_is_a_warning_and_all_known_ones_count(tmp_path: Path) -> None:
    """With the nearest known name; an error with --strict."""
    layout, loaded, expected = case("g07", tmp_path)
    known = [problem for problem in loaded.problems if problem.key != "seats"]
    assert [{"key": problem.key, "suggest": problem.suggest} for problem in known] == expected["warnings"]
    assert {problem.severity for problem in loaded.problems} == {WARNING}
    values = settings.flat(loaded.settings)
    assert values["brain.poll_interval_ms"] == expected["applied"]["brain.poll_interval_ms"]
    for key in expected["defaults_kept"]:
        assert values[key] == settings.flat(settings.Settings())[key] and loaded.sources[key] == "default"
    (seats,) = (problem for problem in loaded.problems if problem.key == "seats")
    assert "seat.md" in seats.wanted
    (seat,) = tomllib.loads((DATA / "g07" / "config.toml").read_text())["seats"]
    assert seat_problems(layout, seat) == ()
    loaded.raise_if_bad()
    with pytest.raises(BadInput, match="poll_intervall_ms"):
        loaded.raise_if_bad(strict=True)


def test_g12_only_plain_digits_in_the_environment_are_a_number(tmp_path: Path) -> None:
    """Anything else is an error that names the variable; empty is not set."""
    values = json.loads((DATA / "g12" / "values.json").read_text())
    expected = json.loads((DATA / "g12" / "expected.json").read_text())
    assert [one["value"] for one in expected] == values
    for variable in settings.variables("brain.poll_interval_ms"):
        for one in expected:
            loaded = settings.load(None, {}, {"HOME": str(tmp_path), variable: one["value"]})
            right = 30_000 if one["result"] in ("error", "default") else one["result"]
            assert loaded.settings.brain.poll_interval_ms == right
            assert [problem.file for problem in loaded.problems] == (
                [f"environment variable {variable}"] if one["result"] == "error" else []
            )


def test_g12_command_line_before_environment_before_file_before_default(tmp_path: Path) -> None:
    """The order, place by place."""
    layout = lay(tmp_path)
    environ = {"HOME": str(tmp_path / "home")}
    found = [settings.load(layout, {}, environ).settings.brain.poll_interval_ms]
    os.makedirs(layout.coleo)
    Path(layout.config).write_text("[brain]\npoll_interval_ms = 1000\n")
    found.append(settings.load(layout, {}, environ).settings.brain.poll_interval_ms)
    environ["COLEO_BRAIN_POLL_INTERVAL_MS"] = "2000"
    found.append(settings.load(layout, {}, environ).settings.brain.poll_interval_ms)
    found.append(settings.load(layout, {"brain.poll_interval_ms": "3000"}, environ).settings.brain.poll_interval_ms)
    assert found == [30_000, 1000, 2000, 3000]


#: Everything that writes state, once.
WRITES = """
import os, sys
os.umask(int(sys.argv[1], 8))
from coleo.files import activity, desired, heartbeats, mail, project, requests, settings_edit
from coleo.files.layout import Layout

root = sys.argv[2]
project.init(root)
layout = Layout(os.path.realpath(root))
open(layout.plan, "a").write("\\n- [ ] Something\\n")
now = 1764496800.0
activity.append(layout, "notice", now=now, text="x")
mail.send(layout, "shell", "human", "hello", now=now)
letter = mail.send(layout, "shell", "human", "again", now=now + 1)
mail.finish(layout, "shell", mail.take(layout, "shell", letter, now=now + 2, generation=1), "turn", now + 3)
desired.change(layout, "shell", stopped=True)
requests.ask(layout, "wake", now=now)
heartbeats.write(layout, "shell", heartbeats.MODEL, "idle", now)
settings_edit.set_value(layout.config, "brain.max_arms", "4")
"""


@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_h06_nobody_else_can_read_or_write_what_coleo_keeps(tmp_path: Path, umask: str) -> None:
    """Folders 0700 and files 0600 below .coleo and in mailboxes, whatever the umask; people's files never 0666."""
    root = tmp_path / "project"
    subprocess.run([sys.executable, "-c", WRITES, umask, str(root)], check=True, timeout=60)
    layout = Layout(os.path.realpath(root))
    boxes = [layout.seat("shell").inbox, layout.seat("shell").processed]
    private = [path for top in (layout.coleo, *boxes) for path in (Path(top), *Path(top).rglob("*"))]
    assert len([path for path in private if path.is_file()]) > 10
    modes = {str(path.relative_to(root)): oct(path.lstat().st_mode & 0o777) for path in private}
    assert modes == {str(path.relative_to(root)): "0o700" if path.is_dir() else "0o600" for path in private}
    assert not [path for path in root.rglob("*") if path.lstat().st_mode & 0o002]
    assert project.check_permissions(layout) == []


@pytest.mark.parametrize("path", [".coleo", ".coleo/run", ".project/seats/shell/seat.md"])
def test_h06_start_refuses_what_everybody_may_write(tmp_path: Path, path: str) -> None:
    """Exit code 4 from the command itself, before anything is started."""
    project.init(str(tmp_path))
    target = tmp_path / path
    target.chmod(0o777 if target.is_dir() else 0o666)
    done = subprocess.run(
        [sys.executable, "-m", "coleo", "up"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 4, done.stdout + done.stderr
    assert str(target) in done.stderr and "everybody may write" in done.stderr
    assert not os.path.exists(Layout(os.path.realpath(tmp_path)).brain_socket)


def test_h06_state_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that other user would find it."""
    project.init(str(tmp_path))
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(Unsafe) as caught:
        project.require_safe(Layout(os.path.realpath(tmp_path)))
    assert caught.value.exit_code == 4
