"""A screen as a picture: well-formed whatever is on the screen, text stays text, colours are kept."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from coleo.terminal.screen import Screen
from coleo.terminal.svg import svg

NAMES = {"s": "http://www.w3.org/2000/svg"}


def picture(data: bytes, *, title: str = "", size: tuple[int, int] = (6, 100)) -> ElementTree.Element:
    screen = Screen(*size)
    screen.add(data)
    screen.catch_up()
    return ElementTree.fromstring(svg(screen.shot(colours=True), title=title))


def texts(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.findall("s:g/s:text", NAMES)]


def test_text_and_colours() -> None:
    """Bold red on blue, true colour, reverse, underlined."""
    root = picture(
        b"plain \x1b[1;31;44mred\x1b[0m \x1b[38;2;1;2;3mtrue\x1b[0m\r\n\x1b[7mreverse\x1b[0m\x1b[4mline", title="a seat"
    )
    assert texts(root) == ["plain", "red", "true", "reverse", "line"]
    red = next(text for text in root.iter(f"{{{NAMES['s']}}}text") if text.text == "red")
    assert red.get("font-weight") == "bold" and red.get("fill") == "#ef5350"
    fills = {rect.get("fill") for rect in root.findall("s:g/s:rect", NAMES)}
    assert "#6c9ef8" in fills and "#d8d8d8" in fills
    assert any(text.get("fill") == "#010203" for text in root.iter(f"{{{NAMES['s']}}}text"))
    title = root.find("s:title", NAMES)
    assert title is not None and title.text == "a seat"


def test_only_as_large_as_there_is_text() -> None:
    """80 columns at the least, rows as far down as there is something."""
    small, wide = picture(b"x", size=(50, 200)), picture(b"x" * 150 + b"\r\ny", size=(50, 200))
    assert float(small.get("width", "0")) < float(wide.get("width", "0")) < 200 * 8.4
    assert float(small.get("height", "0")) < float(wide.get("height", "0"))


def test_markup_is_text() -> None:
    """What an agent prints cannot be more than text in the picture."""
    root = picture(b"</text><script>alert(1)</script>&amp;\"'", title="</title><b>")
    assert texts(root) == ["</text><script>alert(1)</script>&amp;\"'"]
    assert not list(root.iter(f"{{{NAMES['s']}}}script"))


@given(
    st.one_of(st.binary(max_size=60), st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace"))),
    st.text(max_size=9),
)
def test_always_well_formed(data: bytes, title: str) -> None:
    """Whatever is on the screen, and in the title."""
    picture(data, title=title.encode("utf-8", "replace").decode(), size=(3, 20))
