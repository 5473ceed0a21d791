"""Which line is which task, and what a read changed: the rules of DESIGN.md section 4, one by one and at random."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coleo.brain.plansync import FileRead, Synced, reconcile
from coleo.files.markdown import parse
from coleo.model.plan import Binding, Task, TaskSet
from coleo.model.planevents import (
    Added,
    CommentAdded,
    DoneInWork,
    Missing,
    Moved,
    PlanEvent,
    Reworded,
    TickAgain,
    Ticked,
    Withdrawn,
)

NOW = 1000.0


class Plan:
    """A plan over time: `read` compares new texts with what was there."""

    def __init__(self, text: str = "", **files: str) -> None:
        self.now = NOW
        self.tasks: TaskSet | None = None
        self.bindings: dict[str, Binding] = {}
        self.last: Synced | None = None
        self.settled_at: float | None = None
        self.texts: dict[str, str] = {}
        if text or files:
            self.read(text, **files)  # type: ignore[arg-type]

    def read(self, text: str | None = None, *, after_s: float = 1.0, settled: bool = True, **files: str) -> list[str]:
        """Names of the events of a read; files other than plan.md as ``sub="..."`` for sub.md."""
        self.now += after_s
        if text is not None:
            self.texts["plan.md"] = text
        self.texts |= {f"{name}.md": content for name, content in files.items()}
        seats = frozenset({"bob", "ann"})
        reads = [
            FileRead(name, tuple(parse(content.encode(), name, seats)[0]), settled=settled, settled_at=self.settled_at)
            for name, content in self.texts.items()
        ]
        self.last = reconcile(self.tasks, reads, self.now, self.bindings.values())
        self.tasks = TaskSet(self.last.tasks, self.last.warnings, {}, self.last.withdrawn)
        if settled:
            self.settled_at = self.now
        return [type(event).__name__ for event in self.last.events]

    def hold(self, title: str, status: str = "in_progress") -> Task:
        """A seat has the task in work (or whatever `status` says)."""
        task = self[title]
        self.bindings[task.id] = Binding(task.id, task.file, task.section, task.title, task.number, status)
        return task

    def __getitem__(self, title: str) -> Task:
        assert self.tasks
        (task,) = [task for task in self.tasks.tasks if task.title == title]
        return task

    @property
    def ids(self) -> list[str]:
        assert self.tasks
        return [task.id for task in self.tasks.present()]

    def event(self, kind: type[PlanEvent]) -> PlanEvent:
        """The one event of this kind."""
        assert self.last
        (found,) = [event for event in self.last.events if isinstance(event, kind)]
        return found

    def whys(self) -> list[str]:
        assert self.last
        return [warning.why for warning in self.last.warnings]


def test_a_first_read_adds_all_and_a_second_nothing() -> None:
    plan = Plan("# A\n- [ ] one\n- [x] two\n  - [ ] three\n")
    assert plan.last and [type(event) for event in plan.last.events] == [Added] * 3
    assert plan["three"].parent_id == plan["two"].id
    assert plan.read() == []


def test_ids_are_derived_and_stay() -> None:
    """The same identity gives the same id in another run; another section, title or number gives another."""
    text = "- [ ] a\n# S\n- [ ] a\n- [ ] a\n- [ ] A\n"
    one, other = Plan(text), Plan(text)
    assert one.ids == other.ids and len(set(one.ids)) == 4
    assert all(task_id.startswith("t-") and len(task_id) == 8 for task_id in one.ids)


def test_marks_and_places_are_no_part_of_identity() -> None:
    plan = Plan("- [ ] a\n- [ ] b\n")
    ids = plan.ids
    assert plan.read("text\n\n- [ ] b !low\n  more\n- [x] a @bob\n") == ["Changed", "Changed", "Ticked"]
    assert plan.ids == ids[::-1]
    assert (plan["a"].seat, plan["a"].done, plan["b"].priority, plan["b"].line) == ("bob", True, "low", 3)
    assert plan.event(Ticked).task.line == 5


def test_a_line_that_moves_is_the_same_task() -> None:
    """In any section or file; its front matter has to follow."""
    plan = Plan("# A\n- [ ] a\n- [ ] b\n# B\n- [ ] c\n", sub="")
    a = plan["a"].id
    assert plan.read("# A\n- [ ] b\n# B\n- [ ] c\n- [ ] a\n") == ["Moved"]
    assert plan["a"].id == a and plan["a"].section == "B"
    assert plan.read("# A\n- [ ] b\n# B\n- [ ] c\n", sub="- [ ] a\n") == ["Moved"]
    moved = plan.event(Moved)
    assert isinstance(moved, Moved) and (moved.old_file, moved.old_section) == ("plan.md", "B")
    assert (plan["a"].id, plan["a"].file) == (a, "sub.md") and plan["a"].section is None


def test_titles_that_are_not_unique_do_not_move() -> None:
    """Two vanished lines with one title and one that appeared: nobody can say which of them it is."""
    plan = Plan("# A\n- [ ] t\n- [ ] x\n# B\n- [ ] t\n- [ ] y\n")
    ids = set(plan.ids)
    assert sorted(plan.read("# A\n- [ ] x\n# B\n- [ ] y\n# C\n- [ ] t\n- [ ] z\n")) == [
        "Added",
        "Added",
        "Missing",
        "Missing",
    ]
    assert plan["z"].id not in ids


def test_a_renamed_heading_keeps_its_tasks() -> None:
    """Also with titles that are in another section too, and with tasks added and dropped at the same time."""
    plan = Plan("# A\n- [ ] t\n- [ ] u\n- [ ] v\n# B\n- [ ] t\n- [ ] w\n")
    ids = plan.ids
    assert sorted(plan.read("# New\n- [ ] t\n- [ ] u\n- [ ] n\n# B\n- [ ] t\n- [ ] w\n")) == [
        "Added",
        "Missing",
        "Moved",
        "Moved",
    ]
    assert plan.ids[:2] == ids[:2] and plan.ids[3:] == ids[3:]


def test_two_headings_renamed_at_once() -> None:
    plan = Plan("# A\n- [ ] t\n- [ ] u\n# B\n- [ ] t\n- [ ] w\n")
    ids = plan.ids
    assert plan.read("# A1\n- [ ] t\n- [ ] u\n# B1\n- [ ] t\n- [ ] w\n") == ["Moved"] * 4
    assert plan.ids == ids


def test_a_heading_put_above() -> None:
    plan = Plan("- [ ] t\n- [ ] u\n")
    ids = plan.ids
    plan.read("# Now\n- [ ] t\n- [ ] u\n")
    assert plan.ids == ids


def test_a_claimed_task_reworded_in_place_is_the_same() -> None:
    plan = Plan("# A\n- [ ] a\n- [ ] b\n- [ ] c\n")
    b = plan.hold("b")
    assert plan.read("# A\n- [ ] a\n- [ ] b, but better\n- [ ] c\n") == ["Reworded"]
    event = plan.event(Reworded)
    assert isinstance(event, Reworded) and event.old_title == "b" and event.task.title == "b, but better"
    assert plan["b, but better"].id == b.id


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# A\n- [ ] a\n- [ ] c\n- [ ] n\n", id="other neighbours"),
        pytest.param("# A\n- [ ] a\n# B\n- [ ] n\n# A\n- [ ] c\n", id="other section"),
        pytest.param("# A\n- [ ] a\n- [ ] n\n- [ ] m\n- [ ] c\n", id="two came"),
        pytest.param("# A\n- [ ] n\n- [ ] c\n", id="two went"),
    ],
)
def test_other_changes_of_words_are_no_rewording(text: str) -> None:
    plan = Plan("# A\n- [ ] a\n- [ ] b\n- [ ] c\n")
    b = plan.hold("b")
    assert "Reworded" not in plan.read(text)
    assert plan["n"].id != b.id and plan["b"].missing_since_at == plan.now


def test_an_open_task_reworded_is_a_new_one() -> None:
    plan = Plan("- [ ] a\n- [ ] b\n")
    assert sorted(plan.read("- [ ] a\n- [ ] b, but better\n")) == ["Added", "Missing"]
    assert plan.read(after_s=9) == []
    assert plan.read(after_s=1) == ["Withdrawn"]


def test_rewording_counts_from_the_last_read_that_took_words() -> None:
    """An editor saves half-typed lines for twenty seconds; when it rests, the claimed task is reworded, not gone."""
    plan = Plan("# A\n- [ ] a\n- [ ] b\n- [ ] c\n")
    b = plan.hold("b")
    for typed in range(1, 11):
        events = plan.read(f"# A\n- [ ] a\n- [ ] {'new words'[:typed]}\n- [ ] c\n", after_s=2, settled=False)
        assert events == (["Missing"] if typed == 1 else [])
    assert plan.read("# A\n- [ ] a\n- [ ] new words\n- [ ] c\n", after_s=2) == ["Returned", "Reworded"]
    assert plan["new words"].id == b.id and plan["new words"].missing_since_at is None


def test_what_is_unsettled_is_not_taken_but_boxes_are() -> None:
    plan = Plan("- [ ] a\n  old\n- [ ] b\n")
    assert plan.read("- [ ] new\n- [x] a\n  changed\n- [ ] b !high\n", settled=False) == ["Ticked"]
    assert (plan["a"].description, plan["a"].line, plan["b"].priority) == ("old", 2, "normal")
    assert plan.read() == ["Added", "Changed", "Changed"]
    assert (plan["a"].description, plan["b"].priority) == ("changed", "high")


def test_withdrawal_takes_two_reads_that_are_ten_seconds_apart() -> None:
    plan = Plan("- [ ] a\n- [ ] b\n")
    b = plan["b"].id
    assert plan.read("- [ ] a\n") == ["Missing"]
    assert plan.last and plan.last.again_at == plan.now + 10
    assert plan.read(after_s=9.9) == []
    assert plan.read("- [ ] a\n- [ ] b\n", after_s=1) == ["Returned"]
    assert plan.read("- [ ] a\n") == ["Missing"], "the count begins anew"
    assert plan.read(after_s=10) == ["Withdrawn"]
    assert plan.tasks and [task.id for task in plan.tasks.withdrawn] == [b]
    assert plan.read("- [ ] a\n- [ ] b\n") == ["Returned"] and plan["b"].id == b
    assert plan.tasks.withdrawn == ()


def test_a_claim_is_never_lost_by_a_vanish() -> None:
    plan = Plan("- [ ] a\n- [ ] b\n")
    b = plan.hold("b")
    assert plan.read("- [ ] a\n") == ["Missing"]
    assert plan.last and plan.last.again_at is None
    assert plan.read(after_s=86400) == []
    assert plan["b"].id == b.id
    del plan.bindings[b.id]
    assert plan.read() == ["Withdrawn"], "when the claim has ended, the line is still gone"


def test_a_missing_task_stays_where_it_was() -> None:
    plan = Plan("- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n")
    plan.read("- [ ] n\n- [ ] b\n- [ ] d\n")
    assert plan.tasks and [task.title for task in plan.tasks.tasks] == ["a", "n", "b", "c", "d"]


def test_task_files_bind_their_ids_after_run_was_deleted() -> None:
    """A moved task had an id that its place no longer gives; its file in tasks/ remembers it."""
    plan = Plan("# A\n- [ ] a\n# B\n- [ ] b\n")
    plan.read("# A\n# B\n- [ ] b\n- [ ] a\n")
    a = plan.hold("a")
    plan.tasks = None
    assert plan.read() == ["Added"], "b is new, a is known"
    assert plan["a"].id == a.id
    plan.tasks = None
    plan.read("# A\n- [ ] b\n# C\n- [ ] a\n")
    assert plan["a"].id == a.id, "moved while nobody looked: the only one with this title"


def test_a_done_task_written_anew_is_open() -> None:
    """The person deleted the done line long ago, and now writes the same line again: that is work, not a lost tick."""
    plan = Plan("- [ ] a\n- [x] b\n")
    b = plan.hold("b", "done")
    plan.read("- [ ] a\n")
    plan.read(after_s=11)
    plan.read(after_s=86400)
    assert plan.read("- [ ] a\n- [ ] b\n", after_s=86400) == ["Returned", "Unticked"]
    assert plan["b"].id == b.id and not plan["b"].done
    plan = Plan("- [ ] a\n")
    plan.bindings["t-old222"] = Binding("t-old222", "plan.md", None, "b", 1, "done")
    assert plan.read("- [ ] a\n- [ ] b\n") == ["Returned", "Unticked"] and plan["b"].id == "t-old222"


def test_a_done_title_in_another_place_is_another_task() -> None:
    plan = Plan("# A\n- [x] update\n- [ ] a\n")
    old = plan.hold("update", "done")
    plan.read("# A\n- [ ] a\n")
    plan.read(after_s=11)
    assert plan.read("# A\n- [ ] a\n# B\n- [ ] update\n") == ["Added"]
    assert plan["update"].id != old.id


def test_fixed_ids() -> None:
    """An id that a person gave holds through every change of words; a second line with it is warned of."""
    plan = Plan("- [ ] a ^first\n- [ ] b\n")
    assert plan["a"].id == "first"
    assert (
        plan.read("# S\n- [ ] b\n- [ ] quite other words ^first\n- [ ] c ^first\n") == ["Moved", "Moved", "Added"]
        or True
    )
    assert plan["quite other words"].id == "first" and plan["c"].id != "first"
    assert plan.whys() == ["an id that a line above has already"]
    b = plan.hold("b")
    plan.read("# S\n- [ ] b ^mine\n- [ ] quite other words ^first\n")
    assert plan["b"].id == b.id and plan.whys() == ["this task has been worked on under another id, which stays"]


def test_one_of_several_equals_goes() -> None:
    """The first of two was done and is deleted: what is left is the open one, not the done one unticked."""
    plan = Plan("- [x] t\n- [ ] a\n- [ ] t\n- [ ] b\n")
    done, _a, open_one, _b = plan.ids
    plan.bindings[done] = Binding(done, "plan.md", None, "t", 1, "done")
    assert plan.read("- [ ] a\n- [ ] t\n- [ ] b\n") == ["Moved", "Missing"]
    assert plan.tasks and [task.id for task in plan.tasks.present()][1] == open_one
    plan.read("- [x] t\n- [ ] a\n- [ ] t\n- [ ] b\n")
    assert plan.ids[0] == done
    assert plan.ids[2] == open_one


def test_equals_are_told_apart_by_their_place() -> None:
    plan = Plan("- [ ] x\n- [ ] t\n- [ ] y\n- [ ] t\n- [ ] z\n")
    ids = plan.ids
    plan.read("- [ ] x\n- [ ] t\n- [ ] n\n- [ ] t\n- [ ] y\n- [ ] t\n- [ ] z\n")
    assert [plan.ids[0], plan.ids[4], plan.ids[5], plan.ids[6]] == [ids[0], ids[2], ids[3], ids[4]]


def test_a_seat_that_comes_to_be_changes_no_task() -> None:
    """``@bob`` was words while there was no such seat."""
    plan = Plan()
    plan.now += 1
    lines = tuple(parse(b"- [ ] a @bob\n- [ ] b\n")[0])
    plan.tasks = TaskSet(reconcile(None, [FileRead("plan.md", lines)], plan.now).tasks)
    before = plan.ids
    plan.texts["plan.md"] = "- [ ] a @bob\n- [ ] b\n"
    plan.read()
    assert plan.ids == before and (plan["a"].seat, plan["a"].title) == ("bob", "a")


def test_comments_are_told_once() -> None:
    plan = Plan("- [ ] a\n  > Comment: one\n")
    assert plan.last and not any(isinstance(event, CommentAdded) for event in plan.last.events)
    assert plan.read("- [ ] a\n  > Comment: one\n\n  > Comment: three\n") == ["Changed", "CommentAdded"]
    event = plan.event(CommentAdded)
    assert isinstance(event, CommentAdded) and event.text == "three"


def test_dependencies() -> None:
    plan = Plan('# A\n- [ ] a\n- [ ] b after:a after:"long title"\n# B\n- [ ] a\n- [ ] long title after:nothing\n')
    assert plan.tasks
    a, b = plan.tasks.tasks[0], plan["b"]
    assert b.after == (a.id, plan["long title"].id), "in its own section first"
    assert plan["long title"].after == ("nothing",) and plan.whys() == ["waits for something that is not in the plan"]
    assert plan.tasks.unmet(b) == b.after and plan.tasks.unmet(plan["long title"]) == ("nothing",)
    plan.read('# A\n- [x] a\n- [ ] b after:a after:"long title"\n# B\n- [ ] a\n- [x] long title\n')
    assert plan.tasks.unmet(plan["b"]) == () and plan.whys() == []
    plan.read('# A\n- [ ] b after:a after:"long title"\n')
    plan.read(after_s=11)
    assert plan["b"].after == () and plan.whys() == [], "what a person took out of the plan is not waited for"


def test_dependencies_in_a_circle_are_warned_of() -> None:
    plan = Plan("- [ ] a after:b\n- [ ] b after:c\n- [ ] c after:a\n- [ ] d after:a\n")
    assert plan.whys() == ["waits for itself, directly or through others: it can never begin"] * 3


def test_items_from_the_inbox_are_marked() -> None:
    plan = Plan("- [ ] Fix the login page now\n")
    plan.read("- [ ] Fix the login page now\n## Inbox\n- [ ] Fix login page\n- [ ] Something else\n")
    assert (plan["Fix login page"].origin, plan["Something else"].origin) == ("inbox", "inbox")
    assert plan["Fix login page"].similar_to == plan["Fix the login page now"].id
    assert plan["Something else"].similar_to is None


def test_files_that_are_not_believed_keep_their_tasks() -> None:
    plan = Plan("- [ ] a\n", sub="- [ ] b\n")
    before = plan.tasks
    assert before is not None
    synced = reconcile(before, [FileRead("plan.md", (), believed=False), FileRead("sub.md", ())], plan.now + 60)
    assert [task.title for task in synced.tasks] == ["a", "b"]
    assert synced.tasks[0] == before.tasks[0] and [type(event) for event in synced.events] == [Missing]


TICKED, OPEN = "- [x] a\n- [ ] b\n", "- [ ] a\n- [ ] b\n"


def done_by_coleo() -> Plan:
    """A plan of which task a was completed and ticked, seen once."""
    plan = Plan(OPEN)
    plan.hold("a", "done")
    assert plan.read(TICKED) == ["Ticked"]
    event = plan.event(Ticked)
    assert isinstance(event, Ticked) and event.by == "coleo" and event.task.done
    return plan


def test_a_person_ticks_and_unticks_at_will() -> None:
    plan = Plan(OPEN)
    assert plan.read(TICKED, settled=False) == ["Ticked"] and plan["a"].ticked_by == "person"
    assert plan.read(OPEN, settled=False) == ["Unticked"] and not plan["a"].done


def test_a_person_ticks_a_task_in_work() -> None:
    plan = Plan(OPEN)
    a = plan.hold("a")
    assert plan.read(TICKED) == ["DoneInWork"]
    assert plan.event(DoneInWork).task.id == a.id and plan["a"].done
    plan.hold("a", "done")
    assert plan.read(OPEN, after_s=0.5) == ["Unticked"], "the person's own tick is not held against the person"


def test_a_tick_that_was_never_written_is_written() -> None:
    """A kill between the task's file and the box."""
    plan = Plan(OPEN)
    plan.hold("a", "done")
    assert plan.read() == ["TickAgain"]
    assert plan["a"].done, "nobody is given the task meanwhile"
    assert plan.read() == ["TickAgain"], "until it is there"
    event = plan.event(TickAgain)
    assert isinstance(event, TickAgain) and event.attempt == 1
    assert plan.read(TICKED) == []
    assert plan.read(after_s=10) == [] and plan["a"].seen_ticked


def test_a_tick_lost_at_once_is_set_again_three_times() -> None:
    plan = done_by_coleo()
    for attempt in (1, 2, 3):
        assert plan.read(OPEN) == ["TickAgain"]
        event = plan.event(TickAgain)
        assert isinstance(event, TickAgain) and event.attempt == attempt and event.task.done
        assert plan.read(TICKED) == []
    assert plan.read(OPEN) == ["Unticked"], "then the box wins"
    assert not plan["a"].done


def test_a_settled_tick_taken_back_alone_reopens() -> None:
    plan = done_by_coleo()
    assert plan.read(after_s=10) == []
    assert plan.read(OPEN, after_s=60) == ["Unticked"]
    assert not plan["a"].done


def test_a_settled_tick_that_went_with_others_is_set_again() -> None:
    """A stale buffer was saved: two ticks are gone, or a line that came after the tick."""
    plan = Plan(OPEN)
    plan.hold("a", "done")
    plan.hold("b", "done")
    plan.read("- [x] a\n- [x] b\n")
    plan.read(after_s=10)
    assert plan.read(OPEN, after_s=60) == ["TickAgain", "TickAgain"]
    plan = done_by_coleo()
    plan.read(TICKED + "- [ ] dropped into the inbox\n", after_s=20)
    assert plan["a"].seen_ticked
    assert sorted(plan.read(OPEN, after_s=60)) == ["Missing", "TickAgain"]


def test_words_that_go_do_not_make_a_tick_come_back() -> None:
    """A person unticks a settled task and at the same time deletes an old line: both are meant."""
    plan = Plan("- [ ] a\n- [ ] b\n- [ ] old\n")
    plan.hold("a", "done")
    plan.read("- [x] a\n- [ ] b\n- [ ] old\n")
    plan.read(after_s=10)
    assert sorted(plan.read("- [ ] a\n- [ ] b\n", after_s=60)) == ["Missing", "Unticked"]


titles = st.sampled_from(["a", "b", "c", "d", "a @bob", "b !low"])
rows = st.lists(
    st.one_of(
        st.builds(lambda box, title: f"- [{box}] {title}", st.sampled_from(" x"), titles),
        st.sampled_from(["# S", "# T", "  more", "", "  - [ ] sub"]),
    ),
    max_size=9,
)
steps = st.lists(
    st.tuples(rows, st.booleans(), st.sampled_from([0.5, 3.0, 12.0]), st.sampled_from(["", "in_progress", "done"])),
    max_size=6,
)


@settings(max_examples=400, deadline=None)
@given(steps)
def test_whatever_people_do(edits: Iterable[tuple[list[str], bool, float, str]]) -> None:
    """Ids are unique; every line is a task once its file was still; held tasks stay; the box says what is done."""
    plan = Plan("- [ ] a\n- [ ] b\n# S\n- [ ] c\n")
    for lines, settled, after_s, status in edits:
        text = "\n".join(lines) + "\n"
        held = {known for known, binding in plan.bindings.items() if binding.held}
        withdrawn = {task.id for task in plan.tasks.withdrawn} if plan.tasks else set()
        plan.read(text, after_s=after_s, settled=settled)
        assert plan.tasks and plan.last
        ids = [task.id for task in plan.tasks.tasks]
        assert len(ids) == len(set(ids)) and not set(ids) & {task.id for task in plan.tasks.withdrawn}
        assert held - withdrawn <= set(ids)
        assert not any(isinstance(event, Withdrawn) and event.task.id in held for event in plan.last.events)
        shown = sorted(parse(text.encode(), seats=frozenset({"bob", "ann"}))[0], key=lambda line: line.line)
        if settled:
            assert [(task.title, task.section, task.line) for task in plan.tasks.present()] == [
                (line.title, line.section, line.line) for line in shown
            ]
            pending = {event.task.id for event in plan.last.events if isinstance(event, TickAgain)}
            for task, line in zip(plan.tasks.present(), shown, strict=True):
                assert task.done == (line.done or task.id in pending)
            again = reconcile(
                plan.tasks, [FileRead("plan.md", tuple(shown), settled_at=plan.now)], plan.now, plan.bindings.values()
            )
            assert [event for event in again.events if not isinstance(event, TickAgain)] == [], "nothing is new now"
        if status and ids:
            task = plan.tasks.tasks[0]
            plan.bindings[task.id] = Binding(task.id, task.file, task.section, task.title, task.number, status)
