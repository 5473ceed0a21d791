"""The line of a TOML key: problems in settings point at the place that a person has to mend."""

from __future__ import annotations

import tomllib
from typing import Any

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from coleo.files.tomllines import Path, key_lines, line_of

TEXT = '''\
# a comment with [brackets] and key = 1
top = """
fake = 1
[fake]
"""
[brain] # loop
max_arms = 3
"quoted key" = [ # a list
  "]",
  {inner = 1},
]
stuck.prompts = 2

[[rules]]
kind = "a"
  [[rules.more]]
  x = 1
[[rules]]
kind = 'b # no comment'
other = \'\'\'
kind = "c"
\'\'\'
[ verify . "sections" ]
'Release 1.0' = "make"
'''


def test_every_kind_of_key_has_its_line() -> None:
    """Tables, arrays of tables, dotted and quoted keys; what stands in strings and comments is no key."""
    tomllib.loads(TEXT)
    assert key_lines(TEXT) == {
        ("top",): 2,
        ("brain",): 6,
        ("brain", "max_arms"): 7,
        ("brain", "quoted key"): 8,
        ("brain", "stuck"): 12,
        ("brain", "stuck", "prompts"): 12,
        ("rules",): 14,
        ("rules", 0): 14,
        ("rules", 0, "kind"): 15,
        ("rules", 0, "more"): 16,
        ("rules", 0, "more", 0): 16,
        ("rules", 0, "more", 0, "x"): 17,
        ("rules", 1): 18,
        ("rules", 1, "kind"): 19,
        ("rules", 1, "other"): 20,
        ("verify",): 23,
        ("verify", "sections"): 23,
        ("verify", "sections", "Release 1.0"): 24,
    }


def test_what_has_no_line_of_its_own_has_that_of_what_holds_it() -> None:
    """An item of a list, a key of an inline table, a key that is missing."""
    lines = key_lines(TEXT)
    assert line_of(lines, ("brain", "quoted key", 1, "inner")) == 8
    assert line_of(lines, ("brain", "missing")) == 6
    assert line_of(lines, ("missing",)) is None


_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.integers(-(2**31), 2**31), st.booleans(), st.text(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(min_size=1, max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(min_size=1, max_size=8), _VALUES, max_size=5))
def test_every_key_that_a_reader_finds_has_a_line(data: dict[str, Any]) -> None:
    """Whatever tomlkit writes: each key of each table is found."""
    text = tomlkit.dumps(data)
    lines = key_lines(text)
    for path in _tables(tomllib.loads(text), ()):
        line = line_of(lines, path)
        assert line is not None and 1 <= line <= text.count("\n") + 1


@given(st.text(max_size=200))
def test_no_text_makes_it_fail(text: str) -> None:
    """It runs after a reader has accepted the text, but must not depend on that."""
    assert all(line >= 1 for line in key_lines(text).values())


def _tables(data: dict[str, Any], path: Path) -> list[Path]:
    found: list[Path] = []
    for key, value in data.items():
        found.append((*path, key))
        if isinstance(value, dict):
            found += _tables(value, (*path, key))
    return found
