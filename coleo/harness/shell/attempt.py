"""One attempt at one task that this seat holds: run its blocks, write down what came out, complete or fail it."""

from __future__ import annotations

import os

from coleo.bus import doorbell
from coleo.bus.context import Reply
from coleo.bus.tasks import TaskView
from coleo.files import work
from coleo.harness.shell import tasks
from coleo.harness.shell.desk import Desk
from coleo.harness.shell.output import Lines, last_lines
from coleo.harness.shell.run import Ran, run
from coleo.harness.shell.tasks import BadBlock, Command
from coleo.model.errors import CannotBeDone, ColeoError
from coleo.model.prompt import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

HEARTBEAT_S = 30.0
#: After how many seconds a running block says in the task's file that it runs; then every half hour.
PROGRESS_S = (60.0, 120.0, 240.0, 480.0, 960.0)
PROGRESS_LATER_S = 1800.0
#: Pauses between tries to write a result down; the last one again and again.
RETRY_S = (1.0, 2.0, 5.0, 10.0, 30.0)
#: Lines and characters of output that go into the task's file: of the last block, and of each one before it.
LAST_BLOCK, EARLIER_BLOCK = (40, 4000), (8, 800)


class Attempt:
    """From a held task to its end. token: of the claim."""

    def __init__(self, desk: Desk, task: TaskView, token: str) -> None:
        self._desk, self._task, self._token = desk, task, token
        self._ran: list[tuple[Command, Ran]] = []
        self._count = 0

    def run(self) -> str:
        """Do it. How it ended: ``done``, ``failed``, ``interrupted``, ``stopped`` or ``lost``."""
        try:
            return self._run()
        except OSError as error:
            return self._fail(f"the worker could not run it: {error}")

    def _run(self) -> str:
        desk, task = self._desk, self._task
        desk.say("", f"-- {task.id}: {one_line(task.title)}")
        try:
            blocks = tasks.commands(task)
        except BadBlock as error:
            return self._fail(str(error), final=True)
        self._count = len(blocks)
        standard_s, trouble = tasks.time_limit(desk.layout, desk.environ)
        if trouble:
            desk.say(f"coleo: {trouble}; the limit is {standard_s:g} s")
        for command in blocks:
            if desk.control.wish:
                return self._end(desk.control.wish, f"before {self._name(command)} began")
            ran = self._block(command, command.limit_s or standard_s)
            self._ran.append((command, ran))
            if ran.why in ("interrupted", "stopped"):
                return self._end(ran.why, f"while {self._name(command)} ran")
            if not ran.good:
                return self._fail(self._why(command, ran, command.limit_s or standard_s))
        return self._complete()

    def _name(self, command: Command) -> str:
        return f"block {command.number} of {self._count} ({command.language})"

    def _block(self, command: Command, limit_s: float) -> Ran:
        desk, task = self._desk, self._task
        desk.status(f"working on {task.id}, block {command.number} of {self._count}: {one_line(task.title)}")
        desk.say(f"$ {self._name(command)}, at most {limit_s:g} s")
        path = tasks.script(desk.layout, desk.seat, task.id, command)
        lines = Lines()

        def show(data: bytes) -> None:
            whole = lines.feed(data)
            if whole:
                desk.say(*whole)

        try:
            ran = run(
                tasks.argv(command, path, desk.environ),
                cwd=desk.cwd,
                env=tasks.environment(desk.environ, task.id),
                limit_s=limit_s,
                wish=lambda: desk.control.wish,
                wish_fd=desk.control.wish_fd,
                on_output=show,
                on_time=self._signs_of_life(self._name(command)),
            )
        finally:
            _remove(path)
        left = f"; {ran.left} processes that it left were ended" if ran.left else ""
        desk.say(*lines.end(), f"= {_how(ran)} after {ran.duration_s:.1f} s{left}")
        return ran

    def _signs_of_life(self, name: str) -> Callable[[float], float]:
        """What a block says while it runs: heartbeats, and now and then a line in the task's file."""
        due = [0.0, PROGRESS_S[0]]

        def on_time(seconds: float) -> float:
            if seconds >= due[0]:
                due[0] = seconds + HEARTBEAT_S
                self._quietly("update-heartbeat", status="working", text=f"runs {name}", task=self._task.id)
            if seconds >= due[1]:
                due[1] = next((at for at in PROGRESS_S if at > seconds), seconds + PROGRESS_LATER_S)
                text = f"{name} has been running for {seconds:.0f} s"
                self._quietly("task-progress", task=self._task.id, text=text, status="on_track", token=self._token)
            return min(due)

        return on_time

    def _quietly(self, verb: str, **values: object) -> None:
        """A verb whose failure does not concern the command that runs; a lost claim shows at the end."""
        try:
            self._desk.call(verb, **values)
        except (ColeoError, OSError):
            pass

    def _why(self, command: Command, ran: Ran, limit_s: float) -> str:
        name = self._name(command)
        if ran.exit is None:
            return f"{name}: {ran.why}"
        if ran.why:
            return f"{name} did not end within {limit_s:g} s"
        said = last_lines(ran.tail, ran.total_bytes, lines=1, characters=300).rpartition("\n")[2].strip()
        return f"{name} ended with {_how(ran)}" + (f": {said}" if said else ", without a word")

    def report(self) -> str:
        """What ran and how it ended, with the end of each block's output: for the task's file."""
        whole_s = sum(ran.duration_s for _, ran in self._ran)
        good = sum(ran.good for _, ran in self._ran)
        parts = [f"{good} of {self._count} blocks ended with exit 0, {whole_s:.1f} s in all"]
        if self._count == 1 and self._ran:
            command, ran = self._ran[0]
            parts = [f"{command.language}: {_how(ran)} after {ran.duration_s:.1f} s"]
        for command, ran in self._ran:
            if self._count > 1:
                parts.append(f"{self._name(command)}: {_how(ran)} after {ran.duration_s:.1f} s")
            lines, characters = LAST_BLOCK if ran is self._ran[-1][1] else EARLIER_BLOCK
            said = last_lines(ran.tail, ran.total_bytes, lines=lines, characters=characters)
            if said:
                parts.append("\n" + "\n".join(f"    {line}" if line else "" for line in said.split("\n")) + "\n")
        return self._desk.without_secrets("\n".join(parts).rstrip("\n"))

    def _complete(self) -> str:
        desk, task = self._desk, self._task
        desk.status(f"working on {task.id}, completing: {one_line(task.title)}")
        text = self.report()
        try:
            with desk.control.child_of_a_verb():
                reply = self._write_down("complete-task", text=text)
        except work.Lost as error:
            return self._lost(error)
        except CannotBeDone as error:
            desk.say_error(error)
            if desk.control.wish:
                return self._end(desk.control.wish, "while it was verified")
            return self._fail(error.message.split("\n")[0], noted=True)
        desk.say(f"= {one_line(reply.text)}")
        return "done"

    def _fail(self, reason: str, *, final: bool = False, noted: bool = False) -> str:
        """Fail the task; the report goes before it as a note, the reason is one line."""
        desk = self._desk
        reason = desk.without_secrets(one_line(reason))
        try:
            if self._ran and not noted:
                self._write_down("task-progress", text=self.report(), status="issues_found")
            reply = self._write_down("fail-task", reason=reason, final=final)
        except work.Lost as error:
            return self._lost(error)
        desk.say(f"= failed: {reason}", f"= {one_line(reply.text)}")
        return "failed"

    def _write_down(self, verb: str, **values: object) -> Reply:
        """A verb that must not be lost to a full disk or a file that a person is mending: tried until it is done.

        Raises Lost and CannotBeDone, which are answers, and any error once the worker or a person wants an end.
        """
        desk, task = self._desk, self._task
        pauses = iter(RETRY_S)
        while True:
            try:
                return desk.call(verb, task=task.id, token=self._token, **values)
            except (work.Lost, CannotBeDone):
                raise
            except (ColeoError, OSError) as error:
                pause_s = next(pauses, RETRY_S[-1])
                desk.say_error(error)
                desk.say(f"  what came of {task.id} waits to be written down: again in {pause_s:g} s")
                if desk.control.wait(pause_s):
                    raise

    def _lost(self, error: work.Lost) -> str:
        self._desk.say(f"= this seat does not hold {self._task.id} any more: {error.message}")
        return "lost"

    def _end(self, wish: str, when: str) -> str:
        """A person's Ctrl-C fails the task; the end of the worker gives it back, and no attempt is counted."""
        if wish == "interrupted":
            self._fail(f"interrupted at the terminal {when}")
            return wish
        desk, task = self._desk, self._task
        text = f"the seat was stopped {when}; the next attempt begins with the first block"
        if self._ran:
            text += "\n\n" + self.report()
        try:
            work.progress(desk.layout, task.id, desk.seat, text, desk.now(), token=self._token)
        except work.Lost as error:
            return self._lost(error)
        reason = "the seat was stopped"
        work.release(desk.layout, task.id, reason, desk.now(), seat=desk.seat, token=self._token, counts=False)
        doorbell.ring(desk.layout, "claims")
        return wish


def _how(ran: Ran) -> str:
    """``exit 0``, ``signal 15 (time limit)``, or why it never began."""
    if ran.exit is None:
        return ran.why
    how = f"exit {ran.exit}" if ran.exit >= 0 else f"signal {-ran.exit}"
    return f"{how} ({ran.why})" if ran.why else how


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
