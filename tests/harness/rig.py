"""A shell worker in a real terminal, with a project around it: what the tests of the worker drive."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyte
from ptyprocess import PtyProcess

from coleo.bus import tasks
from coleo.bus.context import Context, Reply
from coleo.bus.tasks import TaskView
from coleo.bus.verbs import VERBS
from coleo.files.layout import Layout
from coleo.model.prompt import Prompt, frame
from tests.waiting import eventually

ROWS, COLUMNS = 40, 120


class Project:
    """A project on disk: a plan and seats, no brain."""

    def __init__(self, root: Path, plan: str, seats: Mapping[str, str] | None = None) -> None:
        self.root = root
        for name, text in (seats or {"bo": "---\nharness: shell\n---\n"}).items():
            folder = root / ".project" / "seats" / name
            folder.mkdir(parents=True)
            (folder / "seat.md").write_text(text)
        (root / ".coleo").mkdir()
        self.layout = Layout(str(root))
        self.write_plan(plan)

    def write_plan(self, text: str) -> None:
        """Write the plan as a person did a minute ago. A later change counts once it was seen still for `settle_s`."""
        path = self.root / ".project" / "plan.md"
        path.write_text(text)
        old = time.time() - 60
        os.utime(path, (old, old))

    @property
    def plan(self) -> str:
        return (self.root / ".project" / "plan.md").read_text()

    def task(self, title: str) -> TaskView:
        found = [one for one in tasks.view(self.layout) if one.title == title]
        assert found, f"no task {title!r} in {[one.title for one in tasks.view(self.layout)]}"
        return found[0]

    def call(self, seat: str, verb: str, **values: Any) -> Reply:
        ctx = Context(self.layout, seat, time.time(), {}, str(self.root))
        return VERBS[verb].run(ctx, **values)


class Arm:
    """A worker in its terminal; the test is its host."""

    def __init__(self, project: Project, seat: str = "bo", environ: Mapping[str, str] | None = None) -> None:
        self.project, self.seat = project, seat
        self.shown = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.shown)
        self.raw = bytearray()
        self.process = PtyProcess.spawn(
            [sys.executable, "-P", "-m", "coleo.harness.shell"],
            cwd=str(project.root),
            env={
                "PATH": os.environ["PATH"],
                "HOME": os.environ["HOME"],
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "COLEO_PROJECT": str(project.root),
                "COLEO_SEAT": seat,
                **(environ or {}),
            },
            dimensions=(ROWS, COLUMNS),
        )
        self._count = 0

    def pump(self) -> None:
        """Take in what the worker has written."""
        while select.select([self.process.fd], [], [], 0)[0]:
            try:
                data = os.read(self.process.fd, 1 << 16)
            except OSError:
                return
            if not data:
                return
            self.raw += data
            self._stream.feed(data)

    def rows(self) -> list[str]:
        self.pump()
        return [row.rstrip() for row in self.shown.display if row.strip()]

    def sees(self, text: str) -> bool:
        return any(text in row for row in self.rows())

    def wait(self, text: str, timeout_s: float = 20.0) -> None:
        """Until the screen shows `text`."""
        try:
            eventually(lambda: self.sees(text), timeout_s, what=f"the screen shows {text!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}\n" + "\n".join(self.rows())) from None

    def ready(self, timeout_s: float = 20.0) -> None:
        """Until it waits for a prompt."""
        want = ["[coleo] ready", ">"]
        try:
            eventually(lambda: self.rows()[-2:] == want, timeout_s, what="the worker is ready")
        except AssertionError as error:
            raise AssertionError(f"{error}\n" + "\n".join(self.rows())) from None

    def type(self, keys: bytes) -> None:
        os.write(self.process.fd, keys)

    def paste(self, text: str) -> None:
        self.type(b"\x1b[200~" + text.encode() + b"\x1b[201~")

    def enter(self, text: str) -> None:
        """Type a line as a person does."""
        self.type(text.encode() + b"\r")

    def prompt(self, text: str = "work is waiting", *, kind: str = "nudge", sender: str = "brain") -> str:
        """Type a framed prompt as a host does; its id."""
        self._count += 1
        name = f"m-test{self._count}"
        self.paste(frame(Prompt(name, text, kind=kind, sender=sender), "0123456789abcdef"))
        eventually(lambda: self.rows()[-1] != ">", what="the paste shows in the composer")
        self.type(b"\r")
        return name

    def receipts(self) -> list[tuple[str, str]]:
        """(id, kind) of the transcript, in order."""
        try:
            lines = Path(self.project.layout.seat(self.seat).transcript).read_text().splitlines()
        except FileNotFoundError:
            return []
        return [(value["id"], value["type"]) for value in map(json.loads, lines)]

    def works(self) -> None:
        """Prompt it, and wait until it has nothing more to do."""
        name = self.prompt()
        eventually(lambda: (name, "turn") in self.receipts(), what="the turn receipt")
        self.ready(60)

    def ends(self, timeout_s: float = 15.0) -> int:
        """Wait for its end; the exit code, or minus a signal."""

        def over() -> bool:
            self.pump()
            return not self.process.isalive()

        eventually(over, timeout_s, what="the worker ends")
        self.pump()
        return int(-self.process.signalstatus if self.process.signalstatus else self.process.exitstatus)

    def close(self) -> None:
        """End it in any case."""
        if self.process.isalive():
            self.process.kill(signal.SIGTERM)
            try:
                self.ends()
            except AssertionError:
                self.process.kill(signal.SIGKILL)
                self.ends()
        try:
            self.process.close()
        except OSError:
            pass  # a test hung up on it


@contextmanager
def arm(project: Project, seat: str = "bo", environ: Mapping[str, str] | None = None) -> Iterator[Arm]:
    """A worker that is ready, for the time of a block."""
    made = Arm(project, seat, environ)
    try:
        made.ready()
        yield made
    finally:
        made.close()
