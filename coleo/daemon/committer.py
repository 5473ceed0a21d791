"""When coleo's own changes are committed (``[git] commit = "auto"``): a while after they were written, and at the end.

Looks and commits run in a thread, one at a time, started at ticks: the loop never waits for git. A commit is due when
what coleo writes differs from what the last one saw, has been still for `STILL_S` (or has not been still for
`LONGEST_S`), and the last one is `PAUSE_S` ago.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from coleo.daemon.loop import Brain
from coleo.files import gitwork
from coleo.files.gitfiles import Own
from coleo.files.gitwork import NEW_PLAN, THEIRS, Outcome
from coleo.files.layout import Layout
from coleo.model.plan import TaskSet

STILL_S = 10.0
PAUSE_S = 60.0
LONGEST_S = 600.0
PATIENCE = 3
"""So many times in a row the same thing keeps a commit waiting before a person is told."""


class Committer:
    """Commits for one brain. commit: what does it; takes layout, tasks and the time."""

    def __init__(self, brain: Brain, commit: Callable[[Layout, TaskSet, float], Outcome] = gitwork.commit) -> None:
        self._brain = brain
        self._commit = commit
        self._job: asyncio.Task[None] | None = None
        self._seen: int | None = None
        self._committed: int | None = None
        self._changed_at = 0.0
        self._waiting_since: float | None = None
        self._tried_at: float | None = None
        self._waits = ("", 0)

    def keep(self) -> None:
        """Call at each tick: looks whether a commit is due, in a thread."""
        if self._is_on() and (self._job is None or self._job.done()):
            self._job = asyncio.get_running_loop().create_task(self._run(last=False))

    async def settle(self) -> None:
        """Wait for what runs in the thread now."""
        if self._job is not None:
            await asyncio.wait({self._job})

    async def close(self) -> None:
        """The last commit: whatever is not committed yet, still or not."""
        await self.settle()
        if self._is_on():
            await self._run(last=True)

    def _is_on(self) -> bool:
        return self._brain.wishes.settings.git.commit == "auto"

    async def _run(self, *, last: bool) -> None:
        try:
            await self._look(last=last)
        except Exception as error:
            self._brain.fault(error)

    async def _look(self, *, last: bool) -> None:
        layout, tasks, clock = self._brain.layout, self._brain.plan.tasks, self._brain.clock
        stamp = await asyncio.to_thread(Own(layout, tasks).stamp)
        if not self._is_due(stamp, clock.monotonic(), last=last):
            return
        self._tried_at = clock.monotonic()
        outcome = await asyncio.to_thread(self._commit, layout, tasks, clock.now())
        self._report(outcome)
        if not outcome.waits and not outcome.problem:
            self._committed, self._waiting_since = stamp, None

    def _is_due(self, stamp: int, now: float, *, last: bool) -> bool:
        if stamp != self._seen:
            self._seen, self._changed_at = stamp, now
        if stamp == self._committed:
            self._waiting_since = None
            return False
        if self._waiting_since is None:
            self._waiting_since = now
        if last:
            return True
        if self._tried_at is not None and now - self._tried_at < PAUSE_S:
            return False
        return now - self._changed_at >= STILL_S or now - self._waiting_since >= LONGEST_S

    def _report(self, outcome: Outcome) -> None:
        if outcome.commit:
            self._brain.log("git_commit", commit=outcome.commit, text=outcome.subject, files=list(outcome.files[:50]))
        for file, why in outcome.left:
            if why in (THEIRS, NEW_PLAN):
                text = f".project/{file} is yours to commit: {why}. git add .project && git commit"
                self._brain.tell(f"git {file} {why}", text)
        if outcome.problem:
            self._brain.tell(f"git {outcome.problem}", f"coleo's changes cannot be committed: {outcome.problem}")
        why, count = self._waits
        self._waits = (outcome.waits, count + 1 if outcome.waits == why else 1)
        if outcome.waits and self._waits[1] >= PATIENCE:
            self._brain.tell(f"git {outcome.waits}", f"coleo's changes are not committed yet: {outcome.waits}")
