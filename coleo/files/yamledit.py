"""The YAML of a front matter: its values with their lines, and one key changed with every other byte kept.

ruamel.yaml tells where each value stands; only that stretch of text is exchanged. The result is read again and must
be what was asked for; where a stretch cannot be exchanged, ruamel's round trip writes the block.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from typing import Any

import frontmatter
from frontmatter.default_handlers import YAMLHandler
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from coleo.files import front

Path = tuple[str | int, ...]

#: No front matter of a person's is longer, and none is nested deeper.
LIMIT = 64 * 1024
DEEPEST = 50

#: What JSON leaves as it is and YAML does not take.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


class BadYaml(ValueError):
    """What cannot be read. line: 1-based, in the text that was given."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def load(block: str) -> tuple[dict[str, Any], dict[Path, int]]:
    """(values, line of each path) of a YAML block, by YAML 1.2. Raises BadYaml, also for a key that comes twice."""
    lines = guard(block)
    try:
        return frontmatter.parse(f"---\n{block.rstrip()}\n---\n", handler=_Handler())[0], lines
    except (BadYaml, YAMLError, ValueError, RecursionError) as error:
        raise _bad(error) from None


def guard(block: str) -> dict[Path, int]:
    """Refuse what would keep a YAML reader busy for minutes, for agents write into these files too; BadYaml.

    Size, depth, and aliases: a handful of them stands for more values than memory has. The line of each path.
    """
    if len(block) > LIMIT:
        raise BadYaml(f"more than {LIMIT // 1024} KiB", 1)
    depth = deepest = 0
    for letter in block:
        depth += (letter in "[{") - (letter in "]}")
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise BadYaml("nested too deeply", 1)
    try:
        return _lines(_node(block), (), set())
    except (BadYaml, YAMLError, ValueError, RecursionError) as error:
        raise _bad(error) from None


def _bad(error: Exception) -> BadYaml:
    if isinstance(error, BadYaml):
        return error
    if isinstance(error, RecursionError):
        return BadYaml("nested too deeply", 1)
    if isinstance(error, MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        reason = str(error.problem or error.context or error).partition("\n")[0].removeprefix("found ")
        return BadYaml(reason, mark.line + 1 if mark else 1)
    return BadYaml(str(error).partition("\n")[0] or type(error).__name__, 1)


def load_value(text: str) -> Any:
    """One value as it would stand behind a colon. Raises BadYaml."""
    return load(f"it: {text}")[0]["it"]


class _Handler(YAMLHandler):
    """YAML 1.2 in the place of python-frontmatter's 1.1, where ``no`` is false and a key may come twice."""

    def load(self, fm: str, **_options: object) -> Any:
        found = YAML(typ="safe", pure=True).load(fm.removeprefix("\n"))
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise BadYaml("not keys with values", 1)
        return {str(key): value for key, value in found.items()}


def _node(block: str) -> Node | None:
    return YAML(typ="rt").compose(block)  # type: ignore[no-any-return]


def _lines(node: Node | None, path: Path, seen: set[int]) -> dict[Path, int]:
    """The line of each path. Raises BadYaml for an alias."""
    found: dict[Path, int] = {}
    if node is None:
        return found
    if id(node) in seen:
        raise BadYaml("an alias (*name); write the value out", node.start_mark.line + 1)
    seen.add(id(node))
    if isinstance(node, MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            found[here] = key.start_mark.line + 1
            found |= _lines(value, here, seen)
    elif isinstance(node, SequenceNode):
        for number, item in enumerate(node.value):
            found[*path, number] = item.start_mark.line + 1
            found |= _lines(item, (*path, number), seen)
    return found


def line_of(lines: Mapping[Path, int], path: Path) -> int | None:
    """The line of a path, or of the nearest thing around it that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def change(block: str, changes: Mapping[str, Any], end: str = "\n") -> str:
    """`block` with some keys changed (None: taken out); a new key comes after its own commented-out line, else last.

    end: what ends a line. Raises BadYaml when the block cannot be read.
    """
    for key, value in changes.items():
        before = load(block)[0]
        wanted = {name: one for name, one in before.items() if name != key}
        if value is not None:
            wanted[key] = value
        if before == wanted and (value is not None or key not in before):
            continue
        block = _one(block, key, value, wanted, end)
    return block


def _one(block: str, key: str, value: Any, wanted: Mapping[str, Any], end: str) -> str:
    for text in (_block_text(value), _flow_text(value)):
        if text is None:
            continue
        new = _spliced(block, key, text.replace("\n", end), end)
        try:
            if new is not None and load(new)[0] == wanted:
                return new
        except BadYaml:
            continue
    return _round_trip(block, key, value, end)


def _spliced(block: str, key: str, text: str, end: str) -> str | None:
    """The block with `text` as the key's value; "" takes the key out. None where that is not possible."""
    node = _node(block)
    pairs = node.value if isinstance(node, MappingNode) else []
    found = next((pair for pair in pairs if pair[0].value == key), None)
    if node is not None and (not isinstance(node, MappingNode) or node.flow_style):
        return None
    if found is None:
        return _added(block, key, text, end) if text else block
    start, behind, stop = found[0].start_mark.index, found[1].start_mark.index, _end(found[1], block)
    if not text:
        after = block.find("\n", stop)
        return block[: block.rfind("\n", 0, start) + 1] + ("" if after < 0 else block[after + 1 :])
    if behind >= stop:  # nothing stands behind the colon
        stop = behind = block.index(":", found[0].end_mark.index) + 1
        text = " " + text
    elif "\n" in block[start:stop]:
        behind = block.index(":", found[0].end_mark.index) + 1
        text = " " + text
    if "\n" in text:  # no comment can stay behind it
        after = block.find("\n", stop)
        stop = len(block) if after < 0 else after - (block[after - 1 : after] == "\r")
    return block[:behind] + text + block[stop:]


def _end(node: Node, block: str) -> int:
    """Where the text of a value ends; comments and blank lines after it are not its."""
    if isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last, block)
    start = int(node.start_mark.index)
    return start + len(block[start : node.end_mark.index].rstrip())


def _added(block: str, key: str, text: str, end: str) -> str:
    line = f"{key}: {text}{end}"
    commented = re.search(rf"^#[ \t]*{re.escape(key)}:[^\n]*(?:\n|\Z)", block, re.MULTILINE)
    at = commented.end() if commented else len(block)
    before = block[:at]
    return before + ("" if not before or before.endswith("\n") else end) + line + block[at:]


def _flow_text(value: Any) -> str | None:
    """A value on one line; "" for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return front.dump(value)
    if isinstance(value, bool) or not isinstance(value, float):
        text = json.dumps(value, ensure_ascii=False)
        return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return repr(value).removesuffix(".0") if value.is_integer() else repr(value)


def _block_text(value: Any) -> str | None:
    """Text of several lines as people write it; None for everything else."""
    if not isinstance(value, str) or "\n" not in value.strip("\n"):
        return None
    lines = value.rstrip("\n").split("\n")
    mark = "|" if value.endswith("\n") else "|-"
    return mark + "".join(f"\n  {line}" if line else "\n" for line in lines)


def _round_trip(block: str, key: str, value: Any, end: str) -> str:
    yaml = YAML(typ="rt")
    yaml.width = 1 << 20
    yaml.preserve_quotes = True
    found = yaml.load(block.replace("\r\n", "\n")) or {}
    if value is None:
        found.pop(key, None)
    else:
        found[key] = value
    out = io.StringIO()
    yaml.dump(found, out)
    return out.getvalue().replace("\n", end)
