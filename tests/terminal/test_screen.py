"""Output is stored at once and drawn late, and never more than 256 KiB wait."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coleo.terminal.screen import BEHIND, RING, SLICE, Screen


def test_nothing_is_drawn_until_somebody_looks() -> None:
    """The emulator is not even loaded: a host that nobody asks stays small."""
    screen = Screen(5, 20)
    screen.add(b"hello")
    assert not screen.asked and screen.behind == 5
    assert screen.feed() and screen.asked
    assert screen.rows()[0] == "hello"


def test_drawing_goes_in_slices() -> None:
    """So that reading goes on in between (case b02)."""
    screen = Screen(5, 20)
    screen.add(b"x" * (2 * SLICE + 1))
    steps = 1
    while not screen.feed():
        steps += 1
    assert steps == 3 and screen.behind == 0


def test_too_much_at_once_makes_the_screen_unknown() -> None:
    """What waits is dropped; the shot says that it is not what the program drew."""
    screen = Screen(5, 20)
    screen.add(b"first\r\n")
    for _ in range(BEHIND // 4096 + 1):
        screen.add(b"x" * 4096)
        assert screen.behind <= BEHIND
    assert not screen.known
    screen.catch_up()
    assert not screen.shot().known


def test_a_line_reader_is_drawn_from_its_last_lines() -> None:
    """Right without a redraw: lines only ever come below each other."""
    screen = Screen(5, 40)
    for number in range(40_000):
        screen.add(b"this is line %d of many\r\n" % number)
    assert not screen.known
    screen.from_tail()
    screen.catch_up()
    shot = screen.shot()
    assert shot.known
    assert shot.rows[:4] == tuple(f"this is line {number} of many" for number in range(39_996, 40_000))


def test_small_and_large_pieces_are_kept() -> None:
    """The last MiB, at least and not much more, in order."""
    screen = Screen(5, 20)
    data = bytes(range(256)) * 8192
    for start in range(0, len(data), 37):
        screen.add(data[start : start + 37])
    assert screen.tail(RING) == data[-RING:]
    assert screen.tail(10) == data[-10:]
    assert screen.tail(0) == b""
    assert len(screen.tail(10 * RING)) < RING + 65536


@given(st.lists(st.binary(max_size=40), max_size=30), st.lists(st.booleans(), max_size=30))
def test_drawing_early_or_late_is_the_same(parts: list[bytes], early: list[bool]) -> None:
    """When it is drawn makes no difference to what is drawn."""
    one, two = Screen(4, 15), Screen(4, 15)
    for number, part in enumerate(parts):
        one.add(part)
        two.add(part)
        if number < len(early) and early[number]:
            two.catch_up()
    one.catch_up()
    two.catch_up()
    assert one.rows() == two.rows() and one.cursor == two.cursor


def test_a_restart_is_empty() -> None:
    """For a program that draws everything anew."""
    screen = Screen(5, 20)
    screen.add(b"old")
    screen.catch_up()
    screen.add(b"waiting")
    screen.restart()
    screen.catch_up()
    assert screen.shot().text == "" and screen.known
    screen.resize(3, 10)
    screen.add(b"0123456789ab")
    screen.catch_up()
    assert screen.rows() == ("0123456789", "ab", "")
    assert screen.shot().size == (3, 10)
