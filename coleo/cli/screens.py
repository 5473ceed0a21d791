"""``coleo attach`` and ``coleo screen``: the terminal of an arm."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from coleo.cli import named, out
from coleo.cli.app import Json, Seat, command, here
from coleo.files import atomic
from coleo.files.layout import Layout
from coleo.model.errors import CannotBeDone


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app."""
    command(app, "attach", "coleo attach ada")(attach)
    command(app, "screen", "coleo screen ada", "coleo screen ada --svg ada.svg")(screen)


def attach(
    seat: Seat,
    key: Annotated[str, typer.Option("--detach-key", metavar="KEY", help="The key that leaves.")] = "ctrl-]",
) -> None:
    """Work in an arm's terminal yourself.

    Ctrl-] leaves it, everything else goes to the agent, Ctrl-C too. While you type, coleo types nothing.
    """
    from coleo.terminal import attach as attaching

    path = _socket(here(), seat)
    how = attaching.run(path, detach=key)
    out.line(f"the arm of {seat} has ended" if how == "ended" else f"{seat} goes on")


def screen(
    seat: Seat,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write a picture instead of text.")] = None,
    json: Json = False,
) -> None:
    """Show what is on an arm's screen now."""
    from coleo.terminal.client import ask
    from coleo.terminal.protocol import ScreenShot

    layout = here()
    answer = ask(_socket(layout, seat), {"op": "screen", "colours": svg is not None})
    shot = ScreenShot.from_json(answer["screen"])
    if svg is not None:
        from coleo.terminal import svg as pictures

        atomic.write(os.path.abspath(svg), pictures.svg(shot, title=seat).encode("utf-8", "replace"), mode=0o644)
    if json:
        facts = {name: value for name, value in shot.to_json().items() if name != "runs"}
        out.emit({"seat": seat, **facts, "svg": svg})
        return
    if svg is not None:
        out.line(f"{svg} shows the screen of {seat}")
        return
    for row in shot.text.split("\n"):
        out.line(row)
    if not shot.known:
        out.note("the screen may be out of date: output was too fast to follow, and nothing has redrawn it since")


def _socket(layout: Layout, seat: str) -> str:
    named.seat(layout, seat)
    path = layout.host_socket(seat)
    if not os.path.exists(path):
        raise CannotBeDone(f"no arm runs in seat {seat}", todo=f"coleo why {seat}")
    return path
