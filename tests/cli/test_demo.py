"""``coleo demo``: once for real, with all processes; its judgement of the outcome without any."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coleo.cli import demo, demoplan
from coleo.files import markdown
from coleo.files.layout import Layout
from coleo.model.errors import BadInput


def coleo(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "coleo", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.timeout(180)
def test_the_demonstration_comes_out_as_it_should(tmp_path: Path) -> None:
    """Plan, inbox, two seats, a failure, a dependency, a verification: real files, real terminals, nothing left."""
    root = tmp_path / "site"
    done = coleo("demo", str(root), "--plain", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    lines, _ = markdown.parse((root / ".project" / "plan.md").read_bytes(), seats=frozenset(demoplan.SEATS))
    boxes = {line.title: line.done for line in lines}
    assert boxes == {**dict.fromkeys(demoplan.DONE, True), demoplan.FAILS: False}
    assert "<h1>The octopus</h1>" in (root / "site" / "index.html").read_text()
    assert "Publish the site: blocked after 3 attempts" in done.stdout
    assert len(re.findall(r"^  \d\. .* ended with exit 7: upload: no such host$", done.stdout, re.MULTILINE)) == 3
    assert "verified: grep -x '0 broken links' links.txt" in done.stdout
    assert re.search(r"^\d+ prompts were typed into", done.stdout, re.MULTILINE)
    archived = "".join(path.read_text() for path in (root / ".project" / "archive").iterdir())
    assert all(item in archived for item in demoplan.INBOX)
    status = coleo("status", "--json", cwd=root)
    assert status.returncode == 0 and '"running": false' in status.stdout
    assert not list(demo.left_over(Layout(str(root))))


def test_the_plan_of_the_demonstration_has_what_it_is_to_show() -> None:
    lines, warnings = markdown.parse(Path(demoplan.PLAN).read_bytes(), seats=frozenset(demoplan.SEATS))
    assert not warnings
    assert {line.title for line in lines} == {*demoplan.DONE[:9], demoplan.FAILS}
    assert len({line.section for line in lines}) == 2
    assert any(line.depth for line in lines) and any(line.seat for line in lines) and any(line.after for line in lines)
    assert any(line.verify for line in lines) and any(line.priority == "high" for line in lines)


def test_a_folder_that_holds_something_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="new or empty"):
        demo.main([str(tmp_path)])
    with pytest.raises(BadInput, match="new or empty"):
        demo.main([str(tmp_path / "mine.txt")])
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_an_outcome_that_is_not_as_it_should_be_is_told_and_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code of the demonstration means something: nothing was done here, and it says so."""
    calls = _without_processes(monkeypatch, tmp_path)
    assert demo.main([str(tmp_path / "a"), "--plain"]) == 1
    said = capsys.readouterr().out
    assert "NOT AS IT SHOULD BE: not ticked in the plan: Write the front page" in said
    assert "NOT AS IT SHOULD BE: not made: site/index.html" in said
    assert calls == ["init", "up", "down"]


def test_keep_leaves_brain_and_seats_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = _without_processes(monkeypatch, tmp_path)
    demo.main([str(tmp_path / "a"), "--plain", "--keep"])
    assert calls == ["init", "up"]
    assert "coleo down" in capsys.readouterr().out


def test_whatever_goes_wrong_the_brain_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _without_processes(monkeypatch, tmp_path)

    def watch(_self: demo.Watcher) -> list[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo.Watcher, "watch", watch)
    with pytest.raises(KeyboardInterrupt):
        demo.main([str(tmp_path / "a"), "--plain"])
    assert calls == ["init", "up", "down"]


def _without_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Replace the commands and the watching; the names of the commands that would have run."""
    calls: list[str] = []

    def command(layout: Layout, *words: str, quiet: bool = False) -> None:
        calls.append(words[0])
        os.makedirs(layout.project, exist_ok=True)

    monkeypatch.setattr(demo, "_coleo", command)
    monkeypatch.setattr(demo.Watcher, "watch", lambda self: [])
    return calls
