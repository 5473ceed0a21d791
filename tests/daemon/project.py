"""A project, a brain with terminals of the tests' own, and a clock that the test moves."""

from __future__ import annotations

import os
from pathlib import Path

from coleo.daemon.loop import Brain
from coleo.files import history
from coleo.files.layout import Layout, make_private
from tests.daemon.clocks import HandClock
from tests.daemon.fakes import FakeTerminals

SETTINGS = "[brain]\nsettle_s = 0.0\narm_grace_period_minutes = 0\n"


class Project:
    """A project in `folder` with one seat ``rand``; `brain` is made by `start`."""

    def __init__(self, folder: Path, plan: str = "", settings: str = SETTINGS) -> None:
        self.layout = Layout(os.path.realpath(folder))
        self.clock = HandClock()
        (folder / ".project").mkdir()
        make_private(self.layout.run)
        Path(self.layout.config).write_text(settings)
        self.seat("rand")
        self.plan(plan)
        Path(self.layout.inbox).write_text("")
        self.terminals = FakeTerminals(self.layout, self.clock)
        self.brain = self._brain()

    def _brain(self) -> Brain:
        def terminals(on_change: object) -> FakeTerminals:
            self.terminals.on_change = on_change  # type: ignore[assignment]
            return self.terminals

        environ = {"PATH": os.environ["PATH"], "HOME": self.layout.root}
        return Brain(self.layout, self.clock, terminals, {}, environ)

    def seat(self, name: str, front: str = "harness: shell\n") -> None:
        """Lay down a seat."""
        folder = Path(self.layout.seat(name).dir)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "seat.md").write_text(f"---\n{front}---\nA worker.\n")

    def plan(self, text: str) -> None:
        """Write the plan as an editor that truncates."""
        Path(self.layout.plan).write_text(text)

    @property
    def plan_now(self) -> str:
        """The plan as it is."""
        return Path(self.layout.plan).read_text()

    def start(self) -> None:
        """The brain starts (again) and settles."""
        self.brain = self._brain()
        self.brain.start()
        self.settle()

    def settle(self, *, tick: bool = True) -> None:
        """Cycles until nothing is stirred any more. Fails when it never ends."""
        areas = {"all"}
        for _cycle in range(50):
            areas = self.brain.cycle(areas, tick=tick)
            areas |= self.brain.take_hints()
            tick = False
            if not areas:
                return
        raise AssertionError(f"the brain does not come to rest: {areas}")

    def forward(self, seconds: float, step_s: float = 30.0) -> None:
        """Time passes with its ticks."""
        while seconds > 0:
            part = min(step_s, seconds)
            self.clock.forward(part)
            self.settle()
            seconds -= part

    def log(self, *actions: str) -> list[dict[str, object]]:
        """The lines of the activity log with these actions, oldest first."""
        lines = list(history.since(self.layout, 0.0))
        return [line for line in lines if not actions or line["action"] in actions]

    @property
    def prompts(self) -> list[str]:
        """Every block that was typed."""
        return [text for _seat, text in self.terminals.prompts]
