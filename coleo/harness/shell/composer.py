"""Keys and pastes into text: the composer at the bottom of the worker's screen. Pure: bytes in, events out."""

from __future__ import annotations

import codecs
import re

from coleo.model.record import Record
from coleo.model.text import sanitise, show

#: More than this is not taken into the composer; a prompt of coleo's is 8 KiB at most.
LIMIT = 1 << 20

_PASTE_BEGIN, _PASTE_END = "\x1b[200~", "\x1b[201~"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[ -NP-Z\\-~])")
_PARTIAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")


class Submit(Record):
    """Enter was pressed on this text."""

    text: str


class Interrupt(Record):
    """Ctrl-C. What stands in the composer stays: whether to clear it is for the caller to say."""


class End(Record):
    """Ctrl-D on an empty composer."""


class Composer:
    """What stands in the composer, and what the next bytes make of it.

    A paste of several lines is one piece: shown as ``[pasted N lines]``, removed by one backspace. Escape
    sequences other than the brackets of a paste do nothing.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._paste: list[str] | None = None

    @property
    def text(self) -> str:
        """The whole text that Enter would submit."""
        return "".join(self._pieces)

    def shown(self) -> str:
        """The text as its row shows it: control characters escaped, pastes of several lines in one word."""
        return "".join(_label(piece) for piece in self._pieces)

    def clear(self) -> None:
        """Drop the draft."""
        self._pieces.clear()

    def feed(self, data: bytes) -> list[Submit | Interrupt | End]:
        """Take bytes from the terminal; sequences and characters may be cut anywhere."""
        text = self._held + self._decoder.decode(data)
        self._held = ""
        events: list[Submit | Interrupt | End] = []
        at = 0
        while at < len(text):
            if self._paste is not None:
                at = self._in_paste(text, at)
            elif text[at] == "\x1b":
                at = self._escape(text, at)
            else:
                at = self._key(text, at, events)
        return events

    def _in_paste(self, text: str, at: int) -> int:
        """Collect up to the closing bracket; what could be the beginning of one is held back."""
        pasted = self._paste if self._paste is not None else []
        end = text.find(_PASTE_END, at)
        if end < 0:
            keep = max((n for n in range(1, len(_PASTE_END)) if text.endswith(_PASTE_END[:n])), default=0)
            stop = max(at, len(text) - keep)
            pasted.append(text[at:stop])
            self._held = text[stop:]
            return len(text)
        pasted.append(text[at:end])
        self._paste = None
        self._add(sanitise("".join(pasted)), whole=True)
        return end + len(_PASTE_END)

    def _escape(self, text: str, at: int) -> int:
        if text.startswith(_PASTE_BEGIN, at):
            self._paste = []
            return at + len(_PASTE_BEGIN)
        found = _SEQUENCE.match(text, at)
        if found:
            return found.end()
        if _PARTIAL.match(text, at) and len(text) - at < 32:
            self._held = text[at:]
            return len(text)
        return at + 1

    def _key(self, text: str, at: int, events: list[Submit | Interrupt | End]) -> int:
        match text[at]:
            case "\r" | "\n":
                if self.text.strip():
                    events.append(Submit(self.text))
                self.clear()
            case "\x03":
                events.append(Interrupt())
            case "\x04":
                if not self._pieces:
                    events.append(End())
            case "\x7f" | "\x08":
                self._backspace()
            case "\x15":
                self.clear()
            case "\x17":
                self._word_back()
            case "\t":
                self._add("    ")
            case char if char >= " " and not "\x80" <= char < "\xa0":
                end = at + 1
                while end < len(text) and text[end] >= " " and text[end] != "\x7f" and not "\x80" <= text[end] < "\xa0":
                    end += 1
                self._add(text[at:end])
                return end
            case _:
                pass
        return at + 1

    def _add(self, text: str, *, whole: bool = False) -> None:
        room = LIMIT - sum(map(len, self._pieces))
        text = text[: max(room, 0)]
        if not text:
            return
        if self._pieces and not whole and "\n" not in self._pieces[-1]:
            self._pieces[-1] += text
        else:
            self._pieces.append(text)

    def _backspace(self) -> None:
        if not self._pieces:
            return
        last = self._pieces.pop()
        if "\n" not in last and len(last) > 1:
            self._pieces.append(last[:-1])

    def _word_back(self) -> None:
        if self._pieces and "\n" not in self._pieces[-1]:
            cut = self._pieces[-1].rstrip().rpartition(" ")
            self._pieces[-1] = cut[0] + cut[1]
            if self._pieces[-1]:
                return
        if self._pieces:
            self._pieces.pop()


def _label(piece: str) -> str:
    lines = piece.count("\n") + 1
    return show(piece) if lines == 1 else f"[pasted {lines} lines]"
