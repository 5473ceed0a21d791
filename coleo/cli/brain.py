"""``coleo up down pause resume wake``: the brain and all arms at once."""

from __future__ import annotations

from typing import Annotated

import typer

from coleo.bus import doorbell
from coleo.cli import named, out, starting
from coleo.cli.app import Json, command, complete_seats, here
from coleo.files import activity, arms, desired, requests
from coleo.files.layout import Layout
from coleo.model.errors import BadInput, CannotBeDone

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting for this run, above environment and files."),
]
AllOrSeat = Annotated[str | None, typer.Argument(metavar="[SEAT]", autocompletion=complete_seats)]

#: How long the brain may take for a stop of all arms: three tries of 5 s each, and some air.
DOWN_S = 60.0
DOUBT_S = 3.0
ANSWER_S = 10.0


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app."""
    command(app, "up", "coleo up", "coleo up --detach", "coleo up --set brain.max_arms=2")(up)
    command(app, "down", "coleo down", "coleo down --brain   (arms go on)")(down)
    command(app, "pause", "coleo pause ada", "coleo pause --all")(pause)
    command(app, "resume", "coleo resume ada", "coleo resume --all")(resume)
    command(app, "wake", "coleo wake")(wake)


def up(
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Go to the background once it is up.")] = False,
    settings: Settings = None,
    json: Json = False,
) -> int | None:
    """Start the brain, which starts the arms and hands out work.

    It refuses to start with settings that are wrong (exit 2), unsafe permissions (4) or beside another brain (3).
    """
    layout = here()
    values = starting.overrides(settings or [])
    starting.check(layout, values)
    if detach:
        pid, log = starting.detach(layout, settings or [])
        if json:
            out.emit({"pid": pid, "project": layout.root, "log": log})
        else:
            out.line(f"the brain is up: pid {pid}, project {layout.root}, log {log}")
        return 0
    return starting.foreground(layout, values)


def down(
    brain_only: Annotated[bool, typer.Option("--brain", help="Stop the brain only; the arms go on.")] = False,
    json: Json = False,
) -> None:
    """Stop all arms and then the brain.

    Arms are asked to end in parallel, then told, then killed; their tasks go back to open with a note.
    """
    layout = here()
    pid = named.brain_pid(layout)
    if pid is None and not brain_only and starting.adopt(layout):
        pid = named.brain_pid(layout)
    if pid is None:
        _tell(json, "nothing runs here", running=False, pid=None)
        return
    request = requests.ask(layout, "down", {"arms": not brain_only}, now=out.now())
    doorbell.ring(layout, "requests")
    found = _end_of(layout, request, arms_too=not brain_only)
    if not starting.gone(layout, ANSWER_S if found else 0.5):
        requests.withdraw(layout, request)
        raise CannotBeDone(
            f"the brain (pid {pid}) did not end within {DOWN_S:g} s",
            found=str((found or {}).get("message", "no answer")),
            todo=f"look into {starting.log_path(layout)}; kill {pid} ends it at once, the arms go on",
        )
    _tell(json, str((found or {}).get("message") or "the brain has ended"), running=False, pid=pid)


def _end_of(layout: Layout, request: str, *, arms_too: bool) -> dict[str, object] | None:
    """The brain's answer at its end. Arms that nobody has told to end after a while are told from here."""

    def alive() -> bool:
        return named.brain_pid(layout) is not None

    found = requests.wait(layout, request, deadline_s=DOUBT_S, alive=alive)
    if found is None and alive():
        if arms_too:
            starting.stop_forgotten(layout)
        found = requests.wait(layout, request, deadline_s=DOWN_S - DOUBT_S, alive=alive)
    return found


def pause(
    seat: AllOrSeat = None,
    everything: Annotated[bool, typer.Option("--all", help="All seats.")] = False,
    json: Json = False,
) -> None:
    """Type nothing into a seat until it is resumed.

    Its agent stays alive and goes on with what it does; its mail waits.
    """
    layout = here()
    names = _which(layout, seat, everything)
    desired.change(layout, seat, paused=True)
    _acted(layout, "pause", names, "paused by a person")
    what = "all seats are" if everything else f"{seat} is"
    again = "--all" if everything else seat
    _tell(json, f"{what} paused; go on with: coleo resume {again}", paused=True, seats=names)


def resume(
    seat: AllOrSeat = None,
    everything: Annotated[bool, typer.Option("--all", help="All seats.")] = False,
    json: Json = False,
) -> None:
    """Go on with what is paused. A seat that is parked (crash loop, could not start) is tried again."""
    layout = here()
    names = _which(layout, seat, everything)
    desired.change(layout, seat, paused=False)
    for name in names:
        arm = arms.read(layout, name)
        if arm is not None and arm.parked:
            desired.change(layout, name, unpark_at=out.now())
    _acted(layout, "resume", names, "resumed by a person")
    wishes = desired.read(layout)
    stopped = [name for name in names if wishes.of(name).stopped]
    note = f"; still stopped: {', '.join(stopped)} (coleo seat start)" if stopped else ""
    _tell(json, ("all seats go on" if everything else f"{seat} goes on") + note, paused=False, seats=names)


def wake(json: Json = False) -> None:
    """Make the brain look at everything now."""
    layout = here()
    pid = named.need_brain(layout)
    request = requests.ask(layout, "wake", now=out.now())
    doorbell.ring(layout, "requests")
    found = requests.wait(layout, request, deadline_s=ANSWER_S, alive=lambda: named.brain_pid(layout) is not None)
    if found is None:
        requests.withdraw(layout, request)
        raise CannotBeDone(f"the brain (pid {pid}) does not answer", todo="coleo log -n 20")
    _tell(json, str(found.get("message") or "the brain has looked"), pid=pid)


def _which(layout: Layout, seat: str | None, everything: bool) -> list[str]:
    if everything == (seat is not None):
        raise BadInput("say which seat", wanted="the name of a seat, or --all")
    return layout.seats_present() if seat is None else [named.seat(layout, seat)]


def _acted(layout: Layout, op: str, names: list[str], text: str) -> None:
    """One line in the log for each seat, and a request, so that the brain looks at once."""
    at = out.now()
    for name in names:
        activity.append(layout, "notice", now=at, seat=name, text=text)
    if named.brain_pid(layout) is None:
        out.note("no brain runs; this holds as soon as it does (coleo up)")
        return
    requests.ask(layout, op, {"seats": names}, now=at)
    doorbell.ring(layout, "requests")


def _tell(json: bool, message: str, **facts: object) -> None:
    if json:
        out.emit({"message": message, **facts})
    else:
        out.line(message)
