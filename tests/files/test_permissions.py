"""Files that others own or may write are refused: they decide which commands coleo runs (case h06)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coleo.files import permissions, project
from coleo.files.layout import Layout
from coleo.model.errors import Unsafe
from coleo.model.problem import ERROR, WARNING


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A fresh project with a seat, some mail and secrets."""
    project.init(str(tmp_path))
    found = Layout(os.path.realpath(tmp_path))
    inbox = Path(found.seat("shell").inbox)
    inbox.mkdir(mode=0o700)
    for path in (inbox / "3-1-from-human-abc.json", Path(found.seat("shell").env), Path(found.secrets_env)):
        path.touch(mode=0o600)
    return found


def test_a_fresh_project_is_safe(layout: Layout) -> None:
    """What init lays down needs no repair."""
    assert permissions.check_permissions(layout) == []
    permissions.require_safe(layout)


@pytest.mark.parametrize(
    "path",
    [
        ".coleo",
        ".coleo/run",
        ".coleo/config.toml",
        ".coleo/secrets.env",
        ".project",
        ".project/plan.md",
        ".project/inbox.md",
        ".project/seats",
        ".project/seats/shell",
        ".project/seats/shell/seat.md",
        ".project/seats/shell/.env",
        ".project/seats/shell/inbox",
        ".project/seats/shell/inbox/3-1-from-human-abc.json",
    ],
)
def test_what_everybody_may_write_is_refused(layout: Layout, path: str) -> None:
    """Exit code 4, with the path, its mode and what to do."""
    target = os.path.join(layout.root, path)
    os.chmod(target, 0o777 if os.path.isdir(target) else 0o666)
    (problem,) = permissions.check_permissions(layout)
    assert (problem.file, problem.severity) == (target, ERROR)
    assert problem.wanted.startswith("chmod ")
    with pytest.raises(Unsafe) as caught:
        permissions.require_safe(layout)
    assert caught.value.exit_code == 4 and caught.value.file == target


def test_what_somebody_else_owns_is_refused(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """As another user would see it; all places are named at once. People's files may belong to a colleague."""
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    files = {problem.file for problem in permissions.check_permissions(layout)}
    assert {layout.coleo, layout.config, layout.run, layout.seat("shell").inbox} <= files
    assert not files & {layout.plan, layout.seat("shell").seat_md}
    with pytest.raises(Unsafe, match="places"):
        permissions.require_safe(layout)


def test_secrets_that_others_can_read_are_a_warning(layout: Layout) -> None:
    """A clone has 0755 and 0644 everywhere; that stops nothing, and what git brought is no secret."""
    for path in (layout.coleo, layout.run):
        os.chmod(path, 0o755)
    for path in (layout.config, layout.secrets_env, layout.seat("shell").env):
        os.chmod(path, 0o644)
    problems = permissions.check_permissions(layout)
    assert {problem.severity for problem in problems} == {WARNING}
    assert {problem.file for problem in problems} == {layout.run, layout.secrets_env, layout.seat("shell").env}
    permissions.require_safe(layout)
    os.chmod(layout.coleo, 0o700)
    assert [problem.file for problem in permissions.check_permissions(layout)] == [layout.seat("shell").env]


def test_links_are_not_followed(layout: Layout, tmp_path: Path) -> None:
    """A link in the state folder must not lead the check into the whole disk; a dangling one is nothing."""
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.chmod(0o777)
    os.symlink(outside, os.path.join(layout.run, "link"))
    os.symlink("nowhere", os.path.join(layout.run, ".#lock"))
    assert permissions.check_permissions(layout) == []


def test_a_project_that_has_no_state_yet_is_safe(tmp_path: Path) -> None:
    """A clone without .coleo, or before the first start."""
    (tmp_path / ".project").mkdir(mode=0o755)
    assert permissions.check_permissions(Layout(os.path.realpath(tmp_path))) == []
