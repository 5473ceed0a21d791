"""A process at its limits must not take its own trouble for a bad message."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from coleo.files import atomic, mail
from tests.files.project import NOW, lay, where


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_a_shortage_quarantines_nothing(tmp_path: Path, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of descriptors or memory: the message waits where it is, and is delivered at the next look."""
    layout = lay(tmp_path)
    sent = mail.send(layout, "bob", "alice", "hello", now=NOW)
    read = atomic.read

    def short(path: str, limit: int | None = None) -> bytes | None:
        if path.endswith(sent.name):
            raise OSError(code, "shortage")
        return read(path, limit)

    with monkeypatch.context() as at_the_limit:
        at_the_limit.setattr(atomic, "read", short)
        found = mail.scan(layout, "bob", NOW + 60)
        assert (found.messages, found.quarantined, found.waiting) == ((), (), (sent.name,))
    assert where(layout, "bob") == {sent.name: "inbox"}
    assert [message.id for message in mail.scan(layout, "bob", NOW + 61).messages] == [sent.id]
