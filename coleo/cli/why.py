"""``coleo why``: a seat's or a task's explanation, in words. The rules are in `coleo.bus.why`."""

from __future__ import annotations

from coleo.bus import story, tasks
from coleo.bus.why import Why, explain_seat, explain_task
from coleo.cli import named, out
from coleo.files.layout import Layout, find
from coleo.model.errors import BadInput
from coleo.model.instant import iso
from coleo.model.names import SEAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def show(*, target: str, json: bool = False) -> None:
    """Explain the seat or the task of this name."""
    layout = find()
    at = out.now()
    why = explain(layout, target, at)
    if json:
        out.emit(facts(why))
        return
    since = f" since {out.when(why.since_at)} ({out.span(at - why.since_at)})" if why.since_at else ""
    title = f": {out.title(why.title)}" if why.title else ""
    out.line(f"{why.kind} {why.subject}{title}")
    out.line(f"is {why.state}{since}")
    _part("because", why.because)
    _part("shown by", why.evidence)
    _part("next", tuple(_step(step.text, step.at, step.rule, at) for step in why.next))


def explain(layout: Layout, target: str, at: float) -> Why:
    """The explanation; a seat's name wins over a task's id. BadInput for what is neither."""
    if SEAT.fullmatch(target) and target in layout.seats_present():
        return explain_seat(story.of_seat(layout, target, at))
    views = tasks.view(layout, at)
    if not target.startswith("t-") and SEAT.fullmatch(target) and target not in {view.id for view in views}:
        near = named.nearest(target, [*layout.seats_present(), *(view.id for view in views)])
        raise BadInput("no such seat or task", found=target, wanted=near or "a name or id as `coleo status` shows it")
    view = named.task(views, target)
    return explain_task(story.of_task(layout, view, at))


def facts(why: Why) -> dict[str, Any]:
    """For ``--json``: instants in ISO."""
    return {
        **why.as_dict(),
        "since_at": iso(why.since_at) if why.since_at else None,
        "next": [{"text": s.text, "at": iso(s.at) if s.at is not None else None, "rule": s.rule} for s in why.next],
    }


def _part(name: str, lines: tuple[str, ...]) -> None:
    for number, text in enumerate(lines):
        out.line(f"{name if number == 0 else '':<9} {out.title(text, 500)}")


def _step(text: str, at: float | None, rule: str, now: float) -> str:
    if at is not None:
        text += f", {out.span(at - now)} from now" if at > now else ", due now"
    return f"{text}  [{rule}]" if rule else text
