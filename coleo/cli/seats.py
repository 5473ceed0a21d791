"""``coleo seat`` (also ``coleo arm``): the seats of a project and the arms in them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coleo.bus import doorbell, overview, tasks
from coleo.cli import named, out, status
from coleo.cli.app import Json, Seat, command, group, here
from coleo.files import activity, arms, desired, project, requests, seatfile
from coleo.files.layout import Layout
from coleo.model.errors import ColeoError
from coleo.model.instant import parse
from coleo.model.seat import SeatConfig

seat = group(
    "Seats, and the agents (arms) that sit in them.",
    "coleo seat add ada --template worker",
    "coleo seat list",
    "coleo seat restart ada",
    "coleo seat set ada model opus",
)


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the app, under both names."""
    app.add_typer(seat, name="seat")
    app.add_typer(seat, name="arm", hidden=True)


@command(seat, "add", "coleo seat add ada", "coleo seat add bob --template shell")
def add(
    name: Annotated[str, typer.Argument(metavar="SEAT", help="a-z 0-9 - _, at most 32.")],
    template: Annotated[str, typer.Option("--template", "-t", help="What to lay down: see `coleo seat templates`.")] = (
        "worker"
    ),
    json: Json = False,
) -> None:
    """Make a new seat from a template. A running brain starts its arm at once."""
    layout = here()
    laid = project.seat_add(layout, name, template)
    activity.append(layout, "notice", now=out.now(), seat=name, text=f"seat added from the template {template}")
    doorbell.ring(layout, f"seat/{name}")
    if json:
        out.emit({"seat": name, "template": template, "files": laid})
        return
    for path in laid:
        out.line(f"  {path}")
    out.line(f"seat {name} is there; its character and settings are in {layout.seat(name).seat_md}")


@command(seat, "templates", "coleo seat templates")
def templates(json: Json = False) -> None:
    """List the templates that `coleo seat add` knows."""
    names = project.seat_templates()
    if json:
        out.emit({"templates": names})
    else:
        for name in names:
            out.line(name)


@command(seat, "list", "coleo seat list", "coleo seat list --json")
def list_(json: Json = False) -> None:
    """List the seats with the state of their arms."""
    facts = overview.overview(here(), out.now())
    if json:
        out.emit({"seats": facts["seats"]})
        return
    if not facts["seats"]:
        out.line("no seats yet: coleo seat add NAME --template worker")
        return
    at = out.now()
    out.table(("SEAT", "HARNESS", "STATE", "SINCE", "WANTED", "PID"), [_row(one, at) for one in facts["seats"]])


def _row(one: dict[str, Any], at: float) -> tuple[out.Cell, ...]:
    since = out.ago(parse(one["since"]) if one["since"] else None, at)
    return (
        one["seat"],
        one["harness"] or "-",
        (one["state"], out.STYLES.get(one["state"], "")),
        since,
        _wanted(one),
        str(one["pid"] or "-"),
    )


def _wanted(one: dict[str, Any]) -> str:
    if not one["enabled"]:
        return "disabled"
    if one["stopped"]:
        return "stopped"
    return "paused" if one["paused"] else "up"


@command(seat, "show", "coleo seat show ada", "coleo seat show ada --json")
def show(name: Seat, json: Json = False) -> int:
    """Show one seat: settings, arm, tasks and mail."""
    layout = here()
    named.seat(layout, name)
    at = out.now()
    board = tasks.board(layout, at)
    facts = overview.seat_facts(layout, name, arms.read(layout, name), desired.read(layout), board)
    config, problem = _config(layout, name)
    if json:
        out.emit({**facts, "config": config.as_dict() if config else None, "problem": problem or None})
        return 2 if problem else 0
    out.table(status.HEAD, status.rows({"seats": [facts], "brain": overview.brain(layout)}, at), wide="TASK")
    out.line()
    if problem:
        out.line(problem, lines=True)
        return 2
    defaults = SeatConfig(name)
    for key, value in (config.as_dict() if config else {}).items():
        if value != getattr(defaults, key) or key in ("harness", "enabled"):
            out.line(f"{key + ':':<22} {out.title(str(value))}")
    return 0


def _config(layout: Layout, name: str) -> tuple[SeatConfig | None, str]:
    try:
        return seatfile.read(layout, name), ""
    except ColeoError as error:
        return None, str(error)


@command(seat, "start", "coleo seat start ada")
def start(name: Seat, json: Json = False) -> None:
    """Start the arm of a seat that was stopped or is parked."""
    layout = here()
    named.seat(layout, name)
    desired.change(layout, name, stopped=False, unpark_at=out.now())
    note = "" if overview.configured(layout, name).get("enabled") != "false" else "; but seat.md says enabled: false"
    _asked(layout, "start", name, "start asked for", f"{name} is started" + note, json)


@command(seat, "stop", "coleo seat stop ada")
def stop(name: Seat, json: Json = False) -> None:
    """End the arm of a seat until it is started again.

    Its task goes back to open with a note.
    """
    layout = here()
    named.seat(layout, name)
    desired.change(layout, name, stopped=True)
    _asked(layout, "stop", name, "stop asked for", f"{name} is stopped; again: coleo seat start {name}", json)


@command(seat, "restart", "coleo seat restart ada")
def restart(name: Seat, json: Json = False) -> None:
    """End the arm of a seat and start a fresh one. Its claim stays with the seat."""
    layout = here()
    named.seat(layout, name)
    at = out.now()
    desired.change(layout, name, stopped=False, restart_at=at, unpark_at=at)
    _asked(layout, "restart", name, "restart asked for", f"{name} is restarted", json)


@command(seat, "enable", "coleo seat enable ada")
def enable(name: Seat, json: Json = False) -> None:
    """Say in seat.md that the seat has an arm."""
    _set(name, "enabled", "true", json)


@command(seat, "disable", "coleo seat disable ada")
def disable(name: Seat, json: Json = False) -> None:
    """Say in seat.md that the seat has none; its arm is ended."""
    _set(name, "enabled", "false", json)


@command(seat, "set", "coleo seat set ada model opus", "coleo seat set ada timezone Europe/Berlin")
def set_(
    name: Seat,
    key: Annotated[str, typer.Argument(metavar="KEY")],
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    json: Json = False,
) -> None:
    """Change one key in seat.md; all else stays to the byte."""
    _set(name, key, value, json)


def _set(name: str, key: str, value: str, json: bool) -> None:
    layout = here()
    named.seat(layout, name)
    seatfile.set_key(layout, name, key, value)
    activity.append(layout, "notice", now=out.now(), seat=name, text=f"{key} set to {value} in seat.md")
    doorbell.ring(layout, f"seat/{name}")
    if json:
        out.emit({"seat": name, "key": key, "value": value})
    else:
        out.line(f"{name}: {key} is {value}")


def _asked(layout: Layout, op: str, name: str, log: str, message: str, json: bool) -> None:
    at = out.now()
    activity.append(layout, "notice", now=at, seat=name, text=f"{log} by a person")
    if named.brain_pid(layout) is None:
        out.note("no brain runs; this holds as soon as it does (coleo up)")
    else:
        requests.ask(layout, op, {"seats": [name]}, now=at)
        doorbell.ring(layout, "requests")
    if json:
        out.emit({"seat": name, "message": message})
    else:
        out.line(message)
