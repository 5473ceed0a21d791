"""The loop on real files with terminals of the tests' own: hours pass in milliseconds."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from coleo.files import arms, claims, desired, mail, taskfile, work
from coleo.model.arm import ArmState
from tests.daemon.project import Project


def complete(project: Project, title: str, seat: str = "rand") -> None:
    """What an agent does with a task: claim, complete."""
    task = next(task for task in project.brain.plan.tasks.tasks if task.title == title)
    now = project.clock.now()
    work.take(project.layout, task, seat, now)
    work.complete(project.layout, task.id, seat, "done", now)


def test_a_saved_checkbox_becomes_one_prompt_and_its_completion_one_tick(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Fix login\n- [x] Old\n")
    project.start()
    assert project.terminals.launched == [("rand", 1)]
    assert len(project.prompts) == 1
    assert "get-full-briefing" in project.prompts[0]
    complete(project, "Fix login")
    project.settle()
    assert project.plan_now == "- [x] Fix login\n- [x] Old\n"
    project.forward(120)
    assert len(project.prompts) == 1
    assert [line["action"] for line in project.log("arm_prompted", "complete_task", "task_ticked")] == [
        "arm_prompted",
        "complete_task",
        "task_ticked",
    ]


def test_c05_an_idle_brain_writes_nothing_but_its_log(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Fix login\n")
    project.start()
    complete(project, "Fix login")
    project.forward(60)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    project.forward(300)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    changed = {path for path in after if before.get(path) != after[path]}
    assert {path for path in changed if ".coleo/activity" not in str(path) and ".lock" not in path.name} == set()


def test_a_marked_task_is_assigned_and_released_when_nobody_acknowledges(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Only you @rand\n")
    project.start()
    claim = claims.held(project.layout)[0]
    assert (claim.seat, claim.by, claim.acknowledged_at) == ("rand", "brain", None)
    assert "acknowledge-task" in project.prompts[0]
    assert project.brain.hand.arms["rand"].state is ArmState.TASK_ASSIGNED
    project.forward(179)
    assert claims.held(project.layout)[0].token == claim.token
    project.forward(2)
    assert not [held for held in claims.held(project.layout) if held.token == claim.token]


def test_three_attempts_that_fail_block_the_task_and_tell_a_person_once(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Impossible\n")
    project.start()
    task = project.brain.plan.tasks.tasks[0]
    for attempt in range(3):
        work.take(project.layout, task, "rand", project.clock.now())
        work.fail(project.layout, task.id, "rand", f"reason {attempt}", project.clock.now())
        project.settle()
    file = taskfile.read(project.layout, task.id)
    assert file is not None
    assert file.status.value == "blocked"
    assert "reason 0" in "".join(file.reasons)
    assert len(project.log("notice")) == 1
    assert project.plan_now == "- [ ] Impossible\n"


def test_a_person_who_ticks_a_task_in_work_ends_it_with_one_notice(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Fix login\n")
    project.start()
    task = project.brain.plan.tasks.tasks[0]
    work.take(project.layout, task, "rand", project.clock.now())
    project.settle()
    project.plan("- [x] Fix login\n")
    project.settle()
    assert claims.held(project.layout) == []
    project.forward(60)
    assert sum("ticked by a person" in prompt for prompt in project.prompts) == 1


def test_mail_is_typed_once_and_only_when_the_screen_allows(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.start()
    project.terminals.screen("rand", "dialog", "row 3: Allow?")
    mail.send(project.layout, "rand", "human", "hello there", now=project.clock.now())
    project.forward(300)
    assert project.prompts == []
    assert "dialog" in project.brain.hand.arms["rand"].waiting
    project.terminals.screen("rand", "ready")
    project.forward(60)
    assert sum("hello there" in prompt for prompt in project.prompts) == 1
    assert len(os.listdir(project.layout.seat("rand").processed)) == 1


def test_f14_a_message_to_a_busy_arm_is_not_typed_twice_in_an_hour(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.start()
    project.terminals.on_prompt = lambda seat, text: None
    mail.send(project.layout, "rand", "human", "long work", now=project.clock.now())
    project.settle()
    project.terminals.screen("rand", "busy")
    project.forward(3600)
    assert len(project.prompts) == 1
    project.terminals.answer("rand", project.prompts[0])
    project.forward(30)
    assert len(os.listdir(project.layout.seat("rand").processed)) == 1


def test_the_arm_is_killed_before_it_took_the_message_so_the_next_generation_gets_it_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.start()
    project.terminals.on_prompt = lambda seat, text: None
    mail.send(project.layout, "rand", "human", "do not lose me", now=project.clock.now())
    project.settle()
    project.terminals.on_prompt = project.terminals.answer
    project.terminals.die("rand", "signal 9")
    project.forward(10, step_s=1)
    assert project.terminals.launched == [("rand", 1), ("rand", 2)]
    assert sum("do not lose me" in prompt for prompt in project.prompts) == 2
    project.forward(60)
    assert sum("do not lose me" in prompt for prompt in project.prompts) == 2
    assert len(os.listdir(project.layout.seat("rand").processed)) == 1


def test_a_brain_that_died_in_a_delivery_finds_it_again_and_types_nothing_twice(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.start()
    project.terminals.gate_open = False
    mail.send(project.layout, "rand", "human", "only once", now=project.clock.now())
    project.settle()
    assert os.listdir(project.layout.seat("rand").inflight)
    project.start()
    project.terminals.open_gate()
    project.forward(60)
    assert sum("only once" in prompt for prompt in project.prompts) == 1
    assert len(os.listdir(project.layout.seat("rand").processed)) == 1


def test_a_restarted_brain_leaves_arms_as_they_are(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Fix login\n")
    project.start()
    task = project.brain.plan.tasks.tasks[0]
    work.take(project.layout, task, "rand", project.clock.now())
    project.settle()
    assert project.brain.hand.arms["rand"].state is ArmState.WORKING
    project.start()
    assert project.brain.hand.arms["rand"].state is ArmState.WORKING
    assert len(project.terminals.launched) == 1
    assert claims.held(project.layout)[0].seat == "rand"


def test_pause_holds_mail_and_prompts_and_resume_lets_them_go(tmp_path: Path) -> None:
    project = Project(tmp_path)
    desired.change(project.layout, "rand", paused=True)
    project.start()
    project.plan("- [ ] Fix login\n")
    mail.send(project.layout, "rand", "human", "hello", now=project.clock.now())
    project.forward(60)
    assert project.prompts == []
    desired.change(project.layout, "rand", paused=False)
    project.forward(60)
    assert any("hello" in prompt for prompt in project.prompts)


def test_stop_releases_the_task_and_restart_keeps_it(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Fix login\n")
    project.start()
    task = project.brain.plan.tasks.tasks[0]
    work.take(project.layout, task, "rand", project.clock.now())
    project.settle()
    project.clock.forward(1)
    desired.change(project.layout, "rand", restart_at=project.clock.now())
    project.forward(5, step_s=1)
    assert project.terminals.launched == [("rand", 1), ("rand", 2)]
    assert claims.held(project.layout)[0].seat == "rand"
    desired.change(project.layout, "rand", stopped=True)
    project.forward(5, step_s=1)
    assert claims.held(project.layout) == []
    file = taskfile.read(project.layout, task.id)
    assert file is not None
    assert (file.status.value, file.attempts) == ("open", 0)
    assert project.terminals.stopped == ["rand", "rand"]


def test_deleting_run_loses_no_claim_no_mail_and_no_arm(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Fix login\n")
    project.start()
    task = project.brain.plan.tasks.tasks[0]
    work.take(project.layout, task, "rand", project.clock.now())
    project.settle()
    shutil.rmtree(project.layout.run)
    project.start()
    assert claims.held(project.layout)[0].seat == "rand"
    assert len(project.terminals.launched) == 1, "the arm that runs is adopted"
    assert arms.read(project.layout, "rand") is not None


def test_bad_settings_and_a_bad_seat_change_nothing_and_are_said_once(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Fix login\n")
    project.start()
    Path(project.layout.config).write_text("[brain]\nmax_arms = true\n")
    Path(project.layout.seat("rand").seat_md).write_text("---\nharness: [\n---\n")
    project.forward(300)
    warnings = project.log("warning")
    assert len([line for line in warnings if "max_arms" in str(line["text"])]) == 1
    assert len([line for line in warnings if "seat.md" in str(line["text"])]) == 1
    assert project.terminals.stopped == []


def test_a_tick_that_cannot_be_set_now_is_set_as_soon_as_the_file_is_free(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Fix login\n")
    project.start()
    with open(project.layout.plan, "ab"):
        complete(project, "Fix login")
        project.brain.cycle({"tasks"}, tick=False)
        assert project.plan_now == "- [ ] Fix login\n"
        assert project.brain.plan.again_at is not None
    project.clock.forward(0.1)
    project.brain.cycle(set(), tick=False)
    assert project.plan_now == "- [x] Fix login\n"


def test_a_vanished_seat_folder_ends_no_arm(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.start()
    shutil.rmtree(project.layout.seat("rand").dir)
    project.forward(300)
    assert project.terminals.stopped == []


def test_an_arm_that_dies_again_and_again_is_parked_with_one_notice(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.start()
    for _death in range(6):
        project.terminals.die("rand")
        project.forward(20, step_s=1)
    assert len(project.terminals.launched) == 6
    project.forward(3600)
    assert len(project.terminals.launched) == 6
    assert len(project.log("notice")) == 1


def test_a_full_disk_and_a_fault_of_our_own_end_no_brain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path, "- [ ] Fix login\n")
    project.start()
    errors: list[Exception] = [OSError(28, "No space left on device"), ValueError("a fault")]

    def broken(*_args: object, **_more: object) -> bool:
        raise errors[0]

    with monkeypatch.context() as patched:
        patched.setattr(project.brain.plan, "read", broken)
        for _error in range(2):
            project.brain._guarded_cycle({"all"}, tick=True)
            project.brain._guarded_cycle({"all"}, tick=True)
            errors.append(errors.pop(0))
    texts = [str(line["text"]) for line in project.log("warning")]
    assert len(texts) == 2
    assert texts[0].startswith("a cycle was cut short")
    assert len(os.listdir(project.layout.reports)) == 1
    complete(project, "Fix login")
    project.settle()
    assert project.plan_now == "- [x] Fix login\n"


def test_a_clock_that_was_set_back_does_not_stop_the_ticks(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.start()
    assert project.brain._is_tick()
    assert not project.brain._is_tick()
    project.clock.sleep(-86_400)
    assert project.brain._is_tick()
    assert not project.brain._is_tick()
    project.clock.forward(30)
    assert project.brain._is_tick()


def test_a_task_that_a_seat_declined_is_offered_again_when_a_person_describes_it(tmp_path: Path) -> None:
    project = Project(tmp_path, "- [ ] Count\n")
    project.start()
    task = project.brain.plan.tasks.tasks[0]
    work.decline(project.layout, task, "rand", "no block", project.clock.now())
    project.forward(3600)
    before = len(project.prompts)
    project.plan("- [ ] Count\n\n  ```sh\n  wc -l *\n  ```\n")
    project.forward(20)
    assert len(project.prompts) == before + 1
