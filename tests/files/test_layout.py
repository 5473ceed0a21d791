"""Paths: found from anywhere in a project, never built from a name that was not checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from coleo.files.layout import Layout, find, is_junk, make_private, user_config
from coleo.model.errors import BadInput
from tests.files.project import lay


@pytest.fixture
def umask() -> object:
    """Whatever a test sets, the process gets back what it had."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_command_works_from_any_folder_below_the_project(tmp_path: Path) -> None:
    """Also from inside of .project and of a seat, and from the root itself."""
    layout = lay(tmp_path, "ada")
    (tmp_path / "src" / "deep").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "src" / "deep", layout.project, layout.seat("ada").dir):
        assert find(str(folder), {}) == layout


def test_a_symlink_leads_to_the_project_of_its_target(tmp_path: Path) -> None:
    """Two paths to one project must not be two projects, with two brains (case b12)."""
    (tmp_path / "real" / "sub").mkdir(parents=True)
    layout = lay(tmp_path / "real")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "link").symlink_to(tmp_path / "real" / "sub")
    assert find(str(tmp_path / "other" / "link"), {}) == layout


def test_the_nearest_project_wins(tmp_path: Path) -> None:
    """A project inside of another is its own."""
    lay(tmp_path)
    (tmp_path / "vendor").mkdir()
    inner = lay(tmp_path / "vendor")
    assert find(str(tmp_path / "vendor"), {}) == inner


def test_a_file_called_project_is_no_project(tmp_path: Path) -> None:
    """Eclipse writes such files."""
    layout = lay(tmp_path)
    (tmp_path / "java").mkdir()
    (tmp_path / "java" / ".project").write_text("<projectDescription/>")
    assert find(str(tmp_path / "java"), {}) == layout


def test_the_environment_names_the_project_of_a_seat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An arm in a worktree elsewhere still speaks to its own project; an explicit folder is more explicit."""
    layout = lay(tmp_path / "mine")
    other = lay(tmp_path / "other")
    monkeypatch.chdir(other.root)
    assert find(None, {"COLEO_PROJECT": layout.root}) == layout
    assert find(None, {"COLEO_PROJECT": layout.project}) == layout
    assert find(other.root, {"COLEO_PROJECT": layout.root}) == other
    assert find(None, {"COLEO_PROJECT": ""}) == other


@pytest.mark.parametrize("wrong", ["", "nowhere"])
def test_no_project_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """Neither a wrong variable nor a folder without a project is passed over in silence."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as told:
        find(None, {"COLEO_PROJECT": str(tmp_path / wrong)} if wrong else {})
    assert "coleo init" in str(told.value)


def test_a_deleted_current_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell may stand in a folder that a branch switch has taken away."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        with pytest.raises(BadInput, match="deleted"):
            find(None, {})
    finally:
        os.chdir(tmp_path)


@pytest.mark.parametrize("name", ["../x", "", "a/b", "A", "brain", ".x", "a" * 33, "a\0"])
def test_no_path_is_built_from_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    """Names come from agents and from files."""
    layout = Layout(str(tmp_path))
    makers: list[Callable[[str], object]] = [layout.seat, layout.arm, layout.heartbeat, layout.host_socket]
    for make in makers:
        with pytest.raises(BadInput):
            make(name)


@pytest.mark.parametrize("name", ["../x", "", "a/b", "a\0", ".."])
def test_claims_and_locks_are_checked_too(tmp_path: Path, name: str) -> None:
    """Task ids are written by people, after a ^."""
    with pytest.raises(BadInput):
        Layout(str(tmp_path)).claim(name)
    with pytest.raises(BadInput):
        Layout(str(tmp_path)).lock(name)


def test_seats_are_folders_with_a_seat_md(tmp_path: Path) -> None:
    """Junk, files and folders of other kinds are no seats and stop no scan (cases c08, c10)."""
    layout = lay(tmp_path, "zoe", "ada")
    for name in ("Upper", "brain", ".hidden", "ada~", "empty"):
        os.makedirs(os.path.join(layout.seats, name))
    Path(layout.seats, "Upper", "seat.md").write_text("")
    Path(layout.seats, "brain", "seat.md").write_text("")
    Path(layout.seats, "file").write_text("")
    os.symlink("nowhere", os.path.join(layout.seats, "dangling"))
    os.symlink("user@host:1", os.path.join(layout.seats, ".#ada"))
    assert layout.seats_present() == ["ada", "zoe"]
    assert Layout(str(tmp_path / "none")).seats_present() == []


@pytest.mark.parametrize(
    "name",
    [".#plan.md", "#plan.md#", "plan.md~", ".plan.md.swp", "plan.md.tmp", "4913", "5036", ".x", "a.part", "a.rej"],
)
def test_editors_files_are_junk(name: str) -> None:
    """Skipped before any stat (cases c08, c10)."""
    assert is_junk(name)


@pytest.mark.parametrize("name", ["plan.md", "inbox.md", "t-abc234-title.md", "4914", "2-1-from-a-b.json", "a.tmpl"])
def test_what_people_and_messages_are_called_is_no_junk(name: str) -> None:
    """A rule that is too greedy loses mail."""
    assert not is_junk(name)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_private_folders_are_private_whatever_the_umask(tmp_path: Path, umask: object, mask: int) -> None:
    """With all that is made above them (case h06)."""
    os.umask(mask)
    make_private(str(tmp_path / "a" / "b"))
    make_private(str(tmp_path / "a" / "b"))
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b")] == [0o700, 0o700]


def test_a_folder_that_others_can_enter_is_closed(tmp_path: Path) -> None:
    """git and mkdir make folders by the umask."""
    (tmp_path / "inbox").mkdir(mode=0o755)
    make_private(str(tmp_path / "inbox"))
    assert (tmp_path / "inbox").stat().st_mode & 0o777 == 0o700


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    """Not a silent success that fails three calls later."""
    (tmp_path / "inbox").write_text("")
    with pytest.raises(FileExistsError):
        make_private(str(tmp_path / "inbox"))


def test_the_users_settings_are_at_home() -> None:
    """HOME decides, as it does for every other program."""
    assert user_config({"HOME": "/home/u"}) == "/home/u/.coleo/config.toml"
