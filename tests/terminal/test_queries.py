"""Questions of programs to their terminal are found in output, however it is cut, and answered as a terminal would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coleo.terminal.queries import Queries, is_reply

ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[0c": b"\x1b[?62;22c",
    b"\x1b[>c": b"\x1b[>41;390;0c",
    b"\x1b[5n": b"\x1b[0n",
    b"\x1b[6n": b"\x1b[3;5R",
    b"\x1b[?6n": b"\x1b[?3;5R",
    b"\x1b[>q": b"\x1bP>|XTerm(390)\x1b\\",
    b"\x1b[>0q": b"\x1bP>|XTerm(390)\x1b\\",
    b"\x1b[?u": b"",
    b"\x1b]10;?\x07": b"\x1b]10;rgb:dddd/dddd/dddd\x1b\\",
    b"\x1b]11;?\x1b\\": b"\x1b]11;rgb:1111/1111/1111\x1b\\",
    b"\x1b[?2004$p": b"\x1b[?2004;2$y",
    b"\x1b[?25$p": b"\x1b[?25;1$y",
    b"\x1b[?2031$p": b"\x1b[?2031;0$y",
    b"\x1b[18t": b"\x1b[8;50;200t",
    b"\x1bP+q544e\x1b\\": b"\x1bP0+r\x1b\\",
    b"\x1bP$qm\x1b\\": b"\x1bP0$r\x1b\\",
}


def answers(*reads: bytes) -> bytes:
    queries = Queries()
    return b"".join(queries.answer(asked, (2, 4), (50, 200)) for data in reads for asked in queries.find(data))


@pytest.mark.parametrize("question", ANSWERS)
def test_answers(question: bytes) -> None:
    """Each alone, in the middle of text, and cut at every place."""
    right = ANSWERS[question]
    assert answers(question) == answers(b"text" + question + b"text") == right
    for cut in range(1, len(question)):
        assert answers(b"text" + question[:cut], question[cut:] + b"text") == right


@given(st.lists(st.one_of(st.sampled_from(list(ANSWERS)), st.binary(max_size=5)), max_size=12), st.data())
def test_reads_may_cut_anywhere(parts: list[bytes], more: st.DataObject) -> None:
    """The same answers in the same order for one read as for many; where a question ends is inside its read."""
    data = b"".join(parts)
    cuts = sorted(more.draw(st.lists(st.integers(0, len(data)), max_size=6)))
    reads = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert answers(*reads) == answers(data)
    queries = Queries()
    for read in reads:
        assert all(0 < asked.end <= len(read) for asked in queries.find(read))


def test_modes_are_noted() -> None:
    """Who attaches later gets the modes that are on."""
    queries = Queries()
    list(queries.find(b"\x1b[?1049;2004h\x1b[?1000h\x1b[?1000l\x1b[?25"))
    list(queries.find(b"l"))
    assert {mode for mode, on in queries.modes.items() if on} == {7, 1049, 2004}
    list(queries.find(b"\x1bc"))
    assert queries.modes == {25: True, 7: True}


@pytest.mark.parametrize(
    "data", [b"\x1b[?62;22c", b"\x1b[3;5R", b"\x1b[I", b"\x1b[<0;3;4M\x1b[<0;3;4m", b"\x1bP>|x\x1b\\"]
)
def test_what_a_terminal_sends_by_itself(data: bytes) -> None:
    """Answers, focus and mouse do not count as a person who types."""
    assert is_reply(data)


@pytest.mark.parametrize("data", [b"a", b"\r", b"\x1b", b"\x1b[A", b"\x1b[200~x\x1b[201~", b"\x1b[Ia", b""])
def test_what_a_person_types(data: bytes) -> None:
    """Keys, arrows, pastes."""
    assert not is_reply(data)
