"""What a program asks its terminal, and what a terminal answers.

Agents ask for attributes, versions, colours and the cursor, and some wait for the answer (measured with eleven). The
host answers at once, in the place of the terminal that is not there; while a person is attached, theirs does. Modes are
noted on the way: who attaches later gets them set.
"""

from __future__ import annotations

import re

from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ASKED = re.compile(
    rb"\x1b(?:"
    rb"\[(?:(?P<da1>0?c)|>(?P<da2>0?c)|(?P<status>5n)|(?P<cursor>\??6n)|>(?P<version>0?q)|(?P<mode>\??[0-9]{1,5})\$p"
    rb"|(?P<size>1[468])t|\?(?P<modes>[0-9;]{1,60})(?P<set>[hl]))"
    rb"|\](?P<colour>1[012]);\?(?:\x07|\x1b\\)"
    rb"|P(?P<caps>[+$])q[^\x1b\x07]{0,1000}\x1b\\"
    rb"|(?P<reset>c))"
)
_CUT = re.compile(rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,4}|\][^\x07\x1b]{0,64}\x1b?|P[^\x07\x1b]{0,1000}\x1b?)?\Z")
_COLOURS = {b"10": b"dddd/dddd/dddd", b"11": b"1111/1111/1111", b"12": b"dddd/dddd/dddd"}
#: Modes that a terminal of this kind has; about others it says that it does not know them.
_HAS = frozenset({1, 7, 25, 47, 1000, 1002, 1003, 1006, 1047, 1049, 2004})
#: Modes that make a difference to who looks at the terminal: set again for somebody who attaches.
LASTING = (1049, 1047, 47, 1, 25, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004)

_REPLY = re.compile(
    rb"(?:\x1b\[[?>]?[0-9;:]*[cnRyu]|\x1b\[[?>0-9;]*\$y|\x1b\[[0-9;]*t|\x1b\[[IO]"
    rb"|\x1b\[<[0-9;]*[Mm]|\x1b\[M[\x20-\xff]{3}|\x1b[\]P_][^\x07\x1b]*(?:\x07|\x1b\\))+"
)


class Asked(Record):
    """One thing that a program said to its terminal. end: where it ends in the read that completed it."""

    kind: str
    value: bytes
    end: int


class Queries:
    """Finds them in output as it comes, also those that a read has cut in two; notes the private modes."""

    def __init__(self) -> None:
        self.modes: dict[int, bool] = {25: True, 7: True}
        self._held = b""

    def find(self, data: bytes) -> Iterator[Asked]:
        """What is asked in this read, in order."""
        if not self._held and b"\x1b" not in data:
            return
        before = len(self._held)
        data = self._held + data
        # An ESC at the very end may be half of what ends a string that began earlier.
        cut = _CUT.search(data, max(0, data.rfind(b"\x1b", 0, len(data) - 1)))
        self._held = data[cut.start() :] if cut else b""
        for found in _ASKED.finditer(data):
            kind = found.lastgroup or ""
            if kind == "set":
                for mode in found["modes"].split(b";"):
                    self.modes[int(mode or b"0")] = found["set"] == b"h"
            elif kind == "reset":
                self.modes = {25: True, 7: True}
            else:
                yield Asked(kind, found[kind], found.end() - before)

    def answer(self, asked: Asked, cursor: tuple[int, int], size: tuple[int, int]) -> bytes:
        """What an xterm would send back; b"" for silence. cursor: (row, column) from 0; size: (rows, columns)."""
        match asked.kind:
            case "da1":
                return b"\x1b[?62;22c"
            case "da2":
                return b"\x1b[>41;390;0c"
            case "status":
                return b"\x1b[0n"
            case "cursor":
                private = b"?" if asked.value.startswith(b"?") else b""
                return b"\x1b[%s%d;%dR" % (private, cursor[0] + 1, cursor[1] + 1)
            case "version":
                return b"\x1bP>|XTerm(390)\x1b\\"
            case "mode":
                number = int(asked.value.lstrip(b"?"))
                known = asked.value.startswith(b"?") and number in _HAS
                value = (1 if self.modes.get(number) else 2) if known else 0
                return b"\x1b[%s;%d$y" % (asked.value, value)
            case "size":
                rows, cols = size
                at = {b"14": (4, rows * 20, cols * 10), b"16": (6, 20, 10), b"18": (8, rows, cols)}[asked.value]
                return b"\x1b[%d;%d;%dt" % at
            case "colour":
                return b"\x1b]%s;rgb:%s\x1b\\" % (asked.value, _COLOURS[asked.value])
            case "caps":
                return b"\x1bP0%sr\x1b\\" % asked.value
            case _:
                return b""


def is_reply(data: bytes) -> bool:
    """Whether this is what a terminal sends by itself (answers, focus, mouse) and nobody typed it."""
    return bool(_REPLY.fullmatch(data))
