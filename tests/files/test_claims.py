"""Claims: who holds a task. Two claims never both succeed; an old token changes nothing; no cut leaves a riddle."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from coleo.files import claims, mend, taskfile, work
from coleo.files.layout import Layout
from coleo.files.work import Lost
from coleo.model.errors import CannotBeDone, Taken
from coleo.model.plan import Task
from coleo.model.task import TABLE, TaskEvent, TaskStatus
from tests.files.project import NOW, lay, log

TASK = Task("t-abcdef", "Write the parser", "Phase 1")


def mended(layout: Layout, now: float = NOW) -> list[mend.Mended]:
    """What a brain does at its start."""
    return mend.mend(layout, {TASK.id: TASK}, taskfile.read_all(layout)[0], now)


def test_the_second_claim_is_told_who_holds_it(tmp_path: Path) -> None:
    """With the holder and since when; the holder itself gets its claim again."""
    layout = lay(tmp_path, "ada", "bob")
    first = work.take(layout, TASK, "ada", NOW)
    with pytest.raises(Taken) as refused:
        work.take(layout, TASK, "bob", NOW + 5)
    assert refused.value.exit_code == 3
    assert refused.value.found == "held by ada since 2025-11-30T10:00:00.000Z"
    assert work.take(layout, TASK, "ada", NOW + 9).claim == first.claim
    assert [claim.seat for claim in claims.held(layout)] == ["ada"]
    assert claims.of_seat(layout, "bob") == []


CLAIMER = """
import os, sys
from coleo.files import work
from coleo.files.layout import Layout
from coleo.model.errors import Taken
from coleo.model.plan import Task
layout, won = Layout(sys.argv[1]), 0
os.read(0, 1)
for number in range(40):
    try:
        work.take(layout, Task(f"task-{number}", "T"), sys.argv[2], 1764496800.0)
        won += 1
    except Taken:
        pass
print(won)
"""


def test_two_claims_never_both_succeed_between_processes(tmp_path: Path) -> None:
    """Four seats race for forty tasks: each is won exactly once."""
    seats = ["ada", "bob", "eve", "joe"]
    layout = lay(tmp_path, *seats)
    command = [sys.executable, "-c", CLAIMER, layout.root]
    racers = [
        subprocess.Popen([*command, seat], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for seat in seats
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("x")
        racer.stdin.flush()
    won = [int(racer.communicate(timeout=100)[0]) for racer in racers]
    assert sum(won) == 40
    assert len(claims.held(layout)) == 40
    files, _bad = taskfile.read_all(layout)
    assert {one.task: one.seat for one in claims.held(layout)} == {one.id: one.seat for one in files.values()}


def test_two_claims_never_both_succeed_between_threads(tmp_path: Path) -> None:
    """Also without the task's lock: the exclusive create decides."""
    layout = lay(tmp_path, "ada")
    won: list[str] = []
    start = threading.Barrier(8)

    def race(name: str) -> None:
        start.wait()
        for number in range(20):
            try:
                won.append(claims.claim(layout, f"task-{number}", name, NOW).task)
            except Taken:
                continue

    threads = [threading.Thread(target=race, args=(f"seat{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == sorted(f"task-{number}" for number in range(20))


def test_an_old_token_changes_nothing(tmp_path: Path) -> None:
    """A seat that lost its claim, and a process that still has the token of an earlier claim of the same seat."""
    layout = lay(tmp_path, "ada", "bob")
    old = work.take(layout, TASK, "ada", NOW).claim
    assert old is not None
    work.release(layout, TASK.id, "its arm was stopped", NOW, seat="ada", token=old.token)
    work.take(layout, TASK, "bob", NOW + 1)
    before = Path(taskfile.locate(layout, TASK.id) or "").read_bytes()
    acts: list[Callable[[], object]] = [
        lambda: work.complete(layout, TASK.id, "ada", "done", NOW + 2, token=old.token),
        lambda: work.fail(layout, TASK.id, "ada", "no", NOW + 2, token=old.token),
        lambda: work.progress(layout, TASK.id, "ada", "half", NOW + 2, token=old.token),
        lambda: work.acknowledge(layout, TASK.id, "ada", NOW + 2, token=old.token),
    ]
    for act in acts:
        with pytest.raises(Lost):
            act()
    assert work.release(layout, TASK.id, "late", NOW + 2, token=old.token) is None
    assert Path(taskfile.locate(layout, TASK.id) or "").read_bytes() == before
    work.release(layout, TASK.id, "again", NOW + 3, seat="bob")
    work.take(layout, TASK, "ada", NOW + 4)
    with pytest.raises(Lost):
        work.complete(layout, TASK.id, "ada", "done", NOW + 5, token=old.token)
    assert work.complete(layout, TASK.id, "ada", "done", NOW + 6).file.status is TaskStatus.DONE


def test_an_assignment_is_acknowledged_in_a_second_step(tmp_path: Path) -> None:
    """By the verb or by a first note; a claim by the seat itself is acknowledged at once."""
    layout = lay(tmp_path, "ada")
    assigned = work.take(layout, TASK, "ada", NOW, by="brain")
    assert assigned.claim is not None and assigned.claim.acknowledged_at is None
    assert assigned.file.status is TaskStatus.CLAIMED
    done = work.acknowledge(layout, TASK.id, "ada", NOW + 5)
    assert done.file.status is TaskStatus.IN_PROGRESS and done.claim is not None
    assert done.claim.acknowledged_at == NOW + 5
    assert work.acknowledge(layout, TASK.id, "ada", NOW + 50).claim == done.claim
    other = TASK.replace(id="t-bcdefg")
    work.take(layout, other, "ada", NOW, by="brain")
    assert work.progress(layout, other.id, "ada", "at it", NOW + 1).file.status is TaskStatus.IN_PROGRESS
    assert [line["action"] for line in log(layout)].count("acknowledge_task") == 2


def test_attempts_count_and_their_reasons_stay(tmp_path: Path) -> None:
    """Failed and released attempts; one that a seat declines does not count, and that seat is remembered."""
    layout = lay(tmp_path, "ada", "bob")
    work.take(layout, TASK, "ada", NOW)
    failed = work.fail(layout, TASK.id, "ada", "no network", NOW)
    assert (failed.file.status, failed.file.attempts) == (TaskStatus.FAILED, 1)
    work.take(layout, TASK, "bob", NOW)
    released = work.release(layout, TASK.id, "its arm was stopped", NOW)
    assert released is not None and (released.file.status, released.file.attempts) == (TaskStatus.OPEN, 2)
    work.take(layout, TASK, "bob", NOW)
    declined = work.release(layout, TASK.id, "no browser", NOW, counts=False, declined=True)
    assert declined is not None and (declined.file.attempts, declined.file.declined) == (2, ("bob",))
    work.take(layout, TASK, "ada", NOW)
    third = work.fail(layout, TASK.id, "ada", "still no network", NOW)
    assert [reason.partition(" ")[2] for reason in third.file.reasons] == [
        "ada failed: no network",
        "bob released: its arm was stopped",
        "bob declined: no browser",
        "ada failed: still no network",
    ]
    with pytest.raises(CannotBeDone, match="still no network"):
        work.take(layout, TASK, "bob", NOW)
    work.block(layout, TASK, "3 attempts", NOW)
    with pytest.raises(CannotBeDone):
        work.take(layout, TASK, "bob", NOW)
    opened = work.reopen(layout, TASK, "the network is back", NOW)
    assert (opened.attempts, opened.declined, len(opened.reasons)) == (0, (), 4)
    work.take(layout, TASK, "bob", NOW)


def test_a_claim_that_cannot_be_read_still_holds(tmp_path: Path) -> None:
    """Nobody works twice on a task because a file is torn."""
    layout = lay(tmp_path, "ada", "bob")
    os.makedirs(layout.claims)
    Path(layout.claim(TASK.id)).write_text('{"seat": "ad')
    with pytest.raises(CannotBeDone):
        work.take(layout, TASK, "bob", NOW)
    assert claims.held(layout) == [] and mended(layout) == []


@pytest.mark.parametrize("act", ["complete", "fail"])
def test_a_claim_that_a_kill_kept_holds_nothing(tmp_path: Path, act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the task's file was written: the claim is over, its line comes into the log once."""
    layout = lay(tmp_path, "ada", "bob")
    work.take(layout, TASK, "ada", NOW)

    def killed(*_args: object, **_named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(claims, "release", killed)
        with pytest.raises(KeyboardInterrupt):
            getattr(work, act)(layout, TASK.id, "ada", "what I say", NOW)
    assert len(claims.held(layout)) == 1 and work.holder(layout, TASK.id) is None
    if act == "complete":
        with pytest.raises(CannotBeDone):
            work.take(layout, TASK, "ada", NOW)
    else:
        work.take(layout, TASK, "bob", NOW)
    assert [claim.seat for claim in claims.held(layout)] == ([] if act == "complete" else ["bob"])
    assert len(log(layout, f"{act}_task")) == 1


def test_claims_come_back_after_run_was_deleted(tmp_path: Path) -> None:
    """The task's file remembers seat, token and times (DESIGN.md section 2, principle 1)."""
    layout = lay(tmp_path, "ada", "bob")
    before = work.take(layout, TASK, "ada", NOW, generation=3).claim
    shutil.rmtree(layout.run)
    with pytest.raises(Taken):
        work.take(layout, TASK, "bob", NOW + 5)
    shutil.rmtree(layout.run)
    assert len(mended(layout)) == 1 and mended(layout) == []
    assert claims.read(layout, TASK.id) == before
    shutil.rmtree(layout.run)
    assert work.complete(layout, TASK.id, "ada", "done", NOW + 9).file.status is TaskStatus.DONE
    assert claims.held(layout) == []


def test_a_lost_task_file_is_made_again_from_the_claim(tmp_path: Path) -> None:
    """`git stash -u` takes new files in tasks/ away while the claim stays."""
    layout = lay(tmp_path, "ada")
    claim = work.take(layout, TASK, "ada", NOW).claim
    shutil.rmtree(layout.tasks)
    assert len(mended(layout)) == 1
    file = taskfile.read(layout, TASK.id)
    assert claim is not None and file is not None and (file.seat, file.token) == ("ada", claim.token)


@pytest.mark.parametrize("status", ["open", "blocked", "failed", "done", "withdrawn"])
def test_a_status_that_a_person_writes_ends_the_claim(tmp_path: Path, status: str) -> None:
    """The seat is told once; its old claim changes nothing any more."""
    layout = lay(tmp_path, "ada")
    work.take(layout, TASK, "ada", NOW)
    path = Path(taskfile.locate(layout, TASK.id) or "")
    path.write_text(path.read_text().replace("status: in_progress", f"status: {status}"))
    assert len(mended(layout)) == 1 and mended(layout) == []
    assert claims.held(layout) == []
    file = taskfile.read(layout, TASK.id)
    assert file is not None and file.status == status
    assert len(os.listdir(layout.seat("ada").inbox)) == 1
    with pytest.raises(Lost):
        work.complete(layout, TASK.id, "ada", "done", NOW)


def test_a_person_may_take_a_task_by_hand(tmp_path: Path) -> None:
    """``status: in_progress`` without a claim: nobody else takes it."""
    layout = lay(tmp_path, "ada")
    taskfile.touch(layout, TASK, NOW)
    taskfile.update(layout, TASK.id, {"status": "in_progress"}, NOW)
    with pytest.raises(Taken, match="a person"):
        work.take(layout, TASK, "ada", NOW)
    assert mended(layout) == []


def test_a_failed_write_gives_the_claim_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk after the claim: the task is free again."""
    layout = lay(tmp_path, "ada", "bob")

    def full(*_args: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(taskfile, "update", full)
        with pytest.raises(OSError, match="No space"):
            work.take(layout, TASK, "ada", NOW)
    assert work.take(layout, TASK, "bob", NOW).claim is not None


def test_ticked_by_a_person_while_in_work(tmp_path: Path) -> None:
    """Done, the claim ends; a task that nobody touched gets no file."""
    layout = lay(tmp_path, "ada")
    work.take(layout, TASK, "ada", NOW)
    done = work.ticked(layout, TASK, "ticked in the plan", NOW)
    assert done is not None and done.claim is not None and done.file.status is TaskStatus.DONE
    assert claims.held(layout) == []
    assert work.ticked(layout, TASK.replace(id="t-bcdefg"), "ticked", NOW) is None


def test_the_table_of_statuses_is_closed() -> None:
    """Done and withdrawn are left only by a person; a held task is never withdrawn."""
    assert {event for status, event in TABLE if status is TaskStatus.DONE} == {TaskEvent.REOPEN, TaskEvent.UNTICK}
    held = (TaskStatus.CLAIMED, TaskStatus.IN_PROGRESS)
    assert not any((status, TaskEvent.WITHDRAW) in TABLE for status in held)
    assert all((status, TaskEvent.RELEASE) in TABLE for status in held)


SEATS = strategies.sampled_from(["ada", "bob", "eve"])


class Killed(BaseException):
    """The process ends here."""


class OneTask(RuleBasedStateMachine):
    """Random seats, brains, people and kills on one task.

    At most one seat believes that it holds the task and is right; a completion counts only for the holder; after a
    mend claim and file agree, and nothing that was said is gone.
    """

    @initialize()
    def start(self) -> None:
        """An open task."""
        self.folder = tempfile.mkdtemp()
        self.layout = lay(Path(self.folder), "ada", "bob", "eve")
        self.now = NOW
        self.token: dict[str, str] = {}
        self.said: list[str] = []
        self.done_by: str | None = None

    def teardown(self) -> None:
        """No file stays."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _holder(self) -> str | None:
        there = work.holder(self.layout, TASK.id)
        file = taskfile.read(self.layout, TASK.id)
        return there.seat if there and not (file and there.token in file.ended) else None

    @rule(seat=SEATS, by=strategies.sampled_from(["seat", "brain"]))
    def take(self, seat: str, by: str) -> None:
        """A claim works exactly when nobody else holds the task and it can be worked on."""
        mended(self.layout, self.now)
        before = self._holder()
        try:
            claim = work.take(self.layout, TASK, seat, self.now, by=by, max_attempts=99).claim
        except (Taken, CannotBeDone):
            file = taskfile.read(self.layout, TASK.id)
            status = file.status if file else TaskStatus.OPEN
            assert before not in (None, seat) or status in (TaskStatus.DONE, TaskStatus.BLOCKED)
            return
        assert before in (None, seat) and claim is not None
        self.token[seat] = claim.token

    @rule(
        seat=SEATS,
        act=strategies.sampled_from(["progress", "complete", "fail", "acknowledge"]),
        old=strategies.booleans(),
    )
    def act(self, seat: str, act: str, old: bool) -> None:
        """What a seat says counts exactly when it holds the task, with this token if it brings one."""
        holder, text = self._holder(), f"word {len(self.said)}"
        token = self.token.get(seat) if old else None
        there = work.holder(self.layout, TASK.id)
        args = (text,) if act != "acknowledge" else ()
        try:
            getattr(work, act)(self.layout, TASK.id, seat, *args, self.now, token=token)
        except Lost:
            assert holder != seat or (there is not None and token is not None and token != there.token)
            return
        assert holder == seat
        if args:
            self.said.append(text)
        if act == "complete":
            self.done_by = seat

    @rule(
        seat=SEATS,
        act=strategies.sampled_from(["take", "complete", "fail", "release"]),
        at=strategies.sampled_from(["log", "unlink", "update"]),
    )
    def killed(self, seat: str, act: str, at: str) -> None:
        """The same acts, cut between two of their writes."""
        real = (work.activity.append, os.unlink, taskfile.update)  # type: ignore[attr-defined]

        def cut(*_args: object, **_named: object) -> None:
            raise Killed

        def cut_claim(path: str, *args: object) -> None:
            if os.path.dirname(path) == self.layout.claims and path.endswith(".json") and "/." not in path:
                raise Killed
            real[1](path, *args)

        try:
            if at == "log":
                work.activity.append = cut  # type: ignore[attr-defined]
            elif at == "unlink":
                os.unlink = cut_claim  # type: ignore[assignment]
            elif act != "take":
                taskfile.update = cut  # type: ignore[assignment]
            match act:
                case "take":
                    work.take(self.layout, TASK, seat, self.now, max_attempts=99)
                case "release":
                    work.release(self.layout, TASK.id, "cut", self.now, seat=seat)
                case _:
                    getattr(work, act)(self.layout, TASK.id, seat, "cut", self.now)
        except (Killed, Taken, CannotBeDone):
            pass
        finally:
            work.activity.append, os.unlink, taskfile.update = real  # type: ignore[attr-defined]
        file = taskfile.read(self.layout, TASK.id)
        if file is not None and file.status is TaskStatus.DONE and self.done_by is None:
            self.done_by = file.seat

    @rule()
    def sweep(self) -> None:
        """`rm -r .coleo/run`."""
        shutil.rmtree(self.layout.run, ignore_errors=True)

    @rule(what=strategies.sampled_from(["block", "reopen"]))
    def person(self, what: str) -> None:
        """A person decides."""
        try:
            getattr(work, what)(self.layout, TASK, "because", self.now)
        except CannotBeDone:
            return
        if what == "reopen":
            self.done_by = None

    @rule()
    def mend(self) -> None:
        """A brain starts: afterwards claim and file agree, and there is nothing more to mend."""
        mended(self.layout, self.now)
        assert mended(self.layout, self.now) == []
        claim, file = claims.read(self.layout, TASK.id), taskfile.read(self.layout, TASK.id)
        if claim is None:
            assert file is None or file.status not in (TaskStatus.CLAIMED, TaskStatus.IN_PROGRESS)
        else:
            assert file is not None and (file.seat, file.token) == (claim.seat, claim.token)
        self.now += 1

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        """Every accepted word stands in the file once; done stays done until a person opens it."""
        if not hasattr(self, "layout"):
            return
        path = taskfile.locate(self.layout, TASK.id)
        text = Path(path).read_text() if path else ""
        for word in self.said:
            assert sum(line.rstrip().endswith(word) for line in text.splitlines()) == 1
        assert len(os.listdir(self.layout.tasks)) <= 1 if os.path.isdir(self.layout.tasks) else True
        file = taskfile.read(self.layout, TASK.id)
        if self.done_by is not None:
            assert file is not None and file.status is TaskStatus.DONE


OneTask.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestOneTask = OneTask.TestCase
