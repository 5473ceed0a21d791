"""Harness files: which one counts, and what is said when one is wrong."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from coleo.harness import load
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.harness import from_json, to_json
from tests.agents import setup

VALUES = load.values(project="/p", seat="ada", seat_dir="/p/s", transcript="/p/t.jsonl", run="/p/r")


class Project:
    """What `load` needs of a project's layout."""

    def __init__(self, root: Path) -> None:
        self.coleo = str(root / ".coleo")


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / "harness" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def problems(tmp_path: Path, text: str) -> list[BadInput]:
    harness, found = load.read(str(write(tmp_path, "mine", text)))
    assert harness is None
    return found


SMALL = 'argv = ["mine"]\ncomposer = "none"\n'


@pytest.mark.parametrize("name", sorted(load.names(None, {"HOME": "/nowhere"})))
def test_every_built_in_harness_can_be_loaded_and_sent_to_a_host(name: str) -> None:
    harness = load.load(name, None, {"HOME": "/nowhere"})
    assert harness.name == name
    assert harness.summary and harness.checked_with and harness.argv
    assert from_json(to_json(harness)) == harness


def test_the_project_wins_over_the_user_and_both_over_the_built_in(tmp_path: Path) -> None:
    home, project = tmp_path / "home", Project(tmp_path / "project")
    environ = {"HOME": str(home)}
    assert load.load("shell", project, environ).composer == "screen"
    write(home / ".coleo", "shell", SMALL)
    assert load.load("shell", project, environ).argv == ("mine",)
    write(Path(project.coleo), "shell", SMALL.replace("mine", "ours"))
    assert load.load("shell", project, environ).argv == ("ours",)
    assert load.load("shell", None, environ).argv == ("mine",)


def test_an_unknown_name_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such harness") as caught:
        load.load("shel", None, {"HOME": str(tmp_path)})
    assert "shell" in str(caught.value.wanted)
    with pytest.raises(BadInput, match="not a harness name"):
        load.load("../shell", None)


def test_every_problem_of_a_file_is_found_with_line_found_and_wanted(tmp_path: Path) -> None:
    """Case g06: all at once, not one after each repair."""
    text = """argv = ["{pyhton}"]
settle_ms = "150"
deliver_buzy = true

[[rules]]
kind = "busy"
pattern = 'ok'

[[rules]]
kind = "buzy"
pattern = '(unclosed'
region = "last:0"
"""
    found = {problem.message: problem for problem in problems(tmp_path, text)}
    assert {message: problem.line for message, problem in found.items()} == {
        "argv[0] is wrong": 1,
        "settle_ms is wrong": 2,
        "unknown key deliver_buzy": 3,
        "rules[1].kind is wrong": 10,
        "rules[1].pattern is wrong": 11,
        "rules[1].region is wrong": 12,
    }
    assert found["settle_ms is wrong"].found == "'150'"
    assert found["settle_ms is wrong"].wanted == "a valid integer"
    assert "deliver_busy" in str(found["unknown key deliver_buzy"].wanted)
    assert "'busy'" in str(found["rules[1].kind is wrong"].wanted)
    assert "at character 1" in str(found["rules[1].pattern is wrong"].wanted)
    assert "{python}" in str(found["argv[0] is wrong"].wanted)
    with pytest.raises(BadInput, match=r"and 5 more problems"):
        load.load("mine", None, {"HOME": str(tmp_path / "x")} | _as_user(tmp_path))


def _as_user(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "u").mkdir()
    (tmp_path / "u" / ".coleo").symlink_to(tmp_path)
    return {"HOME": str(tmp_path / "u")}


def test_a_file_that_is_no_toml_names_the_line(tmp_path: Path) -> None:
    found = problems(tmp_path, 'argv = ["a"]\nenv = {\n')
    assert [problem.line for problem in found] in ([2], [3])
    assert "not TOML" in found[0].message


def test_a_file_that_is_not_utf8_or_a_folder_is_said_to_be(tmp_path: Path) -> None:
    path = write(tmp_path, "mine", "")
    path.write_bytes(b"summary = '\xff'\n")
    assert "not UTF-8" in load.read(str(path))[1][0].message
    assert "cannot be read" in load.read(str(tmp_path))[1][0].message


def test_a_byte_order_mark_and_crlf_are_fine(tmp_path: Path) -> None:
    path = write(tmp_path, "mine", "")
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    harness, found = load.read(str(path))
    assert harness is not None and harness.argv == ("mine",) and not found


def test_a_composer_that_no_rule_can_find_is_refused(tmp_path: Path) -> None:
    """Such a harness could never type: better said at once than by a seat that waits for ever."""
    assert "composer_empty" in problems(tmp_path, 'argv = ["mine"]\n')[0].message


def test_placeholders_are_filled_and_other_braces_stay() -> None:
    words = ["{python}", "--settings", '{"hooks": {}}', "--model={model}", "{seat}@{project}"]
    filled = load.argv(words, VALUES)
    assert filled[1:] == ("--settings", '{"hooks": {}}', "ada@/p")
    assert os.path.isabs(filled[0])
    assert load.argv(words, VALUES | {"model": "m1"})[3] == "--model=m1"


def test_values_are_not_filled_twice() -> None:
    assert load.fill("{seat}", VALUES | {"seat": "{project}"}) == "{project}"


def test_the_program_is_looked_for_where_the_arm_would_look(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    environ = {"PATH": str(tool.parent)}
    with pytest.raises(CannotBeDone, match=r"harness mine: the program tool is not there"):
        load.program(["tool"], environ, "/", "mine")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    assert load.program(["tool"], environ, "/") == str(tool)
    assert load.program(["bin/tool"], {"PATH": ""}, str(tmp_path)) == str(tool)
    with pytest.raises(CannotBeDone, match="no program to start"):
        load.program([], environ, "/")


def test_the_scripted_agent_reads_the_same_from_its_file_and_in_the_tests_of_the_host() -> None:
    harness, found = load.read(str(Path(setup.__file__).with_name("scripted.toml")))
    assert harness is not None, found
    assert (harness.rules, harness.composer_begin) == (setup.SCRIPTED.rules, setup.SCRIPTED.composer_begin)
