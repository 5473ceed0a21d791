"""`coleo plan` and `coleo inbox` on any Markdown file: they work anywhere and change nothing."""

from __future__ import annotations

import os
from pathlib import Path

from coleo.files import unread
from tests.cli.helpers import coleo, facts, project

INBOX = """# Ideas
Loose words.

## Write the letter
with care

- [ ] Buy stamps
- [ ] Buy the stamps!
"""


def test_a_plan_outside_of_any_project(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("# One\n- [ ] first\n  - [x] child\n```\n- [ ] no task\n```\n")
    before = file.stat()
    found = facts(tmp_path, "plan", "notes.md")
    assert [(t["title"], t["done"], t["line"], t["section"], t["depth"]) for t in found["tasks"]] == [
        ("first", False, 2, "One", 0),
        ("child", True, 3, "One", 1),
    ]
    text = coleo(tmp_path, "plan", "notes.md").stdout
    assert "[x]    child" in text.replace("  [x]", "[x]")
    assert "2 tasks, 1 done" in text
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert os.listdir(tmp_path) == ["notes.md"]


def test_an_inbox_outside_of_any_project_with_its_repeats(tmp_path: Path) -> None:
    (tmp_path / "in.md").write_text(INBOX)
    (tmp_path / "plan.md").write_text("- [ ] The letter: write\n")
    found = facts(tmp_path, "inbox", "in.md", "--against", "plan.md")
    assert [task["title"] for task in found["tasks"]] == ["Buy stamps"]
    assert [other["title"] for other in found["duplicates"]] == ["Write the letter", "Buy the stamps!"]
    assert {row["text"] for row in found["no_task"]} >= {"Loose words."}
    text = coleo(tmp_path, "inbox", "in.md").stdout
    assert "a note of line 7" in text
    assert "makes no task, line 2: Loose words." in text


def test_without_a_file_it_is_that_of_the_project(tmp_path: Path) -> None:
    layout = project(tmp_path)
    Path(layout.inbox).write_text("- [ ] Write the letter\n- [ ] Something new\n")
    assert len(facts(layout, "plan")["tasks"]) == 4
    found = facts(layout, "inbox")
    assert [task["title"] for task in found["tasks"]] == ["Something new"]
    assert [other["title"] for other in found["duplicates"]] == ["Write the letter"]
    assert Path(layout.inbox).read_text().startswith("- [ ] Write the letter")


def test_what_is_no_file_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert coleo(tmp_path, "plan", "nothing.md").returncode == 2
    assert coleo(tmp_path, "plan", "folder").returncode == 2
    assert "coleo init" in coleo(tmp_path, "plan").stderr
    layout = project(tmp_path / "p")
    os.unlink(layout.plan)
    assert coleo(layout, "plan").returncode == 2


def test_unread_lines_are_shown_once(tmp_path: Path) -> None:
    layout = project(tmp_path)
    unread.add(layout, "b-1", 1_800_000_000.0, [(3, "Loose words."), (9, "\x1b[2Jmore")])
    assert facts(layout, "status")["unread"] == 2
    assert "coleo inbox --unread" in coleo(layout, "status").stdout
    text = coleo(layout, "inbox", "--unread").stdout
    assert "line 3: Loose words." in text
    assert "\\x1b[2Jmore" in text
    assert facts(layout, "inbox", "--unread") == {"unread": []}
    assert "inbox" not in coleo(layout, "status").stdout
