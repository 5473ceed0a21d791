"""Everything that is typed into an arm goes through here: prompts, keys of a person, answers to its terminal.

One prompt is on its way at a time. Keys of a person who is attached go in at once, but between a prompt's text and its
Enter they are held for a moment, so that neither ends in the other (case a16).
"""

from __future__ import annotations

import time

from coleo.model.delivery import DeliveryStatus, ScreenState
from coleo.model.harness import Harness
from coleo.terminal.delivery import Look
from coleo.terminal.loop import Loop
from coleo.terminal.pty import PASTE_END, Terminal
from coleo.terminal.queue import Queue
from coleo.terminal.reading import Reading, shows
from coleo.terminal.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

HOLD_KEYS_S = 2.0


class Keyboard:
    """The way into one arm.

    advance: has the screen looked at and `step` called with what is seen. told: called with each change of a prompt.
    typed_at: when a person last typed, seconds since the epoch.
    """

    def __init__(
        self,
        harness: Harness,
        terminal: Terminal,
        view: View,
        loop: Loop,
        advance: Callable[[], None],
        told: Callable[[DeliveryStatus], None],
    ) -> None:
        self.queue = Queue(harness, told)
        self.typed_at: float | None = None
        self._harness, self._terminal, self._view, self._loop, self._advance = harness, terminal, view, loop, advance
        self._typed = self._pasted = -1.0
        self._held = b""

    def step(self, reading: Reading, *, known: bool, stopping: bool) -> None:
        """Takes the prompt on its way as far as it goes now. reading, known: of this moment."""
        while head := self.queue.head:
            now = self._loop.now()
            look = Look(
                now=now,
                at=time.time(),
                reading=reading,
                known=known,
                canonical=self._terminal.canonical,
                typed_s=None if self._typed < 0 else now - self._typed,
                typed_behind=self._typed >= self._pasted,
                shown=known and self._view.looks and shows(self._view.screen.rows(), head.text),
                unwritten=bool(self._terminal.outbox),
                progress=self._terminal.outbox.progress,
                stopping=stopping,
            )
            step = self.queue.step(look)
            if step.drop:
                # What was written began a paste: without its end, all keys after it would be text.
                self._terminal.outbox.drop()
                self.type(PASTE_END if self._harness.paste else b"")
            if step.write:
                if not head.status.enters:
                    self._pasted = now
                self.type(step.write)
            if step.again_s is not None:
                self._loop.again("deliver", step.again_s, self._advance)
            if not (step.write or step.drop) or self._terminal.outbox:
                break
            # What was seen was seen before this write: it proves nothing of what the write has done.
            known = False
        if self._held and not self.busy:
            self.release()

    @property
    def busy(self) -> bool:
        """Whether keys would come between a prompt's text and its Enter; a dialog may be answered all the same."""
        head = self.queue.head
        holds = head is not None and head.holds_keyboard(self._loop.now())
        return holds and self._view.state is not ScreenState.DIALOG

    def type(self, data: bytes) -> None:
        """Puts bytes behind what waits to be read by the arm. Raises ValueError when that is too much already."""
        if not self._terminal.outbox.add(data):
            raise ValueError("the arm does not read: too much waits for it already")
        self.flush()

    def flush(self) -> None:
        """Writes what the arm takes now, and goes on when it takes more."""
        if self._terminal.fd >= 0:
            self._terminal.flush()
            self._loop.write(self._terminal.fd, self._on_writable if self._terminal.outbox else None)

    def _on_writable(self) -> None:
        self.flush()
        if self.queue.head:
            self._advance()

    def person(self, data: bytes) -> None:
        """Keys that somebody who is attached has typed."""
        if self.busy:
            self._held += data
            self._loop.after("held", HOLD_KEYS_S, self.release)
            return
        self._typed, self.typed_at = self._loop.now(), time.time()
        self.type(data)

    def release(self) -> None:
        """Types the keys that were held."""
        self._loop.cancel("held")
        data, self._held = self._held, b""
        if data and self._terminal.fd >= 0:
            self._typed, self.typed_at = self._loop.now(), time.time()
            self.type(data)
