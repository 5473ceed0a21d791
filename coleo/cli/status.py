"""``coleo status``: how everything stands. Plain and as JSON it loads no typer and no rich; on a terminal only rich."""

from __future__ import annotations

from coleo.bus import overview
from coleo.cli import out
from coleo.files.layout import find
from coleo.model.instant import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from coleo.cli.out import Cell
    from coleo.files.layout import Layout

HEAD = ("SEAT", "STATE", "SINCE", "TASK", "MAIL", "NEXT")
REFRESH_S = 1.0


def show(*, json: bool = False, watch: bool = False) -> None:
    """Print it once, or with `watch` again and again until Ctrl-C."""
    layout = find()
    if watch and out.is_terminal() and not json:
        _watch(layout)
        return
    facts = overview.overview(layout, out.now())
    if json:
        out.emit(facts)
        return
    at = out.now()
    for text, _style in summary(facts):
        out.line(text)
    if facts["seats"]:
        out.line()
        out.table(HEAD, rows(facts, at), wide="TASK")
    for text in remarks(facts):
        out.line(text)


def summary(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The lines above the seats, each with a style."""
    yield f"project  {facts['project']}", "bold"
    brain = facts["brain"]
    pid = f"pid {brain['pid']}" if brain["pid"] else "pid unknown"
    yield (f"brain    up, {pid}", "") if brain["running"] else ("brain    not running: coleo up", "yellow")
    yield f"tasks    {_tasks(facts['tasks'])}", ""
    if facts["paused_all"]:
        yield "paused   nothing is typed anywhere: coleo resume --all", "yellow"
    if facts["unread"]:
        yield f"inbox    {facts['unread']} lines made no task: coleo inbox --unread", "yellow"


def _tasks(count: dict[str, int]) -> str:
    if not sum(count.values()):
        return "none: write `- [ ] something` into .project/plan.md"
    parts = [
        (count["open"] - count["waiting"], "open"),
        (count["waiting"], "waiting for others"),
        (count["claimed"], "claimed"),
        (count["in_progress"], "in work"),
        (count["blocked"], "blocked"),
        (count["failed"], "failed"),
        (count["done"], "done"),
        (count["withdrawn"], "withdrawn"),
    ]
    return ", ".join(f"{number} {word}" for number, word in parts if number)


def rows(facts: dict[str, Any], now: float) -> list[tuple[Cell, ...]]:
    """One row for each seat."""
    return [_row(seat, now, facts["brain"]["running"]) for seat in facts["seats"]]


def _row(seat: dict[str, Any], now: float, running: bool) -> tuple[Cell, ...]:
    state = seat["state"] + (" (paused)" if seat["paused"] else "")
    since = out.ago(parse(seat["since"]) if seat["since"] else None, now)
    tasks = ", ".join(f"{task['id']} {task['title']}" for task in seat["tasks"]) or "-"
    box = seat["mail"]
    mail = str(box["inbox"]) if not box["inflight"] else f"{box['inbox']}+{box['inflight']}"
    coming = next_of(seat, now) if running else overview.needs_person(seat) or "-"
    return seat["seat"], (state, out.STYLES.get(seat["state"], "")), since, tasks, mail, coming


def next_of(seat: dict[str, Any], now: float) -> Cell:
    """What a seat waits for or what comes next, in a few words. Without a brain nothing of it is true."""
    person = overview.needs_person(seat)
    if person:
        return person, "bold red"
    if seat["stopping"]:
        return f"stopping: {seat['stopping']}"
    if seat["waiting"]:
        return str(seat["waiting"])
    if not seat["next"]:
        return "-"
    due_at = parse(seat["next_at"]) if seat["next_at"] else None
    return str(seat["next"]) if due_at is None else f"{seat['next']} in {out.span(due_at - now)}"


def remarks(facts: dict[str, Any]) -> Iterator[str]:
    """What a person should look at, below the seats."""
    for problem in facts["problems"]:
        yield f"problem: {out.title(problem)}"
    for warning in facts["plan_warnings"][:5]:
        where = warning["file"] if warning["line"] is None else f"{warning['file']}:{warning['line']}"
        yield out.title(f"{where}: {warning['why']}")
    if len(facts["plan_warnings"]) > 5:
        yield f"and {len(facts['plan_warnings']) - 5} more: coleo check"
    if facts["uncommitted"]:
        yield facts["uncommitted"]["hint"]
    if not facts["seats"]:
        yield "no seats yet: coleo seat add NAME --template worker"


def picture(facts: dict[str, Any], now: float) -> Any:
    """All of it as one thing that rich can draw."""
    from rich.console import Group, RenderableType
    from rich.text import Text

    from coleo.model.text import show as safe

    cells = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows(facts, now)]
    parts: list[RenderableType] = [Text(safe(text), style=style) for text, style in summary(facts)]
    if cells:
        parts += [Text(), out.rich_table(HEAD, cells, "TASK")]
    return Group(*parts, *(Text(safe(text)) for text in remarks(facts)))


def _watch(layout: Layout) -> None:
    import time

    from rich.live import Live

    with Live(screen=False, auto_refresh=False) as live:
        while True:
            live.update(picture(overview.overview(layout, out.now()), out.now()), refresh=True)
            time.sleep(REFRESH_S)
