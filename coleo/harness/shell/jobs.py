"""The thread that works: prompts and a person's commands, one after the other; tasks until none is left.

A prompt of coleo's means "look for work", whatever its words are: they are shown and never executed. What comes
while a task runs is noted as ``typed`` and taken up (``turn``) after it.
"""

from __future__ import annotations

import threading
from _queue import Empty, SimpleQueue

from coleo import report
from coleo.bus import tasks as board
from coleo.bus.tasks import TaskView
from coleo.files import claims, desired, taskfile
from coleo.harness.shell.attempt import Attempt
from coleo.harness.shell.control import Leave
from coleo.harness.shell.desk import Desk
from coleo.harness.shell.tasks import trusts_agents, why_not
from coleo.harness.shell.transcript import Transcript
from coleo.model.errors import ColeoError
from coleo.model.prompt import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Tasks that are answered with "this seat cannot do it" in one look; the rest at the next one.
MANY_ANSWERS = 50

HELP = (
    "This seat runs the fenced sh, bash and python blocks of tasks. At this terminal:",
    "  tasks      what there is to do",
    "  run ID     do this task now",
    "  help       this",
    "  exit       end; Ctrl-D does the same",
    "Ctrl-C ends the command that runs and fails its task.",
)


class Item:
    """Something that was submitted. ids: of coleo's prompts in it; () for a person's words."""

    def __init__(self, text: str, ids: tuple[str, ...]) -> None:
        self.text, self.ids = text, ids


class Jobs:
    """The queue and its thread."""

    def __init__(self, desk: Desk, transcript: Transcript) -> None:
        self._desk, self._transcript = desk, transcript
        self._queue: SimpleQueue[Item | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._live, name="jobs", daemon=True)
        self._occupied = False
        self._ended = False
        self._later: list[str] = []
        #: Tasks that a person interrupted here: not taken again unasked.
        self._refused: set[str] = set()
        #: Tasks that failed here since the last prompt: others may try them first, then a prompt brings them back.
        self._tried: set[str] = set()

    def start(self) -> None:
        """Begin; first of all with what an earlier worker left behind."""
        self._thread.start()

    def put(self, text: str, ids: tuple[str, ...]) -> None:
        """Something was submitted. Called by the terminal's thread."""
        if self._occupied or not self._queue.empty():
            self._receipts("typed", ids)
        self._queue.put(Item(text, ids))

    def end(self) -> None:
        """End after what runs now."""
        self._queue.put(None)

    def _receipts(self, kind: str, ids: tuple[str, ...]) -> None:
        for name in ids:
            if not self._transcript.write(kind, self._desk.now(), id=name):
                self._desk.say(f"coleo: the receipt of {name} could not be written")

    def _live(self) -> None:
        code = 70
        try:
            self._guarded(self._left_behind)
            while not self._ended:
                self._occupied = False
                if self._queue.empty():
                    self._desk.at_rest()
                item = self._queue.get()
                self._occupied = True
                if item is None:
                    break
                self._guarded(self._handle, item)
            code = 0
        except BaseException as error:
            self._desk.say(*self._bug(error))
        finally:
            self._desk.control.tell(Leave(code))

    def _guarded(self, act: Callable[..., object], *values: object) -> None:
        """What a person can mend, or the disk did, is shown; the worker goes on."""
        try:
            act(*values)
        except (ColeoError, OSError) as error:
            self._desk.say_error(error)

    def _handle(self, item: Item) -> None:
        self._desk.control.interrupt_done()
        self._tried.clear()
        if item.ids:
            self._receipts("turn", item.ids)
            self._work()
            return
        word, _, rest = item.text.strip().partition(" ")
        match word:
            case "help" | "?":
                self._desk.say(*HELP)
            case "tasks":
                self._show_tasks()
            case "run" if rest.strip():
                self._run_named(rest.strip())
            case _:
                self._desk.say(f"no such command: {one_line(item.text)[:60]}", "help shows what there is")

    def _receive(self) -> None:
        """Between two tasks: take up what was submitted meanwhile; ``run ID`` waits in `_later`."""
        while True:
            try:
                item = self._queue.get_nowait()
            except Empty:
                return
            if item is None:
                self._ended = True
            elif item.ids:
                self._receipts("turn", item.ids)
            elif item.text.startswith("run "):
                self._later.append(item.text[4:].strip())
            else:
                self._guarded(self._handle, item)

    def _work(self) -> None:
        """Task after task, until none is left, a person paused the seat, or the worker ends."""
        desk, done = self._desk, 0
        while True:
            desk.status("looking for work")
            self._receive()
            while self._later and not self._stopped():
                self._run_named(self._later.pop(0))
                self._receive()
            if self._stopped():
                return
            if desk.control.wish:
                desk.say("interrupted: no task is begun")
                return
            if desired.read(desk.layout).paused(desk.seat):
                desk.say("paused by a person: no task is begun")
                return
            found = self._next()
            if found is None:
                desk.say("no more tasks for this seat" if done else "no task for this seat")
                return
            self._attempt(*found)
            done += 1

    def _stopped(self) -> bool:
        return self._ended or self._desk.control.wish == "stopped"

    def _attempt(self, task: TaskView, token: str) -> None:
        try:
            match Attempt(self._desk, task, token).run():
                case "interrupted":
                    self._refused.add(task.id)
                case "failed":
                    self._tried.add(task.id)
        finally:
            self._desk.control.interrupt_done()

    def _next(self) -> tuple[TaskView, str] | None:
        """A task that this seat holds from now on, with the claim's token; None when there is none that it can do."""
        desk = self._desk
        now = board.board(desk.layout, desk.now())
        trust = trusts_agents(desk.layout, desk.seat)
        for task in now.of_seat(desk.seat):
            if task.claim is None or task.claim.acknowledged_at is not None:
                self._guarded(self._give_up, task.id, "nobody is at it any more; what came of it is unknown")
                continue
            given = self._assigned(task, task.claim.token, trust)
            if given is not None:
                return given
        self._reconsider(now, trust)
        cannot: list[tuple[TaskView, str]] = []
        for task in board.board(desk.layout, desk.now()).free_for(desk.seat):
            why = why_not(task, trust)
            if why:
                cannot.append((task, why))
            elif task.id not in self._refused | self._tried:
                claimed = self._claim(task.id, trust)
                if claimed is not None:
                    return claimed
        for task, why in cannot[:MANY_ANSWERS]:
            self._guarded(self._decline, task, why)
        return None

    def _assigned(self, task: TaskView, token: str, trust: bool) -> tuple[TaskView, str] | None:
        """A task that was given to this seat and not answered yet: accept it, or say that it cannot be done here."""
        why = why_not(task, trust)
        try:
            if why:
                self._decline(task, why)
                return None
            self._desk.call("acknowledge-task", task=task.id, token=token)
        except ColeoError:
            return None
        return task, token

    def _claim(self, task_id: str, trust: bool) -> tuple[TaskView, str] | None:
        """Claim a task and look at it once more: its words may have changed meanwhile. None: somebody was faster."""
        desk = self._desk
        try:
            token = str(desk.call("claim-task", task=task_id).data["token"])
        except ColeoError:
            return None
        task = board.board(desk.layout, desk.now()).get(task_id)
        if task is None:
            return None
        why = why_not(task, trust)
        if why:
            self._decline(task, why)
            return None
        return task, token

    def _decline(self, task: TaskView, why: str) -> None:
        self._desk.call("release-task", task=task.id, reason=why, cannot=True)
        self._desk.say(f"{task.id} is left to other seats: {why}")

    def _reconsider(self, now: board.Board, trust: bool) -> None:
        """Tasks that this seat declined and could do now, because a person added a block or changed ``trust``."""
        desk = self._desk
        for file in now.files.values():
            if desk.seat not in file.declined:
                continue
            task = now.get(file.id)
            if task is not None and task.ready and not why_not(task, trust):
                rest = tuple(seat for seat in file.declined if seat != desk.seat)
                self._guarded(taskfile.update, desk.layout, file.id, {"declined": rest or None}, desk.now())

    def _run_named(self, task_id: str) -> None:
        """A person at the terminal wants this task to be done now."""
        desk = self._desk
        trust = trusts_agents(desk.layout, desk.seat)
        task = board.board(desk.layout, desk.now()).get(task_id)
        if task is not None and (why := why_not(task, trust)):
            desk.say(f"{task_id} is not run: {why}")
            return
        try:
            token = str(desk.call("claim-task", task=task_id).data["token"])
        except ColeoError as error:
            desk.say_error(error)
            return
        task = board.board(desk.layout, desk.now()).get(task_id)
        if task is not None:
            self._refused.discard(task_id)
            self._attempt(task, token)

    def _show_tasks(self) -> None:
        desk = self._desk
        seen = board.view(desk.layout, desk.now())
        rows = [f"{task.id}  {task.status.value:<11}  {task.holder or task.seat or '-':<10}  " for task in seen]
        desk.say(
            *(row + one_line(task.title)[:100] for row, task in zip(rows, seen, strict=True)), f"{len(seen)} tasks"
        )

    def _left_behind(self) -> None:
        """Tasks that an earlier worker of this seat had begun: it was killed, so that attempt is over."""
        for claim in claims.of_seat(self._desk.layout, self._desk.seat):
            if claim.acknowledged_at is not None:
                self._guarded(self._give_up, claim.task, "the worker ended while it was at this task")

    def _bug(self, error: BaseException) -> list[str]:
        """A mistake of our own: a report file, and what to do, in lines for the screen."""
        layout = self._desk.layout
        path = report.write(
            error, ["(the shell worker)"], now=self._desk.now(), root=layout.root, redact=self._desk.without_secrets
        )
        return [
            f"coleo: this is a bug of coleo's: {type(error).__name__}: {error}",
            f"  a report is in {path}" if path else "  no report could be written",
        ]

    def _give_up(self, task_id: str, reason: str) -> None:
        self._desk.call("fail-task", task=task_id, reason=reason)
        self._desk.say(f"{task_id} failed: {reason}")
