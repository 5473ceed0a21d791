"""Every decision of a delivery, without a terminal: what is written depends on what is seen, and on nothing else."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coleo.model.delivery import FINAL, DeliveryState, DeliveryStatus, ScreenState
from coleo.model.harness import Harness, Rule
from coleo.terminal.delivery import ENTERS, Delivery, Look
from coleo.terminal.pty import paste
from coleo.terminal.queue import KNOWN_LIMIT, QUEUE_LIMIT, Queue
from coleo.terminal.reading import Reading
from tests.agents.setup import LINES, SCRIPTED

EMPTY = Reading(ScreenState.READY, "empty", "row 2: >")
DRAFT = Reading(ScreenState.DRAFT, "draft", "row 2: > text")
DIALOG = Reading(ScreenState.DIALOG, "unseen", "row 2: ? really")
BUSY = Reading(ScreenState.BUSY, "empty", "row 1: * working")
HIDDEN = Reading(ScreenState.BUSY, "unseen", "row 1: * working")
NOTHING = Reading(None, "unseen", "no rule matched")


class Story:
    """One delivery under a clock that the test moves."""

    def __init__(self, harness: Harness = SCRIPTED, *, quiet_s: float = 30.0, text: str = "hello") -> None:
        self.told: list[DeliveryStatus] = []
        self.queue = Queue(harness, self.told.append)
        self.queue.ask("m-1", text, quiet_s=quiet_s, at=1000.0)
        self.now = 50.0
        self.written: list[bytes] = []
        self.again_s: float | None = None

    @property
    def status(self) -> DeliveryStatus:
        found = self.queue.find("m-1")
        assert found is not None
        return found

    def look(self, reading: Reading, after_s: float = 0.0, *, stuck: bool = False, **more: object) -> str:
        """One step; the state afterwards. stuck: what is written is not taken."""
        self.now += after_s
        values: dict[str, Any] = {"known": True, "canonical": False, **more}
        step = self.queue.step(Look(now=self.now, at=950 + self.now, reading=reading, **values))
        while step.write:
            # As the host does: what is written is out, and it looks again at once.
            values |= {"unwritten": stuck, "known": False}
            self.written.append(step.write)
            self.again_s = step.again_s
            step = self.queue.step(Look(now=self.now, at=950 + self.now, reading=reading, **values))
        self.again_s = step.again_s
        return self.status.state.value

    def to_pasted(self) -> None:
        assert self.look(EMPTY) == "pasted"
        assert self.look(DRAFT) == "pasted"


def test_the_usual_way() -> None:
    """Text, a pause, Enter, an empty composer: submitted, weakly proved."""
    story = Story()
    assert story.look(EMPTY) == "pasted" and story.written == [paste("hello")]
    assert story.look(EMPTY) == "pasted" and "does not show" in story.status.reason
    assert story.look(DRAFT, 0.1) == "pasted" and story.again_s == 0.15
    assert story.look(DRAFT, 0.1) == "pasted", "150 ms are not over"
    assert story.look(DRAFT, 0.1) == "entered" and story.written[1:] == [b"\r"]
    assert story.look(BUSY, 0.1) == "submitted"
    assert (story.status.receipt, story.status.pastes, story.status.enters) == ("weak", 1, 1)
    assert [status.state.value for status in story.told][-1] == "submitted"


def test_the_gate_says_why_it_is_closed() -> None:
    """Each reason in words, with its evidence; nothing is written."""
    for reading, more, why in (
        (DIALOG, {}, "dialog is open: row 2: ? really"),
        (DRAFT, {}, "composer holds text: row 2: > text"),
        (NOTHING, {}, "no empty composer is seen: no rule matched"),
        (BUSY, {}, "busy: row 1"),
        (EMPTY, {"known": False}, "not known"),
        (EMPTY, {"canonical": True}, "line mode"),
        (EMPTY, {"typed_s": 3.0}, "a person typed 3 s ago"),
        (EMPTY, {"unwritten": True}, "not read yet"),
        (EMPTY, {"stopping": True}, "being stopped"),
    ):
        story = Story()
        assert story.look(reading, **more) == "waiting" and story.written == []
        assert why in story.status.reason, story.status.reason


def test_the_gate_wakes_up_where_nothing_else_would() -> None:
    """Line mode changes without a sign, and a person's quiet is a matter of time; all else comes with output."""
    story = Story(quiet_s=10)
    story.look(EMPTY, typed_s=4.0)
    assert story.again_s == 6.0
    waits = []
    for _ in range(7):
        story.look(EMPTY, canonical=True)
        waits.append(story.again_s)
    assert waits == [0.05, 0.1, 0.2, 0.5, 1.0, 1.0, 1.0]
    story.look(DIALOG)
    assert story.again_s is None


def test_a_busy_agent_where_that_was_shown_to_work() -> None:
    """`deliver_busy`: the composer must be there and empty all the same."""
    story = Story(SCRIPTED.replace(deliver_busy=True))
    assert story.look(HIDDEN) == "waiting"
    assert story.look(BUSY) == "pasted"


def test_a_text_that_never_shows_gets_no_enter() -> None:
    """It was swallowed, or stands where nobody sees it: unsent after 10 s, never typed again."""
    story = Story()
    story.look(EMPTY)
    assert story.look(EMPTY, 9.9) == "pasted"
    assert story.look(EMPTY, 1.0) == "unsent"
    assert story.written == [paste("hello")]
    assert story.queue.ask("m-1", "hello", quiet_s=None, at=0.0).state is DeliveryState.UNSENT


def test_a_dialog_between_text_and_enter() -> None:
    """It would take the Enter for its answer: none is written, however long it stays; then all goes on."""
    story = Story()
    story.to_pasted()
    for _ in range(100):
        assert story.look(DIALOG, 5.0) == "pasted" and "no Enter" in story.status.reason
    assert story.look(DRAFT, 0.1) == "pasted"
    assert story.look(DRAFT, 0.2) == "entered"
    assert story.written == [paste("hello"), b"\r"]


def test_a_dialog_that_swallowed_the_text() -> None:
    """The composer comes back empty: no Enter, and after a while unsent."""
    story = Story()
    story.look(EMPTY)
    story.look(DIALOG, 1.0)
    assert story.look(EMPTY, 1.0) == "pasted"
    assert story.look(EMPTY, 11.0) == "unsent"
    assert story.written == [paste("hello")]


def test_a_dialog_after_enter_gets_no_second_one() -> None:
    """Nor does a screen that shows no composer."""
    story = Story()
    story.to_pasted()
    story.look(DRAFT, 0.2)
    for reading in (DIALOG, NOTHING, DIALOG):
        assert story.look(reading, 5.0) == "entered"
    assert story.written == [paste("hello"), b"\r"]
    assert story.look(HIDDEN, 1.0) == "submitted"


def test_enter_again_alone_one_second_apart() -> None:
    """At most three times more; then the text is left standing (case a15)."""
    story = Story()
    story.to_pasted()
    story.look(DRAFT, 0.2)
    assert story.look(DRAFT, 0.5) == "entered" and len(story.written) == 2
    for count in range(2, ENTERS + 1):
        assert story.look(DRAFT, 1.0) == "entered" and story.status.enters == count
    assert story.look(DRAFT, 1.0) == "unsent"
    assert story.written == [paste("hello"), *[b"\r"] * ENTERS]


def test_a_person_who_types_behind_the_text_sends_it() -> None:
    """Nothing that a person typed is submitted by anybody else (case a16)."""
    story = Story()
    story.to_pasted()
    assert story.look(DRAFT, 0.2, typed_behind=True) == "pasted"
    assert story.look(DRAFT, 5.0, typed_behind=True) == "pasted" and "they send it" in story.status.reason
    assert story.look(EMPTY, 5.0, typed_behind=True) == "submitted"
    assert story.written == [paste("hello")]


def test_a_receipt_ends_it() -> None:
    """The agent's own files name it: no Enter any more, whatever the screen shows; also long after."""
    story = Story()
    story.to_pasted()
    story.look(DRAFT, 0.2)
    story.queue.receipt("m-1", "typed", 2000.0)
    assert story.look(DRAFT, 5.0) == "submitted" and story.status.receipt == "typed"
    story.queue.receipt("m-1", "turn", 2001.0)
    assert story.status.receipt == "turn"
    story.queue.receipt("m-1", "typed", 2002.0)
    assert story.status.receipt == "turn" and len(story.written) == 2


def test_a_receipt_proves_more_than_a_screen() -> None:
    """Unsent, as far as the screen showed; but the agent has it. One that was never typed has no receipt."""
    story = Story()
    story.queue.receipt("m-1", "turn", 2000.0)
    assert story.status.state is DeliveryState.WAITING
    story.look(EMPTY)
    story.look(EMPTY, 11.0)
    assert story.status.state.value == "unsent"
    story.queue.receipt("m-1", "turn", 2000.0)
    assert (story.status.state.value, story.status.receipt) == ("submitted", "turn")
    assert story.queue.receipt("m-2", "turn", 2000.0) is None


def test_an_agent_that_does_not_read() -> None:
    """Five seconds without a byte taken: failed, the paste is closed, what is left of it is dropped."""
    story = Story()
    story.look(EMPTY, stuck=True)
    assert story.look(EMPTY, 4.0, unwritten=True, progress=100) == "pasted"
    assert story.look(EMPTY, 4.0, unwritten=True, progress=100) == "pasted"
    assert story.look(EMPTY, 4.0, unwritten=True, progress=100) == "failed"
    assert "read nothing" in story.status.reason and story.status.typed
    assert story.queue.ask("m-1", "hello", quiet_s=None, at=0.0).state is DeliveryState.FAILED, "typed: never again"


def test_a_line_reader() -> None:
    """One line and its Enter in one write, receipt weak; line mode is right there, no screen is needed (case a14)."""
    story = Story(LINES, text="do it\twell")
    assert story.look(NOTHING, canonical=True, known=False) == "submitted"
    assert story.written == [b"do it    well\n"] and story.status.receipt == "weak"


def test_a_line_reader_that_says_what_it_does() -> None:
    """With rules for its screen it is not typed into while it works or asks."""
    shell = LINES.replace(rules=SCRIPTED.rules[:2])
    story = Story(shell)
    assert story.look(BUSY, canonical=True) == "waiting"
    assert story.look(DIALOG, canonical=True) == "waiting"
    assert story.look(NOTHING, canonical=True) == "submitted"
    story = Story(shell.replace(rules=(*shell.rules, Rule("ready", r"\$$"))))
    assert story.look(NOTHING, canonical=True) == "waiting" and "not seen to wait" in story.status.reason
    assert story.look(EMPTY, canonical=True) == "submitted"


def test_what_is_refused() -> None:
    """More than a line for a line reader, nothing at all, too many at once: failed, nothing typed, and why."""
    queue = Queue(LINES, lambda _: None)
    for id, text, why in (("a", "x\ny", "one line"), ("b", "x" * 5000, "longer"), ("c", " \x1b\n", "no text")):
        status = queue.ask(id, text, quiet_s=None, at=0.0)
        assert (status.state, status.typed) == (DeliveryState.FAILED, False) and why in status.reason
    for number in range(QUEUE_LIMIT):
        assert queue.ask(f"q{number}", "x", quiet_s=None, at=0.0).state is DeliveryState.WAITING
    assert "wait already" in queue.ask("one more", "x", quiet_s=None, at=0.0).reason


def test_taken_back_at_the_gate_only() -> None:
    """A prompt that was not typed may be asked again under its id; one that was stays as it is."""
    story = Story()
    story.look(DIALOG)
    back = story.queue.cancel("m-1", "paused", 2000.0)
    assert back is not None and (back.state, back.reason) == (DeliveryState.FAILED, "withdrawn: paused")
    assert story.queue.head is None
    story.queue.ask("m-1", "hello", quiet_s=None, at=3000.0)
    story.look(EMPTY)
    back = story.queue.cancel("m-1", "paused", 2000.0)
    assert back is not None and back.state is DeliveryState.PASTED
    assert story.queue.cancel("m-9", "", 0.0) is None


def test_the_end_of_an_arm() -> None:
    """What waited has failed with nothing typed; what was typed says how far it came (case a01)."""
    story = Story()
    story.to_pasted()
    story.queue.ask("m-2", "next", quiet_s=None, at=0.0)
    story.queue.end("the agent ended with exit code 1", 2000.0)
    one, two = story.queue.all()
    assert (one.state, one.enters, one.reason) == (DeliveryState.PASTED, 0, "the agent ended with exit code 1")
    assert (two.state, two.typed) == (DeliveryState.FAILED, False)
    story.look(DRAFT, 10.0)
    assert story.written == [paste("hello")]


def test_one_after_the_other() -> None:
    """The second starts when the first is over, and a moment later, so that the turn can show (case a02)."""
    story = Story()
    story.queue.ask("m-2", "next", quiet_s=None, at=0.0)
    story.to_pasted()
    story.look(DRAFT, 0.2)
    story.look(EMPTY, 0.1)
    assert story.written == [paste("hello"), b"\r"] and story.again_s == 1.0
    story.look(BUSY, 1.1)
    assert len(story.written) == 2
    story.look(EMPTY, 1.0)
    assert story.written[2:] == [paste("next")]


def test_old_ids_are_forgotten_in_the_end() -> None:
    """A host that lives for months does not grow for ever; what is open is never forgotten."""
    queue = Queue(LINES, lambda _: None)
    queue.ask("open", "x", quiet_s=None, at=0.0)
    for number in range(KNOWN_LIMIT + 10):
        queue.ask(f"q{number}", " ", quiet_s=None, at=0.0)
    assert queue.find("open") is not None and queue.find("q0") is None
    assert len(queue.all(10_000)) == KNOWN_LIMIT
    assert len(queue.all()) == 101


READINGS = st.sampled_from([EMPTY, DRAFT, DIALOG, BUSY, HIDDEN, NOTHING])
LOOKS = st.tuples(
    READINGS,
    st.sampled_from([0.0, 0.05, 0.2, 1.0, 11.0]),
    st.fixed_dictionaries(
        {
            "known": st.sampled_from([True, True, True, False]),
            "canonical": st.sampled_from([False, False, True]),
            "typed_behind": st.sampled_from([False, False, True]),
            "shown": st.booleans(),
            "unwritten": st.sampled_from([False, False, True]),
            "typed_s": st.sampled_from([None, None, 1.0, 40.0]),
        }
    ),
)


@given(st.lists(LOOKS, max_size=40), st.booleans())
def test_whatever_is_seen(looks: list[tuple[Reading, float, dict[str, Any]]], deliver_busy: bool) -> None:
    """The text at most once and only into an empty composer; Enter only where text is seen and nobody asks anything."""
    one = Delivery("m-1", "hello", SCRIPTED.replace(deliver_busy=deliver_busy), quiet_s=30.0, at=0.0)
    now, pastes, enters, last_enter = 10.0, 0, 0, -10.0
    for reading, after_s, more in looks:
        now += after_s
        was_final = one.final
        step = one.step(Look(now=now, at=now, reading=reading, **more))
        if step.write.startswith(b"\x1b[200~"):
            pastes += 1
            assert reading.composer == "empty" and not reading.dialog and more["known"] and not more["canonical"]
            assert more["typed_s"] in (None, 40.0) and (deliver_busy or reading.state is not ScreenState.BUSY)
        elif step.write:
            assert step.write == b"\r" and pastes == 1
            assert not reading.dialog and more["known"] and reading.composer != "empty" and not more["typed_behind"]
            assert reading.composer == "draft" or (enters == 0 and more["shown"])
            assert enters == 0 or now - last_enter >= 1.0
            enters, last_enter = enters + 1, now
        assert not (was_final and step.write)
    assert pastes <= 1 and enters <= ENTERS
    assert (one.status.pastes, one.status.enters) == (pastes, enters)
    assert one.final == (one.status.state in FINAL)
