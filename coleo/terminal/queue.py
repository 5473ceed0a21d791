"""The prompts of one arm: one on its way, others behind it, and what became of every id (case a02, a14, a17)."""

from __future__ import annotations

from coleo.model.delivery import FINAL, DeliveryState, DeliveryStatus
from coleo.model.harness import Harness
from coleo.terminal.delivery import Delivery, Look, Phase, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: After a submission, where the harness says that a busy agent may not be typed into: its turn needs a moment to show.
REST_S = 1.0
#: A line that the kernel's line editor takes whole.
LINE_LIMIT = 4000
QUEUE_LIMIT = 64
#: Ids that are remembered; an older one would be typed again, if anybody asked for it after so many others.
KNOWN_LIMIT = 4096


class Queue:
    """The prompts of one arm: one on its way, others behind it, and what became of every id ever asked.

    changed: called with each new status.
    """

    def __init__(self, harness: Harness, changed: Callable[[DeliveryStatus], None]) -> None:
        self._harness = harness
        self._changed = changed
        self._open: list[Delivery] = []
        self._known: dict[str, DeliveryStatus] = {}
        self._rest_until = 0.0

    @property
    def head(self) -> Delivery | None:
        """The prompt whose turn it is."""
        return self._open[0] if self._open else None

    def ask(self, id: str, text: str, *, quiet_s: float | None, at: float) -> DeliveryStatus:
        """A new prompt, or the status of a known one; one that ended with nothing typed may be asked again."""
        known = self._known.get(id)
        if known is not None and not (known.state is DeliveryState.FAILED and not known.typed):
            return known
        quiet_s = self._harness.quiet_s if quiet_s is None else quiet_s
        one = Delivery(id, text, self._harness, quiet_s=quiet_s, at=at)
        why = self._refused(one)
        if why:
            one.status = one.status.replace(state=DeliveryState.FAILED, reason=why)
        else:
            self._open.append(one)
        self._note(one)
        return one.status

    def _refused(self, one: Delivery) -> str:
        if len(self._open) >= QUEUE_LIMIT:
            return f"{QUEUE_LIMIT} prompts wait already"
        if not one.text.strip():
            return "there is no text in it"
        plain = self._harness.composer == "none" or not self._harness.paste
        if plain and "\n" in one.text:
            return "this harness takes one line at a time"
        if self._harness.composer == "none" and len(one.text.encode()) > LINE_LIMIT:
            return f"the line is longer than {LINE_LIMIT} bytes"
        return ""

    def step(self, look: Look) -> Step:
        """The head's next step; what is final leaves, and the next one gets its turn in the same call."""
        while self._open:
            head = self._open[0]
            resting = head.phase is Phase.GATE and self._rest_until > look.now
            step = Step(again_s=self._rest_until - look.now) if resting else head.step(look)
            self._note(head)
            if not head.final:
                return step
            self._open.pop(0)
            if head.status.state is DeliveryState.SUBMITTED and not self._harness.deliver_busy:
                self._rest_until = look.now + (REST_S if self._harness.composer == "screen" else 0)
            if step.write or step.drop:
                return step.replace(again_s=0.0)
        return Step()

    def find(self, id: str) -> DeliveryStatus | None:
        """What became of an id; None for one that was never asked."""
        return self._known.get(id)

    def cancel(self, id: str, reason: str, at: float) -> DeliveryStatus | None:
        """See `Delivery.cancel`."""
        for one in self._open:
            if one.status.id == id:
                one.cancel(reason, at)
                self._note(one)
                if one.final:
                    self._open.remove(one)
                break
        return self._known.get(id)

    def receipt(self, id: str, kind: str, at: float) -> DeliveryStatus | None:
        """See `Delivery.receipt`; also for one that is over: a receipt proves more than a screen."""
        for one in self._open:
            if one.status.id == id:
                one.receipt(kind, at)
                self._note(one)
                return one.status
        known = self._known.get(id)
        if known is not None and known.typed and known.receipt != "turn":
            self._keep(known.replace(state=DeliveryState.SUBMITTED, reason="", receipt=kind, at=at))
        return self._known.get(id)

    def end(self, reason: str, at: float) -> None:
        """The arm is gone, or is being ended: nothing more is written."""
        for one in self._open:
            one.ended(reason, at)
            self._note(one)
        self._open.clear()

    def all(self, finished: int = 100) -> list[DeliveryStatus]:
        """Every prompt that is not final, and the last `finished` of the others, oldest first."""
        final = [status for status in self._known.values() if status.state in FINAL]
        kept = {status.id for status in final[-finished:]}
        return [status for status in self._known.values() if status.state not in FINAL or status.id in kept]

    def _note(self, one: Delivery) -> None:
        if self._known.get(one.status.id) != one.status:
            self._keep(one.status)

    def _keep(self, status: DeliveryStatus) -> None:
        self._known[status.id] = status
        if len(self._known) > KNOWN_LIMIT:
            del self._known[next(id for id, known in self._known.items() if known.state in FINAL)]
        self._changed(status)
