"""Text from outside, made safe for a terminal that shows it and for a terminal that reads it."""

from __future__ import annotations

_BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_HIDDEN = {*range(0x20), 0x7F, *range(0x80, 0xA0), *_BIDI, 0x2028, 0x2029}
_SHOWN = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in sorted(_HIDDEN)}
_SHOWN_LINES = {code: text for code, text in _SHOWN.items() if code != 0x0A}
_DROPPED = {code: None for code in [*range(0x20), 0x7F, *range(0x80, 0xA0)] if code not in (0x09, 0x0A)}


def show(text: str, *, lines: bool = False) -> str:
    """`text` for a person's screen: control characters and bidi overrides as visible escapes (case h02).

    One row, unless `lines` keeps the line feeds. Lone surrogates become U+FFFD.
    """
    return without_surrogates(text).translate(_SHOWN_LINES if lines else _SHOWN)


def sanitise(text: str) -> str:
    """`text` for an agent's terminal (cases a05, a06).

    CRLF and CR become LF; C0 but LF and TAB, DEL and C1 are removed one by one (an unterminated sequence
    swallows nothing); trailing line feeds are stripped; lone surrogates become U+FFFD.
    """
    whole = without_surrogates(text).replace("\r\n", "\n").replace("\r", "\n")
    return whole.translate(_DROPPED).rstrip("\n")


def without_surrogates(text: str) -> str:
    """`text` with lone surrogates as U+FFFD: no file and no terminal can hold them."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
