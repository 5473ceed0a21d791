"""File events as hints.

An event only says "look again"; with events switched off altogether everything still works, one tick later
(cases c01, c06, c07). Folders are watched, never files; a folder that was replaced is watched anew; when the system
has no watches left coleo says so once and goes on by the tick, trying again once a minute (case c09).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Protocol

from watchfiles import Change, awatch

from coleo.daemon.clock import Clock
from coleo.files.layout import Layout, is_junk

STEP_MS = 20
DEBOUNCE_MS = 60
RETRY_S = 60.0


class EventSource(Protocol):
    """Sets of changed paths, until `stop` is set. May raise OSError when the system has no watches left."""

    def __call__(self, paths: tuple[str, ...], stop: asyncio.Event) -> AsyncIterator[Iterable[str]]: ...


async def system_events(paths: tuple[str, ...], stop: asyncio.Event) -> AsyncIterator[Iterable[str]]:
    """What the kernel tells through watchfiles, every 20 ms at most."""
    events = awatch(
        *paths,
        watch_filter=None,
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        stop_event=stop,
        rust_timeout=60_000,
        recursive=True,
    )
    async for changes in events:
        yield [path for _kind, path in _paths(changes)]


def _paths(changes: Iterable[tuple[Change, str]]) -> Iterable[tuple[Change, str]]:
    return changes


def area(layout: Layout, path: str) -> str:
    """Which part of the project a path belongs to: what has to be looked at again. "" for nothing.

    One of plan, inbox, tasks, mail/<seat>, seat/<seat>, settings, claims, requests.
    """
    name = os.path.basename(path)
    if is_junk(name):
        return ""
    for top, parts_of in ((layout.project, _project_area), (layout.coleo, _coleo_area)):
        if path.startswith(top + os.sep):
            return parts_of(path[len(top) + 1 :].split(os.sep))
    return ""


_AREAS = frozenset({"plan", "inbox", "tasks", "claims", "settings", "requests"})


def areas_of(text: str) -> set[str]:
    """The areas that a ring at the doorbell names; everything for what it does not name in these words."""
    words = set(text.split())
    known = {word for word in words if word in _AREAS or word.startswith(("mail/", "seat/", "arm/"))}
    return known if words and known == words else {"all"}


def _project_area(parts: list[str]) -> str:
    match parts:
        case ["inbox.md"]:
            return "inbox"
        case ["tasks", *_]:
            return "tasks"
        case ["seats", seat, "inbox", *_]:
            return f"mail/{seat}"
        case ["seats", seat] | ["seats", seat, "seat.md" | ".env"]:
            return f"seat/{seat}"
        case ["seats" | "archive" | "approvals" | "proposals", *_]:
            return ""
        case [*_, name] if name.endswith(".md"):
            return "plan"
        case _:
            return ""


def _coleo_area(parts: list[str]) -> str:
    match parts:
        case ["config.toml"] | ["secrets.env"]:
            return "settings"
        case ["run", "claims", *_]:
            return "claims"
        case ["run", "requests", *_] | ["run", "desired.json"]:
            return "requests"
        case _:
            return ""


class Watcher:
    """Keeps one watch on the project's folders and reports areas that may have changed.

    on_areas: called in the loop with the areas; on_trouble: called once per kind of trouble with a sentence.
    """

    def __init__(
        self,
        layout: Layout,
        clock: Clock,
        on_areas: Callable[[set[str]], None],
        on_trouble: Callable[[str], None],
        source: EventSource = system_events,
    ) -> None:
        self._layout = layout
        self._clock = clock
        self._on_areas = on_areas
        self._on_trouble = on_trouble
        self._source = source
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._watched: tuple[tuple[int, int], ...] = ()
        self._failed_at: float | None = None
        self._told = False

    def keep(self) -> None:
        """Call at each tick: (re)starts the watch when it ended or when a watched folder is another one now."""
        if self._task is not None and not self._task.done() and self._watched == self._identity():
            return
        if self._failed_at is not None and self._clock.monotonic() - self._failed_at < RETRY_S:
            return
        self._cancel()
        self._watched = self._identity()
        if not self._watched:
            return
        self._stop = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(self._stop))

    async def close(self) -> None:
        """End the watch and wait for its thread."""
        task = self._task
        self._cancel()
        if task is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def _cancel(self) -> None:
        self._stop.set()
        self._task = None

    def _identity(self) -> tuple[tuple[int, int], ...]:
        found = []
        for folder in self._folders():
            status = os.stat(folder)
            found.append((status.st_dev, status.st_ino))
        return tuple(found)

    def _folders(self) -> tuple[str, ...]:
        return tuple(folder for folder in (self._layout.project, self._layout.coleo) if os.path.isdir(folder))

    async def _run(self, stop: asyncio.Event) -> None:
        try:
            async for paths in self._source(self._folders(), stop):
                if stop.is_set():
                    return
                areas = {area(self._layout, path) for path in paths} - {""}
                if areas:
                    self._on_areas(areas)
            self._failed_at = None if stop.is_set() else self._clock.monotonic()
        except Exception as error:
            if _is_a_name(error):
                # One name that is not UTF-8 ends the watch: what came with it is unknown; the next tick begins anew.
                self._on_areas({"all"})
                return
            self._failed_at = self._clock.monotonic()
            if not self._told:
                self._told = True
                self._on_trouble(
                    f"files cannot be watched ({_innermost(error)}); coleo goes on by looking at every tick. "
                    "On Linux the limit is fs.inotify.max_user_watches"
                )


def _innermost(error: BaseException) -> BaseException:
    """What went wrong inside the groups that the watch's threads put around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _is_a_name(error: BaseException) -> bool:
    """Whether the watch ended over a file name that watchfiles cannot tell."""
    return "Unable to decode path" in str(_innermost(error))
