"""The two ways to tell coleo about the scripted agent say the same."""

from __future__ import annotations

import sys
from pathlib import Path

from coleo.harness import load
from tests.agents.setup import PROGRAM, SCRIPTED, harness_file


def test_the_harness_file_is_the_record(tmp_path: Path) -> None:
    """`scripted.toml`, read as any harness file is, is what the tests of the host use."""
    folder = tmp_path / ".coleo" / "harness"
    folder.mkdir(parents=True)
    (folder / "scripted.toml").write_text(harness_file({"log": "{seat_dir}/got.jsonl", "swallow_enters": 1}))

    class Place:
        root = str(tmp_path)
        coleo = str(tmp_path / ".coleo")

    found = load.load("scripted", Place())
    assert found.replace(argv=()) == SCRIPTED
    known = load.values(project="/p", seat="s", seat_dir="/p/s", transcript="/t", run="/r")
    assert load.argv(found.argv, known) == (sys.executable, PROGRAM, '{"log": "/p/s/got.jsonl", "swallow_enters": 1}')
