"""A small project for crash scenarios, what a restart does to it, and what must be true of any project at rest."""

from __future__ import annotations

import contextlib
import json
import os

from coleo.daemon.planwork import PlanWork
from coleo.files import activity, claims, inplace, mail, mailbox, plan, taskfile
from coleo.files.layout import Layout
from coleo.files.settings import Settings
from coleo.model.message import FOLDERS
from coleo.model.plan import Task, task_id
from coleo.model.task import TaskStatus

#: After the change of every file: to the plan's reader they have been still for long.
NOW = 4_000_000_000.0
LATER = NOW + 600

#: More rounds than that and what one cycle writes makes the next one write for ever.
CYCLES = 10

PLAN = """\
# Plan

## Work

- [ ] paint the wall @alice
  in white
- [x] buy paint
- [ ] clean up

## Later

Words.
"""


def lay(root: str) -> None:
    """A plan of three tasks, two seats, and the folders that `coleo init` makes."""
    layout = Layout(root)
    for path in (layout.tasks, layout.archive, layout.run, layout.locks, layout.claims, layout.activity):
        os.makedirs(path, mode=0o700)
    for seat in ("alice", "bob"):
        os.makedirs(layout.seat(seat).dir, mode=0o700)
        with open(layout.seat(seat).seat_md, "w") as file:
            file.write("---\nharness: shell\n---\nA seat.\n")
    with open(layout.plan, "w") as file:
        file.write(PLAN)


#: The task that the scenarios are about, as the first read of the plan finds it.
WALL = Task(
    task_id("plan.md", "Work", "paint the wall", 1),
    "paint the wall",
    "Work",
    line=5,
    seat="alice",
    description="in white",
)


def tasks(root: str) -> dict[str, Task]:
    """The plan's tasks by id, as a first read finds them."""
    layout = Layout(root)
    found = plan.read(layout, None, NOW, None, taskfile.bindings(layout)).taskset.by_id()
    assert WALL.id in found
    return found


def restart(root: str) -> None:
    """The next brain starts on a healthy disk, and has nothing to complain of."""
    complaints = brain(root)
    assert not complaints, complaints


def brain(root: str) -> list[str]:
    """What a brain does before anything else: finish what was interrupted, read, take the inbox, mend, tick.

    Until it would wait for something from outside. What it complained of.
    """
    layout = Layout(root)
    inplace.recover(layout.journal)
    for seat in mail.mailboxes(layout):
        mail.recover(layout, seat, LATER)
    complaints: list[str] = []
    work = PlanWork(
        layout, Settings, lambda action, **fields: _log(layout, action, fields), lambda _, t: complaints.append(t)
    )
    work.start()
    now = LATER
    for _ in range(CYCLES):
        if not work.read({"all"}, now, fully=True) and work.again_at is None:
            break
        now = max(now + 1, work.again_at or 0)
    else:
        raise AssertionError("the brain finds no rest")
    return complaints


def _log(layout: Layout, action: str, fields: dict[str, object]) -> None:
    activity.append(layout, action, now=LATER, **fields)


def log(root: str) -> list[dict[str, object]]:
    """All entries of the activity log, after one more line: a torn tail is repaired by the next writer."""
    layout = Layout(root)
    assert activity.append(layout, "notice", now=LATER, text="the end")
    found = []
    for name in sorted(os.listdir(layout.activity)):
        with open(os.path.join(layout.activity, name), encoding="utf-8") as file:
            for line in file.read().splitlines():
                with contextlib.suppress(ValueError):
                    found.append(json.loads(line))
    assert found[-1]["text"] == "the end", "a line after a torn one is lost"
    return found


def logged(root: str, action: str) -> int:
    """How many entries of an action there are."""
    return sum(entry["action"] == action for entry in log(root))


def mails(root: str, seat: str = "bob") -> dict[str, list[str]]:
    """Message files by folder, everything that ends in .json, temp files left out."""
    layout = Layout(root)
    found = {}
    for folder in FOLDERS:
        path = mailbox.folder(layout, seat, folder)
        names = os.listdir(path) if os.path.isdir(path) else []
        found[folder] = [name for name in names if name.endswith(".json") and not name.startswith(".")]
    return {folder: names for folder, names in found.items() if names}


def at_rest(root: str) -> None:
    """True of every project after a restart: claims and task files agree, words of people are all there."""
    layout = Layout(root)
    with open(layout.plan) as file:
        words = file.read()
    assert words.replace("[x] paint", "[ ] paint").replace("[x] clean", "[ ] clean") == PLAN, words
    held = {claim.task: claim for claim in claims.held(layout)}
    assert {f"{task}.json" for task in held} == {name for name in os.listdir(layout.claims) if not name.startswith(".")}
    files, bad = taskfile.read_all(layout)
    assert not bad, bad
    for one in files.values():
        if one.status in (TaskStatus.CLAIMED, TaskStatus.IN_PROGRESS):
            assert one.id in held and held[one.id].token == one.token, f"{one.status} without its claim"
        else:
            assert one.id not in held, f"{one.status} and still claimed"
    assert not os.path.isdir(layout.journal) or not os.listdir(layout.journal), "an interrupted change was left"
    ids = [taskfile.id_of(name) for name in os.listdir(layout.tasks) if not name.startswith(".")]
    assert len(ids) == len(set(ids)), f"two files of one task: {ids}"
