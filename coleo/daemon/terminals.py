"""The seam to the arms' terminals: what the loop needs of them, and nothing of how they are reached.

`coleo.daemon.hosts.Hosts` is the real one (a host process per seat); tests put arms of their own behind it.
"""

from __future__ import annotations

from typing import Any, Protocol

from coleo.brain.facts import Seen
from coleo.model.arm import Arm, ProcessId
from coleo.model.record import Record


class Typing(Record):
    """What a host says of one block: waiting, pasted, entered, submitted, unsent, failed; typed: bytes went out."""

    state: str
    reason: str = ""
    typed: bool = False
    since_at: float = 0.0


class Terminals(Protocol):
    """All terminals of a project. No call blocks the loop; none raises for an arm that is not there."""

    def adopt(self, arms: dict[str, Arm]) -> None:
        """Look for the hosts of these arms, also for hosts that no record names, and connect to them."""

    def seen(self, seat: str) -> Seen:
        """What is known of the seat's processes and screen now."""

    def processes(self, seat: str) -> tuple[ProcessId | None, ProcessId | None, int]:
        """Host, child and generation of the arm that is there; (None, None, 0) for none."""

    def typing(self, seat: str, flight: str) -> Typing | None:
        """What became of a block; None when the host does not know it or cannot be asked yet."""

    def launch(self, seat: str, generation: int, spec: dict[str, Any]) -> None:
        """Start a host with this spec; what comes of it is seen later."""

    def failed(self, seat: str, generation: int, reason: str) -> None:
        """This generation cannot be launched: be told so when asked."""

    def stop(self, seat: str, reason: str) -> None:
        """Begin to end the arm and its host; seen later."""

    def deliver(self, seat: str, flight: str, text: str) -> None:
        """Hand a block to the host."""

    def withdraw(self, seat: str, flight: str) -> None:
        """Take back a block that waits at the gate."""

    def settle(self, seat: str, flight: str) -> None:
        """The block has its receipt, or will get none: no more Enter, forget it."""

    def keep(self) -> None:
        """Call at each tick: socket files that were swept away are made again, dead links are tried again."""

    def collected(self, seat: str) -> None:
        """The end of the arm was taken into account: forget its exit."""

    async def close(self) -> None:
        """Let go of all connections; arms and hosts live on."""
