"""Reading Markdown as a plan: titles, marks, what belongs to a task, places, and bytes of every kind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coleo.files import plan
from coleo.files.markdown import PlanParser, parse
from coleo.model.plan import Block, Line
from tests.files.people import Clocked
from tests.files.project import lay

SEATS = frozenset({"bob", "ann"})


def tasks(text: str | bytes) -> list[Line]:
    return parse(text.encode() if isinstance(text, str) else text, seats=SEATS)[0]


def one(text: str | bytes) -> Line:
    (line,) = tasks(text)
    return line


def whys(text: str | bytes) -> list[tuple[int | None, str]]:
    warnings = parse(text.encode() if isinstance(text, str) else text)[1]
    return [(warning.line, warning.why) for warning in warnings]


def test_marks_at_the_end_of_a_title() -> None:
    line = one('- [ ] Ship it after:t-abc234 after:"Write docs" @bob !high ^ship\n')
    assert (line.title, line.after, line.seat) == ("Ship it", ("t-abc234", "Write docs"), "bob")
    assert (line.priority, line.fixed_id) == ("high", "ship")


def test_words_inside_a_title_stay() -> None:
    """Marks are read from the end, and reading stops at the first word that is none."""
    line = one("- [ ] tell @bob that !low is fine @bob\n")
    assert (line.title, line.seat, line.priority) == ("tell @bob that !low is fine", "bob", "normal")


@pytest.mark.parametrize("title", ["@bob", "!high", "^x", "after:y", "mail @nobody", "x^2", "a@bob", "5 !highest", "^"])
def test_what_is_no_mark(title: str) -> None:
    """A title is never emptied; a name counts only when that seat exists; an id must be one."""
    line = one(f"- [ ] {title}\n")
    assert (line.title, line.seat, line.priority, line.fixed_id, line.after) == (title, None, "normal", None, ())


def test_comments_are_no_part_of_a_title() -> None:
    line = one("- [ ] Fix <!-- why? --> it @bob <!-- @ann -->\n")
    assert (line.title, line.seat) == ("Fix  it", "bob")


def test_what_belongs_to_a_task() -> None:
    """Description is dedented and without sub-tasks; comments are apart; blocks keep their bytes."""
    text = (
        "- [ ] parent\n  First line.\n\n      indented\n  > Comment: look\n  > twice\n  - plain\n"
        "  - [ ] child\n    of child\n"
        "  > no comment\n  ```Make x=1\n  all:\n  \tcc  \n\n  ```\n  ```\n  > Comment: not this\n  ```\n- [ ] other\n"
    )
    parent, child, other = tasks(text)
    assert parent.description == (
        "First line.\n\n    indented\n- plain\n> no comment\n```Make x=1\nall:\n\tcc  \n\n```\n"
        "```\n> Comment: not this\n```"
    )
    assert parent.comments == ("look\ntwice",)
    assert parent.blocks == (Block("make", "all:\n\tcc  \n\n"),)
    assert (child.description, child.parent, child.depth) == ("of child", 0, 1)
    assert (other.description, other.blocks) == ("", ())
    assert [(line.line, line.end) for line in (parent, child, other)] == [(1, 18), (8, 9), (19, 19)]


def test_verify_and_language_blocks() -> None:
    line = one("- [ ] t\n\n  ```verify\n  pytest -q\n  ```\n\n  ~~~ SH\n  make\n  ~~~\n")
    assert line.verify == "pytest -q\n"
    assert [block.lang for block in line.blocks] == ["verify", "sh"]


def test_blocks_of_a_sub_task_are_its_own() -> None:
    parent, child = tasks("- [ ] p\n  - note\n    ```sh\n    p\n    ```\n  - [ ] c\n    ```sh\n    c\n    ```\n")
    assert (parent.blocks, child.blocks) == ((Block("sh", "p\n"),), (Block("sh", "c\n"),))


def test_a_fence_that_is_never_closed_ends_with_its_item() -> None:
    first, second = tasks("- [ ] a\n  ```sh\n  x\n- [ ] b\n")
    assert (first.blocks, second.title) == ((Block("sh", "x\n"),), "b")


def test_comment_below_a_list_is_for_its_last_task() -> None:
    text = "- [ ] a\n- [ ] b\n\n> Comment: for b\n\ntext\n\n> Comment: for nobody\n"
    assert [line.comments for line in tasks(text)] == [(), ("for b",)]


def test_sections_are_top_level_headings() -> None:
    text = (
        "- [ ] a\n# One #\n- [ ] b\n> # Not\n- [ ] c\n  # Nor this\n- [ ] d\n\nTwo\nlines\n---\n- [ ] e\n#\n- [ ] f\n"
    )
    assert [line.section for line in tasks(text)] == [None, "One", "One", "One", "Two lines", ""]


def test_equal_titles_are_numbered_in_their_section() -> None:
    text = "- [ ] a\n- [ ]  a\n# S\n- [ ] a\n- [ ] b\n  - [x] a\n"
    assert [line.number for line in tasks(text)] == [1, 2, 1, 1, 2]


def test_links_to_sub_plans() -> None:
    text = (
        "- [ ] see [a](a.md#part) and ![no](no.md)\n\n[b](<sub dir/b.md>) [c](sub/c%20c.md 'T') `[d](d.md)`\n\n"
        "[e]: e.md\n\n```\n[f](f.md)\n```\n> [g](g.md)\n\n[h](http://x/h.md) [i](/i.md) [j](j.txt) [k](../k.md)\n"
    )
    assert PlanParser().parse(text.encode()).links == ("a.md", "sub dir/b.md", "sub/c c.md", "e.md", "../k.md")


def test_only_lf_crlf_and_cr_end_lines() -> None:
    """Form feeds, NEL, line separators and the like stand in the middle of a title."""
    odd = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
    assert [(line.line, line.title) for line in tasks(f"- [ ] a{odd}b\r- [ ] c\r\n\r\n- [ ] d\n")] == [
        (1, f"a{odd}b"),
        (2, "c"),
        (4, "d"),
    ]


def test_nothing_in_a_file_can_pass_for_our_marks() -> None:
    """Private-use characters are what sentinels are made of: they mean nothing when a person wrote them."""
    text = "- [ ] \ue000t0\ue001 a\n\ue002- [ ] b\n> \ue000t0\ue001\n```sh \ue000f9\ue001\nx\n```\n"
    text += "# \ue000h1\ue001 H\n- [ ] c\n"
    assert [(line.line, line.title) for line in tasks(text)] == [(1, "\ue000t0\ue001 a"), (8, "c")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"- [ ] \xff\n", [(1, "not UTF-8")]),
        (b"ok\n\xe4\n- [ ] a\n", [(2, "not UTF-8")]),
        ("\ufeff- [ ] a\n".encode("utf-16-le"), [(1, "not UTF-8")]),
        (b"---\n- [ ] a\n---\n", [(2, "checkbox inside front matter")]),
        (b"---\nx: 1\n", []),
        (b"<div>\n- [ ] a\n</div>\n<!--\n- [ ] b\n-->\n", [(2, "checkbox inside an HTML block")]),
        ("- [\xa0] a\n- [ ]\xa0b\n".encode(), [(1, "unknown state"), (2, "no space after box")]),
        ("- [ ] \xa0\n- [ ] <!-- x -->\n".encode(), [(1, "empty title"), (2, "empty title")]),
        (b"- [ ](a.md)\n- [x]: y\n- [a] b\n- [x][y]\n", []),
    ],
)  # fmt: skip
def test_warnings(text: bytes, wanted: list[tuple[int, str]]) -> None:
    assert whys(text) == wanted


def test_front_matter_ends_where_it_ends() -> None:
    assert [line.line for line in tasks("---\na: b\n...\n- [ ] a\n---\n- [ ] b\n")] == [4, 6]
    assert [line.line for line in tasks("---\n- [ ] a\n")] == [2], "without an end it is a rule"
    assert [line.line for line in tasks("x\n---\n- [ ] a\n---\n")] == [3], "only at byte 0"


def test_depth_has_an_end_and_a_word() -> None:
    text = "".join("  " * depth + "- [ ] t\n" for depth in range(150))
    assert len(tasks(text)) == 99
    assert whys(text) == [(1, "nested deeper than 100 lists: what is below is text")]


def test_a_full_stack_is_told_and_not_raised() -> None:
    """The caller may stand on a deep stack itself."""

    def deeper(left: int) -> bool:
        return PlanParser().parse(b"- [ ] a\n" * 3).failed if not left else deeper(left - 1)

    assert deeper(10) is False
    results = set()
    for left in range(800, 990, 3):
        try:
            results.add(deeper(left))
        except RecursionError:
            break
    assert True in results or len(results) == 1


PIECES = [
    *(b"- [ ] a", b"- [x] b ", b"[ ]", b"\n", b"\r", b"\r\n", b"  ", b"\t", b"> ", b"```", b"<!--", b"-->", b"# "),
    *(b"\xef\xbb\xbf", b"\xff", b"---\n", b"\x00", b"1. [X] ", b"(a.md)", b"=", b"|"),
    *(text.encode() for text in ("é", "\ue000t1\ue001", "\u2028")),
]
any_bytes = st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))


@settings(max_examples=800, deadline=None)
@given(any_bytes)
def test_any_bytes_are_read(data: bytes) -> None:
    """Never an error; each place is that of a box; a second read of the same says the same."""
    parser = PlanParser()
    parsed = parser.parse(data)
    assert not parsed.failed
    rows = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    for line in parsed.lines:
        assert data[line.offset - 1 : line.offset + 2] in (b"[ ]", b"[x]", b"[X]")
        assert (data[line.offset : line.offset + 1] != b" ") is line.done
        assert line.title.strip() and 1 <= line.line <= line.end <= len(rows)
        assert b"[" + data[line.offset : line.offset + 1] + b"]" in rows[line.line - 1]
    assert parser.parse(data) == parsed


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(any_bytes, st.data())
def test_reading_and_ticking_any_bytes_changes_one_byte(data: bytes, choice: st.DataObject) -> None:
    """The chosen task is done afterwards, all others are as they were, and one byte of the file differs."""
    with tempfile.TemporaryDirectory() as folder:
        project = Clocked(lay(Path(folder)))
        project.save(data, ago_s=60)
        project.read()
        assert project.tasks is not None
        assert Path(project.layout.plan).read_bytes() == data
        if not project.tasks.tasks:
            return
        task = choice.draw(st.sampled_from(project.tasks.tasks))
        assert plan.tick(project.layout, task, not task.done)
        after = Path(project.layout.plan).read_bytes()
        assert len(after) == len(data) and sum(a != b for a, b in zip(after, data, strict=True)) == 1
        before = [(line.title, line.done) for line in parse(data)[0]]
        place = [line.line for line in parse(data)[0]].index(task.line)
        before[place] = (before[place][0], not task.done)
        assert [(line.title, line.done) for line in parse(after)[0]] == before
        assert set(os.listdir(project.layout.project)) == {"plan.md", "seats"}
