"""``coleo demo``: a small plan is worked off by two shell seats while you watch. No account, no network.

It calls the same commands that a person would type, so what it shows is what there is: ``coleo init``, ``coleo up``,
a look at the tasks a few times a second, ``coleo down``. Exit 0 only when the outcome is what it should be.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from coleo.bus import overview, tasks
from coleo.bus.tasks import TaskView
from coleo.cli import demoplan, out, status
from coleo.files import atomic, history, markdown, process
from coleo.files.layout import Layout
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.task import TaskStatus

DEADLINE_S = 60.0
LOOK_S = 0.15
END_S = 5.0
#: An item is dropped into the inbox when so many tasks are done.
DROP_AFTER = (1, 3)
SETTINGS = ("brain.poll_interval_ms=1000", "brain.settle_s=0.2")

_ENDED = (TaskStatus.DONE, TaskStatus.BLOCKED)
_MARKS = {TaskStatus.DONE: "[x]", TaskStatus.BLOCKED: "[!]"}


def main(args: Sequence[str]) -> int:
    """Run the demonstration; 0 when everything came out as it should, else 1."""
    options = _options(args)
    root = _folder(options.folder)
    out.line(f"A project of ten tasks for two seats, in {root}")
    layout = _lay_down(root)
    watcher = Watcher(layout, plain=options.plain or not out.is_terminal())
    try:
        with _signals_end_it():
            _coleo(layout, "up", "--detach", *(word for value in SETTINGS for word in ("--set", value)))
            views = watcher.watch()
    except BaseException:
        _coleo(layout, "down", quiet=True)
        raise
    wrong = problems(layout, views)
    tell(layout, views, watcher.seconds)
    if options.keep:
        out.line(f"The brain and the seats go on: cd {root}; coleo status; coleo attach ada; coleo down")
    else:
        _coleo(layout, "down")
        wrong += [f"a process is left: {text}" for text in _left_at_last(layout)]
    for text in wrong:
        out.line(f"NOT AS IT SHOULD BE: {text}")
    return 1 if wrong else 0


@contextlib.contextmanager
def _signals_end_it() -> Iterator[None]:
    """TERM and HUP end the demonstration as Ctrl-C does: with a stop of what it has started."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number in before:
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _options(args: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="coleo demo",
        description="A small plan is worked off by two shell seats while you watch. No account, no network.",
        epilog="Example: coleo demo /tmp/site, then look at /tmp/site/.project/plan.md",
    )
    parser.add_argument(
        "folder", nargs="?", metavar="FOLDER", help="new or empty; a new one for temporary files if none"
    )
    parser.add_argument("--keep", action="store_true", help="leave the brain and the seats running at the end")
    parser.add_argument("--plain", action="store_true", help="a line for each change, no live picture")
    return parser.parse_args(list(args))


def _folder(named: str | None) -> str:
    if named is None:
        return os.path.realpath(tempfile.mkdtemp(prefix="coleo-demo-"))
    root = os.path.realpath(named)
    if os.path.exists(root) and (not os.path.isdir(root) or os.listdir(root)):
        raise BadInput("the folder of the demonstration must be new or empty", found=root, todo="name another one")
    os.makedirs(root, exist_ok=True)
    return root


def _lay_down(root: str) -> Layout:
    if shutil.which("git"):
        subprocess.run(["git", "init", "--quiet", root], env=_environ(), check=False, stdin=subprocess.DEVNULL)
    layout = Layout(root)
    _coleo(layout, "init", *(word for seat in demoplan.SEATS for word in ("--seat", f"{seat}=shell")), quiet=True)
    shutil.copyfile(demoplan.PLAN, layout.plan)
    return layout


def _environ() -> dict[str, str]:
    """The caller's environment without what would lead into another project."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("COLEO_", "OCTOPAI_", "GIT_"))}


def _coleo(layout: Layout, *words: str, quiet: bool = False) -> None:
    """One command of coleo's own, shown as it would be typed. Raises CannotBeDone when it does not succeed."""
    out.line(f"$ coleo {' '.join(words)}")
    command = [sys.executable, "-P", "-m", "coleo", *words]
    done = subprocess.run(
        command, cwd=layout.root, env=_environ(), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise CannotBeDone(f"coleo {words[0]} ended with exit {done.returncode}", found=done.stderr.strip()[-2000:])
    if not quiet and done.stdout.strip():
        out.line(done.stdout.strip(), lines=True)


class Watcher:
    """Looks at the tasks until nothing more will happen, drops the inbox items, and shows what changes."""

    def __init__(self, layout: Layout, *, plain: bool) -> None:
        self._layout, self._plain = layout, plain
        self._begin = time.monotonic()
        self._shown: dict[str, tuple[str, str | None, int]] = {}
        self._dropped = 0

    @property
    def seconds(self) -> float:
        """Since the brain was started."""
        return time.monotonic() - self._begin

    def watch(self) -> list[TaskView]:
        """The tasks as they are at the end, or at the deadline."""
        self._begin = time.monotonic()
        if self._plain:
            return self._loop(self._lines)
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(highlight=False), refresh_per_second=8, transient=True) as live:
            return self._loop(lambda views: live.update(picture(self._layout, views, self.seconds)))

    def _loop(self, show: Any) -> list[TaskView]:
        while True:
            views = [one for one in tasks.view(self._layout, out.now()) if one.in_plan]
            show(views)
            done = sum(_ticked(one) for one in views)
            if self._dropped < len(demoplan.INBOX) and done >= DROP_AFTER[self._dropped]:
                self._drop()
            elif self._over(views) or self.seconds > DEADLINE_S:
                return views
            time.sleep(LOOK_S)

    def _drop(self) -> None:
        """Append to inbox.md as a person's editor or ``>>`` would."""
        with open(self._layout.inbox, "a", encoding="utf-8") as file:
            file.write(demoplan.INBOX[self._dropped])
        self._dropped += 1

    def _over(self, views: list[TaskView]) -> bool:
        everything = len(demoplan.DONE) + 1
        return len(views) >= everything and all(
            _ticked(one) if one.status is TaskStatus.DONE else one.status in _ENDED for one in views
        )

    def _lines(self, views: list[TaskView]) -> None:
        for one in views:
            now = (one.status.value, one.holder, one.attempts)
            if self._shown.get(one.id) != now:
                self._shown[one.id] = now
                who = one.holder or (one.file.seat if one.file else None) or "-"
                out.line(f"{self.seconds:5.1f} s  {who:<4} {one.status.value:<12} {out.title(one.title, 60)}")


def _ticked(one: TaskView) -> bool:
    return one.task.done


def picture(layout: Layout, views: list[TaskView], seconds: float) -> Any:
    """The seats as ``coleo status`` shows them, and below them every task: for rich."""
    from rich.console import Group

    now = out.now()
    seats = status.rows(overview.overview(layout, now), now)
    cells = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in seats]
    return Group(out.rich_table(status.HEAD, cells, "TASK"), "", _task_table(views, seconds))


def _task_table(views: list[TaskView], seconds: float) -> Any:
    from rich.table import Table
    from rich.text import Text

    done = sum(_ticked(one) for one in views)
    table = Table(box=None, pad_edge=False, title=f"{done} of {len(views)} done, {seconds:.0f} s", title_justify="left")
    for head in ("", "SEAT", "STATE", "TASK"):
        table.add_column(head, no_wrap=True)
    section: str | None = ""
    for one in views:
        if one.section != section:
            section = one.section
            table.add_row("", "", "", Text(section or "", style="bold"))
        style = out.STYLES.get(one.status.value, "")
        state = f"waits for {len(one.waiting_for)}" if one.waiting_for else one.status.value.replace("_", " ")
        mark = "[x]" if _ticked(one) else _MARKS.get(one.status, "[ ]")
        who = one.holder or (one.file.seat if one.file else "") or ""
        title = "  " * one.task.depth + out.title(one.title, 60)
        table.add_row(Text(mark), Text(who), Text(state, style=style), Text(title))
    return table


def tell(layout: Layout, views: list[TaskView], seconds: float) -> None:
    """The story: every task with its result and its proof, the failed one explained, where the files are."""
    out.line()
    rows = [
        ("[x]" if _ticked(one) else _MARKS.get(one.status, "[ ]"), (one.file.seat if one.file else "") or "-",
         out.title(one.title, 40), proof(one))
        for one in views
    ]  # fmt: skip
    out.raw(out.plain_table(("", "SEAT", "TASK", "PROOF"), rows))
    out.line()
    for one in views:
        if one.status is TaskStatus.BLOCKED:
            out.line(f"{one.title}: blocked after {one.attempts} attempts, a person has to look at it")
            for number, reason in enumerate(one.reasons, 1):
                when, _, how = reason.partition(" ")
                out.line(f"  {number}. {when[11:19]} {out.title(how)}")
            out.line(f"  the whole story: coleo task show {one.id}; once mended: coleo task reopen {one.id}")
    prompts = sum(line.get("receipt") == "turn" for line in history.tail(layout, 10_000, match=_is_receipt))
    out.line()
    out.line(f"{prompts} prompts were typed into the seats' terminals, each with a receipt in the seat's transcript.")
    out.line(
        f"{sum(_ticked(one) for one in views)} of {len(views)} tasks are ticked after {seconds:.1f} s. Have a look:"
    )
    for path, what in (
        (layout.plan, "the plan, ticked"),
        (layout.tasks, "what was done, by whom, with the output"),
        (layout.archive, "what was dropped into the inbox"),
        (layout.activity, "every act in one line; also: coleo log"),
        (os.path.join(layout.root, "site"), "what the tasks made"),
    ):
        out.line(f"  {path}  {what}")


def _is_receipt(line: dict[str, Any]) -> bool:
    return line.get("action") == "message_processed"


def proof(one: TaskView) -> str:
    """Why a task counts as done, or that it does not."""
    if one.status is not TaskStatus.DONE:
        return out.title(one.reasons[-1].partition(": ")[2], 70) if one.reasons else one.status.value
    first, _, rest = one.result.partition("\n")
    how = first.partition(": ")[2]
    verified = [line.strip()[2:] for line in rest.split("\n") if line.strip().startswith("$ ")]
    return out.title(f"{how}; verified: {verified[-1]}" if verified else how, 70)


def problems(layout: Layout, views: list[TaskView]) -> list[str]:
    """What is not as it should be at the end; nothing is taken from anybody's word that a file can tell."""
    wrong = []
    lines, _warnings = markdown.parse(atomic.read(layout.plan) or b"", seats=frozenset(demoplan.SEATS))
    ticked = {line.title for line in lines if line.done}
    by_title = {one.title: one for one in views}
    wrong += [f"not ticked in the plan: {title}" for title in demoplan.DONE if title not in ticked]
    wrong += [f"ticked although it failed: {demoplan.FAILS}"] if demoplan.FAILS in ticked else []
    failed = by_title.get(demoplan.FAILS)
    if failed is None or failed.status is not TaskStatus.BLOCKED or demoplan.REASON not in " ".join(failed.reasons):
        wrong.append(f"{demoplan.FAILS} is not blocked with its reason: {failed.reasons if failed else 'not there'}")
    words = by_title.get("Count the words")
    if words is None or words.file is None or words.file.seat != "bo":
        wrong.append("Count the words was not done by bo")
    wrong += [f"not made: {name}" for name in demoplan.MADE if not os.path.isfile(os.path.join(layout.root, name))]
    if (atomic.read(layout.inbox) or b"").strip():
        wrong.append("inbox.md is not empty")
    return wrong


def _left_at_last(layout: Layout) -> list[str]:
    """What is left when everything has had its moment to end."""
    deadline = time.monotonic() + END_S
    while (left := list(left_over(layout))) and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    return left


def left_over(layout: Layout) -> Iterator[str]:
    """Processes of this project that still live: pid and command line."""
    for pid in process.pids():
        if pid == os.getpid():
            continue
        try:
            environ = process.environ(pid)
        except OSError:
            continue
        words = " ".join(process.command_line(pid))
        if environ.get("COLEO_PROJECT") == layout.root or layout.root in words:
            yield f"{pid} {words}"
