"""How an arm ends: its own way out, then TERM, then KILL, until nothing of it is left (case b13).

The program is asked by its exit keys where its harness has some, then its group and all that descends from it get
TERM, then KILL, with `grace_s` each. The host is the reaper of its orphans, so that what has left the group, the
session or its parent is still found. The host goes on draining output meanwhile: `Stopper` only says what to do next.
"""

from __future__ import annotations

import os
import signal

from coleo.model.arm import ProcessId
from coleo.terminal import processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

KEY_GAP_S = 0.2
CHECK_S = 0.1
#: After so long what still lives cannot be killed (it hangs in the kernel): it is named, not waited for.
HOPELESS_S = 10.0


class Stopper:
    """One stop under way.

    reason: who wanted it. left: processes of the arm at the last look. done: none is left, or none that can be ended.
    """

    def __init__(self, child: ProcessId, *, grace_s: float, reason: str, keys: Sequence[str] = (), now: float) -> None:
        self.reason = reason
        self.grace_s = grace_s
        self.left = 0
        self.done = False
        self._child = child
        self._keys = list(keys)
        self._stage = "keys" if keys else "term"
        self._since = self._key_at = now
        self._sent = False

    def hurry(self) -> None:
        """Asked again: no more grace."""
        self._keys.clear()
        self.grace_s = 0.0

    def step(self, now: float, *, alive: bool) -> tuple[bytes, float]:
        """(keys to type, seconds until the next step). alive: the program itself has not ended."""
        if self._stage == "keys":
            if alive and self._keys and now >= self._key_at:
                self._key_at = now + KEY_GAP_S
                return self._keys.pop(0).encode(), KEY_GAP_S if self._keys else CHECK_S
            if alive and (self._keys or now < self._since + self.grace_s):
                return b"", max(CHECK_S, min(KEY_GAP_S, self._since + self.grace_s - now))
            self._go("term", now)
        family = self._family()
        self.left = len(family)
        if not family and not alive:
            self.done = True
            return b"", 0.0
        if self._stage == "term":
            if not self._sent:
                self._sent = True
                self._signal(family, signal.SIGTERM, signal.SIGCONT)
            if now < self._since + self.grace_s:
                return b"", CHECK_S
            self._go("kill", now)
        self._signal(family, signal.SIGKILL)
        self.done = now > self._since + HOPELESS_S
        return b"", CHECK_S

    def _go(self, stage: str, now: float) -> None:
        self._stage, self._since = stage, now

    def _family(self) -> list[processes.Process]:
        """What belongs to the arm and has not ended: descendants of the host, and the program's session."""
        everything = processes.table()
        found = {process.pid: process for process in processes.descendants(os.getpid(), everything)}
        leader = next((process for process in everything if process.pid == self._child.pid), None)
        if leader is None or leader.start == self._child.start:
            # A session's number is not given away while it has members: these are the program's own.
            found |= {process.pid: process for process in everything if process.session == self._child.pid}
        return [process for process in found.values() if process.state != "Z"]

    def _signal(self, family: list[processes.Process], *numbers: int) -> None:
        """To the group as one, so that a shell cannot start the next command in between; then to all others."""
        boot = self._child.boot
        grouped = any(process.group == self._child.pid for process in family)
        for number in numbers:
            if grouped:
                processes.signal_group(self._child.pid, number)
            for process in family:
                if not grouped or process.group != self._child.pid:
                    processes.signal_process(ProcessId(process.pid, process.start, boot), number)
