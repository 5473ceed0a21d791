"""The loop: wait for a hint, a deadline or the tick; read, decide, act.

Whatever wakes it only says where to look. A cycle that wrote something looks again at what it touched before it
waits; nothing here sleeps for safety, every wait has an end that is computed from stored instants.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping

from coleo import report
from coleo.brain.decide import decide
from coleo.brain.facts import Facts, SeatFacts
from coleo.daemon.clock import Clock, SleepGauge
from coleo.daemon.hand import Hand
from coleo.daemon.memory import Memory
from coleo.daemon.planwork import PlanWork
from coleo.daemon.post import Post, prune_prompts
from coleo.daemon.terminals import Terminals
from coleo.daemon.wishes import Wishes
from coleo.files import activity, arms, atomic, history, inplace, redact, requests
from coleo.files.layout import Layout
from coleo.files.requests import Request
from coleo.harness.receipts import Reader
from coleo.model.arm import Arm

RECEIPT_POLL_S = 0.05
RECEIPT_POLL_LONG_S = 1.0
RECEIPT_SOON_S = 5.0
CLOCK_SLACK_S = 1.0
TEMP_FILE_S = 3600.0
AGAIN_LIMIT = 10
"""Cycles in a row without waiting; then hints have to wait for an instant, so that no fault spins the loop."""
AGAIN_PAUSE_S = 0.2


class Brain:
    """One project's loop. `hint` may be called from anywhere in the loop's thread; `run` ends after `ask_to_stop`."""

    def __init__(
        self,
        layout: Layout,
        clock: Clock,
        make_terminals: Callable[[Callable[[str], None]], Terminals],
        overrides: Mapping[str, str] | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.layout = layout
        self.clock = clock
        self.terminals = make_terminals(self._host_changed)
        self.wishes = Wishes(layout, overrides or {}, self._complain, environ)
        self.plan = PlanWork(layout, lambda: self.wishes.settings, self.log, self._complain)
        self.post = Post(layout, self.terminals, self.log)
        self.hand = Hand(layout, self.wishes, self.plan, self.post, self.terminals, self.log, self.tell)
        self.memory = Memory(layout)
        self.stopping = ""
        self.keep_arms = False
        self.at_tick: Callable[[], None] = lambda: None
        self.on_first_cycle: Callable[[], None] = lambda: None
        self._unanswered: list[Request] = []
        self._gauge = SleepGauge(clock)
        self._areas: set[str] = set()
        self._tick_due_at = 0.0
        self._woke_at = 0.0
        self._wake = asyncio.Event()
        self._told: set[str] = set()

    # What the outside calls.

    def hint(self, *areas: str) -> None:
        """Something may have changed there; no area: everywhere."""
        self._areas |= set(areas or ("all",))
        self._wake.set()

    def take_hints(self) -> set[str]:
        """The areas of which something was heard since the last cycle; they are forgotten by this."""
        areas, self._areas = self._areas, set()
        return areas

    def ask_to_stop(self, reason: str, *, keep_arms: bool) -> None:
        """Go down: with the arms, or alone. Asking twice changes nothing."""
        if not self.stopping:
            self.stopping, self.keep_arms = reason, keep_arms
        self.hint()

    def log(self, action: str, **fields: object) -> None:
        """One line in the activity log."""
        activity.append(self.layout, action, now=self.clock.now(), **fields)

    def tell(self, key: str, text: str, **fields: object) -> None:
        """Tell a person, once per key while the brain lives."""
        if key not in self._told:
            self._told.add(key)
            self.log("notice", text=text, key=key, **fields)

    def _complain(self, key: str, text: str) -> None:
        if key not in self._told:
            self._told.add(key)
            self.log("warning", text=text)

    def _host_changed(self, seat: str) -> None:
        self.hint(f"arm/{seat}")

    # One life.

    def start(self) -> None:
        """Read everything, find the arms that run. Raises BadInput when the settings are wrong."""
        for note in inplace.recover(self.layout.journal):
            self.log("restored", text=note)
        self.wishes.start()
        self._sweep_temp_files()
        self.plan.start()
        self.log("brain_start", pid=os.getpid())
        self.hand.arms = arms.read_all(self.layout)
        now = self.clock.now()
        for seat, arm in self.hand.arms.items():
            if arm.alive:
                self.hand.arms[seat] = arm.replace(detected_at=now)
        self.terminals.adopt(self.hand.arms)
        self.hint()

    def _sweep_temp_files(self) -> None:
        """What kills in the middle of writes have left, when it is surely nobody's any more."""
        boxes = [box for name in self.wishes.seats for box in self.layout.seat(name).mailboxes]
        for folder in [self.layout.arms, self.layout.claims, self.layout.cache, self.layout.run, *boxes]:
            atomic.sweep(folder, self.clock.now() - TEMP_FILE_S)

    async def run(self) -> None:
        """Cycle until the end that was asked for has come."""
        again = 0
        while True:
            tick = self._is_tick()
            if tick:
                self.at_tick()
            self._wake.clear()
            stirred = self._guarded_cycle(self.take_hints(), tick=tick)
            self.on_first_cycle()
            self.on_first_cycle = lambda: None
            if self.stopping and self._all_down():
                self._answer("down", "the brain has ended" + ("; its arms go on" if self.keep_arms else ""))
                return
            self._areas |= stirred
            again = again + 1 if stirred else 0
            if stirred and again < AGAIN_LIMIT:
                await asyncio.sleep(0)
                continue
            await self._wait(AGAIN_PAUSE_S if stirred else self._pause_s())
            again = 0 if not stirred else again

    def _is_tick(self) -> bool:
        """Whether the next tick is due; a clock that was set back does not put it off."""
        now, pause_s = self.clock.now(), self.wishes.settings.brain.poll_interval_ms / 1000
        if self._tick_due_at - pause_s > now + CLOCK_SLACK_S:
            self._tick_due_at = now
        if now < self._tick_due_at:
            return False
        self._tick_due_at = now + pause_s
        return True

    def _guarded_cycle(self, areas: set[str], *, tick: bool) -> set[str]:
        """A cycle that cannot end the brain: its fault is said once, the next tick tries again."""
        try:
            return self.cycle(areas, tick=tick)
        except OSError as error:
            self._complain(f"cycle {error.errno} {error.filename}", f"a cycle was cut short: {error}")
        except Exception as error:
            self.fault(error)
        return set()

    def fault(self, error: Exception) -> None:
        """A fault of coleo itself: its report is written, once, and the brain goes on."""
        key = f"fault {type(error).__name__} {error}"
        if key not in self._told:
            at, root = self.clock.now(), self.layout.root
            path = report.write(error, ["up"], now=at, root=root, redact=redact.redact)
            self._complain(key, f"a fault of coleo itself, reported in {path}: {error}")

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), max(seconds, 0.0))
        except TimeoutError:
            pass

    async def close(self) -> None:
        """Let go of the hosts; they and their arms live on."""
        self.log("brain_stop", reason=self.stopping or None)
        await self.terminals.close()

    # One cycle.

    def cycle(self, areas: set[str], *, tick: bool) -> set[str]:
        """Read, decide, act. Returns the areas that were written to."""
        now = self.clock.now()
        fully = tick or "all" in areas
        if fully:
            self._upkeep(now)
            self._answer("wake", "the brain looks at everything")
        stirred: set[str] = set()
        self.wishes.read(areas, fully=fully)
        self._requests(areas, fully=fully)
        if self.plan.read(areas, now, fully=fully):
            stirred |= {"tasks"} | {f"mail/{seat}" for seat in self.wishes.seats}
        facts = self._facts(now, areas, tick=tick, fully=fully)
        decision = decide(facts)
        stirred |= self.hand.carry_out(decision, now)
        self.memory.remember(sorted(self.wishes.seats))
        self.memory.remember_tasks({item.id for item in self.plan.work if item.claim is not None})
        return stirred

    def _upkeep(self, now: float) -> None:
        """What a tick looks after besides the files."""
        self.terminals.keep()
        lost_s = self._gauge.lost_s()
        if lost_s:
            self._woke_at = now
            self.log("notice", text=f"the machine slept for {lost_s:.0f} s", key="slept")
        in_work = {item.id for item in self.plan.work if item.claim is not None}
        for note in [*self.memory.restore(sorted(self.wishes.seats)), *self.memory.tasks_gone(in_work)]:
            self.log("restored", text=note)
            self.hint()
        if inplace.used_fallback():
            self._complain("leases", "this file system has no leases: people's files are changed without them")
        requests.sweep(self.layout, now)
        keep_days = self.wishes.settings.brain.retention_days
        history.prune(self.layout, keep_days, now)
        prune_prompts(self.layout, keep_days, now)

    def _requests(self, areas: set[str], *, fully: bool) -> None:
        """What people asked for. Wishes are in ``desired.json``; here only the answers, and the end."""
        if not fully and "requests" not in areas:
            return
        known = {request.id for request in self._unanswered}
        for request in requests.pending(self.layout):
            if request.id in known:
                continue
            match request.op:
                case "down":
                    self._unanswered.append(request)
                    self.ask_to_stop("coleo down", keep_arms=request.args.get("arms") is False)
                case "wake":
                    self._unanswered.append(request)
                    self.hint()
                case _:
                    self._reply(request, "the brain has read it")

    def _reply(self, request: Request, message: str) -> None:
        requests.reply(self.layout, request.id, {"ok": True, "message": message, "pid": os.getpid()})

    def _answer(self, op: str, message: str) -> None:
        """What could be answered only after the fact."""
        for request in [request for request in self._unanswered if request.op == op]:
            self._unanswered.remove(request)
            self._reply(request, message)

    def _facts(self, now: float, areas: set[str], *, tick: bool, fully: bool) -> Facts:
        seats = tuple(self._seat(name, now, areas, fully=fully) for name in self._names())
        return Facts(
            now=now,
            tick=tick,
            rules=self.wishes.rules(),
            seats=seats,
            work=self.plan.work,
            stopping=self.stopping,
            keep_arms=self.keep_arms,
            woke_at=self._woke_at,
        )

    def _names(self) -> list[str]:
        return sorted(self.wishes.seats)

    def _seat(self, name: str, now: float, areas: set[str], *, fully: bool) -> SeatFacts:
        wish = self.wishes.seats[name]
        arm = self.hand.arms.get(name, Arm(name))
        if fully or areas & {f"mail/{name}", f"arm/{name}"}:
            self.post.scan(name, now, fully=fully)
        flights = self.post.flights(name, arm, lambda: self._receipts(name))
        self.post.mark_typed(name, flights, now)
        wanted = self.wishes.desired.of(name)
        harness = wish.harness
        return SeatFacts(
            name,
            arm,
            self.terminals.seen(name),
            enabled=wish.config.enabled,
            stopped=wanted.stopped,
            paused=self.wishes.desired.paused(name),
            restart_at=wanted.restart_at,
            unpark_at=wanted.unpark_at,
            problem=wish.problem,
            config_key=wish.key,
            startup_delay_s=wish.config.startup_delay_s,
            max_crashes=wish.config.max_crashes,
            deliver_busy=harness.deliver_busy if harness else False,
            weak_receipts=harness.weak_receipts if harness else False,
            letters=self.post.letters(name),
            flights=flights,
        )

    def _receipts(self, name: str) -> Reader | None:
        harness = self.wishes.seats[name].harness
        if harness is None or harness.receipts.kind == "none":
            return None
        return Reader(harness, self.wishes.placeholders(name))

    # When to look again.

    def _pause_s(self) -> float:
        """Seconds until something is due even if nothing is heard."""
        now = self.clock.now()
        due_at = self._tick_due_at
        if self.plan.again_at is not None:
            due_at = min(due_at, self.plan.again_at)
        for arm in self.hand.arms.values():
            for at in (arm.next_at, arm.retry_at):
                if at is not None and at > now:
                    due_at = min(due_at, at)
        typed_at = self.post.latest_typed_at()
        if typed_at is not None:
            due_at = min(due_at, now + (RECEIPT_POLL_S if now - typed_at < RECEIPT_SOON_S else RECEIPT_POLL_LONG_S))
        return due_at - now

    def _all_down(self) -> bool:
        if self.keep_arms:
            return True
        return not any(arm.alive or self.terminals.seen(seat).child_alive for seat, arm in self.hand.arms.items())
