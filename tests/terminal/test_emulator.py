"""The emulator agrees with pyte where pyte is right, and is right where pyte is not."""

from __future__ import annotations

import pyte
from hypothesis import given
from hypothesis import strategies as st

from coleo.terminal.emulator import Emulator
from coleo.terminal.protocol import Style

CSI = "2;5H A 3B C 4D K 1K 2K J 1J 2J 2L M 3P 2@ 4X 2;4r r 31m 0m 44m G 3d"
MOVES = st.sampled_from([f"\x1b[{end}" for end in CSI.split()] + ["\x1bM", "\x1bD", "\r", "\n", "\b", "\t"])
WORDS = st.text(alphabet=[chr(n) for n in range(32, 127)] + ["ä", "漢", "é"], max_size=15)


@given(st.lists(st.one_of(MOVES, WORDS), max_size=40))
def test_as_pyte_draws_it(parts: list[str]) -> None:
    """Text, moves, erasing and scrolling: the same cells as pyte's."""
    ours, theirs = Emulator(5, 12), pyte.Screen(12, 5)
    stream = pyte.Stream(theirs)
    for part in parts:
        ours.feed(part)
        stream.feed(part)
        # pyte wraps a wide character only behind the last column, and would put its half outside.
        if any(theirs.buffer[y][11].data == "漢" for y in range(5)) or theirs.cursor.x != ours.cursor.x:
            return
    assert seen(ours) == seen(theirs)
    assert ours.faults == 0


def seen(screen: pyte.Screen) -> list[list[object]]:
    """All cells; of blanks only that they are: pyte gives them styles that terminals do not."""
    cells = [[screen.buffer[y][x] for x in range(12)] for y in range(5)]
    return [[cell if cell.data != " " else " " for cell in row] for row in cells]


def rows(*parts: str, size: tuple[int, int] = (4, 10)) -> list[str]:
    screen = Emulator(*size)
    for part in parts:
        screen.feed(part)
    return list(screen.rows())


def test_wide_characters_are_two_columns() -> None:
    """pyte's own `display` raises on what is left of a wide character."""
    assert rows("漢字ab\r\n\x1b[2;3Hx") == ["漢字ab", "  x", "", ""]
    assert rows("123456789漢") == ["123456789", "漢", "", ""]


def test_half_a_wide_character_is_a_blank() -> None:
    """The other half of an overwritten one keeps its column."""
    assert rows("漢字\x1b[1;1Hx") == ["x 字", "", "", ""]
    assert rows("漢字\x1b[1;2Hx") == [" x字", "", "", ""]


def test_characters_without_width_do_not_end_the_text() -> None:
    """Emoji with joiners and variation selectors: pyte drops the rest of the line behind them."""
    assert rows("a✳\ufe0fb👩\u200d🚀c\u0301d")[0].replace("\ufe0f", "").replace("\u200d", "") == "a✳b👩🚀ćd"


def test_the_alternate_screen_gives_the_other_back() -> None:
    """vim, started by an agent, leaves what was there before."""
    assert rows("before", "\x1b[?1049h\x1b[H", "inside", "\x1b[?1049l", "!") == ["before!", "", "", ""]
    assert rows("before", "\x1b[?1049h\x1b[H", "inside") == ["inside", "", "", ""]


def test_scrolling_repeating_back_tab() -> None:
    """SU, SD, REP and CBT, which pyte does not know."""
    assert rows("1\r\n2\r\n3\r\n4", "\x1b[2S") == ["3", "4", "", ""]
    assert rows("1\r\n2\r\n3\r\n4", "\x1b[T") == ["", "1", "2", "3"]
    assert rows("ab\x1b[3b") == ["abbbb", "", "", ""]
    assert rows("123456789\x1b[Zx") == ["12345678x", "", "", ""]


def test_a_saved_place_stays_saved() -> None:
    """Restoring twice goes to the same place, and a program that saves for days costs nothing."""
    screen = Emulator(4, 10)
    for _ in range(1000):
        screen.feed("\x1b[2;3H\x1b7")
    assert len(screen.savepoints) == 1
    screen.feed("\x1b[H\x1b8a\x1b8b")
    assert screen.rows()[1] == "  b"


def test_line_drawing() -> None:
    """ESC ( 0, as old programs draw boxes."""
    assert rows("\x1b(0lqk\x1b(Bx")[0] == "┌─┐x"


def test_colours_are_runs() -> None:
    """What `svg` and an attached terminal draw."""
    screen = Emulator(2, 10)
    screen.feed("ab\x1b[1;31mcd\x1b[0;105me\x1b[38;2;1;2;3mf")
    first = screen.runs()[0]
    assert [(cols, text) for cols, text, _ in first] == [(2, "ab"), (2, "cd"), (1, "e"), (1, "f"), (4, "    ")]
    assert [style for _, _, style in first][1:4] == [
        Style(fg="red", bold=True),
        Style(bg="brightmagenta"),
        Style(fg="010203", bg="brightmagenta"),
    ]


def test_equal_cells_are_one_object() -> None:
    """50 x 200 cells would be 1.5 MB of them otherwise."""
    screen = Emulator(2, 10)
    screen.feed("aaaa\x1b[31m\x1b[0ma")
    assert screen.buffer[0][0] is screen.buffer[0][3] is screen.buffer[0][4]


def test_smaller_and_larger() -> None:
    """A resize keeps what fits, and the cursor on the screen."""
    screen = Emulator(4, 10)
    screen.feed("0123456789\r\nx")
    screen.resize(3, 5)
    assert screen.rows() == ("01234", "x", "")
    screen.feed("\r\ny\x1b[4;10H")
    screen.resize(2, 5)
    assert screen.rows() == ("x", "y")
    assert (screen.cursor.y, screen.cursor.x) == (1, 4)
    screen.resize(4, 8)
    screen.feed("\x1b[Hhello world")
    assert screen.rows()[:2] == ("hello wo", "rld")
