"""Lines of a Markdown file as bytes and text: where they begin, without their indent, and the comments among them."""

from __future__ import annotations

import re

_LINE_END = re.compile(rb"\r\n|\r|\n")
_COMMENT = re.compile(r" {0,3}> ?comment: ?(.*)", re.I)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*(.*)")
_QUOTED = re.compile(r" {0,3}> ?(.*)")


def split_lines(data: bytes) -> tuple[list[bytes], list[int]]:
    """The lines without their ends, and where each begins. Only LF, CRLF and CR end lines."""
    lines, starts, pos = [], [], 0
    for end in _LINE_END.finditer(data):
        lines.append(data[pos : end.start()])
        starts.append(pos)
        pos = end.end()
    if pos < len(data):
        lines.append(data[pos:])
        starts.append(pos)
    return lines, starts


def dedent(line: str, columns: int) -> str:
    """`line` without up to `columns` columns of leading white space; what is left of a tab becomes spaces."""
    width = index = 0
    while index < len(line) and width < columns and line[index] in " \t":
        width += 4 - width % 4 if line[index] == "\t" else 1
        index += 1
    return " " * (width - columns) + line[index:] if width > columns else line[index:]


def comments_of(rows: list[str], *, quoted: bool = True) -> tuple[list[str], list[str]]:
    """Split rows into the texts of ``> Comment:`` quotes and all other rows. quoted: rows still have their ``>``."""
    comments: list[str] = []
    rest: list[str] = []
    inside, fence = False, ""
    for row in rows:
        if not quoted:
            row = "> " + row
        mark = _FENCE.match(row)
        if mark and (not fence or (mark[1].startswith(fence) and not mark[2])):
            fence = "" if fence else mark[1]
        elif fence:
            rest.append(row)
            continue
        begins, goes_on = _COMMENT.match(row), _QUOTED.match(row)
        if begins:
            comments.append(begins[1].rstrip())
            inside = True
        elif inside and goes_on:
            comments[-1] = f"{comments[-1]}\n{goes_on[1].rstrip()}"
        else:
            inside = False
            rest.append(row)
    return [text.strip() for text in comments if text.strip()], rest
