"""The activity log, read: its end or a part, in bounded memory, whatever lies in between."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coleo.files import activity, history
from coleo.files.layout import Layout
from coleo.model.instant import iso
from tests.files.project import NOW, lay

DAY = 86400.0


def put(layout: Layout, day: str, data: bytes) -> Path:
    """Bytes as a day's file."""
    os.makedirs(layout.activity, mode=0o700, exist_ok=True)
    path = Path(layout.activity, f"{day}.jsonl")
    path.write_bytes(data)
    return path


def numbers(entries: list[dict[str, object]]) -> list[object]:
    return [entry["n"] for entry in entries]


def test_the_end_of_the_log_goes_over_days(tmp_path: Path) -> None:
    """Oldest first, as it is shown."""
    layout = lay(tmp_path)
    for number in range(10):
        activity.append(layout, "notice", now=NOW + number * DAY / 4, n=number)
    assert numbers(history.tail(layout, 4)) == [6, 7, 8, 9]
    assert numbers(history.tail(layout, 100)) == list(range(10))
    assert history.tail(layout, 0) == []
    assert numbers(history.tail(layout, 2, match=lambda entry: entry["n"] in (1, 2, 3))) == [2, 3]
    assert len(history.days(layout)) == 3


def test_no_log_is_an_empty_one(tmp_path: Path) -> None:
    """A project that was just made."""
    layout = Layout(str(tmp_path))
    assert history.tail(layout, 5) == []
    assert list(history.since(layout, 0.0)) == []
    assert history.prune(layout, 1, NOW) == []


def test_other_files_in_the_folder_are_not_read(tmp_path: Path) -> None:
    """A pipe must not stop a reader, an editor's copy must not double a line."""
    layout = lay(tmp_path)
    activity.append(layout, "notice", now=NOW, n=1)
    put(layout, "2025-11-30.jsonl~", b'{"n": 2}\n')
    put(layout, "notes", b'{"n": 3}\n')
    os.mkfifo(os.path.join(layout.activity, "2025-12-02.jsonl"))
    os.makedirs(os.path.join(layout.activity, "2025-12-03.jsonl"))
    assert numbers(history.tail(layout, 9)) == [1]
    assert numbers(list(history.since(layout, 0.0))) == [1]


LINES = st.lists(
    st.one_of(
        st.integers(0, 99).map(lambda n: json.dumps({"n": n}).encode()),
        st.sampled_from([b"", b" \r", b"{", b"[1]", b"7", b'"x"', b"\xff\xfe", b"null", b"[[", b"x" * 300]),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(lines=LINES, ends=st.booleans(), block=st.integers(1, 40))
def test_both_directions_see_the_same_entries(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ends: bool, block: int
) -> None:
    """Whatever lies where the blocks are cut, and whatever else is in the file."""
    layout = Layout(str(tmp_path_factory.mktemp("log")))
    path = put(layout, "2025-11-30", b"\n".join(lines) + (b"\n" if ends and lines else b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "_BLOCK", block)
        patch.setattr(history, "LONGEST_LINE", 200)
        forwards, backwards = history.Skipped(), history.Skipped()
        all_of_them = list(history.read(str(path), forwards))
        assert history.tail(layout, 99, skipped=backwards) == all_of_them
        assert numbers(all_of_them) == [json.loads(line)["n"] for line in lines if line.startswith(b'{"n"')]
        assert (backwards.lines, backwards.blank) == (forwards.lines, forwards.blank)
        for count in range(4):
            assert history.tail(layout, count) == all_of_them[max(len(all_of_them) - count, 0) :]


def test_a_search_can_be_bounded(tmp_path: Path) -> None:
    """`why` looks for a line that may not exist, in a log of a gigabyte."""
    layout = lay(tmp_path)
    put(layout, "2025-11-30", b"".join(b'{"n": %d}\n' % n for n in range(1000)))
    assert history.tail(layout, 1, match=lambda entry: entry["n"] == 3, within=2000) == []
    assert numbers(history.tail(layout, 1, match=lambda entry: entry["n"] == 990, within=2000)) == [990]


def test_since_an_instant_over_days(tmp_path: Path) -> None:
    """At the instant itself counts; earlier files are not opened."""
    layout = lay(tmp_path)
    for number in range(10):
        activity.append(layout, "notice", now=NOW + number * DAY / 4, n=number)
    assert numbers(list(history.since(layout, NOW + 5 * DAY / 4))) == [5, 6, 7, 8, 9]
    assert numbers(list(history.since(layout, NOW + 5 * DAY / 4, match=lambda entry: entry["n"] == 7))) == [7]
    assert list(history.since(layout, NOW + 30 * DAY)) == []
    assert len(list(history.since(layout, 0.0))) == 10


@pytest.mark.parametrize("minute", [0, 1, 500, 1438, 1439])
def test_since_finds_its_place_in_a_long_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minute: int) -> None:
    """By halving; lines that are a little out of order (writers wait for the lock) and bad ones do not mislead it."""
    monkeypatch.setattr(history, "LONGEST_LINE", 300)
    layout = lay(tmp_path)
    start = NOW - 10 * 3600.0
    lines = []
    for number in range(1440):
        at = start + number * 60.0 - (40.0 if number % 7 == 0 else 0.0)
        lines.append(json.dumps({"ts": iso(at), "n": number}).encode())
        if number % 50 == 0:
            lines.append(b"{ torn")
    put(layout, "2025-11-30", b"\n".join(lines) + b"\n")
    at = start + minute * 60.0
    found = numbers(list(history.since(layout, at)))
    wanted = [n for n in range(1440) if n * 60.0 - (40.0 if n % 7 == 0 else 0.0) >= minute * 60.0]
    assert found == wanted


def test_prune_keeps_what_is_asked_for(tmp_path: Path) -> None:
    """Whole days; nothing that is no day's file; 0 keeps all."""
    layout = lay(tmp_path)
    for day in ("2025-10-01", "2025-10-31", "2025-11-29", "2025-11-30"):
        put(layout, day, b"{}\n")
    put(layout, "2025-10-01.jsonl.gz", b"")
    assert history.prune(layout, 0, NOW) == []
    assert history.prune(layout, 30, NOW) == ["2025-10-01.jsonl"]
    assert history.prune(layout, 30, NOW) == []
    assert history.prune(layout, 1, NOW) == ["2025-10-31.jsonl"]
    assert sorted(os.listdir(layout.activity)) == ["2025-10-01.jsonl.gz.jsonl", "2025-11-29.jsonl", "2025-11-30.jsonl"]


def test_reading_holds_little_in_memory(tmp_path: Path) -> None:
    """Lines without end, forwards and backwards (case g05 has the gigabyte)."""
    layout = lay(tmp_path)
    path = put(layout, "2025-11-30", b"")
    with path.open("wb") as file:
        file.write(b'{"n": 1}\n')
        file.truncate(64 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b'\n{"n": 2}\n')
    tracemalloc.start()
    try:
        assert numbers(history.tail(layout, 9)) == [1, 2]
        assert numbers(list(history.since(layout, 0.0))) == [1, 2]
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
