"""What reaches the emulator: the same however reads cut the output, and nothing that pyte cannot take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coleo.terminal.emulator import Emulator
from coleo.terminal.filter import Filter

PIECES = st.sampled_from(
    [
        b"plain text ",
        "äöü 漢字 ✳️ \u0301 \u200d".encode(),
        b"\x1b[31m",
        b"\x1b[38:2::10:20:30m",
        b"\x1b[4:3m",
        b"\x1b[?4m",
        b"\x1b[>4;2m",
        b"\x1b[?2004h",
        b"\x1b[?1049h",
        b"\x1b[?1049l",
        b"\x1b[2 q",
        b"\x1b[!p",
        b"\x1b[<u",
        b"\x1b[999999999999999999999;5H",
        b"\x1b[2;3H",
        b"\x1b[?25l",
        b"\x1b[3S",
        b"\x1b[2T",
        b"\x1b[10b",
        b"\x1b[Z",
        b"\x1b[s",
        b"\x1b[u",
        b"\x1b7",
        b"\x1b8",
        b"\x1b(0lqqk\x1b(B",
        b"\x1bP1$r0m\x1b\\",
        b"\x1b_Gi=1;AAAA\x1b\\",
        b"\x1bXsos\x1b\\",
        b"\x1b^pm\x1b\\",
        b"\x1b]0;title\x07",
        b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
        b"\x1b]never ended",
        b"\x1bP never ended",
        b"\x1b",
        b"\x1b[",
        b"\x9b\xff\xc3",
        b"\r\n",
        b"\x00\x07\x08\x18\x1a\x0e\x0f",
        b"\x1b#8",
        b"\x1bc",
        b"\x1b[5;2r",
        b"\x1b[4h",
        b"\x1b[?7l",
    ]
)
OUTPUT = st.lists(st.one_of(PIECES, st.binary(max_size=12)), max_size=20).map(b"".join)


def drawn(data: bytes, cuts: list[int]) -> tuple[str, int, str]:
    filter = Filter()
    text = ""
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        text += filter.feed(data[start:end])
    return text, filter.skipped, filter.title


@given(OUTPUT, st.data())
def test_reads_may_cut_anywhere(data: bytes, more: st.DataObject) -> None:
    """The text for pyte is the same for one read as for many."""
    cuts = sorted(more.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    assert drawn(data, cuts) == drawn(data, [])


@given(st.lists(OUTPUT, max_size=4))
def test_no_output_raises(parts: list[bytes]) -> None:
    """Whatever comes, there are as many rows as there should be, and the cursor is on the screen."""
    screen, filter = Emulator(6, 20), Filter()
    for part in parts:
        screen.feed(filter.feed(part))
        assert len(screen.rows()) == 6
        assert 0 <= screen.cursor.y < 6 and 0 <= screen.cursor.x <= 20
        assert all(sum(cols for cols, _, _ in row) == 20 for row in screen.runs())


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\x1b[?4mb", "ab"),
        (b"a\x1bP1$r0m\x1b\\b", "ab"),
        (b"a\x1b_Gf=100;AAAA\x1b\\b", "ab"),
        (b"a\x1bXx\x1b\\b", "ab"),
        (b"a\x1b[2 qb", "ab"),
        (b"a\x1b[>1ub", "ab"),
        (b"a\x1b[=1;1ub", "ab"),
        (b"a\x1b[!pb", "ab"),
        (b"a\x1b[38:2::1:2:3mb", "a\x1b[38;2;1;2;3mb"),
        (b"a\x1b[38:5:9;1mb", "a\x1b[38;5;9;1mb"),
        (b"a\x1b[4:3mb", "a\x1b[4mb"),
        (b"a\x1b[4:0mb", "a\x1b[24mb"),
        (b"a\x1b[58:2::1:2:3mb", "a\x1b[mb"),
        (b"a\x1b]unfinished\x1b[1mb", "a\x1b[1mb"),
        (b"a\x1bP unfinished\x18b", "ab"),
        (b"a\x1b F\x1b*Bb", "ab"),
        ("a\x9b31mb".encode(), "a31mb"),
        (b"\x1b[?25h\x1b[?1;2l\x1b[2J\x1b[?2J", "\x1b[?25h\x1b[?1;2l\x1b[2J\x1b[?2J"),
    ],
)
def test_what_pyte_gets(data: bytes, text: str) -> None:
    """Sequences that pyte prints or raises on are gone, what means something is kept."""
    assert Filter().feed(data) == text


def test_what_is_taken_out_is_counted() -> None:
    """`coleo why` can say that a screen is only nearly what the program drew; titles and links are no loss."""
    filter = Filter()
    filter.feed(b"\x1b[?4m\x1b_x\x1b\\\x1b]0;a title\x07\x1b]8;;http://x\x1b\\")
    assert (filter.skipped, filter.title) == (2, "a title")


def test_a_long_string_is_not_kept() -> None:
    """A picture of a megabyte in one string costs no memory, and what follows it is drawn."""
    filter = Filter()
    for _ in range(16):
        assert filter.feed(b"\x1bPq" + b"A" * 65536 if _ == 0 else b"A" * 65536) == ""
    assert filter.feed(b"A\x1b") == ""
    assert filter.feed(b"\\after") == "after"
    assert len(filter._held) < 10
