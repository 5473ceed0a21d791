"""Text from outside, shown to a person and typed into an agent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coleo.model.text import sanitise, show

ANY = st.text(st.characters(codec=None))


@given(ANY)
def test_h02_nothing_that_is_shown_drives_the_terminal(text: str) -> None:
    shown = show(text)
    codes = {ord(char) for char in shown}
    assert not codes & {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
    shown.encode("utf-8")


@given(ANY)
def test_lines_stay_lines_when_they_are_asked_for(text: str) -> None:
    assert show(text, lines=True).count("\n") == text.count("\n")


@given(ANY)
def test_a05_no_control_character_reaches_an_agent(text: str) -> None:
    typed = sanitise(text)
    assert not {ord(char) for char in typed} & ({*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A})
    assert not typed.endswith("\n")
    typed.encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_plain_text_is_typed_as_it_is(text: str) -> None:
    assert sanitise(text) == text


def test_a06_line_ends_become_line_feeds() -> None:
    assert sanitise("a\r\nb\rc\n\n") == "a\nb\nc"


def test_a_lone_surrogate_becomes_a_replacement_and_a_pair_stays_one_character() -> None:
    assert sanitise("a\ud800b\U0001f600") == "a\ufffdb\U0001f600"
