"""The shell worker's screen as a real terminal emulator shows it, read with the patterns of shell.toml."""

from __future__ import annotations

import re

import pyte

from coleo.harness.load import load
from coleo.harness.shell.output import Lines, last_lines
from coleo.harness.shell.screen import WAITING_LIMIT, Screen, cells, fit, fit_end


class Terminal:
    """A terminal of 10 rows and 40 columns that shows what a `Screen` writes."""

    def __init__(self, rows: int = 10, columns: int = 40) -> None:
        self.shown = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.shown)
        self.screen = Screen(rows, columns)

    def rows(self) -> list[str]:
        while self.screen.waiting:
            data = self.screen.take(100)
            self.stream.feed(data)
            self.screen.taken(len(data))
        return [row.rstrip() for row in self.shown.display if row.strip()]


def matches(rows: list[str]) -> set[str]:
    """The kinds of shell.toml's rules that match; its regions are the last two rows and the composer row."""
    harness = load("shell")
    begin = max((i for i, row in enumerate(rows) if re.search(harness.composer_begin, row)), default=len(rows))
    regions = {"last:2": rows[-2:], "composer": rows[begin:]}
    return {
        rule.kind for rule in harness.rules if re.search(rule.pattern, "\n".join(regions[rule.region]), re.MULTILINE)
    }


def test_an_empty_composer_under_ready_is_ready() -> None:
    terminal = Terminal()
    terminal.screen.status("[coleo] ready")
    assert terminal.rows() == ["[coleo] ready", ">"]
    assert matches(terminal.rows()) == {"composer_empty", "ready"}


def test_text_in_the_composer_is_a_draft_also_when_it_is_longer_than_the_row() -> None:
    terminal = Terminal()
    terminal.screen.status("[coleo] ready")
    terminal.screen.composer("x" * 100 + "end")
    rows = terminal.rows()
    assert rows[-1].startswith("> …x") and rows[-1].endswith("end") and len(rows) == 2
    assert matches(rows) == {"draft"}


def test_work_is_busy_and_the_composer_stays_usable() -> None:
    terminal = Terminal()
    terminal.screen.status("[coleo] working on t-abc234, block 1 of 2: A title that is far too long for this row")
    assert matches(terminal.rows()) == {"composer_empty", "busy"}


def test_output_that_imitates_the_footer_is_not_taken_for_it() -> None:
    terminal = Terminal()
    terminal.screen.status("[coleo] working on t-abc234: x")
    terminal.screen.lines(["[coleo] ready", ">"])
    assert matches(terminal.rows()) == {"composer_empty", "busy"}


def test_output_scrolls_above_the_footer_and_cannot_drive_the_terminal() -> None:
    """Case h02: what commands print is shown, never obeyed."""
    terminal = Terminal()
    terminal.screen.status("[coleo] ready")
    terminal.screen.composer("dra")
    terminal.screen.lines([f"line {n}" for n in range(20)])
    terminal.screen.lines(["a\tb", "\x1b]0;owned\x07\x1b[2J"])
    terminal.screen.composer("draft")
    rows = terminal.rows()
    assert rows[-5:] == ["line 19", "a       b", r"\x1b]0;owned\x07\x1b[2J", "[coleo] ready", "> draft"]
    assert terminal.shown.title == ""


def test_a_new_size_draws_the_whole_screen_again() -> None:
    """A host that lost track of the screen resizes the terminal by one column and back."""
    terminal = Terminal()
    terminal.screen.status("[coleo] ready")
    terminal.screen.lines([f"line {n}" for n in range(20)] + ["long " * 12])
    terminal.rows()
    terminal.shown.reset()
    terminal.screen.resize(10, 40)
    rows = terminal.rows()
    assert rows[-5:] == ["line 19", ("long " * 8).rstrip(), ("long " * 4).rstrip(), "[coleo] ready", ">"]


def test_lines_for_a_terminal_that_does_not_read_are_counted_not_kept() -> None:
    screen = Screen(24, 80)
    for _ in range(20_000):
        screen.lines(["x" * 70])
    assert len(screen.take(1 << 30)) < 2 * WAITING_LIMIT
    screen.taken(1 << 30)
    screen.lines(["after"])
    assert b"lines not shown ...]" in screen.take(1 << 20)


def test_widths_count_wide_and_combining_characters() -> None:
    assert (cells("abc"), cells("世界"), cells("e\u0301")) == (3, 4, 1)
    assert fit("世" * 30, 10) == "世世世世…"
    assert fit_end("世" * 30, 10) == "…世世世世"
    assert fit("short", 10) == fit_end("short", 10) == "short"


def test_lines_lose_colours_and_keep_what_a_progress_bar_showed_last() -> None:
    lines = Lines()
    assert lines.feed(b"\x1b[31mred\x1b[0m\n10%\r50%\r100%\r\nhal") == ("red", "100%")
    assert lines.feed("f ü".encode()[:-1]) == ()
    assert lines.feed("ü".encode()[1:] + b"\n") == ("half ü",)
    assert lines.feed(b"open") == ()
    assert lines.end() == ("open",)
    assert lines.end() == ()


def test_a_line_without_an_end_is_shown_in_pieces() -> None:
    assert [len(line) for line in Lines().feed(b"x" * 10_000)] == [4096, 4096]


def test_the_end_of_an_output_is_cut_to_lines_and_characters() -> None:
    text = b"".join(b"%d\n" % n for n in range(100))
    assert last_lines(text, len(text), lines=3, characters=100) == "[... the end of 290 bytes ...]\n97\n98\n99"
    assert last_lines(b"a\nb\n", 4, lines=3, characters=100) == "a\nb"
    assert last_lines(b"", 0, lines=3, characters=100) == ""
    assert last_lines(b"x" * 500, 500, lines=3, characters=10) == "…" + "x" * 10
