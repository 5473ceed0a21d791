"""mistune's block parser, corrected where it leaves CommonMark in a way that would lose or invent a task.

mistune decides where a list item or a quote ends by looking at single lines. CommonMark decides by what is open: an
unindented line goes on with a paragraph (it is *lazy*) only if the innermost open block is one. The rules for
lists, quotes, HTML blocks, fences and setext lines are replaced here; the loop, paragraphs, headings, rules and
indented code are mistune's. Link definitions are prose to us. ``tests/files/test_markdown_peer.py`` holds all of
it against markdown-it-py.

What comes in is a *parse copy* (``markdown_items.py``): LF only, tabs expanded, private-use characters free for us.
"""

from __future__ import annotations

import re
from typing import Any

from mistune.block_parser import BlockParser
from mistune.core import BlockState
from mistune.helpers import BLOCK_TAGS

MAX_DEPTH = 100
LAZY = "\ue002"
_MAX_PROBES = 500

_MARKER = re.compile(r"( {0,3})([*+-]|\d{1,9}[.)])(?= |$)( *)(.*)")
_THEMATIC = re.compile(r" {0,3}(?:(?:- *){3,}|(?:_ *){3,}|(?:\* *){3,})$")
_FENCE = re.compile(r" {0,3}(?:`{3,}[^`]*|~{3,}.*)$")
_ATX = re.compile(r" {0,3}#{1,6}(?: |$)")
_QUOTE = re.compile(r" {0,3}> ?")
_PLAIN = re.compile(r" *[^\W\d_]")

_RAW = "(?:script|pre|style|textarea)"
_TAG = r"[A-Za-z][A-Za-z0-9-]*"
_ATTRIBUTE = r"\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^'\n]*'|\"[^\"\n]*\"))?"
_HTML_KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str] | None, bool], ...] = (
    # (start, end within a line or None for "a blank line", may interrupt a paragraph)
    (re.compile(rf"<{_RAW}(?= |>|$)", re.I), re.compile(rf"</{_RAW}>", re.I), True),
    (re.compile(r"<!--"), re.compile(r"-->"), True),
    (re.compile(r"<\?"), re.compile(r"\?>"), True),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>"), True),
    (re.compile(r"<![A-Za-z]"), re.compile(r">"), True),
    (re.compile(r"</?(?:" + "|".join(BLOCK_TAGS) + r")(?= |/?>|$)", re.I), None, True),
    (re.compile(rf"(?:<{_TAG}(?:{_ATTRIBUTE})*\s*/?>|</{_TAG}\s*>) *$"), None, False),
)


def _html_kind(line: str) -> tuple[re.Pattern[str] | None, bool] | None:
    """(end, may interrupt) of the HTML block that begins in `line`, or None."""
    text = line.lstrip(" ")
    if not text.startswith("<") or len(line) - len(text) > 3:
        return None
    for start, end, interrupts in _HTML_KINDS:
        if start.match(text):
            return end, interrupts
    return None


def _begins_block(line: str) -> bool:
    """Whether `line`, which a container does not hold, begins a block of its own whatever is open inside."""
    if len(line) - len(line.lstrip(" ")) > 3:
        return False
    if _MARKER.match(line) or _ATX.match(line) or _QUOTE.match(line) or _FENCE.match(line) or _THEMATIC.match(line):
        return True
    html = _html_kind(line)
    return html is not None and html[1]


class PlanBlocks(BlockParser):
    """Use `read`. Tokens are mistune's; list items carry ``lines``, quotes ``src`` instead of children.

    ``unclosed`` in the env of the state: a fence or HTML block of the document's own level reached the end.
    """

    def __init__(self) -> None:
        super().__init__(max_nested_level=MAX_DEPTH)
        self.rules.remove("ref_link")
        self.specification.update(
            blank_line=r"(?:^ *\n)+", setex_heading=r"^ {0,3}(?P<setext_1>=+|-+) *$", raw_html=r"^ {0,3}<[A-Za-z/!?]"
        )

    def read(self, text: str) -> BlockState:
        """The parsed state of a parse copy. Raises RecursionError when the caller's stack is nearly full."""
        state = BlockState()
        state.process(text if text.endswith("\n") else text + "\n")
        state.env.update(probes={}, unclosed=False, too_deep=False)
        self.parse(state)
        return state

    def parse_setex_heading(self, m: re.Match[str], state: BlockState) -> int | None:
        """Only under a paragraph; else a rule, a list, or text."""
        last = state.last_token()
        if last and last["type"] == "paragraph":
            last.update(type="heading", style="setext", attrs={"level": 1 if m["setext_1"][0] == "=" else 2})
            return m.end() + 1
        found = self.compile_sc(["thematic_break", "list"]).match(state.src, state.cursor)
        return self.parse_method(found, state) if found else None

    def parse_fenced_code(self, m: re.Match[str], state: BlockState) -> int | None:
        """A fence, closed by a run of the same character that is not shorter, or by the end of its container."""
        marker, info = m["fenced_2"], m["fenced_3"]
        if marker[0] == "`" and "`" in info:
            return None
        start = min(m.end() + 1, state.cursor_max)
        closing = re.compile(rf"^ {{0,3}}{marker[0]}{{{len(marker)},}} *$", re.M).search(state.src, start)
        end = closing.start() if closing else state.cursor_max
        code = state.src[start:end]
        state.append_token({"type": "block_code", "style": "fenced", "raw": code, "info": info.strip()})
        if closing:
            return min(closing.end() + 1, state.cursor_max)
        self._note_unclosed(state)
        return end

    def parse_raw_html(self, m: re.Match[str], state: BlockState) -> int | None:
        """The seven kinds of CommonMark's HTML blocks."""
        kind = _html_kind(state.get_line(state.cursor).rstrip("\n"))
        last = state.last_token()
        if kind is None or (not kind[1] and last and last["type"] == "paragraph"):
            return None
        end, pos, closed = kind[0], state.cursor, False
        while pos < state.cursor_max and not closed:
            line = state.get_line(pos)
            if end is None and not line.strip():
                closed = True
                break
            pos += len(line)
            closed = end is not None and end.search(line) is not None
        state.append_token({"type": "block_html", "raw": state.src[state.cursor : pos]})
        if not closed:
            self._note_unclosed(state)
        return pos

    def _note_unclosed(self, state: BlockState) -> None:
        if state.parent is None:
            state.env["unclosed"] = True

    def parse_block_quote(self, m: re.Match[str], state: BlockState) -> int:
        """A quote and the lazy lines of its last paragraph. What is inside is never a task: it stays text."""
        lines: list[str] = []
        is_open: bool | None = None
        while state.cursor < state.cursor_max:
            raw = state.get_line(state.cursor)
            line = raw.rstrip("\n")
            marker = _QUOTE.match(line)
            if marker:
                lines.append(line[marker.end() :])
                is_open = None
            else:
                if not line.strip() or _begins_block(line):
                    break
                is_open = is_open or self._is_open(state, lines)
                if not is_open:
                    break
                lines.append(LAZY + line.lstrip(" "))
            state.cursor += len(raw)
        state.append_token({"type": "block_quote", "src": "\n".join(lines) + "\n"})
        return state.cursor

    def parse_list(self, m: re.Match[str], state: BlockState) -> int:
        """One list. Tight or loose is not told apart."""
        marker = _MARKER.match(m.group(0))
        last = state.last_token()
        in_paragraph = bool(last) and last["type"] == "paragraph"
        if marker is None or (in_paragraph and (not marker[4] or marker[2] not in ("-", "*", "+", "1.", "1)"))):
            end = state.find_line_end()
            state.add_paragraph(state.get_text(end))
            return end
        token: dict[str, Any] = {"type": "list", "children": []}
        bullet = marker[2][-1]
        while marker:
            state.cursor = state.find_line_end()
            lines = self._item_lines(marker, state)
            child = self._child(state, lines)
            token["children"].append({"type": "list_item", "children": child.tokens if child else [], "lines": lines})
            line = state.get_line(state.cursor).rstrip("\n")
            marker = None if _THEMATIC.match(line) else _MARKER.match(line)
            if marker and marker[2][-1] != bullet:
                marker = None
        state.append_token(token)
        return state.cursor

    def _item_lines(self, marker: re.Match[str], state: BlockState) -> list[str]:
        """The lines of one item without their indent; the cursor stands behind its first, and goes behind its last."""
        spaces, rest = len(marker[3]), marker[4]
        width = len(marker[1]) + len(marker[2]) + (spaces if rest and spaces < 5 else 1)
        lines = [" " * (spaces - 1) + rest if rest and spaces > 4 else rest]
        after_blank, is_open = not rest, None
        while state.cursor < state.cursor_max:
            raw = state.get_line(state.cursor)
            line = raw.rstrip("\n")
            indent = len(line) - len(line.lstrip(" "))
            if indent == len(line):
                if lines == [""]:
                    break  # an item begins with at most one blank line
                lines.append("")
                after_blank, is_open = True, False
            elif indent >= width:
                is_open = True if is_open and _PLAIN.match(line) else None
                lines.append(line[width:])
                after_blank = False
            else:
                if after_blank or (not line.startswith(LAZY) and _begins_block(line)):
                    break
                is_open = is_open or line.startswith(LAZY) or self._is_open(state, lines)
                if not is_open:
                    break
                lines.append(LAZY + line.lstrip(" " + LAZY))
            state.cursor += len(raw)
        return lines

    def _child(self, state: BlockState, lines: list[str]) -> BlockState | None:
        """The parsed inside of a container; None when it is nested too deeply to go on."""
        if state.depth() >= MAX_DEPTH - 1:
            state.env["too_deep"] = True
            return None
        child = state.child_state("\n".join(lines) + "\n")
        self.parse(child)
        return child

    def _is_open(self, state: BlockState, lines: list[str]) -> bool:
        """Whether a container with these lines ends in an open paragraph, at any depth.

        Each answer is kept, as outer containers ask again; past some hundred questions in one part of a file the answer
        is yes (a text that needs so many is none that a person wrote).
        """
        key = "\n".join(lines)
        probes: dict[str, bool] = state.env["probes"]
        if key not in probes:
            if len(probes) > _MAX_PROBES:
                return True
            child = self._child(state, lines)
            probes[key] = child is None or self._ends_open(child)
        return probes[key]

    def _ends_open(self, state: BlockState) -> bool:
        tokens = state.tokens
        while tokens:
            last = tokens[-1]
            if last["type"] == "list":
                item = last["children"][-1]
                if not item["lines"][-1]:
                    return False
                tokens = item["children"]
            elif last["type"] == "block_quote":
                return self._is_open(state, last["src"][:-1].split("\n"))
            else:
                return bool(last["type"] == "paragraph")
        return False
