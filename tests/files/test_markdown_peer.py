"""Fuzzed Markdown: our task lines are those of markdown-it-py, which knows nothing of mistune.

What differs was looked into, with cmark-gfm as the judge; each kind is a rule below:

- markdown-it-py takes a line indented by four columns or more that no list item holds for the start of a block, where
  the specification has a paragraph going on. Such documents are compared with that line as plain words.
- A link definition is prose to us; its rule is switched off there too, as are tables (they are on neither side).
"""

from __future__ import annotations

import random
import re
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from coleo.files.markdown import PlanParser, parse
from coleo.model.plan import Line

BOX = re.compile(r"\[[ xX]\][ \t]+\S")
PEER = MarkdownIt("commonmark", {"maxNesting": 1000}).disable("reference")

INDENTS = ["", "", "", " ", "  ", "   ", "    ", "      ", "\t"]
MARKERS = ["- ", "* ", "+ ", "1. ", "2. ", "1) ", "-   ", "-\t", "-     ", "> ", ">", "- - ", "- > ", "10. ", "-"]
_BODIES = (
    "[ ] t,[x] t,text,,[ ]t,```,````,~~~,```sh,===,---,***,<div>,</div>,<!-- c,-->,<!-- c -->,<pre>,</pre>,<a>,# H,"
    "## H,[r]: http://x,|a|b|,|-|-|,[ ] `c`,* * *,- ,=,-,<?x,?>,=-=,<a\tb>,<!X,<![CDATA[,]]>,\\,1986. x,#,####### x"
)
BODIES = _BODIES.split(",")

line = st.builds(
    lambda indent, marks, body: indent + "".join(marks) + body,
    st.sampled_from(INDENTS),
    st.lists(st.sampled_from(MARKERS), max_size=2),
    st.one_of(st.sampled_from(BODIES[:3]), st.sampled_from(BODIES)),
)
document = st.lists(st.one_of(line, line, line, line, st.just("")), min_size=1, max_size=14).map("\n".join)


def peer_lines(text: str) -> list[int]:
    """1-based lines of the tasks that markdown-it-py sees."""
    found: list[int] = []
    tokens = PEER.parse(text)
    containers: list[str] = []
    for token, after, inline in zip(tokens, tokens[1:], [*tokens[2:], *tokens[:1]], strict=False):
        if token.type.endswith("_open"):
            containers.append(token.type)
        elif token.type.endswith("_close"):
            containers.pop()
        if token.type != "list_item_open" or "blockquote_open" in containers:
            continue
        words = after.type == "paragraph_open" or (after.type == "heading_open" and after.markup in ("-", "="))
        if words and BOX.match(inline.content) and after.map:
            found.append(after.map[0] + 1)
    return sorted(found)


def our_lines(text: str) -> list[int]:
    return [task.line for task in parse(text.encode())[0]]


def as_words(text: str) -> str:
    """The text with every deeply indented block start made plain words: see above."""
    return re.sub(r"(?m)^(?: {4,}| {0,3}\t[ \t]*)(?![-+*\d])\S.*$", "    words", text)


def differs(text: str) -> bool:
    """Whether the two disagree for another reason than the one known."""
    if text.startswith("---") or our_lines(text) == peer_lines(text):
        return False  # front matter is nothing to the other one
    plain = as_words(text)
    if our_lines(plain) != peer_lines(plain):
        deep = re.compile(r"(?m)^(?: {4,}| {0,3}\t)[ \t]*\S.*$")
        plain = deep.sub("    words", text)
        return our_lines(plain) != peer_lines(plain)
    return False


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document)
def test_task_lines_agree(text: str) -> None:
    assert not differs(text), f"ours {our_lines(text)}, theirs {peer_lines(text)}"


def test_task_lines_agree_in_many_documents() -> None:
    """The same with a plain generator, which makes other documents than one that likes small ones."""
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    known = exact = 0
    for number in range(1500):
        rows = []
        for _row in range(chance.randint(1, 20)):
            marks = "".join(chance.choices(MARKERS, k=chance.choice([0, 0, 1, 1, 2])))
            body = chance.choice(BODIES[:3] if chance.random() < 0.3 else BODIES)
            rows.append("" if chance.random() < 0.15 else chance.choice(INDENTS) + marks + body)
        text = "\n".join(rows)
        exact += our_lines(text) == peer_lines(text)
        known += not differs(text)
        assert not differs(text), f"seed {seed}, document {number}: {text!r}"
    assert exact > 1400, "the exception for deep lines hides more than it should"


def uncut(text: bytes) -> list[Line]:
    """The tasks of a text that is parsed in one piece."""
    with mock.patch("coleo.files.markdown.cuts_again", lambda data, begin, *_old: [begin, len(data)]):
        return list(PlanParser().parse(text).lines)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(document, min_size=1, max_size=6), st.data())
def test_parts_mean_what_the_whole_means(texts: list[str], data: st.DataObject) -> None:
    """Cutting before headings and tasks in column 0, joining over open fences, taking over cuts and parts of the
    content before: no field of a task differs from a parse in one piece."""
    parser = PlanParser()
    for _edit in range(3):
        text = "\n".join(texts).encode()
        assert list(parser.parse(text).lines) == parse(text)[0] == uncut(text)
        at = data.draw(st.integers(0, len(texts) - 1))
        texts = [*texts[:at], *data.draw(st.lists(document, max_size=2)), *texts[at + 1 :]] or [""]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("- [ ] a\n=======\n- [ ] b\n", [1, 3], id="= after an item is text"),
        pytest.param("- [ ] a\n<div>\n- [ ] b\n\n- [ ] c\n", [1, 5], id="HTML right after an item"),
        pytest.param("  - [ ] a\n ```\n- [ ] b\n ```\n- [ ] c\n", [1, 5], id="less indented fence"),
        pytest.param("- [ ] a\nlazy\n- [ ] b\n", [1, 3], id="lazy line"),
        pytest.param("-\n  [ ] a\n", [2], id="content below the marker"),
        pytest.param("-\n[ ] a\n", [], id="an empty item holds no unindented line"),
        pytest.param("-\n\n  [ ] a\n", [], id="nor one after a blank line"),
        pytest.param("- text\n2. [ ] a\n", [2], id="another list after an item"),
        pytest.param("text\n2. [ ] a\n", [], id="2. does not interrupt a paragraph"),
        pytest.param("text\n1. [ ] a\n", [2], id="1. does"),
        pytest.param("text\n      \n2. [ ] a\n", [3], id="a line of blanks ends a paragraph"),
        pytest.param("> text\n- [ ] a\n", [2], id="a list ends a quote"),
        pytest.param("> - [ ] a\nlazy\n- [ ] b\n", [3], id="lazy in a quote"),
        pytest.param("- [ ] a\n  ===\n", [1], id="a heading in an item"),
        pytest.param("- # [ ] a\n", [], id="the box is not first"),
        pytest.param("- - - [ ] a\n", [1], id="three lists in a line"),
        pytest.param("-\t-\t[x] a\n", [1], id="tabs as markers' gaps"),
        pytest.param("<pre>\n- [ ] a\n\n- [ ] b\n</PRE>\n- [ ] c\n", [6], id="pre ends with its tag only"),
        pytest.param("```\n# H\n- [ ] a\n```\n- [ ] b\n", [5], id="a cut inside of a fence is joined"),
        pytest.param("<!--\n# H\n- [ ] a\n-->\n- [ ] b\n", [5], id="and inside of a comment"),
    ],
)
def test_where_mistune_is_wrong_or_nearly(text: str, lines: list[int]) -> None:
    assert our_lines(text) == lines == peer_lines(text)
