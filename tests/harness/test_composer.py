"""The shell worker's composer: keys and pastes into text, however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from coleo.harness.shell.composer import Composer, End, Interrupt, Submit
from coleo.model.text import sanitise

BEGIN, END = b"\x1b[200~", b"\x1b[201~"


def typed(*pieces: bytes) -> tuple[list[Submit | Interrupt | End], Composer]:
    composer = Composer()
    events = [event for piece in pieces for event in composer.feed(piece)]
    return events, composer


def test_a_line_and_enter_is_submitted_and_empties_the_composer() -> None:
    events, composer = typed(b"help\r")
    assert events == [Submit("help")]
    assert composer.text == ""


def test_enter_on_nothing_submits_nothing() -> None:
    assert typed(b"\r", b"  \r")[0] == []


def test_a_paste_of_several_lines_is_one_piece_and_its_line_ends_submit_nothing() -> None:
    events, composer = typed(BEGIN + b"=== one\r\ntwo\rthree\n" + END)
    assert events == []
    assert composer.text == "=== one\ntwo\nthree"
    assert composer.shown() == "[pasted 3 lines]"
    assert composer.feed(b"\r") == [Submit("=== one\ntwo\nthree")]


def test_a_paste_of_one_line_is_shown_as_it_is() -> None:
    assert typed(BEGIN + "Grüße, 世界".encode() + END)[1].shown() == "Grüße, 世界"


def test_one_backspace_removes_a_whole_paste_and_then_single_characters() -> None:
    _, composer = typed(b"ab", BEGIN + b"1\n2" + END, b"\x7f")
    assert composer.text == "ab"
    composer.feed(b"\x7f")
    assert composer.text == "a"


def test_control_characters_in_a_paste_do_nothing() -> None:
    """Case a05: inside a paste they are text of strangers, never keys."""
    events, composer = typed(BEGIN + b"a\x03b\x04c\x1b[2Jd\x15e\x9b" + END)
    assert events == []
    assert composer.text == "abc[2Jde\ufffd"


def test_arrow_keys_and_other_sequences_do_nothing() -> None:
    _, composer = typed(b"a\x1b[A\x1bOB\x1b[1;5C\x1b[3~b")
    assert composer.text == "ab"


def test_escape_before_enter_does_not_swallow_the_enter() -> None:
    assert typed(b"help\x1b", b"\r")[0] == [Submit("help")]


def test_interrupt_keeps_the_draft_and_ctrl_d_counts_on_an_empty_composer_only() -> None:
    events, composer = typed(b"draft\x04\x03")
    assert events == [Interrupt()]
    assert composer.text == "draft"
    assert composer.feed(b"\x15\x04") == [End()]


def test_ctrl_w_removes_a_word() -> None:
    assert typed(b"run t-abc  \x17")[1].text == "run "


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert typed(b"a\xffb\r")[0] == [Submit("a\ufffdb")]


@given(st.text(max_size=200), st.lists(st.integers(0, 260), max_size=6))
def test_a_paste_arrives_whole_however_it_is_cut(text: str, cuts: list[int]) -> None:
    """Case a07: characters and brackets that are cut at a chunk border stay themselves."""
    body = sanitise(text)
    data = BEGIN + body.encode() + END + b"\r"
    at = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    events, _ = typed(*(data[a:b] for a, b in pairwise(at)))
    assert events == ([Submit(body)] if body.strip() else [])


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    composer = Composer()
    composer.feed(data)
    composer.shown()
