"""Where a Markdown file can be cut so that each part means the same by itself.

Before headings and bulleted tasks in column 0: nothing but an open fence or HTML block of the document's own level
reaches across such a line, and a part that ends in one says so (`Part.unclosed`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from zlib import crc32

_CUT = re.compile(rb"[\r\n](?=#{1,6}[ \t\r\n]|[-*+] {1,4}\[[ xX]\][ \t])")
_LOOKS_AT = 64


def _cuts(data: bytes, begin: int, end: int) -> list[int]:
    """Where parts begin in ``data[begin:end]``.

    Lists are cut at about every sixteenth task, by a sum over its words, so that the same cuts are found again when
    lines were added above; at every 64th at the latest.
    """
    cuts, tasks = [begin], 0
    for found in _CUT.finditer(data, begin, end):
        pos = found.end()
        tasks += 1
        if data[pos] == 35 or tasks >= 64 or not crc32(data[pos + 5 : pos + 60]) & 15:
            cuts.append(pos)
            tasks = 0
    return cuts


def cuts_again(data: bytes, begin: int, old: bytes, cuts: list[int]) -> list[int]:
    """Where parts begin in ``data[begin:]``, and the end. old, cuts: the last content and what this said of it.

    Cuts are taken over where both contents are the same, and found anew in between.
    """
    if not cuts or cuts[0] != begin or old[:begin] != data[:begin]:
        return [*_cuts(data, begin, len(data)), len(data)]
    top = _common(old, data)
    bottom = _common_end(old, data, min(len(old), len(data)) - top)
    grown = len(data) - len(old)
    first = max(1, bisect_left(cuts, top - _LOOKS_AT))
    after = bisect_right(cuts, len(old) - bottom, first, len(cuts) - 1)
    again = cuts[after] + grown if after < len(cuts) - 1 else len(data)
    middle = _cuts(data, cuts[first - 1], again)
    return [*cuts[: first - 1], *middle, *[cut + grown for cut in cuts[after:-1]], len(data)]


def _common(one: bytes, other: bytes) -> int:
    """How many bytes two contents have in common at the beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: bytes, other: bytes, most: int) -> int:
    """The same at the end, at most `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
