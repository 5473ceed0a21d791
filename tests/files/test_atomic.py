"""State files are whole or not there; an error leaves the old one and no litter (case f07)."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coleo.files import atomic


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


def test_write_replaces_the_whole_file(tmp_path: Path) -> None:
    """Longer by shorter, and nothing else in the folder."""
    path = tmp_path / "state.json"
    path.write_bytes(b"old and long")
    atomic.write(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert modes(tmp_path) == {"state.json": 0o600}


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777])
def test_the_mode_does_not_depend_on_the_umask(tmp_path: Path, mask: int) -> None:
    """Case h06."""
    before = os.umask(mask)
    try:
        atomic.write(str(tmp_path / "a"), b"")
        atomic.create(str(tmp_path / "b"), b"")
        atomic.write(str(tmp_path / "c"), b"", mode=0o644)
    finally:
        os.umask(before)
    assert modes(tmp_path) == {"a": 0o600, "b": 0o600, "c": 0o644}


def test_create_makes_one_winner(tmp_path: Path) -> None:
    """The loser learns that it lost and changes nothing."""
    path = str(tmp_path / "claim.json")
    assert atomic.create(path, b"first") is True
    assert atomic.create(path, b"second") is False
    assert modes(tmp_path) == {"claim.json": 0o600}
    assert Path(path).read_bytes() == b"first"


def test_create_never_follows_a_link(tmp_path: Path) -> None:
    """Whoever laid a dangling link there would choose where the file goes."""
    (tmp_path / "claim.json").symlink_to(tmp_path / "elsewhere")
    assert atomic.create(str(tmp_path / "claim.json"), b"x") is False
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("refusal", [errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK])
def test_create_works_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int) -> None:
    """FAT, some network file systems: exclusive all the same."""

    def no_link(*_args: object) -> None:
        raise OSError(refusal, "no links here")

    monkeypatch.setattr(os, "link", no_link)
    path = str(tmp_path / "claim.json")
    assert atomic.create(path, b"first") is True
    assert atomic.create(path, b"second") is False
    assert modes(tmp_path) == {"claim.json": 0o600}
    assert Path(path).read_bytes() == b"first"


@settings(deadline=None)
@given(data=st.binary(max_size=400), step=st.integers(1, 7))
def test_short_writes_are_gone_on_with(tmp_path_factory: pytest.TempPathFactory, data: bytes, step: int) -> None:
    """The kernel may take some bytes only; a file that is cut there is torn."""
    path = str(tmp_path_factory.mktemp("short") / "state")
    write = os.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", lambda fd, rest: write(fd, bytes(rest)[:step]))
        atomic.write(path, data)
    assert Path(path).read_bytes() == data


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "fchmod"])
def test_an_error_leaves_the_old_file_and_no_temp_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """A full disk, at each call that may meet it."""
    path = tmp_path / "state.json"
    path.write_bytes(b"old")

    def full(*_args: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="full"):
        atomic.write(str(path), b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]


def test_a_write_that_takes_nothing_is_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not an endless loop."""
    monkeypatch.setattr(os, "write", lambda _fd, _rest: 0)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        atomic.write(str(tmp_path / "a"), b"data")


def test_a_file_of_the_wrong_size_is_not_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written is looked at before the old file goes."""
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(atomic, "write_all", lambda fd, data: os.write(fd, data[:-1]))
    with pytest.raises(OSError, match="does not hold"):
        atomic.write(str(tmp_path / "a"), b"new and long")
    assert (tmp_path / "a").read_bytes() == b"old"


def test_names_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    """The temp file's name must fit too."""
    for name in ("n" * 255, "ü" * 127):
        atomic.write(str(tmp_path / name), b"x")
        assert (tmp_path / name).read_bytes() == b"x"


def test_read(tmp_path: Path) -> None:
    """Absent is None, also below something that is no folder; a limit cuts."""
    (tmp_path / "a").write_bytes(b"0123456789")
    assert atomic.read(str(tmp_path / "a")) == b"0123456789"
    assert atomic.read(str(tmp_path / "a"), limit=4) == b"0123"
    assert atomic.read(str(tmp_path / "a"), limit=0) == b""
    assert atomic.read(str(tmp_path / "none")) is None
    assert atomic.read(str(tmp_path / "a" / "below")) is None


def test_reading_a_pipe_or_a_folder_fails_at_once(tmp_path: Path) -> None:
    """A pipe that somebody drops into a mailbox must not stop the loop."""
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(OSError, match="not a regular file"):
            atomic.read(str(tmp_path / name))


def test_json_round_trip(tmp_path: Path) -> None:
    """Words stay readable in the file, and lone surrogates (from file names) survive."""
    path = str(tmp_path / "a.json")
    value = {"title": "Größe ändern", "odd": "\udc80", "n": [1, None, True]}
    atomic.write_json(path, value)
    assert atomic.read_json(path) == value
    assert "Größe" in Path(path).read_text(encoding="utf-8")


@pytest.mark.parametrize("data", [b"", b"\0\0\0\0", b"{", b"\xff\xfe{}", b"{'a': 1}", b"[" * 100_000])
def test_what_is_no_json_says_so_with_its_path(tmp_path: Path, data: bytes) -> None:
    """Empty and all-NUL files are what a power cut leaves."""
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.json"):
        atomic.read_json(str(tmp_path / "a.json"))
    assert atomic.read_json(str(tmp_path / "none.json")) is None


def test_sweep_takes_only_our_own_old_temp_files(tmp_path: Path) -> None:
    """A kill leaves one; those of editors and of writers at work are not ours to remove."""
    ours, young, editors = ".a.json.0011aabbccdd.tmp", ".b.json.0011aabbccdd.tmp", "plan.md.tmp"
    for name in (ours, young, editors, ".hidden"):
        (tmp_path / name).write_bytes(b"")
    at = time.time()
    for name in (ours, editors, ".hidden"):
        os.utime(tmp_path / name, (at - 7200, at - 7200))
    assert atomic.sweep(str(tmp_path), at - 3600) == [ours]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([young, editors, ".hidden"])
    assert atomic.sweep(str(tmp_path / "none"), at) == []
