"""The verbs that agents call, once, for the shell (`coleo bus …`) and for tools (MCP) alike.

A verb is a function ``(ctx, **values) -> Reply`` in one of the modules beside this one; it is imported when it is
called, so that no verb pays for another. `params` say what it takes: `coleo.bus.entry` makes a command line of them,
a tool server a schema.
"""

from __future__ import annotations

from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coleo.bus.context import Context, Reply


class Param(Record):
    """One value of a verb. name: as on the command line; the function takes it with ``_`` for ``-``.

    option: given as ``--name VALUE``, else by its place. flag: an option without a value. text: ``-`` reads it from
    standard input. many: may be given more than once, or (by place) takes all that is left.
    """

    name: str
    help: str
    required: bool = True
    option: bool = False
    flag: bool = False
    text: bool = False
    many: bool = False
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The function's argument."""
        return self.name.replace("-", "_")


class Verb(Record):
    """One verb. module: the last part of its module's name below ``coleo.bus``. example: a command line that works."""

    name: str
    summary: str
    module: str
    example: str
    params: tuple[Param, ...] = ()

    @property
    def key(self) -> str:
        """The function's name."""
        return self.name.replace("-", "_")

    def run(self, ctx: Context, **values: Any) -> Reply:
        """Call it. Raises ColeoError for what the caller can mend."""
        from importlib import import_module

        reply: Reply = getattr(import_module(f"coleo.bus.{self.module}"), self.key)(ctx, **values)
        return reply


PROGRESS = ("on_track", "blocked", "issues_found", "needs_review", "completed_with_issues")
HEARTBEATS = ("working", "idle", "blocked", "waiting")

_TASK = Param("task", "the task's id, such as t-k3v9qz")
_TOKEN = Param("token", "the claim's token; your own claim is found without it", required=False, option=True)

_ALL = (
    Verb(
        "get-full-briefing",
        "Who you are, your mail, your tasks, the next task, what others hold, how to report",
        "briefing",
        "coleo bus get-full-briefing",
    ),
    Verb(
        "get-my-instructions",
        "Your seat's text, its convictions, and the tasks that you hold",
        "briefing",
        "coleo bus get-my-instructions",
    ),
    Verb(
        "claim-task",
        "Take a task; nobody else can take it until you complete, fail or release it",
        "taskverbs",
        "coleo bus claim-task t-k3v9qz",
        (_TASK,),
    ),
    Verb(
        "acknowledge-task",
        "Say yes to a task that was assigned to you",
        "taskverbs",
        "coleo bus acknowledge-task t-k3v9qz",
        (_TASK, _TOKEN),
    ),
    Verb(
        "task-progress",
        "Note where your task stands",
        "taskverbs",
        "coleo bus task-progress t-k3v9qz 'Parser done, tests next' --status on_track",
        (
            _TASK,
            Param("text", "what was done, what is next", text=True),
            Param("status", "how it goes", required=False, option=True, choices=PROGRESS),
            _TOKEN,
        ),
    ),
    Verb(
        "complete-task",
        "Finish your task: it is verified, then its box is ticked",
        "taskverbs",
        "coleo bus complete-task t-k3v9qz 'Parser written, 12 tests pass'",
        (_TASK, Param("text", "what was done", required=False, text=True), _TOKEN),
    ),
    Verb(
        "fail-task",
        "Give up on your task: this attempt failed",
        "taskverbs",
        "coleo bus fail-task t-k3v9qz 'The service answers 403, a key is missing'",
        (
            _TASK,
            Param("reason", "what went wrong", text=True),
            Param("final", "no other attempt will do: block it for a person", required=False, option=True, flag=True),
            _TOKEN,
        ),
    ),
    Verb(
        "release-task",
        "Give your task back unfinished, or say that you cannot do a task at all",
        "taskverbs",
        "coleo bus release-task t-k3v9qz 'It needs a browser' --cannot",
        (
            _TASK,
            Param("reason", "why", text=True),
            Param("cannot", "this seat cannot do it; others are asked", required=False, option=True, flag=True),
            _TOKEN,
        ),
    ),
    Verb(
        "create-task",
        "Add a task to the plan",
        "create",
        "coleo bus create-task 'Add a test for empty input' --assignee tester --after t-k3v9qz",
        (
            Param("title", "one line", text=True),
            Param("description", "more about it", required=False, option=True, text=True),
            Param("assignee", "the only seat that may take it", required=False, option=True),
            Param("after", "the id of a task that has to be done before", required=False, option=True, many=True),
            Param("priority", "normal when not given", required=False, option=True, choices=("high", "normal", "low")),
        ),
    ),
    Verb(
        "send-message",
        "Send a message to another seat",
        "mailverbs",
        "coleo bus send-message analyst normal 'The numbers are in report.md' m-abcdefghijklmnop",
        (
            Param("to", "the seat"),
            Param("priority", "how urgent it is", choices=("urgent", "high", "normal", "low")),
            Param("text", "what to say", text=True),
            Param("reply-to", "the id of the message that this answers", required=False),
            Param("task", "the id of the task that it is about", required=False, option=True),
        ),
    ),
    Verb(
        "check-inbox",
        "Take your waiting messages; each comes back after 5 min unless you acknowledge it",
        "mailverbs",
        "coleo bus check-inbox",
    ),
    Verb(
        "ack-inbox",
        "Say that you have a message",
        "mailverbs",
        "coleo bus ack-inbox m-abcdefghijklmnop",
        (Param("message", "the message's id", many=True),),
    ),
    Verb(
        "update-heartbeat",
        "Say that you are at work, or idle",
        "seatverbs",
        "coleo bus update-heartbeat working 'running the tests' --task t-k3v9qz",
        (
            Param("status", "one word, such as " + ", ".join(HEARTBEATS)),
            Param("text", "what you do", required=False, text=True),
            Param("task", "the id of the task", required=False, option=True),
        ),
    ),
    Verb(
        "log-event",
        "Write a line of your own into the activity log",
        "seatverbs",
        "coleo bus log-event deployed 'version 1.2 is on the test machine'",
        (
            Param("event", "one word"),
            Param("text", "what happened", required=False, text=True),
            Param("severity", "info when not given", required=False, option=True, choices=("info", "warning", "error")),
            Param("meta", "a JSON object with more", required=False, option=True, text=True),
        ),
    ),
    Verb("list-skills", "The skills of your seat", "seatverbs", "coleo bus list-skills"),
)

VERBS: dict[str, Verb] = {verb.name: verb for verb in _ALL}
"""Every verb by its name."""
