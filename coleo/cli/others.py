"""``coleo demo`` and ``coleo bus``: what lives elsewhere and is only named here."""

from __future__ import annotations

import typer

from coleo.cli.app import command


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app."""
    command(app, "demo", "coleo demo", "coleo demo --help", rest=True)(demo)
    command(app, "bus", "coleo bus --help", "coleo bus get-full-briefing", rest=True)(bus)


def demo(ctx: typer.Context) -> int:
    """Watch a small plan being worked off, without an account."""
    from coleo.cli.demo import main

    return main(ctx.args)


def bus(ctx: typer.Context) -> int:
    """The verbs that agents call."""
    from coleo.bus.entry import main

    return main(ctx.args)
