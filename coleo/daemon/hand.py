"""Carrying out what the brain decided, effect by effect, in order. Each act leaves its line in the log."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import assert_never

from coleo.brain import effects, texts
from coleo.brain.decide import Decision
from coleo.daemon.planwork import PlanWork
from coleo.daemon.post import Post
from coleo.daemon.terminals import Terminals
from coleo.daemon.wishes import Wishes
from coleo.files import arms, mail, work
from coleo.files.layout import Layout
from coleo.model.arm import Arm, ArmState
from coleo.model.errors import CannotBeDone, ColeoError


class Hand:
    """Does what `Decision.effects` say. arms: the records by seat, kept in step with their files."""

    def __init__(
        self,
        layout: Layout,
        wishes: Wishes,
        plan: PlanWork,
        post: Post,
        terminals: Terminals,
        log: Callable[..., None],
        tell: Callable[..., None],
    ) -> None:
        self._layout = layout
        self._wishes = wishes
        self._plan = plan
        self._post = post
        self._terminals = terminals
        self._log = log
        self._tell = tell
        self.arms: dict[str, Arm] = {}

    def carry_out(self, decision: Decision, now: float) -> set[str]:
        """Act. Returns the areas that were written to and should be looked at again at once.

        An act that fails is logged and does not keep the others from being done; the next cycle decides anew.
        """
        stirred: set[str] = set()
        for effect in decision.effects:
            try:
                stirred |= self._do(effect, now)
            except (ColeoError, OSError) as error:
                self._log("error", reason=f"{type(effect).__name__}: {error}", seat=getattr(effect, "seat", None))
        for seat, arm in decision.arms.items():
            self._record(self._with_processes(arm))
            if arm.state in (ArmState.STOPPED, ArmState.FAILED) and self._terminals.seen(seat).exit:
                self._terminals.collected(seat)
        return stirred

    def _with_processes(self, arm: Arm) -> Arm:
        host, child, generation = self._terminals.processes(arm.seat)
        if not arm.alive or host is None:
            return arm
        return arm.replace(host=host, child=child or arm.child, generation=max(arm.generation, generation))

    def _record(self, arm: Arm) -> None:
        if self.arms.get(arm.seat) == arm:
            return
        known = self.arms.get(arm.seat)
        self.arms[arm.seat] = arm
        if known is None and arm == Arm(arm.seat):
            return
        try:
            arms.write(self._layout, arm)
        except OSError as error:
            self._log("error", seat=arm.seat, reason=f"its record could not be written: {error}")

    def _do(self, effect: effects.Effect, now: float) -> set[str]:
        match effect:
            case effects.SetArm(arm, event):
                self._set_arm(arm, event)
                return set()
            case effects.Launch(seat, generation):
                return self._launch(seat, generation)
            case effects.Stop(seat, reason):
                self._log("session_end", seat=seat, reason=reason)
                self._terminals.stop(seat, reason)
                return set()
            case effects.Deliver(seat, messages):
                harness = self._wishes.seats[seat].harness
                if harness is not None:
                    self._post.send_off(seat, messages, self.arms[seat], harness, now)
                return set()
            case effects.Withdraw(seat, flight, _reason):
                self._terminals.withdraw(seat, flight)
                return set()
            case effects.Settle(seat, flight):
                self._terminals.settle(seat, flight)
                return {f"mail/{seat}"}
            case effects.Finish(seat, message, receipt):
                self._post.finish(seat, message, receipt, now)
                return {f"mail/{seat}"}
            case effects.GiveBack(seat, message, reason):
                self._post.give_back(seat, message, reason, now)
                return {f"mail/{seat}"}
            case effects.Bury(seat, message, reason, tell):
                self._post.bury(seat, message, reason, now)
                if tell:
                    self._tell(f"dead-{message}", f"message {message} to {seat} is dead: {reason}", seat=seat)
                return {f"mail/{seat}"}
            case effects.Assign(seat, task):
                return self._assign(seat, task, now)
            case effects.Release(task, seat, token, reason, attempt):
                return self._release(task, seat, token, reason, attempt, now)
            case effects.Reopen(task, reason):
                return self._reopen(task, reason, now)
            case effects.Block(task, reasons):
                return self._block(task, reasons, now)
            case effects.Nudge(seat, tasks, number):
                return self._nudge(seat, tasks, number, now)
            case effects.Tell(key, text, seat, task):
                self._tell(key, text, seat=seat or None, task=task or None)
                return set()
            case effects.Note(action, fields):
                self._log(action, **dict(fields))
                return set()
            case _:
                assert_never(effect)

    def _set_arm(self, arm: Arm, event: str) -> None:
        known = self.arms.get(arm.seat)
        self._record(self._with_processes(arm))
        if known is None or known.state is not arm.state:
            self._log(
                "arm_state",
                seat=arm.seat,
                from_state=known.state.value if known else None,
                to_state=arm.state.value,
                event=event,
                reason=arm.reason,
                evidence=arm.evidence or None,
                generation=arm.generation,
            )

    def _launch(self, seat: str, generation: int) -> set[str]:
        try:
            spec = self._wishes.spec(seat, generation)
        except ColeoError as error:
            self._terminals.failed(seat, generation, str(error))
            return {f"seat/{seat}"}
        self._log("session_start", seat=seat, generation=generation, reason="spawn")
        self._terminals.launch(seat, generation, spec)
        return set()

    def _assign(self, seat: str, task_id: str, now: float) -> set[str]:
        task = self._plan.tasks.by_id().get(task_id)
        if task is None:
            return set()
        made = work.take(self._layout, task, seat, now, by="brain", generation=self.arms[seat].generation)
        if made.claim is not None:
            text = texts.assignment(task.id, task.title, f"{task.file}:{task.line}")
            message_id = f"{task.id}-assignment-{made.claim.token[:8]}"
            mail.send(
                self._layout, seat, "brain", text, kind="assignment", message_id=message_id, now=now, task=task.id
            )
        return {"claims", f"mail/{seat}"}

    def _release(self, task: str, seat: str, token: str, reason: str, attempt: bool, now: float) -> set[str]:
        done = work.release(self._layout, task, reason, now, seat=seat, token=token, counts=attempt)
        arm = self.arms.get(seat)
        found = self._plan.tasks.by_id().get(task)
        if done is not None and arm is not None and arm.alive and found is not None:
            text = texts.released(task, found.title, reason)
            message_id = f"{task}-released-{token[:8]}"
            mail.send(self._layout, seat, "brain", text, kind="notice", message_id=message_id, now=now, task=task)
        return {"claims", "tasks", f"mail/{seat}"}

    def _reopen(self, task: str, reason: str, now: float) -> set[str]:
        found = self._plan.tasks.by_id().get(task)
        if found is not None:
            with contextlib.suppress(CannotBeDone):  # a seat took it meanwhile: all the better
                work.reopen(self._layout, found, reason, now, by="brain", forget=False)
        return {"tasks"}

    def _block(self, task: str, reasons: tuple[str, ...], now: float) -> set[str]:
        found = self._plan.tasks.by_id().get(task)
        if found is not None:
            why = "; ".join(reasons) or "its attempts are used up"
            work.block(self._layout, found, why, now, by="brain")
            self._tell(f"blocked-{task}-{len(reasons)}", f"task {task} is blocked: {why}", task=task)
        return {"tasks"}

    def _nudge(self, seat: str, tasks: tuple[str, ...], number: int, now: float) -> set[str]:
        message_id = f"nudge-{seat}-{int(now * 1000)}"
        mail.send(
            self._layout,
            seat,
            "brain",
            texts.nudge(len(tasks)),
            kind="nudge",
            priority="low",
            message_id=message_id,
            now=now,
            expires_at=now + NUDGE_LIFE_S,
        )
        self._log("arm_prompted", seat=seat, message=message_id, tasks=list(tasks), number=number)
        return {f"mail/{seat}"}


NUDGE_LIFE_S = 120.0
"""A nudge that could not be typed by then says nothing new."""
