"""What people want of the arms survives whoever said it, in any order, from many hands at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coleo.files import desired
from coleo.files.desired import Wish
from coleo.files.layout import Layout
from coleo.model.errors import BadInput


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / ".project").mkdir()
    return Layout(os.path.realpath(tmp_path))


def test_nothing_said_is_nothing_wanted(layout: Layout) -> None:
    found = desired.read(layout)
    assert (found.paused_all, dict(found.seats), found.problem) == (False, {}, "")
    assert found.of("ada") == Wish()
    assert not found.paused("ada")


def test_each_word_changes_only_what_it_is_about(layout: Layout) -> None:
    desired.change(layout, "ada", paused=True)
    desired.change(layout, "ada", stopped=True)
    desired.change(layout, "ada", restart_at=1_800_000_000.5, unpark_at=1_800_000_001.0)
    desired.change(layout, "bob", paused=True)
    found = desired.read(layout)
    assert found.of("ada") == Wish(True, True, 1_800_000_000.5, 1_800_000_001.0)
    assert found.of("bob") == Wish(True)
    assert os.stat(desired.path(layout)).st_mode & 0o777 == 0o600


def test_all_overrides_what_was_said_by_name_and_a_name_overrides_all(layout: Layout) -> None:
    desired.change(layout, "ada", paused=False)
    desired.change(layout, None, paused=True)
    assert desired.read(layout).paused("ada")
    desired.change(layout, "ada", paused=False)
    found = desired.read(layout)
    assert (found.paused("ada"), found.paused("bob")) == (False, True)
    desired.change(layout, None, paused=False)
    found = desired.read(layout)
    assert not found.paused("ada")
    assert not found.paused("bob")


def test_a_word_that_changes_nothing_writes_nothing(layout: Layout) -> None:
    """An idle brain must not be woken by the same wish again (case c05)."""
    desired.change(layout, "ada", paused=True)
    before = os.stat(desired.path(layout))
    desired.change(layout, "ada", paused=True)
    assert os.stat(desired.path(layout)) == before


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"seats": 3}', b"\xff\xfe", b"\0" * 40])
def test_what_cannot_be_read_is_told_kept_and_replaced(layout: Layout, text: bytes) -> None:
    """A brain keeps what it knew; a person's next word counts, and the bad bytes stay for a look."""
    os.makedirs(layout.run)
    Path(desired.path(layout)).write_bytes(text)
    assert desired.read(layout).problem
    desired.change(layout, "ada", paused=True)
    found = desired.read(layout)
    assert (found.problem, found.paused("ada")) == ("", True)
    assert Path(desired.path(layout) + ".bad").read_bytes() == text


def test_fields_of_a_wrong_type_count_as_unsaid(layout: Layout) -> None:
    os.makedirs(layout.run)
    Path(desired.path(layout)).write_text(
        '{"paused_all": "yes", "seats": {"ada": {"paused": 1, "stopped": "true", "restart_at": 5}, "bob": 7}}'
    )
    found = desired.read(layout)
    assert (found.paused_all, found.of("ada"), found.of("bob")) == (False, Wish(), Wish())


def test_no_seat_name_no_wish(layout: Layout) -> None:
    with pytest.raises(BadInput):
        desired.change(layout, "../x", paused=True)


def test_many_hands_at_once_lose_no_word(layout: Layout) -> None:
    code = (
        "import sys; from coleo.files import desired; from coleo.files.layout import Layout\n"
        "for n in range(10): desired.change(Layout(sys.argv[1]), f'seat{sys.argv[2]}{n}', paused=True)"
    )
    hands = [subprocess.Popen([sys.executable, "-c", code, layout.root, str(number)]) for number in range(4)]
    assert [hand.wait(60) for hand in hands] == [0, 0, 0, 0]
    assert len(desired.read(layout).seats) == 40
