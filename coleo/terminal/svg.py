"""A screen as an SVG picture: text stays text, colours are kept, nothing in it can be more than text."""

from __future__ import annotations

from xml.sax.saxutils import escape

from coleo.model.text import show
from coleo.terminal.protocol import ScreenShot, Style

_CELL_W, _CELL_H, _BASE = 8.4, 17, 13
_PAD, _BAR = 12, 28
_FG, _BG, _FRAME = "#d8d8d8", "#16181d", "#2a2e37"
_COLOURS = {
    "black": "#2e3436",
    "red": "#ef5350",
    "green": "#7bc275",
    "brown": "#d9b44a",
    "blue": "#6c9ef8",
    "magenta": "#c586c0",
    "cyan": "#56b6c2",
    "white": "#d3d7cf",
    "brightblack": "#7f848e",
    "brightred": "#ff7b72",
    "brightgreen": "#98e08f",
    "brightbrown": "#f2cc60",
    "brightblue": "#8fb8ff",
    "brightmagenta": "#e0a3dc",
    "brightcyan": "#7fdbe6",
    "brightwhite": "#ffffff",
}


def svg(shot: ScreenShot, *, title: str = "", rows: int | None = None) -> str:
    """A picture of `shot`, which was taken with colours, as far as there is text: at least 80 columns.

    title: in the frame above it. rows: how many to show instead.
    """
    used = max((number for number, row in enumerate(shot.rows, 1) if row), default=1)
    count = min(rows or used, len(shot.rows))
    width, height = _columns(shot, count) * _CELL_W + 2 * _PAD, count * _CELL_H + 2 * _PAD + _BAR
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{_text(title or shot.title or 'terminal')}</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{_BG}" stroke="{_FRAME}"/>',
        *(
            f'<circle cx="{_PAD + 6 + 18 * n}" cy="{_BAR / 2 + 2:g}" r="5.5" fill="{fill}"/>'
            for n, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
        f'<text x="{width / 2:g}" y="{_BAR / 2 + 6:g}" text-anchor="middle" fill="#8b909a" '
        f'font-family="sans-serif" font-size="12">{_text(title)}</text>',
        '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14" '
        'xml:space="preserve">',
    ]
    for number in range(count):
        out += _row(shot, number)
    return "\n".join([*out, "</g>", "</svg>", ""])


def _columns(shot: ScreenShot, rows: int) -> int:
    used = 80
    for row in shot.runs[:rows]:
        column = 0
        for cols, text, style in row:
            column += cols
            if style.bg != "default" or style.reverse:
                used = max(used, column)
            elif seen := text.rstrip(" "):
                used = max(used, column - len(text) + len(seen))
    return min(used, shot.size[1])


def _row(shot: ScreenShot, number: int) -> list[str]:
    out, column, top = [], 0, _PAD + _BAR + number * _CELL_H
    for cols, text, style in shot.runs[number]:
        x, width = _PAD + column * _CELL_W, cols * _CELL_W
        column += cols
        fg, bg = _colour(style.fg, _FG), _colour(style.bg, _BG)
        if style.reverse:
            fg, bg = bg, fg
        if bg != _BG:
            out.append(f'<rect x="{x:g}" y="{top:g}" width="{width:g}" height="{_CELL_H}" fill="{bg}"/>')
        seen = text.rstrip(" ")
        if seen:
            length = (cols - len(text) + len(seen)) * _CELL_W
            out.append(
                f'<text x="{x:g}" y="{top + _BASE:g}" fill="{fg}" textLength="{length:g}" '
                f'lengthAdjust="spacingAndGlyphs"{_look(style)}>{_text(seen)}</text>'
            )
    if shot.cursor_shown and shot.cursor[0] == number:
        x = _PAD + shot.cursor[1] * _CELL_W
        out.append(
            f'<rect x="{x:g}" y="{top:g}" width="{_CELL_W}" height="{_CELL_H}" fill="{_FG}" fill-opacity="0.6"/>'
        )
    return out


def _look(style: Style) -> str:
    lines = " ".join(
        name for name, on in (("underline", style.underscore), ("line-through", style.strikethrough)) if on
    )
    return (
        (' font-weight="bold"' if style.bold else "")
        + (' font-style="italic"' if style.italics else "")
        + (f' text-decoration="{lines}"' if lines else "")
    )


def _colour(name: str, default: str) -> str:
    if name in _COLOURS:
        return _COLOURS[name]
    if len(name) == 6 and all(char in "0123456789abcdefABCDEF" for char in name):
        return f"#{name}"
    return default


def _text(text: str) -> str:
    return escape(show(text))
