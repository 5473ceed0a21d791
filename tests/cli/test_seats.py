"""`coleo init` and `coleo seat` without a brain: what is laid down, shown and changed."""

from __future__ import annotations

import os
from pathlib import Path

from coleo.files import desired
from coleo.files.layout import Layout
from tests.cli.helpers import coleo, facts, project


def test_init_lays_down_a_project_with_a_seat_and_again_nothing(tmp_path: Path) -> None:
    ran = coleo(tmp_path, "init", "shop", "--seat", "ada=shell", "--seat", "bob")
    assert ran.returncode == 0, ran.stderr
    layout = Layout(os.path.realpath(tmp_path / "shop"))
    assert layout.seats_present() == ["ada", "bob"]
    assert coleo(layout, "check").returncode == 0
    before = Path(layout.plan).read_bytes()
    again = facts(tmp_path / "shop", "init")
    assert again["files"] == []
    assert Path(layout.plan).read_bytes() == before
    assert "nothing to do" in coleo(layout, "init").stdout


def test_init_here_makes_one_seat(tmp_path: Path) -> None:
    assert coleo(tmp_path, "init").returncode == 0
    assert facts(tmp_path, "seat", "list")["seats"][0]["seat"] == "shell"


def test_init_refuses_a_name_or_template_that_is_none(tmp_path: Path) -> None:
    assert coleo(tmp_path, "init", "--seat", "../x").returncode == 2
    ran = coleo(tmp_path, "init", "--seat", "ada=worke")
    assert (ran.returncode, "worker" in ran.stderr) == (2, True)
    assert not (tmp_path / ".project").exists()


def test_add_list_show_set(tmp_path: Path) -> None:
    layout = project(tmp_path, "ada")
    assert coleo(layout, "seat", "add", "bob", "--template", "shell").returncode == 0
    assert coleo(layout, "seat", "add", "bob").returncode == 1
    assert coleo(layout, "seat", "add", "Bob!").returncode == 2
    assert [one["seat"] for one in facts(layout, "seat", "list")["seats"]] == ["ada", "bob"]
    assert coleo(layout, "seat", "set", "ada", "timezone", "Europe/Berlin").returncode == 0
    shown = facts(layout, "seat", "show", "ada")
    assert (shown["config"]["timezone"], shown["state"]) == ("Europe/Berlin", "stopped")
    assert "Europe/Berlin" in coleo(layout, "seat", "show", "ada").stdout
    assert "I sit here." in Path(layout.seat("ada").seat_md).read_text()
    assert "shell" in coleo(layout, "seat", "templates").stdout


def test_set_refuses_what_seat_md_may_not_hold(tmp_path: Path) -> None:
    layout = project(tmp_path, "ada")
    before = Path(layout.seat("ada").seat_md).read_bytes()
    for key, value in (("timezon", "UTC"), ("max_crashes", "many"), ("enabled", "perhaps")):
        assert coleo(layout, "seat", "set", "ada", key, value).returncode == 2
    assert Path(layout.seat("ada").seat_md).read_bytes() == before


def test_show_of_a_broken_seat_says_what_is_wrong(tmp_path: Path) -> None:
    layout = project(tmp_path, "ada")
    Path(layout.seat("ada").seat_md).write_text("---\nharness: shell\nmax_crashes: many\n---\n")
    ran = coleo(layout, "seat", "show", "ada")
    assert (ran.returncode, "max_crashes" in ran.stdout) == (2, True)
    assert "max_crashes" in coleo(layout, "why", "ada").stdout


def test_stop_and_start_without_a_brain_are_remembered(tmp_path: Path) -> None:
    layout = project(tmp_path, "ada", "bob")
    ran = coleo(layout, "seat", "stop", "ada")
    assert (ran.returncode, "no brain runs" in ran.stderr) == (0, True)
    assert desired.read(layout).of("ada").stopped
    assert "stopped" in coleo(layout, "seat", "list").stdout
    assert coleo(layout, "seat", "restart", "bob").returncode == 0
    assert desired.read(layout).of("bob").restart_at > 0
    assert facts(layout, "seat", "start", "ada")["seat"] == "ada"
    assert not desired.read(layout).of("ada").stopped
    assert coleo(layout, "seat", "disable", "ada").returncode == 0
    assert "disabled" in coleo(layout, "seat", "list").stdout
    assert "enabled: false" in coleo(layout, "seat", "start", "ada").stdout


def test_an_unknown_seat_is_bad_input_everywhere(tmp_path: Path) -> None:
    layout = project(tmp_path, "ada")
    for words in (["show"], ["stop"], ["start"], ["restart"], ["enable"], ["disable"], ["set", "x", "model", "y"]):
        name = words if len(words) > 1 else [*words, "adda"]
        ran = coleo(layout, "seat", *name)
        assert (ran.returncode, "ada" in ran.stderr) == (2, True), words
    for words in (["screen", "adda"], ["attach", "adda"], ["send", "adda", "x"], ["mail", "list", "adda"]):
        assert coleo(layout, *words).returncode == 2, words


def test_screen_and_attach_of_a_seat_without_an_arm(tmp_path: Path) -> None:
    layout = project(tmp_path, "ada")
    for words in (["screen", "ada"], ["attach", "ada"]):
        ran = coleo(layout, *words)
        assert (ran.returncode, "coleo why ada" in ran.stderr) == (1, True)
