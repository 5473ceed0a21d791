"""The activity log, written: whole lines, no secrets, bounded, and never in the way of the work."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coleo.files import activity, locks
from coleo.files.layout import Layout
from tests.files.project import NOW, lay, log


def test_a_line_says_when_what_and_the_rest(tmp_path: Path) -> None:
    """Fields keep their order, what is None is left out, the file is private and named after the UTC day."""
    layout = lay(tmp_path)
    assert activity.append(layout, "claim_task", now=NOW, seat="ada", task="t-abc234", reason=None, n=3)
    assert activity.append(layout, "notice", now=NOW + 86400, text="Größe — 長さ")
    assert log(layout) == [
        {"ts": "2025-11-30T10:00:00.000Z", "action": "claim_task", "seat": "ada", "task": "t-abc234", "n": 3},
        {"ts": "2025-12-01T10:00:00.000Z", "action": "notice", "text": "Größe — 長さ"},
    ]
    assert list(log(layout)[0]) == ["ts", "action", "seat", "task", "n"]
    files = sorted(Path(layout.activity).iterdir())
    assert [file.name for file in files] == ["2025-11-30.jsonl", "2025-12-01.jsonl"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert os.stat(layout.activity).st_mode & 0o777 == 0o700


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=30)
    | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(fields=st.dictionaries(st.text(min_size=1, max_size=8), JSON, max_size=5))
def test_any_value_makes_one_line_of_json(fields: dict[str, Any]) -> None:
    """Control characters, lone surrogates, bytes, odd numbers: what agents say is not chosen by us."""
    data = activity.line("notice", NOW, fields)
    assert data.count(b"\n") == 1
    assert data.endswith(b"\n")
    entry = json.loads(data)
    assert entry["ts"] == "2025-11-30T10:00:00.000Z" or "ts" in fields
    assert {name for name, value in fields.items() if value is not None} <= set(entry)


@pytest.mark.parametrize("text", ["x" * 12_000_000, "ü" * 20_000, "\0" * 100_000, '"' * 60_000, "\ud800" * 30_000])
def test_a_long_string_is_cut_with_its_length(text: str) -> None:
    """16 KiB of a string at most, and no line of 64 KiB or more, whatever escapes do to it (case g05)."""
    data = activity.line("notice", NOW, {"text": text, "seat": "ada"})
    assert len(data) < 64 * 1024
    entry = json.loads(data)
    assert entry["seat"] == "ada"
    full = len(text.encode("utf-8", "replace"))
    assert entry["text"].endswith(f"[cut: {full} bytes]")
    assert len(entry["text"].encode("utf-8", "replace")) <= activity.STRING_LIMIT


def test_many_fields_fit_as_well() -> None:
    """Each gets less; no field vanishes."""
    fields = {f"f{number}": "y" * 16_000 for number in range(40)}
    data = activity.line("notice", NOW, fields)
    assert len(data) <= activity.LINE_LIMIT
    assert len(json.loads(data)) == 42
    deep = activity.line("notice", NOW, {"names": {f"n{number}": "z" * 200 for number in range(3000)}})
    assert len(deep) <= activity.LINE_LIMIT
    assert "left out" in json.loads(deep)["text"]


def test_a_text_of_exactly_the_limit_is_not_touched() -> None:
    """One byte more is."""
    whole = "a" * activity.STRING_LIMIT
    assert json.loads(activity.line("notice", NOW, {"text": whole}))["text"] == whole
    assert "cut" in json.loads(activity.line("notice", NOW, {"text": whole + "a"}))["text"]


def test_half_a_secret_does_not_stay_where_a_text_is_cut() -> None:
    """Masked first, cut second."""
    secret = "correct-horse-battery-staple-" * 40
    text = "x" * (activity.STRING_LIMIT - 500) + secret + "y" * 30_000
    entry = json.loads(activity.line("notice", NOW, {"text": text}, [secret]))
    assert "horse" not in entry["text"]


def test_secrets_of_the_project_and_of_every_seat_are_masked(tmp_path: Path) -> None:
    """Also in another seat's line, inside a longer text, and after the file has changed."""
    layout = lay(tmp_path, "ada", "bob")
    os.makedirs(layout.coleo)
    Path(layout.secrets_env).write_text("SHARED=common-value-1\nPATH=/opt/bin:/usr/bin\n")
    Path(layout.seat("bob").env).write_text("PIN=123456789\nDB_PASSWORD=abcd\nSHORT=ab\n")
    activity.append(
        layout, "notice", now=NOW, seat="ada", text="(common-value-1) 123456789 xabcdx ab /opt/bin:/usr/bin"
    )
    Path(layout.seat("bob").env).write_text("PIN=987654321000\n")
    activity.append(layout, "notice", now=NOW, seat="ada", text="987654321000")
    first, second = (entry["text"] for entry in log(layout))
    assert first == "([redacted]) [redacted] x[redacted]x ab /opt/bin:/usr/bin"
    assert second == "[redacted]"


def test_a_secret_file_that_cannot_be_read_stops_no_line(tmp_path: Path) -> None:
    """A folder in its place."""
    layout = lay(tmp_path, "ada")
    os.makedirs(layout.secrets_env)
    assert activity.append(layout, "notice", now=NOW, text="hello")


def test_a_full_disk_is_counted_and_leaves_no_torn_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work goes on; what the disk took of the line is taken back."""
    layout = lay(tmp_path)
    activity.append(layout, "notice", now=NOW, text="before")
    write = os.write

    def full(fd: int, data: bytes) -> int:
        if len(data) > 40:
            return write(fd, bytes(data)[:40])
        raise OSError(errno.ENOSPC, "full")

    dropped = activity.dropped
    monkeypatch.setattr(os, "write", full)
    assert activity.append(layout, "notice", now=NOW, text="x" * 55) is False
    monkeypatch.undo()
    assert activity.dropped == dropped + 1
    activity.append(layout, "notice", now=NOW, text="after")
    assert [entry["text"] for entry in log(layout)] == ["before", "after"]


def test_a_log_that_is_locked_for_long_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped process that holds the lock costs a line, not a deadlock."""
    layout = lay(tmp_path)
    monkeypatch.setattr(activity, "LOCK_WAIT_S", 0.0)
    with locks.hold(layout.lock("activity")):
        assert activity.append(layout, "notice", now=NOW, text="lost") is False
    assert activity.append(layout, "notice", now=NOW, text="written") is True


def test_no_line_goes_through_a_symlink(tmp_path: Path) -> None:
    """Whoever lays one would choose the file that is written to."""
    layout = lay(tmp_path)
    os.makedirs(layout.activity, mode=0o700)
    (tmp_path / "elsewhere").write_text("")
    os.symlink(tmp_path / "elsewhere", activity.path_of(layout, NOW))
    assert activity.append(layout, "notice", now=NOW) is False
    assert (tmp_path / "elsewhere").read_text() == ""


def test_a_project_that_is_gone_costs_a_line(tmp_path: Path) -> None:
    """A file where the folder should be."""
    layout = Layout(str(tmp_path / "p"))
    (tmp_path / "p").write_text("")
    assert activity.append(layout, "notice", now=NOW) is False


def test_a_value_that_contains_itself_costs_a_line(tmp_path: Path) -> None:
    """The log must never stop what it tells of."""
    layout = lay(tmp_path)
    endless: list[object] = []
    endless.append(endless)
    assert activity.append(layout, "notice", now=NOW, value=endless) is False
