"""What lies beside a socket and goes over it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from coleo.model.arm import ProcessId
from coleo.model.delivery import DeliveryState, DeliveryStatus, Exit, HostStatus, ScreenState
from coleo.terminal.protocol import (
    ExitRecord,
    HostGone,
    HostSpec,
    ScreenShot,
    Style,
    bind,
    connect,
    exit_path,
    read_exit,
    write_private,
)
from tests.agents.setup import spec

ME = ProcessId(7, 8, "boot")


def test_records_come_back_whole(tmp_path: Path) -> None:
    """Spec, exit record, screen, status: what is written is what is read."""
    wanted = spec(tmp_path, ["true", "ä"])
    assert HostSpec.from_json(wanted.to_json()) == wanted
    delivery = DeliveryStatus("m-1", DeliveryState.ENTERED, "why", 1, 2, 3.5, "weak")
    assert DeliveryStatus.from_json(delivery.as_dict()) == delivery
    record = ExitRecord("a", 2, ME, ME, Exit(signal=9), 1.5, screen=("x", "ä"), deliveries=(delivery,))
    write_private(exit_path(str(tmp_path / "a.json")), record.to_json())
    assert read_exit(str(tmp_path / "a.json")) == record
    assert ExitRecord.from_json(record.replace(child=None, exit=None).to_json()).exit is None
    shot = ScreenShot(("a", ""), (0, 1), (2, 5), True, "t", False, 3, (((5, "a    ", Style(fg="red")),), ()))
    assert ScreenShot.from_json(shot.to_json()) == shot
    status = HostStatus(
        "a", 1, ME, None, False, Exit(code=0), ScreenState.BUSY, "e", 1, 2, None, 0, None, 5, True, False
    )
    assert HostStatus.from_json(status.as_json()) == status


def test_what_is_no_record() -> None:
    """Said with ValueError, by name."""
    for data in ({}, {"seat": "a"}, {"argv": 5}):
        with pytest.raises(ValueError, match="not a host's spec"):
            HostSpec.from_json(data)
        with pytest.raises(ValueError, match="not an exit record"):
            ExitRecord.from_json(data)


def test_no_exit_yet(tmp_path: Path) -> None:
    """None; a broken one is an error, not nothing."""
    assert read_exit(str(tmp_path / "a.json")) is None
    (tmp_path / "a.exit.json").write_text("{")
    with pytest.raises(ValueError, match="Expecting"):
        read_exit(str(tmp_path / "a.json"))


def test_private_whole_or_not_at_all(tmp_path: Path) -> None:
    """0600, nothing beside it, the old content when the new one cannot be written; no symlink is followed."""
    path = tmp_path / "x.json"
    write_private(str(path), {"a": 1})
    with pytest.raises(TypeError):
        write_private(str(path), {"a": object()})
    assert path.read_text() == '{"a": 1}' and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["x.json"]
    (tmp_path / f"x.json.{os.getpid()}.tmp").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        write_private(str(path), {"a": 2})
    assert not (tmp_path / "elsewhere").exists()


def test_nobody_listens(tmp_path: Path) -> None:
    """No file, no folder, no socket, a socket without a listener: HostGone."""
    (tmp_path / "file").write_text("")
    bind(str(tmp_path / "stale")).close()
    for name in ("none", "none/none", "file/none", "stale"):
        with pytest.raises(HostGone, match="no host answers"):
            connect(str(tmp_path / name))
