"""What coleo wrote itself is known by content, step by step, whoever writes in between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coleo.files import ownwrites, plan
from coleo.files.layout import Layout
from coleo.files.planadd import item
from tests.files.project import NOW, lay


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return lay(tmp_path, "rand", plan="- [ ] One\n- [ ] Two\n")


def content(layout: Layout) -> bytes:
    return Path(layout.plan).read_bytes()


def tick(layout: Layout, title: str) -> None:
    tasks = plan.read(layout, None, NOW * 2).taskset.tasks
    assert plan.tick(layout, next(task for task in tasks if task.title == title))


def test_ticks_and_additions_lead_from_one_content_to_the_next(layout: Layout) -> None:
    first = content(layout)
    tick(layout, "One")
    second = content(layout)
    plan.add_items(layout, [item("Three")])
    tick(layout, "Two")
    assert ownwrites.only_ours(layout, first, content(layout))
    assert ownwrites.only_ours(layout, second, content(layout))
    assert not ownwrites.only_ours(layout, content(layout), first), "the other way is somebody else's"


def test_a_change_of_a_person_in_between_breaks_the_chain(layout: Layout) -> None:
    first = content(layout)
    tick(layout, "One")
    Path(layout.plan).write_bytes(content(layout) + b"- [ ] Mine\n")
    person = content(layout)
    tick(layout, "Two")
    assert not ownwrites.only_ours(layout, first, content(layout))
    assert ownwrites.only_ours(layout, person, content(layout))


def test_nothing_changed_is_nobodys_change(layout: Layout) -> None:
    assert ownwrites.only_ours(layout, b"same", b"same")


def test_a_step_is_written_once_however_often_it_is_tried(layout: Layout) -> None:
    for _time in range(50):
        ownwrites.note(layout, b"a", b"b")
    assert os.path.getsize(os.path.join(layout.cache, ownwrites.NAME)) == 66


def test_the_memory_is_bounded_and_its_older_half_still_counts(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownwrites, "LARGEST", 660)
    for number in range(35):
        ownwrites.note(layout, b"%d" % number, b"%d" % (number + 1))
    assert ownwrites.only_ours(layout, b"30", b"35"), "over the border of the two files"
    assert not ownwrites.only_ours(layout, b"0", b"35")
    assert sum(entry.stat().st_size for entry in os.scandir(layout.cache)) < 3 * 660


def test_a_memory_that_cannot_be_written_or_read_stops_nobody(layout: Layout) -> None:
    os.makedirs(os.path.join(layout.cache, ownwrites.NAME))
    ownwrites.note(layout, b"a", b"b")
    assert not ownwrites.only_ours(layout, b"a", b"b")


def test_bytes_that_are_no_steps_are_passed_over(layout: Layout) -> None:
    ownwrites.note(layout, b"a", b"b")
    with open(os.path.join(layout.cache, ownwrites.NAME), "ab") as file:
        file.write(b"\xff\x00 torn")
    assert ownwrites.only_ours(layout, b"a", b"b")
