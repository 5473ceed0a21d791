"""What ``coleo status`` is made of."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from coleo.bus.overview import overview
from coleo.files import mail
from tests.bus.calling import project
from tests.files.project import NOW


def test_a_full_disk_is_a_problem_that_status_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be written into the log then, so the status has to look for itself."""
    layout = project(tmp_path)
    os.makedirs(layout.coleo, exist_ok=True)
    assert overview(layout, NOW)["problems"] == []
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_bavail=3, f_frsize=4096))
    assert overview(layout, NOW)["problems"] == [
        "the disk is full (12 KiB left): nothing is taken or delivered until there is room"
    ]


def test_what_coleo_called_off_itself_worries_nobody(tmp_path: Path) -> None:
    """Dead mail counts for a person only when somebody else wrote it."""
    layout = project(tmp_path, "- [ ] One\n", "ada")
    for sender in ("brain", "bob"):
        message = mail.send(layout, "ada", sender, "hello", now=NOW)
        mail.bury(layout, "ada", message, "called off", NOW)
    mail_of_ada = overview(layout, NOW)["seats"][0]["mail"]
    assert (mail_of_ada["dead"], mail_of_ada["undelivered"]) == (2, 1)
