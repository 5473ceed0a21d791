"""``coleo config set`` changes one line of a file that people write, or nothing at all."""

from __future__ import annotations

import difflib
import os
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coleo.files import inplace, schemas, settings, settings_edit
from coleo.model.errors import BadInput, CannotBeDone

TEMPLATE = schemas.settings_template()


def changes(before: str, after: str) -> list[str]:
    """The lines that went (-) and came (+)."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def set_in(tmp_path: Path, text: str, key: str, value: Any) -> str:
    """The text of a file after one setting was set in it."""
    path = tmp_path / ".coleo" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    settings_edit.set_value(str(path), key, value)
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("brain.max_arms", "4", "max_arms = 4"),
        ("brain_poll_interval_ms", "500", "poll_interval_ms = 500"),
        ("brain.stuck.minutes", 9, "minutes = 9"),
        ("brain.settle_s", "0.5", "settle_s = 0.5"),
        ("orchestrator", "ada", 'orchestrator = "ada"'),
        ("git.commit", "off", 'commit = "off"'),
        ("verify.command", 'say "hi" \\ and go', 'command = "say \\"hi\\" \\\\ and go"'),
        ("verify.sections.Release 1.0", "make check", '"Release 1.0" = "make check"'),
    ],
)
def test_in_a_fresh_file_one_line_comes_below_its_comment(tmp_path: Path, key: str, value: Any, line: str) -> None:
    """Where `coleo init` explains the key, in the right table, and nothing else changes."""
    after = set_in(tmp_path, TEMPLATE, key, value)
    assert changes(TEMPLATE, after) == ["+" + line]
    name = line.split(" = ")[0]
    lines = after.split("\n")
    if "sections" not in key:
        assert lines[lines.index(line) - 1].startswith(f"# {name} = ")
    values = {name: value for name, value in _flat(tomllib.loads(after)).items() if value != {}}
    assert list(values) == [settings.canonical(key)]


@pytest.mark.parametrize(
    ("before", "key", "value", "expected"),
    [
        (
            "[brain]\nmax_arms = 3 # three\n\n[git]\ncommit='off'\n",
            "brain.max_arms",
            "4",
            ["-max_arms = 3 # three", "+max_arms = 4 # three"],
        ),
        ("[git]\n[brain]\n[shell]\n", "git.commit", "off", ['+commit = "off"']),
        ("brain.max_arms = 3\n", "brain.max_attempts", "4", ["+brain.max_attempts = 4"]),
        ("[brain]\r\nmax_arms = 3\r\n", "brain.max_arms", "4", ["-max_arms = 3\r", "+max_arms = 4\r"]),
        ("\ufeff[brain]\nmax_arms = 3\n", "brain.max_arms", "4", ["-max_arms = 3", "+max_arms = 4"]),
        ("[brain]\nmax_arms = 3", "brain.max_arms", "4", ["-max_arms = 3", "+max_arms = 4"]),
        ("[brain]\nmax_arms = 3\n", "brain.max_arms", "3", []),
        ("# mine\n", "orchestrator", "ada", ['+orchestrator = "ada"']),
    ],
)
def test_a_file_of_a_persons_own_keeps_its_form(
    tmp_path: Path, before: str, key: str, value: str, expected: list[str]
) -> None:
    """Comments, order, quotes, line ends, BOM and a missing last line end stay."""
    assert changes(before, set_in(tmp_path, before, key, value)) == expected


def _flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in data.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) and value else {f"{prefix}{name}": value}
    return found


@given(
    st.dictionaries(
        st.sampled_from(["brain.max_arms", "git.commit", "orchestrator", "brain.stuck.prompts"]), st.just(0)
    ),
    st.integers(1, 100),
)
def test_whatever_stands_there_the_result_says_what_was_asked_for(
    tmp_path_factory: pytest.TempPathFactory, there: dict[str, int], prompts: int
) -> None:
    """Any mixture of keys that are set and commented out, set again and again."""
    path = tmp_path_factory.mktemp("settings") / "config.toml"
    path.write_text(TEMPLATE)
    right: dict[str, Any] = {"brain.max_arms": 2, "git.commit": "off", "orchestrator": "ada", "brain.stuck.prompts": 7}
    wanted = {key: right[key] for key in there}
    for key, value in wanted.items():
        settings_edit.set_value(str(path), key, value)
    settings_edit.set_value(str(path), "brain.stuck.prompts", prompts)
    found, problems = settings.read_file(str(path))
    assert not problems
    assert {**found} == {**wanted, "brain.stuck.prompts": prompts}


def test_a_file_that_is_not_there_is_made_private(tmp_path: Path) -> None:
    """``--user`` for the first time; 0600 in a folder of 0700 (case h06)."""
    path = tmp_path / ".coleo" / "config.toml"
    assert settings_edit.set_value(str(path), "brain.max_arms", "4") == 4
    assert tomllib.loads(path.read_text()) == {"brain": {"max_arms": 4}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_the_same_file_stays_behind_the_same_link(tmp_path: Path) -> None:
    """Dotfiles are often links; inode and mode are people's."""
    real = tmp_path / "dotfiles.toml"
    real.write_text("[brain]\nmax_arms = 3\n")
    real.chmod(0o640)
    folder = tmp_path / ".coleo"
    folder.mkdir()
    link = folder / "config.toml"
    link.symlink_to(real)
    inode = real.stat().st_ino
    settings_edit.set_value(str(link), "brain.max_arms", "4")
    assert link.is_symlink() and real.stat().st_ino == inode and real.stat().st_mode & 0o777 == 0o640
    assert real.read_text() == "[brain]\nmax_arms = 4\n"


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("x = [\n", "brain.max_arms", "4"),
        ("[brain]\n", "brain.max_arms", "true"),
        ("[brain]\n", "brain.max_arms", 4.0),
        ("[brain]\n", "brain.max_arms", ""),
        ("[brain]\n", "brain.max_armz", "4"),
        ("brain = 3\n", "brain.max_arms", "4"),
        ("[[brain]]\nx = 1\n", "brain.max_arms", "4"),
        ("[brain]\n", "timezone", "Europe/Nowhere"),
    ],
)
def test_what_cannot_be_set_changes_nothing(tmp_path: Path, text: str, key: str, value: Any) -> None:
    """Wrong value, unknown key, broken file: an error that can be mended, and every byte stays."""
    path = tmp_path / ".coleo" / "config.toml"
    with pytest.raises(BadInput):
        set_in(tmp_path, text, key, value)
    assert path.read_text() == text


def test_a_save_in_the_middle_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody saves between our read and our write: their text stays, with our setting in it."""
    path = tmp_path / ".coleo" / "config.toml"
    path.parent.mkdir()
    path.write_text("[brain]\nmax_arms = 3\n")
    replace, theirs = inplace.replace, "[brain]\nmax_arms = 3\nmax_attempts = 2 # theirs\n"

    def late(name: str, expected: bytes, new: bytes, journal: str) -> None:
        monkeypatch.setattr(inplace, "replace", replace)
        path.write_text(theirs)
        replace(name, expected, new, journal)

    monkeypatch.setattr(inplace, "replace", late)
    settings_edit.set_value(str(path), "brain.max_arms", "4")
    assert path.read_text() == theirs.replace("max_arms = 3", "max_arms = 4")


def test_two_at_once_lose_neither(tmp_path: Path) -> None:
    """Two terminals, two keys, many times: both last values are there."""
    path = tmp_path / ".coleo" / "config.toml"
    path.parent.mkdir()
    path.write_text(TEMPLATE)

    def many(key: str) -> None:
        for value in range(1, 16):
            settings_edit.set_value(str(path), key, value)

    both = [threading.Thread(target=many, args=(key,)) for key in ("brain.max_arms", "brain.max_attempts")]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert settings.read_file(str(path)) == ({"brain.max_arms": 15, "brain.max_attempts": 15}, [])


def test_an_editor_that_never_lets_go_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CannotBeDone, and no change, instead of waiting for ever."""
    path = tmp_path / ".coleo" / "config.toml"
    path.parent.mkdir()
    path.write_text("[brain]\n")

    def busy(*_args: object) -> None:
        raise inplace.Busy(str(path))

    monkeypatch.setattr(inplace, "retrying", lambda change, name: change(path.read_bytes()))
    monkeypatch.setattr(inplace, "replace", busy)
    with pytest.raises(CannotBeDone, match="writing to this file"):
        settings_edit.set_value(str(path), "brain.max_arms", "4")
    assert path.read_text() == "[brain]\n"


def test_what_a_kill_left_is_completed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting whose write was cut is whole again before the next one is written."""
    seen: list[str] = []
    monkeypatch.setattr(inplace, "recover", seen.append)
    set_in(tmp_path, "[brain]\n", "brain.max_arms", "4")
    assert seen == [os.path.join(str(tmp_path), ".coleo", "run", "journal")]
