"""A screen as the bytes that draw it on a person's terminal, and the bytes that leave that terminal as it was."""

from __future__ import annotations

from coleo.terminal.protocol import ScreenShot, Style
from coleo.terminal.queries import LASTING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: Undoes whatever a program that was killed may have left on: scrolling region, line drawing, modes, key protocols,
#: paste, mouse, focus, alternate screen; the cursor is shown, the style plain.
RESET = (
    b"\x1b[r\x1b(B\x1b>\x1b[?1l\x1b[?7h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l"
    b"\x1b[?2004l\x1b[?2026l\x1b[<9u\x1b[>4;0m\x1b[?1047l\x1b[?1049l\x1b[?25h\x1b[0 q\x1b[0m"
)

_COLOURS = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")


def paint(shot: ScreenShot, modes: Mapping[int, bool]) -> bytes:
    """Draws `shot` (taken with colours) on an empty terminal and sets the modes that the program has set."""
    out = ["\x1b[0m"]
    out += [f"\x1b[?{mode}h" for mode in LASTING if modes.get(mode) and mode != 25]
    out.append("\x1b[?7l\x1b[H\x1b[2J")
    for number, row in enumerate(shot.runs):
        text = "".join(f"\x1b[{sgr(style)}m{part}" for _, part, style in row)
        out.append(f"\x1b[{number + 1};1H{text}\x1b[0m")
    out.append("\x1b[?7h" if modes.get(7, True) else "")
    out.append(f"\x1b[{shot.cursor[0] + 1};{shot.cursor[1] + 1}H")
    out.append("\x1b[?25h" if shot.cursor_shown else "\x1b[?25l")
    return "".join(out).encode("utf-8", "replace")


def sgr(style: Style) -> str:
    """The parameters of the SGR sequence for a style."""
    flags = (style.bold, style.italics, style.underscore, style.reverse, style.strikethrough)
    parts = ["0", *(str(code) for code, on in zip((1, 3, 4, 7, 9), flags, strict=True) if on)]
    for colour, base in ((style.fg, 30), (style.bg, 40)):
        if colour in _COLOURS:
            parts.append(str(base + _COLOURS.index(colour)))
        elif colour.startswith("bright") and colour[6:] in _COLOURS:
            parts.append(str(base + 60 + _COLOURS.index(colour[6:])))
        elif colour != "default":
            red, green, blue = rgb(colour)
            parts.append(f"{base + 8};2;{red};{green};{blue}")
    return ";".join(parts)


def rgb(colour: str) -> tuple[int, int, int]:
    """Of six hex digits; light grey for what is none."""
    try:
        value = int(colour, 16)
    except ValueError:
        return 0xCC, 0xCC, 0xCC
    return value >> 16 & 255, value >> 8 & 255, value & 255
