"""Terminals of the tests' own: arms that are up at once and do with a prompt what the test says."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import Any

from coleo.brain.facts import Seen
from coleo.daemon.terminals import Typing
from coleo.files.layout import Layout, make_private
from coleo.model.arm import Arm, ProcessId
from tests.daemon.clocks import HandClock

_ID = re.compile(r"\[msg_id: ([^\]]+)\]")


class FakeArm:
    """One process and its screen."""

    def __init__(self, generation: int, at: float) -> None:
        self.generation = generation
        self.seen = Seen(host_alive=True, reachable=True, child_alive=True, screen="ready", screen_since_at=at, at=at)
        self.blocks: dict[str, Typing] = {}


class FakeTerminals:
    """Implements `coleo.daemon.terminals.Terminals`.

    on_prompt: what an arm does with a block, given (seat, text); the default writes a turn receipt for each id.
    launched, stopped: what was asked for, in order. prompts: every block that was typed, in order.
    """

    def __init__(self, layout: Layout, clock: HandClock) -> None:
        self.layout = layout
        self.clock = clock
        self.arms: dict[str, FakeArm] = {}
        self.launched: list[tuple[str, int]] = []
        self.stopped: list[str] = []
        self.prompts: list[tuple[str, str]] = []
        self.exits: dict[str, str] = {}
        self.failures: dict[str, str] = {}
        self.on_prompt: Callable[[str, str], None] = self.answer
        self.gate_open = True
        self.launch_dies = False
        self.on_change: Callable[[str], None] = lambda seat: None

    def answer(self, seat: str, text: str) -> None:
        """The agent takes the prompt into a turn."""
        path = self.layout.seat(seat).transcript
        make_private(os.path.dirname(path))
        with open(path, "a", encoding="utf-8") as file:
            for message_id in dict.fromkeys(_ID.findall(text)):
                line = {"type": "turn", "id": message_id}
                file.write(json.dumps(line, separators=(",", ":")) + "\n")

    def die(self, seat: str, how: str = "exit code 1") -> None:
        """The process ends by itself."""
        del self.arms[seat]
        self.exits[seat] = how
        self.on_change(seat)

    def screen(self, seat: str, state: str, evidence: str = "") -> None:
        """The screen changes."""
        arm = self.arms[seat]
        arm.seen = arm.seen.replace(screen=state, evidence=evidence, screen_since_at=self.clock.now())
        self.on_change(seat)

    def open_gate(self) -> None:
        """What waits at the gate is typed now."""
        self.gate_open = True
        for seat, arm in self.arms.items():
            for name, typing in list(arm.blocks.items()):
                if typing.state == "waiting":
                    self._type(seat, name, typing.reason)

    # The protocol.

    def adopt(self, arms: dict[str, Arm]) -> None:
        """Arms that the test put into `self.arms` before are found."""

    def seen(self, seat: str) -> Seen:
        """As the test left it."""
        if seat in self.arms:
            return self.arms[seat].seen
        return Seen(exit=self.exits.get(seat, ""), failure=self.failures.get(seat, ""))

    def processes(self, seat: str) -> tuple[ProcessId | None, ProcessId | None, int]:
        """Invented, but always the same for one generation."""
        arm = self.arms.get(seat)
        if arm is None:
            return None, None, 0
        return ProcessId(4_000_001, 1, "b"), ProcessId(4_000_002, arm.generation, "b"), arm.generation

    def typing(self, seat: str, flight: str) -> Typing | None:
        """What became of a block."""
        arm = self.arms.get(seat)
        return arm.blocks.get(flight) if arm else None

    def launch(self, seat: str, generation: int, spec: dict[str, Any]) -> None:
        """Up at once."""
        self.launched.append((seat, generation))
        self.exits.pop(seat, None)
        self.failures.pop(seat, None)
        self.arms[seat] = FakeArm(generation, self.clock.now())
        if self.launch_dies:
            self.die(seat)
        self.on_change(seat)

    def failed(self, seat: str, generation: int, reason: str) -> None:
        """Could not be started."""
        self.failures[seat] = reason

    def stop(self, seat: str, reason: str) -> None:
        """Ends at once."""
        self.stopped.append(seat)
        if seat in self.arms:
            self.die(seat, "exit code 0")

    def deliver(self, seat: str, flight: str, text: str) -> None:
        """Typed at once, or kept at the gate."""
        if self.gate_open:
            self._type(seat, flight, text)
        else:
            self.arms[seat].blocks[flight] = Typing("waiting", text)

    def _type(self, seat: str, flight: str, text: str) -> None:
        self.prompts.append((seat, text))
        self.arms[seat].blocks[flight] = Typing("submitted", "", True, self.clock.now())
        self.on_prompt(seat, text)
        self.on_change(seat)

    def withdraw(self, seat: str, flight: str) -> None:
        """Only what waits can be taken back."""
        arm = self.arms.get(seat)
        if arm and arm.blocks[flight].state == "waiting":
            arm.blocks[flight] = Typing("failed", "taken back")

    def settle(self, seat: str, flight: str) -> None:
        """Forgotten."""
        if seat in self.arms:
            self.arms[seat].blocks.pop(flight, None)

    def keep(self) -> None:
        """Nothing to keep."""

    def collected(self, seat: str) -> None:
        """The end was seen."""
        self.exits.pop(seat, None)
        self.failures.pop(seat, None)

    async def close(self) -> None:
        """Nothing is connected."""
