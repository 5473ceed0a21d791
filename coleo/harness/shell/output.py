"""What a command writes, as lines for the screen and as text for a task's file."""

from __future__ import annotations

import codecs
import re

from coleo.model.text import show

#: A line without an end is shown when it gets this long, in characters.
LONGEST_LINE = 4096

_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_])")


class Lines:
    """Bytes in, whole lines out: colours and other sequences removed, a lone CR begins the line anew."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._open = ""

    def feed(self, data: bytes) -> tuple[str, ...]:
        """The lines that these bytes end."""
        *whole, self._open = (self._open + self._decoder.decode(data)).split("\n")
        lines = [plain(line) for line in whole]
        while len(self._open) > LONGEST_LINE:
            lines.append(plain(self._open[:LONGEST_LINE]))
            self._open = self._open[LONGEST_LINE:]
        return tuple(lines)

    def end(self) -> tuple[str, ...]:
        """What stands after the last line feed."""
        rest = self._open + self._decoder.decode(b"", True)
        self._open = ""
        return (plain(rest),) if rest else ()


def plain(line: str) -> str:
    """One line as it looked at last: without sequences, and only what follows the last CR inside it."""
    if "\x1b" in line:
        line = _SEQUENCES.sub("", line)
    return line.rstrip("\r").rpartition("\r")[2]


def last_lines(tail: bytes, total: int, *, lines: int, characters: int) -> str:
    """The end of an output as safe text: at most so many lines and characters, with a word on what is left out."""
    text = tail.decode("utf-8", "replace")
    cut = total > len(tail)
    whole = [show(plain(line).expandtabs(8)) for line in text.rstrip("\n").split("\n")]
    if cut:
        del whole[0]
    kept = whole[-lines:]
    while len(kept) > 1 and sum(len(line) + 1 for line in kept) > characters:
        del kept[0]
    kept = [line if len(line) <= characters else "…" + line[-characters:] for line in kept]
    if cut or len(kept) < len(whole):
        kept.insert(0, f"[... the end of {total} bytes ...]")
    return "\n".join(kept).rstrip("\n")
