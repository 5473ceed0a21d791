"""One part of a Markdown file, as tasks: where the boxes are (our line table) and which of them count (mistune).

A private-use sentinel with the line number is put behind the box of every line that could be a task; those whose
sentinel comes out first in a list item are tasks (DESIGN.md section 4, Markdown rules). The parse copy is only
parsed, never written. All positions are relative to the part, which begins at the document's own level.
"""

from __future__ import annotations

import re
from typing import Any

from coleo.files.markdown_blocks import PlanBlocks
from coleo.files.markdown_links import plan_links, texts
from coleo.files.markdown_rows import comments_of, dedent, split_lines
from coleo.model.plan import Block, title_key
from coleo.model.record import Record
from coleo.model.titles import split_marks

_SHELL = r"(?:[ \t>*+-]|\d{1,9}[.)])*"
_BOX = re.compile(rf"(?P<before>{_SHELL}\[)(?:(?P<state>[^\]\\])\](?P<gap>[ \t]*))(?P<rest>.?)")
_INFO = re.compile(rf"(?P<before>{_SHELL})(?:`{{3,}}[ \t]*[^`\s][^`]*|~{{3,}}[ \t]*[^\s~].*)$")
_ATX = re.compile(r"( {0,3}#{1,6})(?=[ \t]|$)")
_WORDS = re.compile(r" {0,3}(?:[^\W\d_]|\d+(?![.)\d])|[\"'(\[])")
_LINES = ("=", "-")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_HEADING = re.compile("\ue000h(\\d+)\ue001")
_FIRST = re.compile("\\[.\\] *\ue000([a-z])(\\d+)\ue001")
_ANY = re.compile("\ue000t(\\d+)\ue001")
_IN_INFO = re.compile("\ue000f(\\d+)\ue001")
_SENTINEL = re.compile("\ue000[a-z]\\d+\ue001|\ue002")
_PRIVATE = re.compile("[\ue000-\ue0ff]")
_HTML_COMMENT = re.compile(r"<!--.*?-->")

# White space that is none to Markdown but is to Python: out of mistune's sight, and back in headings.
_EXOTIC = "\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_HIDE = {ord(char): 0xE020 + n for n, char in enumerate(_EXOTIC)} | {0: 0xFFFD}
_SHOW = {0xE020 + n: char for n, char in enumerate(_EXOTIC)}

LOOK_ALIKE = {"n": "no space after box", "e": "empty title", "s": "unknown state"}
IN_HTML = "checkbox inside an HTML block"
TOO_DEEP = "nested deeper than 100 lists: what is below is text"


class Item(Record):
    """A task, relative to its part: line from 0, offset in bytes. section is None when it is the part's own."""

    line: int
    offset: int
    title: str
    key: str
    done: bool
    section: str | None
    depth: int
    parent: int | None
    description: str
    comments: tuple[str, ...]
    seat: str | None
    priority: str
    after: tuple[str, ...]
    fixed_id: str | None
    verify: str | None
    blocks: tuple[Block, ...]
    end: int


class Part(Record):
    """What one part holds. warnings: (line from 0, why). headings: (line from 0, level, text).

    names: the title keys of all items when they are all different and in one section, else None.

    unclosed: a fence or HTML block reaches its end, so that it means nothing without what follows.
    """

    items: tuple[Item, ...]
    warnings: tuple[tuple[int, str], ...]
    links: tuple[str, ...]
    headings: tuple[tuple[int, int, str], ...]
    lines: int
    unclosed: bool
    names: dict[str, int] | None


def read_part(data: bytes, seats: frozenset[str], blocks: PlanBlocks) -> Part:
    """Read a part. Raises RecursionError when the caller's stack is nearly full; nothing else."""
    raw, starts = split_lines(data)
    text = [line.decode("utf-8", "replace").replace("\0", "\ufffd") for line in raw]
    copy = [_copy(line, number) for number, line in enumerate(text)]
    for number in range(1, len(copy)):
        if text[number].lstrip(" ")[:1] in _LINES and _UNDERLINE.match(text[number]) and _WORDS.match(copy[number - 1]):
            copy[number - 1] += f"\ue000h{number - 1}\ue001"
    state = blocks.read("\n".join(copy))
    reader = _Reader(text, starts, seats)
    reader.walk(state.tokens)
    if state.env["too_deep"]:
        reader.warnings.append((0, TOO_DEEP))
    return Part(
        tuple(reader.items),
        tuple(sorted(reader.warnings)),
        plan_links(_clean(inline) for inline in texts(state.tokens)) if b".md" in data.lower() else (),
        tuple(reader.headings),
        len(raw),
        state.env["unclosed"],
        _names(reader.items),
    )


def _names(items: list[Item]) -> dict[str, int] | None:
    names = dict.fromkeys((item.key for item in items), 1)
    return names if len(names) == len(items) and len({item.section for item in items}) < 2 else None


def _copy(line: str, number: int) -> str:
    """The line as mistune gets it: sentinel in, forged sentinels out, tabs expanded, blank lines empty."""
    if not line.isascii():
        line = _PRIVATE.sub("\ufffd", line)
    box = _BOX.match(line) if "[" in line else None
    if box:
        kind = _kind(box, line)
        if kind:
            at = box.start("rest") if kind in "ts" else box.end("state") + 1
            line = f"{line[:at]}\ue000{kind}{number}\ue001{line[at:]}"
    elif ("``" in line or "~~" in line) and _INFO.match(line):
        line = f"{line}\ue000f{number}\ue001"
    elif "#" in line and (atx := _ATX.match(line)):
        line = f"{atx[1]} \ue000h{number}\ue001{line[atx.end() :]}"
    if "\t" in line:
        line = line.expandtabs(4)
    if not line.strip(" "):
        return ""
    return line.translate(_HIDE)


def _clean(text: str) -> str:
    """Text of a token without our sentinels, its white space as it was."""
    return _SENTINEL.sub("", text).translate(_SHOW)


def _kind(box: re.Match[str], line: str) -> str | None:
    """t: could be a task; n e s: looks like one (`LOOK_ALIKE`); None: neither."""
    if box["state"] in " xX":
        rest = line[box.start("rest") :]
        if not (_HTML_COMMENT.sub("", rest) if "<!--" in rest else rest).strip():
            return "e"
        if box["gap"]:
            return "t"
        return None if box["rest"] in "([:" else "n"
    return "s" if box["gap"] and box["rest"] and not box["state"].isalnum() else None


class _Reader:
    """Walks the tokens of a part and collects tasks; `items` and `warnings` are in file order at the end."""

    def __init__(self, text: list[str], starts: list[int], seats: frozenset[str]) -> None:
        self.text, self.starts, self.seats = text, starts, seats
        self.items: list[Item] = []
        self.warnings: list[tuple[int, str]] = []
        self.section: str | None = None
        self.headings: list[tuple[int, int, str]] = []
        self.last: int | None = None

    def walk(self, tokens: list[dict[str, Any]]) -> None:
        """Top-level tokens: headings set the section, a ``> Comment:`` below a list belongs to its last task."""
        for token in tokens:
            kind = token["type"]
            if kind == "heading":
                self._head(token)
                self.last = None
            elif kind == "list":
                before = len(self.items)
                self._list(token, 0, None)
                self.last = len(self.items) - 1 if len(self.items) > before else None
            elif kind == "block_quote" and self.last is not None:
                comments = tuple(comments_of(_clean(token["src"]).split("\n"), quoted=False)[0])
                if comments:
                    item = self.items[self.last]
                    self.items[self.last] = item.replace(comments=item.comments + comments)
            elif kind == "block_html":
                self._html(token["raw"])
            if kind not in ("list", "block_quote", "blank_line"):
                self.last = None

    def _head(self, token: dict[str, Any]) -> None:
        """A heading has its mark in its last line; several lines can be one setext heading."""
        text = token["text"].rstrip("\n")
        mark = _HEADING.search(text)
        self.section = " ".join(_clean(text).split("\n")).strip()
        if mark:
            self.headings.append((int(mark[1]) - text.count("\n"), token["attrs"]["level"], self.section))

    def _list(self, token: dict[str, Any], depth: int, parent: int | None) -> list[tuple[int, int]]:
        """Collect the tasks of a list. Returns the line ranges of its tasks (without those inside of them)."""
        ranges: list[tuple[int, int]] = []
        for item in token["children"]:
            children = item["children"]
            first = next((child for child in children if child["type"] != "blank_line"), None)
            found = _FIRST.match(first["text"].lstrip(" ")) if first and "text" in first else None
            if found and found[1] != "t":
                self.warnings.append((int(found[2]), LOOK_ALIKE[found[1]]))
            if not found or found[1] != "t":
                for child in children:
                    ranges += self._inside(child, depth, parent)
                continue
            line = int(found[2])
            end = line + _length(item["lines"])
            index = len(self.items)
            self.items.append(self._item(line, end, depth, parent))
            inner = [part for child in children for part in self._inside(child, depth, index)]
            self._describe(index, line, end, inner, children)
            ranges.append((line, end))
        return ranges

    def _inside(self, token: dict[str, Any], depth: int, parent: int | None) -> list[tuple[int, int]]:
        if token["type"] == "list":
            return self._list(token, depth + 1, parent)
        if token["type"] == "block_html":
            self._html(token["raw"])
        return []

    def _html(self, raw: str) -> None:
        if not raw.lstrip().startswith("<!--"):
            self.warnings += [(int(number), IN_HTML) for number in _ANY.findall(raw)[:1]]

    def _item(self, line: int, end: int, depth: int, parent: int | None) -> Item:
        text = self.text[line]
        box = _BOX.match(text)
        assert box is not None
        marks = split_marks(text[box.start("rest") :], self.seats)
        done = box["state"] != " "
        offset = self.starts[line] + box.end("before")  # all before the box is ASCII
        return Item(
            line, offset, marks.title, title_key(marks.title), done, self.section, depth, parent,
            "", (), marks.seat, marks.priority, marks.after, marks.fixed_id, None, (), end - 1,
        )  # fmt: skip

    def _describe(
        self, index: int, start: int, end: int, inner: list[tuple[int, int]], children: list[dict[str, Any]]
    ) -> None:
        """Description, comments and fenced blocks of the task at `start`: its lines but those of tasks inside it."""
        fences = self._fences(children)
        if end - start < 2 and not fences:
            return
        box = _BOX.match(self.text[start])
        assert box is not None
        column = len(box["before"].expandtabs(4)) - 1
        taken = {line for first, after in inner for line in range(first, after)}
        rows = [dedent(self.text[line], column) for line in range(start + 1, end) if line not in taken]
        comments, rest = comments_of(rows)
        blocks = tuple(fences)
        verify = "".join(block.code for block in blocks if block.lang == "verify") or None
        self.items[index] = self.items[index].replace(
            description="\n".join(rest).strip("\n"), comments=tuple(comments), blocks=blocks, verify=verify
        )

    def _fences(self, tokens: list[dict[str, Any]]) -> list[Block]:
        """Fenced blocks that name a language, in these tokens and in plain items below, not in sub-tasks."""
        found: list[Block] = []
        for token in tokens:
            if token["type"] == "block_code" and token["style"] == "fenced":
                number = _IN_INFO.search(token["info"])
                if number:
                    first = int(number[1])
                    before = _INFO.match(self.text[first])
                    column = len(before["before"].expandtabs(4)) if before else 0
                    count = token["raw"].count("\n")
                    rows = [dedent(row, column) for row in self.text[first + 1 : first + 1 + count]]
                    lang = _IN_INFO.sub("", token["info"]).split()[0].lower()
                    found.append(Block(lang, "".join(row + "\n" for row in rows)))
            elif token["type"] == "list":
                for item in token["children"]:
                    first_child = next((c for c in item["children"] if c["type"] != "blank_line"), None)
                    text = first_child.get("text", "") if first_child else ""
                    mark = _FIRST.match(text.lstrip(" "))
                    if not mark or mark[1] != "t":
                        found += self._fences(item["children"])
        return found


def _length(lines: list[str]) -> int:
    """How many lines an item has from its box on, trailing blank lines not counted."""
    first = 1 if lines[0] == "" else 0  # the content may begin on the line below the marker
    last = len(lines)
    while last > first + 1 and not lines[last - 1].strip():
        last -= 1
    return last - first
