"""What every verb gets and gives: where and for whom it runs, and its answer in words and data."""

from __future__ import annotations

import os

from coleo.files.layout import Layout, find
from coleo.model.errors import BadInput
from coleo.model.names import check_seat
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Reply(Record):
    """The answer of a verb. text: short, for a model. data: the same as values. exit_code: as the errors have it."""

    text: str
    data: Mapping[str, Any]
    exit_code: int = 0


class Context(Record):
    """One call. seat: who calls, None when nobody said. now: of the call. environ, cwd: of the caller."""

    layout: Layout
    seat: str | None
    now: float
    environ: Mapping[str, str]
    cwd: str = "."

    @property
    def generation(self) -> int:
        """The generation of the calling arm (``COLEO_GENERATION``); 0 when nobody said."""
        given = self.environ.get("COLEO_GENERATION", "")
        return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0

    def me(self) -> str:
        """The calling seat. Raises BadInput when it is not known or not laid out."""
        if not self.seat:
            seats = ", ".join(self.layout.seats_present()) or "none"
            raise BadInput(
                "which seat is calling?",
                found="COLEO_SEAT is not set",
                wanted="the name of a seat",
                todo=f"set COLEO_SEAT, or say --seat NAME; seats here: {seats}",
            )
        name = check_seat(self.seat)
        if not os.path.isdir(self.layout.seat(name).dir):
            raise unknown_seat(self.layout, name)
        return name


def unknown_seat(layout: Layout, name: str) -> BadInput:
    """The error for a seat that is not there."""
    return BadInput(
        f"there is no seat {name}",
        found=name,
        wanted=", ".join(layout.seats_present()) or "a seat: none is laid out yet",
        todo=f"make it with: coleo seat add {name}",
    )


def create(environ: Mapping[str, str], *, now: float, seat: str | None = None, cwd: str | None = None) -> Context:
    """The context of a call from the shell: the project by ``COLEO_PROJECT`` or the current folder. Raises BadInput."""
    here = cwd if cwd is not None else _cwd()
    layout = find(None, environ) if environ.get("COLEO_PROJECT") else find(here, environ)
    return Context(layout, seat or environ.get("COLEO_SEAT") or None, now, environ, here)


def _cwd() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.environ.get("PWD", "/")
