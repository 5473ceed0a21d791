"""File events are hints: which area a path belongs to, and a watch that survives trouble."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from coleo.daemon.watch import Watcher, area, areas_of, system_events
from coleo.files.layout import Layout
from tests.daemon.clocks import HandClock


def layout_in(folder: Path) -> Layout:
    """A project with its two folders."""
    for name in (".project/seats/rand/inbox", ".coleo/run/claims"):
        (folder / name).mkdir(parents=True)
    return Layout(os.path.realpath(folder))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".project/plan.md", "plan"),
        (".project/parts/backend.md", "plan"),
        (".project/inbox.md", "inbox"),
        (".project/tasks/t-abc234-x.md", "tasks"),
        (".project/seats/rand/inbox/2-1-from-bob-a.json", "mail/rand"),
        (".project/seats/rand/seat.md", "seat/rand"),
        (".project/seats/rand/processed/2-1-from-bob-a.json", ""),
        (".project/archive/inbox-2026-12-01.md", ""),
        (".project/.plan.md.swp", ""),
        (".project/#plan.md#", ""),
        (".project/4913", ""),
        (".project/.#plan.md", ""),
        (".coleo/config.toml", "settings"),
        (".coleo/run/claims/t-abc234.json", "claims"),
        (".coleo/activity/2026-12-01.jsonl", ""),
        (".coleo/run/arms/rand.json", ""),
        ("src/plan.md", ""),
    ],
)
def test_c10_only_known_names_are_looked_at(tmp_path: Path, path: str, expected: str) -> None:
    layout = Layout(str(tmp_path))
    assert area(layout, str(tmp_path / path)) == expected


def test_a_ring_that_says_nothing_known_means_look_everywhere() -> None:
    assert areas_of("") == {"all"}
    assert areas_of("mail") == {"all"}
    assert areas_of("mail/rand tasks") == {"mail/rand", "tasks"}


def test_c01_a_folder_is_watched_so_every_way_of_saving_is_seen(tmp_path: Path) -> None:
    layout = layout_in(tmp_path)
    plan = Path(layout.plan)
    plan.write_text("- [ ] a\n")

    def by_rename() -> None:
        other = plan.with_name("plan.md.new")
        other.write_text("- [ ] b\n")
        os.replace(other, plan)

    async def check() -> None:
        seen: asyncio.Queue[set[str]] = asyncio.Queue()
        watcher = Watcher(layout, HandClock(), seen.put_nowait, seen.put_nowait)  # type: ignore[arg-type]
        watcher.keep()
        await _until_watching(plan, seen)
        for _round in range(3):
            for save in (by_rename, lambda: plan.write_text("- [ ] c\n"), lambda: plan.touch()):
                save()
                assert "plan" in await asyncio.wait_for(seen.get(), 10)
                await _quiet(seen)
        await watcher.close()

    asyncio.run(check())


async def _until_watching(plan: Path, seen: asyncio.Queue[set[str]]) -> None:
    """Touch the plan until the first event comes: the watch is up."""
    for _ in range(200):
        plan.touch()
        try:
            await asyncio.wait_for(seen.get(), 0.1)
        except TimeoutError:
            continue
        await _quiet(seen)
        return
    raise AssertionError("no event within 20 s")


async def _quiet(seen: asyncio.Queue[set[str]]) -> None:
    """Take what still comes of the last change."""
    while True:
        try:
            await asyncio.wait_for(seen.get(), 0.2)
        except TimeoutError:
            return


def test_c09_no_watches_left_is_one_warning_and_one_try_a_minute(tmp_path: Path) -> None:
    layout, clock = layout_in(tmp_path), HandClock()
    tries: list[float] = []
    warnings: list[str] = []

    async def exhausted(paths: tuple[str, ...], stop: asyncio.Event) -> AsyncIterator[Iterable[str]]:
        tries.append(clock.monotonic())
        raise FileNotFoundError('OS file watch limit reached. about ["/x"]')
        yield ()

    async def check() -> None:
        watcher = Watcher(layout, clock, lambda areas: None, warnings.append, exhausted)
        for _tick in range(10):
            watcher.keep()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            clock.forward(30)
        await watcher.close()

    asyncio.run(check())
    assert len(warnings) == 1
    assert "max_user_watches" in warnings[0]
    assert tries == [0, 60, 120, 180, 240]


def test_a_replaced_project_folder_is_watched_anew(tmp_path: Path) -> None:
    layout = layout_in(tmp_path)

    async def check() -> None:
        seen: asyncio.Queue[set[str]] = asyncio.Queue()
        watcher = Watcher(layout, HandClock(), seen.put_nowait, lambda text: None, system_events)
        watcher.keep()
        await _until_watching(Path(layout.plan), seen)
        os.rename(layout.project, layout.project + ".old")
        os.mkdir(layout.project)
        watcher.keep()
        await _until_watching(Path(layout.plan), seen)
        await watcher.close()

    asyncio.run(check())


def test_a_file_name_that_is_not_utf8_ends_neither_the_watch_nor_the_brain(tmp_path: Path) -> None:
    layout = layout_in(tmp_path)

    async def check() -> None:
        seen: asyncio.Queue[set[str]] = asyncio.Queue()
        warnings: list[str] = []
        watcher = Watcher(layout, HandClock(), seen.put_nowait, warnings.append, system_events)
        watcher.keep()
        await _until_watching(Path(layout.plan), seen)
        Path(os.fsdecode(os.fsencode(layout.project) + b"/seats/rand/inbox/\xff.json")).touch()
        assert await asyncio.wait_for(seen.get(), 10) == {"all"}
        watcher.keep()
        await _until_watching(Path(layout.plan), seen)
        await watcher.close()
        assert not warnings

    asyncio.run(check())
