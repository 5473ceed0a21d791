"""How a prompt gets into a terminal: one operation with an id, done by the host alone (DESIGN.md section 6).

Theory of operation. Only two things are ever written for a prompt: its text, once, and Enter, up to four times. Before
each of them the screen is read anew in the same step, and each needs evidence of its own:

    gate      the composer is seen and empty, no dialog, no line mode, nobody typed of late      -> write the text
    showing   the composer holds text (or the text is seen)                                      -> wait `settle_ms`
    settling  the same still, no dialog, and nobody has typed behind the text                    -> write Enter
    entered   the composer emptied -> submitted; it holds text and 1 s has passed                -> write Enter

Whatever is not seen is waited for. A dialog stops everything until it is gone; a person who types behind the text
sends it themselves. What ends without a submission is ``unsent``: the text is never written a second time, whoever
asks. A plain line reader has no composer: one line and its Enter in one write, nothing more to see.

`Delivery.step` decides, from a `Look`; it reads no clock and writes nothing. `queue` has the prompts behind it.
"""

from __future__ import annotations

from enum import Enum

from coleo.model.delivery import FINAL, DeliveryState, DeliveryStatus
from coleo.model.harness import Harness
from coleo.model.record import Record
from coleo.model.text import sanitise
from coleo.terminal.pty import paste
from coleo.terminal.reading import Reading

ENTERS = 4
ENTER_AGAIN_S = 1.0
SHOW_S = 10.0
STALL_S = 5.0
#: The gate is tried again after so long where nothing would wake it: the line mode changes without a sign.
RETRY_S = (0.05, 0.1, 0.2, 0.5, 1.0)


class Look(Record):
    """What a step decides on, read in the same moment.

    now: monotonic seconds; at: seconds since the epoch. known: the reading is of a screen that is drawn up to date.
    typed_s: seconds since a person typed, None for never. typed_behind: a person's keys went in behind the text.
    shown: the text stands on the screen. unwritten: bytes of the last step are not out yet. progress: bytes written
    to the terminal so far. stopping: the arm is being ended.
    """

    now: float
    at: float
    reading: Reading
    known: bool
    canonical: bool
    typed_s: float | None = None
    typed_behind: bool = False
    shown: bool = False
    unwritten: bool = False
    progress: int = 0
    stopping: bool = False


class Step(Record):
    """What is to be done: bytes to write, and in how many seconds to look again though nothing happens."""

    write: bytes = b""
    again_s: float | None = None
    drop: bool = False


class Phase(Enum):
    """Finer than `DeliveryState`: what is waited for."""

    GATE = "gate"
    WRITING = "writing"
    SHOWING = "showing"
    SETTLING = "settling"
    ENTERED = "entered"
    DONE = "done"


class Delivery:
    """One prompt. text: sanitised here, once more, whatever the caller did."""

    def __init__(self, id: str, text: str, harness: Harness, *, quiet_s: float, at: float) -> None:
        self.text = sanitise(text)
        self.quiet_s = quiet_s
        self.status = DeliveryStatus(id=id, state=DeliveryState.WAITING, at=at)
        self.phase = Phase.GATE
        self._harness = harness
        self._since = 0.0
        self._progress = 0
        self._tries = 0

    @property
    def final(self) -> bool:
        """Whether nothing will be written for it any more."""
        return self.status.state in FINAL

    def holds_keyboard(self, now: float) -> bool:
        """Whether keys of a person would land between its text and its Enter, or hide that the composer emptied."""
        if self.phase is Phase.ENTERED:
            return now < self._since + ENTER_AGAIN_S
        return self.phase in (Phase.WRITING, Phase.SHOWING, Phase.SETTLING)

    def step(self, look: Look) -> Step:
        """One decision. Called whenever something has happened, and when the last step asked for it."""
        if self.final or self.phase is Phase.DONE:
            return Step()
        match self.phase:
            case Phase.GATE:
                return self._gate(look)
            case Phase.WRITING:
                return self._writing(look)
            case Phase.SHOWING:
                return self._showing(look)
            case Phase.SETTLING:
                return self._settling(look)
            case _:
                return self._entered(look)

    def cancel(self, reason: str, at: float) -> None:
        """Takes it back while nothing of it is typed; later it changes nothing."""
        if self.phase is Phase.GATE and not self.final:
            self._end(DeliveryState.FAILED, f"withdrawn: {reason}" if reason else "withdrawn", at)

    def receipt(self, kind: str, at: float) -> None:
        """The agent's own files name it: it is submitted, whatever the screen shows. kind: typed or turn."""
        if self.status.typed:
            self._end(DeliveryState.SUBMITTED, "", at, kind if self.status.receipt != "turn" else "turn")

    def ended(self, reason: str, at: float) -> None:
        """The arm is gone. What was typed keeps its state: how far it came is what the brain needs to know."""
        if self.final:
            return
        if self.status.typed:
            self.status = self.status.replace(reason=reason)
            self.phase = Phase.DONE
        else:
            self._end(DeliveryState.FAILED, reason, at)

    def _gate(self, look: Look) -> Step:
        reason, again_s = self._closed(look)
        if reason:
            self._reason(reason)
            return Step(again_s=again_s)
        if self._harness.composer == "none":
            data = (self.text.replace("\t", "    ") + self._harness.enter).encode()
        elif self._harness.paste:
            data = paste(self.text)
        else:
            data = self.text.replace("\t", "    ").encode()
        self.status = self.status.replace(state=DeliveryState.PASTED, reason="", pastes=1, at=look.at)
        self._go(Phase.WRITING, look)
        return Step(write=data, again_s=STALL_S)

    def _closed(self, look: Look) -> tuple[str, float | None]:
        """Why the gate is closed ("" when it is open), and when to look again though nothing happens."""
        harness, reading = self._harness, look.reading
        if look.stopping:
            return "the arm is being stopped", None
        if look.typed_s is not None and look.typed_s < self.quiet_s:
            return f"a person typed {look.typed_s:.0f} s ago", self.quiet_s - look.typed_s
        if look.unwritten:
            return "earlier keys are not read yet", None
        if harness.composer == "none":
            why = self._closed_line(look)
            return why, RETRY_S[-1] if why and not look.known else None
        if look.canonical:
            self._tries += 1
            return "the terminal is in line mode: the agent does not read", RETRY_S[min(self._tries, len(RETRY_S)) - 1]
        self._tries = 0
        if not look.known:
            return f"the screen is not known: {reading.evidence}", RETRY_S[-1]
        if reading.dialog:
            return f"a dialog is open: {reading.evidence}", None
        if reading.composer == "draft":
            return f"the composer holds text: {reading.evidence}", None
        if reading.composer != "empty":
            return f"no empty composer is seen: {reading.evidence}", None
        if reading.state == "busy" and not harness.deliver_busy:
            return f"the agent is busy: {reading.evidence}", None
        return "", None

    def _closed_line(self, look: Look) -> str:
        """A line reader is there as long as it lives; where it has rules for its screen, they count too."""
        rules, reading = self._harness.rules, look.reading
        if not rules:
            return ""
        if not look.known or reading.dialog:
            return f"no line is read now: {reading.evidence}"
        if reading.state == "busy" and not self._harness.deliver_busy:
            return f"the agent is busy: {reading.evidence}"
        if reading.state is None and self._harness.of_kind("ready"):
            return f"it is not seen to wait for a line: {reading.evidence}"
        return ""

    def _writing(self, look: Look) -> Step:
        if look.unwritten:
            if look.progress > self._progress:
                self._progress, self._since = look.progress, look.now
            left = self._since + STALL_S - look.now
            if left > 0:
                return Step(again_s=left)
            self._end(DeliveryState.FAILED, f"the agent has read nothing for {STALL_S:g} s", look.at)
            return Step(drop=True)
        if self._harness.composer == "none":
            self.status = self.status.replace(enters=1)
            self._end(DeliveryState.SUBMITTED, "", look.at, "weak")
            return Step()
        self._go(Phase.SHOWING, look)
        return self._showing(look)

    def _seen(self, look: Look) -> bool:
        return look.known and (look.reading.composer == "draft" or (look.reading.composer == "unseen" and look.shown))

    def _showing(self, look: Look) -> Step:
        if look.reading.dialog or not look.known:
            if look.known:
                self._reason(f"no Enter yet: {look.reading.evidence}")
            self._since = look.now
            return Step(again_s=None if look.known else RETRY_S[-1])
        if self._seen(look):
            self._go(Phase.SETTLING, look)
            return Step(again_s=self._harness.settle_ms / 1000)
        left = self._since + SHOW_S - look.now
        if left > 0:
            self._reason("its text does not show in the composer yet")
            return Step(again_s=left)
        self._end(DeliveryState.UNSENT, f"its text never showed in the composer: {look.reading.evidence}", look.at)
        return Step()

    def _settling(self, look: Look) -> Step:
        if look.reading.dialog or not self._seen(look):
            self._go(Phase.SHOWING, look)
            return self._showing(look)
        left = self._since + self._harness.settle_ms / 1000 - look.now
        if left > 0:
            return Step(again_s=left)
        if look.typed_behind:
            self._reason("a person typed behind its text: they send it")
            self._go(Phase.ENTERED, look)
            return Step()
        return self._enter(look)

    def _enter(self, look: Look) -> Step:
        self._go(Phase.ENTERED, look)
        self.status = self.status.replace(
            state=DeliveryState.ENTERED, reason="", enters=self.status.enters + 1, at=look.at
        )
        return Step(write=self._harness.enter.encode(), again_s=ENTER_AGAIN_S)

    def _entered(self, look: Look) -> Step:
        reading = look.reading
        if look.unwritten or not look.known:
            return Step(again_s=ENTER_AGAIN_S)
        if reading.dialog:
            self._reason(f"no Enter: a dialog is open: {reading.evidence}")
            return Step()
        if reading.composer == "empty" or (reading.composer == "unseen" and reading.state == "busy"):
            self._end(DeliveryState.SUBMITTED, "", look.at, "weak")
            return Step()
        if reading.composer != "draft":
            self._reason(f"the composer is not seen: {reading.evidence}")
            return Step()
        left = self._since + ENTER_AGAIN_S - look.now
        if left > 0:
            return Step(again_s=left)
        if look.typed_behind:
            self._reason("a person typed behind its text: they send it")
            return Step()
        if self.status.enters < ENTERS:
            return self._enter(look)
        self._end(
            DeliveryState.UNSENT, f"Enter was pressed {ENTERS} times, its text stays: {reading.evidence}", look.at
        )
        return Step()

    def _go(self, phase: Phase, look: Look) -> None:
        self.phase, self._since, self._progress = phase, look.now, look.progress

    def _reason(self, reason: str) -> None:
        if reason != self.status.reason:
            self.status = self.status.replace(reason=reason)

    def _end(self, state: DeliveryState, reason: str, at: float, receipt: str | None = None) -> None:
        self.phase = Phase.DONE
        self.status = self.status.replace(state=state, reason=reason, at=at, receipt=receipt)
