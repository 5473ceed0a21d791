"""Between a program's output and pyte: what pyte prints as text, or raises on, is taken out and counted.

pyte knows neither strings (DCS, APC, PM, SOS), nor private sequences but modes, nor parameters with colons; vim,
Codex and others send them all (DESIGN.md section 3). OSC is taken out as well, only the title is kept. Sequences
that a read has cut in two are held until the rest is there; a string that never ends is ended by the next ESC, as
terminals do.
"""

from __future__ import annotations

import codecs
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_BAD = re.compile(
    # strings, with what ends them; the next ESC ends them too (at the end of the text one follows: it is held)
    r"\x1b(?P<string>[PX^_\]])(?P<inside>[^\x07\x18\x1a\x1b\x9c]*)(?:[\x07\x18\x1a\x9c]|\x1b\\|(?=\x1b[^\\]|\Z))"
    # private sequences other than modes and erasing; intermediate bytes; parameters of absurd length
    r"|\x1b\[(?:[<=>][0-?]*[ -/]*[@-~]|\?[0-?]*[@-IL-gi-km-~]|[0-?]*[ -/]+[@-~]|[0-?]*[0-9]{6}[0-?]*[ -/]*[@-~])"
    # colons: kept in the one place where they mean something that can be said without them
    r"|\x1b\[(?P<colons>[0-9;]*:[0-9;:]*)(?P<final>[@-~])"
    # character sets beyond G0 and G1, ESC SP F and the like
    r"|\x1b[ !\"$&'*+,\-./][ -/]*[0-~]"
    r"|[\x80-\x9f]"
)
#: The end of a text that may be the start of a sequence.
_CUT = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[ -/]*|(?P<string>[PX^_\]])[^\x07\x18\x1a\x1b\x9c]*\x1b?)?\Z")
_END = re.compile(r"[\x07\x18\x1a\x9c]|\x1b\\|\x1b(?=[^\\])")
_HELD = 4096


class Filter:
    """Bytes in, text for pyte out, across the borders of reads.

    skipped: sequences taken out so far. title: what the program last set as its window title.
    """

    def __init__(self, skipped: int = 0, title: str = "") -> None:
        self.skipped = skipped
        self.title = title
        self._decode: Callable[[bytes], str] = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._held = ""
        self._in_string = False

    def feed(self, data: bytes) -> str:
        """What of `data` pyte can take, with what was held before; the cut end is held for the next call."""
        text = self._held + self._decode(data)
        self._held = ""
        if self._in_string:
            text = self._rest_of_string(text)
        if "\x1b" not in text and text.isascii():
            return text
        cut = _CUT.search(text, _last_escape(text))
        if cut:
            held = text[cut.start() :]
            text = text[: cut.start()]
            if len(held) <= _HELD:
                self._held = held
            else:
                # A picture or the like: nothing of it will be shown, so nothing of it is kept.
                self._in_string = cut["string"] is not None
                self._held = "\x1b" if held.endswith("\x1b") and self._in_string else ""
                self.skipped += 1
        return _BAD.sub(self._replace, text)

    def _rest_of_string(self, text: str) -> str:
        end = _END.search(text)
        if end is None:
            self._held = "\x1b" if text.endswith("\x1b") else ""
            return ""
        self._in_string = False
        return text[end.end() :] if end[0] != "\x1b" else text[end.start() :]

    def _replace(self, found: re.Match[str]) -> str:
        if found["string"] == "]":
            code, _, value = found["inside"].partition(";")
            if code in ("0", "2"):
                self.title = value[:200]
            return ""
        self.skipped += 1
        if found["final"] == "m":
            return f"\x1b[{';'.join(map(_plain, found['colons'].split(';')))}m"
        return ""


def _last_escape(text: str) -> int:
    """Where a cut sequence could begin at the earliest: an ESC at the very end may be half of what ends a string."""
    return max(0, text.rfind("\x1b", 0, len(text) - 1))


def _plain(attribute: str) -> str:
    """One SGR attribute without colons: ``38:2::1:2:3`` is ``38;2;1;2;3``, ``4:3`` (a curly line) is ``4``."""
    parts = attribute.split(":")
    if len(parts) == 1:
        return attribute
    if parts[0] in ("38", "48") and len(parts) > 2:
        if parts[1] == "2":
            return ";".join([parts[0], "2", *(part or "0" for part in parts[-3:])])
        return ";".join(part or "0" for part in parts[:3])
    if parts[0] == "4":
        return "24" if parts[1] == "0" else "4"
    return ""
