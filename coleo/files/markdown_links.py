"""Links from a plan to its sub-plans: which ``.md`` files a Markdown text points to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from mistune.inline_parser import InlineParser

_INLINE = InlineParser()
_LONGEST = 8192
_DEFINITION = re.compile(r" {0,3}\[[^\]]+\]:[ \t]*(?:<([^>]*)>|(\S+))")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/")


def texts(tokens: list[dict[str, Any]]) -> Iterator[str]:
    """The inline source of all paragraphs, headings and items; not of code, HTML and quotes."""
    for token in tokens:
        if "text" in token:
            yield token["text"]
        yield from texts(token.get("children", ()))


def plan_links(sources: Iterable[str]) -> tuple[str, ...]:
    """Relative paths of the ``.md`` files that inline sources link to, in order, without fragments.

    Images do not count; link definitions count whether used or not. Lines beyond 8 KiB are not looked at (mistune
    needs minutes for some of them).
    """
    found: dict[str, None] = {}
    for source in sources:
        if ".md" not in source.lower():
            continue
        for row in [source] if len(source) <= _LONGEST else source.split("\n"):
            if len(row) <= _LONGEST:
                targets = [m[1] or m[2] for m in map(_DEFINITION.match, row.split("\n")) if m]
                targets += _targets(_INLINE(row, {"ref_links": {}}))
                found.update((path, None) for path in map(_path, targets) if path)
    return tuple(found)


def _targets(tokens: list[dict[str, Any]]) -> Iterator[str]:
    for token in tokens:
        if token["type"] == "link":
            yield token["attrs"]["url"]
        if token["type"] != "image":
            yield from _targets(token.get("children", []))


def _path(target: str) -> str | None:
    """The file that a link target names, or None when it is no relative ``.md`` path."""
    if _SCHEME.match(target):
        return None
    path = unquote(target.split("#")[0].split("?")[0])
    return path if path.lower().endswith(".md") and "\0" not in path and "\n" not in path else None
