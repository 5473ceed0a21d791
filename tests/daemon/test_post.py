"""The files of long prompts: kept for the agent that reads them later, not for ever."""

from __future__ import annotations

import os
from pathlib import Path

from coleo.daemon.post import prune_prompts
from coleo.files.layout import Layout

NOW = 1_800_000_000.0
DAY_S = 86400.0


def prompt_file(layout: Layout, seat: str, age_days: float) -> Path:
    """A long prompt of a seat that was written so many days ago."""
    path = Path(layout.prompts, seat, f"m-{age_days}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("words\n")
    os.utime(path, (NOW - age_days * DAY_S, NOW - age_days * DAY_S))
    return path


def test_long_prompts_go_when_the_log_of_their_day_goes(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path))
    young, old = prompt_file(layout, "ada", 29), prompt_file(layout, "bob", 31)
    assert prune_prompts(layout, 0, NOW) == 0
    assert prune_prompts(layout, 30, NOW) == 1
    assert (young.exists(), old.exists()) == (True, False)


def test_without_long_prompts_there_is_nothing_to_remove(tmp_path: Path) -> None:
    assert prune_prompts(Layout(str(tmp_path)), 30, NOW) == 0
