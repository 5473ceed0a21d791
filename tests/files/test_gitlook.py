"""The glance of `coleo status` at git: counts, or says nothing; never fails, never waits for long."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coleo.files import gitlook, settings
from coleo.files.gitlook import Uncommitted
from coleo.files.layout import Layout, make_private
from tests.files.project import lay
from tests.files.repo import Repo

LONG_S = 60.0
"""Machines under load are slow; that the wait ends has a test of its own."""


def count(layout: Layout, now: float = 0.0, **environ: str) -> int | None:
    return Uncommitted(layout, now, {**os.environ, **environ}, LONG_S).count()


def test_files_below_the_project_are_counted_and_no_others(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "r r", "sub/ö")
    repo.commit_all()
    assert count(repo.layout) == 0
    (repo.top / "code.py").write_text("two\n")
    repo.write("plan.md", "- [ ] Mine\n")
    repo.write("tasks/t-abc234-x.md", "x\n")
    repo.write("tasks/t-abc235-y.md", "x\n")
    repo.git("add", ".")
    repo.write("seats/rand/inbox/2.json", "{}")
    staged = repo.staged
    assert count(repo.layout) == 3
    assert repo.staged == staged


def test_another_setting_a_merge_or_no_repository_have_nothing_to_count(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "r")
    repo.commit_all()
    repo.write("plan.md", "")
    assert count(repo.layout) == 1
    assert count(repo.layout, COLEO_GIT_COMMIT="off") is None
    assert count(repo.layout, COLEO_GIT_COMMIT="auto") is None
    (repo.top / ".git/MERGE_HEAD").touch()
    assert count(repo.layout) is None
    assert count(lay(tmp_path / "alone")) is None


def test_without_git_there_is_nothing_to_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path / "r")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert count(repo.layout) is None


@pytest.mark.parametrize("script", ["sleep 600", "exit 3", "kill -9 $$"])
def test_a_git_that_fails_or_hangs_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    repo = Repo(tmp_path / "r")
    (tmp_path / "git").write_text(f"#!/bin/sh\nexec {script}\n" if "sleep" in script else f"#!/bin/sh\n{script}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    wait_s = 0.1 if "sleep" in script else LONG_S
    assert Uncommitted(repo.layout, 0.0, os.environ, wait_s).count() is None


def test_git_has_ended_when_nobody_counts(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "r")
    with Uncommitted(repo.layout, 0.0, os.environ) as uncommitted:
        pass
    assert uncommitted.count() is None, "and no process is left: see tests/conftest.py"


def test_the_git_folder_of_worktrees_and_submodules_is_their_own(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "r")
    repo.commit_all()
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert gitlook.git_folder(repo.layout.project) == str(repo.top / ".git")
    assert gitlook.git_folder(str(tmp_path / "side/.project")) == str(repo.top / ".git/worktrees/side")
    assert gitlook.git_folder(str(tmp_path)) is None
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/.git").write_text("nonsense")
    assert gitlook.git_folder(str(tmp_path / "odd")) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", '[git]\ncommit = "auto"\n', "[git]\n# commit = 'off'\n", 'git.commit = "off"', "git = {commit='auto'}"),
        *('[git]\ncommit = "never"\n', "[git]\ncommit = 3\n", "commit = ", "git = 3\ncommit = 4\n"),
        *('[verify]\ncommand = "git commit"\n', "[git]\r\ncommit = 'auto'\r\n", "\ufeff[git]\ncommit='off'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("user", ["", "[git]\ncommit = 'auto'\n"])
@pytest.mark.parametrize("variable", ["", "off", "nonsense"])
def test_the_setting_is_read_as_settings_are(tmp_path: Path, text: str, user: str, variable: str) -> None:
    """The short way to it, which `coleo status` can afford, and the whole one agree."""
    layout = lay(tmp_path / "p")
    make_private(layout.coleo)
    Path(layout.config).write_bytes(text.encode())
    make_private(str(tmp_path / ".coleo"))
    (tmp_path / ".coleo/config.toml").write_text(user)
    environ = {"HOME": str(tmp_path), **({"COLEO_GIT_COMMIT": variable} if variable else {})}
    assert gitlook.mode(layout, environ) == settings.load(layout, {}, environ).settings.git.commit


def test_the_hint_names_the_folder_from_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = lay(tmp_path / "my project")
    monkeypatch.chdir(layout.root)
    assert gitlook.hint(layout, 3) == "3 files below .project/ could be committed: git add .project && git commit"
    monkeypatch.chdir(tmp_path)
    assert gitlook.hint(layout, 1).endswith(
        "1 file below .project/ could be committed: git add 'my project/.project' && git commit"
    )
