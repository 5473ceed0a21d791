"""A bug of ours ends in exit 70 and a report that can be filed as it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from coleo import report
from coleo.files.redact import redact
from tests.files.project import NOW, lay

BROKEN = """
import sys
from coleo.bus import briefing
def get_full_briefing(ctx):
    raise ZeroDivisionError("token=abcdef123456 and CANARY_9f")
briefing.get_full_briefing = get_full_briefing
from coleo.__main__ import main
sys.argv = ["coleo", "bus", "get-full-briefing"]
sys.exit(main())
"""


def failed() -> ZeroDivisionError:
    """An error with a traceback."""
    try:
        raise ZeroDivisionError("password=hunter2hunter2 of CANARY_9f")
    except ZeroDivisionError as error:
        return error


def test_an_unexpected_error_is_exit_70_with_a_report(tmp_path: Path) -> None:
    """The report is in the project, for its owner only, and names neither secrets nor their variables' values."""
    layout = lay(tmp_path, "ada")
    os.makedirs(layout.activity)
    Path(layout.secrets_env).write_text("KEY=CANARY_9f\n")
    environ = {**os.environ, "COLEO_PROJECT": layout.root, "COLEO_SEAT": "ada"}
    done = subprocess.run([sys.executable, "-c", BROKEN], env=environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 70 and "a report is in" in done.stderr
    (path,) = Path(layout.reports).iterdir()
    assert str(path) in done.stderr and stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert text.startswith("# ZeroDivisionError in ") and "get_full_briefing" in text
    assert "CANARY_9f" not in text and "abcdef123456" not in text


def test_the_report_holds_what_a_maintainer_asks_for(tmp_path: Path) -> None:
    """Command, versions, traceback, the last lines of the log; secrets of the environment and of files are masked."""
    layout = lay(tmp_path, "ada")
    os.makedirs(layout.activity)
    (Path(layout.activity) / "2025-11-30.jsonl").write_text('{"action": "old"}\n' * 30 + '{"action": "last"}\n')
    Path(layout.seat("ada").env).write_text('export BOT="CANARY_9f"\n')
    environ = {"MY_TOKEN": "environ-secret", "COLEO_SEAT": "ada"}
    path = report.write(
        failed(), ["bus", "x", "environ-secret"], now=NOW, root=layout.root, environ=environ, redact=redact
    )  # fmt: skip
    assert path is not None
    text = Path(path).read_text()
    for words in (
        "coleo bus x [secret]",
        "ZeroDivisionError",
        "Python 3.",
        '"last"',
        "COLEO_SEAT",
        "## Where it ended",
    ):
        assert words in text
    for secret in ("environ-secret", "hunter2", "CANARY_9f"):
        assert secret not in text


def test_without_a_project_it_goes_to_a_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And when there is no place at all, the command still ends properly."""
    import tempfile

    look_alike = tmp_path / "a file"
    look_alike.touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = report.write(failed(), [], now=NOW, environ={})
    assert path is not None and path.startswith(str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(look_alike))
    assert report.write(failed(), [], now=NOW + 1, environ={}) is None


def test_a_broken_mask_lets_no_log_through(tmp_path: Path) -> None:
    """What it should have masked is left out."""
    layout = lay(tmp_path, "ada")
    os.makedirs(layout.activity)
    (Path(layout.activity) / "2025-11-30.jsonl").write_text('{"text": "private"}\n')

    def broken(_text: str) -> str:
        raise ValueError

    path = report.write(failed(), [], now=NOW, root=layout.root, environ={}, redact=broken)
    assert path is not None and "private" not in Path(path).read_text()


def test_ctrl_c_is_no_bug(tmp_path: Path) -> None:
    """Exit 130, no report."""
    layout = lay(tmp_path, "ada")
    code = BROKEN.replace('ZeroDivisionError("token=abcdef123456 and CANARY_9f")', "KeyboardInterrupt")
    environ = {**os.environ, "COLEO_PROJECT": layout.root, "COLEO_SEAT": "ada"}
    assert subprocess.run([sys.executable, "-c", code], env=environ, timeout=60).returncode == 130
    assert not Path(layout.reports).exists()
