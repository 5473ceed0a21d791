"""Front matter: read fast where it is flat, by ruamel where a person made it rich; changed by the line."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies
from ruamel.yaml import YAML

from coleo.files import front

RICH = b"""---
id: t-abcdef
status: open  # because of the release
owners:
  - {name: ada, since: 2024}
  - name: bob
text: |
  status: not this one
  attempts: 9
labels: [a, "b c"]
---
# Body
status: nor this one
"""


def test_values_are_text_or_lists_of_text() -> None:
    """What coleo writes itself, and what people usually write."""
    values, body = front.read(
        b"---\nid: t-1\ntitle: \"a: b # c\"\nplain: it's 9:00\nnull: ~\nempty:\none: 'it''s'\n"
        b'list: ["a", "b: c"]\nblock:\n  - x\n  - \'y\'\n# comment\n\nurl: https://a.b/c#d\n---\nbody\n'
    )
    assert body == "body\n"
    assert values == {
        "id": "t-1",
        "title": "a: b # c",
        "plain": "it's 9:00",
        "null": "",
        "empty": "",
        "one": "it's",
        "list": ("a", "b: c"),
        "block": ("x", "y"),
        "url": "https://a.b/c#d",
    }


def test_rich_front_matter_is_read_by_the_yaml_library() -> None:
    """Flow maps, block scalars and comments behind values."""
    values, _body = front.read(RICH)
    assert values["status"] == "open" and values["labels"] == ("a", "b c")
    assert values["text"] == "status: not this one\nattempts: 9\n"
    assert values["owners"] == '[{"name": "ada", "since": "2024"}, {"name": "bob"}]'


def test_a_change_in_rich_front_matter_leaves_every_other_byte() -> None:
    """The comment behind the value stays, and the look-alikes in texts are not touched."""
    changed = front.change(RICH, {"status": "done", "attempts": 2})
    assert changed == RICH.replace(b"status: open  #", b"status: done  #").replace(
        b'"b c"]\n---', b'"b c"]\nattempts: 2\n---'
    )


def test_a_value_of_several_lines_is_changed_by_the_round_trip() -> None:
    """Where the line alone would be wrong, ruamel changes the value and keeps comments and order."""
    data = b"---\n# first\nstatus: >\n  very\n  open\nx: {a: 1}  # kept\n---\nbody\n"
    changed = front.change(data, {"status": "done"})
    assert changed == b"---\n# first\nstatus: done\nx: {a: 1}  # kept\n---\nbody\n"


@pytest.mark.parametrize(
    ("block", "line"),
    [
        (b"a: 1\nb: [1,\n", 4),
        (b"a: 1\n\tb: 2\n", 3),
        (b"a: b: c\n", 2),
        (b"a: 1\na: 2\n", 3),
        (b"- a\n- b\n", 2),
        (b'a: "open\n', 3),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line(block: bytes, line: int) -> None:
    """The line in the file, for an editor to jump to."""
    with pytest.raises(front.BadFront) as found:
        front.read(b"---\n" + block + b"---\nbody\n")
    assert abs(found.value.line - line) <= 1


def test_front_matter_that_never_ends_is_bad() -> None:
    """It is not taken for a body: the person is told."""
    with pytest.raises(front.BadFront):
        front.read(b"---\nid: x\n\n# Title\n")


def test_no_front_matter_is_none() -> None:
    """A file that a person began without it gets one on the first change, below a BOM."""
    assert front.read(b"# Title\n---\ntext\n") == ({}, "# Title\n---\ntext\n")
    assert (
        front.change(b"\xef\xbb\xbf# T\r\n", {"status": "open"}) == b"\xef\xbb\xbf---\r\nstatus: open\r\n---\r\n# T\r\n"
    )


def test_crlf_and_bom_stay() -> None:
    """Line ends of the file are used for what is added."""
    data = b"\xef\xbb\xbf---\r\nid: x\r\nold: 1\r\n---\r\nbody\r\n"
    assert front.change(data, {"new": "a b", "old": None}) == b"\xef\xbb\xbf---\r\nid: x\r\nnew: a b\r\n---\r\nbody\r\n"


VALUES = strategies.one_of(
    strategies.text(max_size=40),
    strategies.lists(strategies.text(max_size=10), min_size=1, max_size=3).map(tuple),
    strategies.integers(0, 10**6),
    strategies.sampled_from(
        ["true", "null", "~", "1", "1e3", "- x", "a: b", "#", "2026-12-01T00:00:00.000Z", "yes", ""]
    ),
)


@given(strategies.dictionaries(strategies.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), VALUES, max_size=6))
def test_what_is_written_is_read_again_by_us_and_by_yaml(values: dict[str, str | int | tuple[str, ...]]) -> None:
    """Any text survives; another program that reads YAML sees the same texts."""
    data = front.change(b"body\n", values)
    seen, body = front.read(data)
    clean = {key: _clean(value) for key, value in values.items()}
    assert seen == clean and body == "body\n"
    parts = front.split(data)
    assert parts is not None
    loaded = YAML(typ="base", pure=True).load(parts.block.decode()) or {}
    assert {key: tuple(v) if isinstance(v, list) else v or "" for key, v in loaded.items()} == clean
    assert front.change(data, values) == data, "nothing new, nothing written"


def _clean(value: str | int | tuple[str, ...]) -> str | tuple[str, ...]:
    return front.plain(value)


@given(strategies.binary(max_size=200), strategies.booleans())
def test_any_bytes_are_read_or_refused(data: bytes, fenced: bool) -> None:
    """No other exception; a change keeps the body."""
    if fenced:
        data = b"---\n" + data + b"\n---\nbody"
    try:
        front.read(data)
        changed = front.change(data, {"status": "done"})
    except front.BadFront:
        return
    assert front.read(changed)[0]["status"] == "done"
    assert changed.endswith(b"body") or not fenced
