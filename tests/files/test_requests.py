"""Requests to a brain: asked once, done once, answered once, whoever dies in between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coleo.files import requests
from coleo.files.layout import Layout
from coleo.model.errors import BadInput

NOW = 1_800_000_000.0


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / ".project").mkdir()
    return Layout(os.path.realpath(tmp_path))


def test_a_request_waits_until_it_is_answered(layout: Layout) -> None:
    assert requests.pending(layout) == []
    second = requests.ask(layout, "wake", now=NOW + 1)
    first = requests.ask(layout, "down", {"arms": False}, now=NOW)
    found = requests.pending(layout)
    assert [(one.id, one.op, one.args, one.asked_at) for one in found] == [
        (first, "down", {"arms": False}, NOW),
        (second, "wake", {}, NOW + 1),
    ]
    assert requests.answer(layout, first) is None
    requests.reply(layout, first, {"ok": True, "message": "it goes down"})
    assert [one.id for one in requests.pending(layout)] == [second]
    assert requests.answer(layout, first) == {"ok": True, "message": "it goes down"}


def test_many_at_the_same_instant_are_as_many(layout: Layout) -> None:
    assert len({requests.ask(layout, "wake", now=NOW) for _ in range(50)}) == 50
    assert len(requests.pending(layout)) == 50


def test_an_unknown_wish_is_refused_where_it_is_made(layout: Layout) -> None:
    with pytest.raises(BadInput):
        requests.ask(layout, "explode", now=NOW)


def test_a_brain_that_dies_after_its_answer_does_nothing_twice(layout: Layout) -> None:
    """The answer is written first; the request that is still there then is passed over and removed."""
    asked = requests.ask(layout, "down", now=NOW)
    path = os.path.join(requests.folder(layout), f"{asked}.json")
    content = Path(path).read_bytes()
    requests.reply(layout, asked, {"ok": True})
    Path(path).write_bytes(content)
    assert requests.pending(layout) == []
    assert not os.path.exists(path)


@pytest.mark.parametrize("text", [b"", b"{", b"[1]", b'{"op": "rm"}', b'{"op": "down", "args": 3}', b"\xff"])
def test_one_that_cannot_be_read_is_answered_and_blocks_no_other(layout: Layout, text: bytes) -> None:
    good = requests.ask(layout, "wake", now=NOW)
    bad = f"{int(NOW * 1000) - 1:013d}-bad"
    Path(requests.folder(layout), f"{bad}.json").write_bytes(text)
    assert [one.id for one in requests.pending(layout)] == [good]
    answer = requests.answer(layout, bad)
    assert answer is not None
    assert answer["ok"] is False
    assert [one.id for one in requests.pending(layout)] == [good]


def test_temp_files_and_strangers_are_no_requests(layout: Layout) -> None:
    requests.ask(layout, "wake", now=NOW)
    for name in (".1.json.abc.tmp", "notes.txt", ".x.json"):
        Path(requests.folder(layout), name).write_text("{}")
    assert len(requests.pending(layout)) == 1


class Patience:
    """A clock that only the waiting moves."""

    def __init__(self) -> None:
        self.at = 0.0

    def monotonic(self) -> float:
        return self.at

    def pause(self, seconds: float) -> None:
        self.at += seconds


def test_waiting_gives_the_answer_and_forgets_it(layout: Layout) -> None:
    asked = requests.ask(layout, "wake", now=NOW)
    clock = Patience()

    def pause(seconds: float) -> None:
        clock.pause(seconds)
        if clock.at > 1 and requests.pending(layout):
            requests.reply(layout, asked, {"ok": True, "message": "looked"})

    found = requests.wait(layout, asked, deadline_s=5, monotonic=clock.monotonic, pause=pause)
    assert found == {"ok": True, "message": "looked"}
    assert requests.answer(layout, asked) is None


def test_waiting_ends_at_the_deadline_and_with_the_one_who_would_answer(layout: Layout) -> None:
    asked = requests.ask(layout, "wake", now=NOW)
    clock = Patience()
    assert requests.wait(layout, asked, deadline_s=5, monotonic=clock.monotonic, pause=clock.pause) is None
    assert 5 <= clock.at < 6
    begun = clock.at
    gone = requests.wait(layout, asked, deadline_s=5, alive=lambda: False, monotonic=clock.monotonic, pause=clock.pause)
    assert (gone, clock.at) == (None, begun)


def test_an_answer_that_came_with_the_end_of_the_brain_is_not_missed(layout: Layout) -> None:
    asked = requests.ask(layout, "down", now=NOW)
    requests.reply(layout, asked, {"ok": True})
    assert requests.wait(layout, asked, deadline_s=5, alive=lambda: False) == {"ok": True}


def test_answers_that_nobody_fetches_are_swept(layout: Layout) -> None:
    old, young = requests.ask(layout, "wake", now=NOW), requests.ask(layout, "wake", now=NOW + 3000)
    for asked in (old, young):
        requests.reply(layout, asked, {"ok": True})
    assert requests.sweep(layout, NOW + requests.KEEP_ANSWER_S + 1) == 1
    assert requests.answer(layout, old) is None
    assert requests.answer(layout, young) is not None
