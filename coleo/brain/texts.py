"""What coleo itself says to agents. Words of others are quoted in it, line by line, and never speak for coleo."""

from __future__ import annotations

from coleo.model.prompt import quote


def nudge(tasks: int) -> str:
    """The prompt for an idle arm when work is waiting."""
    many = "1 task is" if tasks == 1 else f"{tasks} tasks are"
    return f"{many} waiting for you. Get your briefing with: coleo bus get-full-briefing"


def assignment(task: str, title: str, source: str) -> str:
    """The message that goes with a task given to a seat. source: where its text stands, such as ``plan.md:12``."""
    return (
        f"Task {task} is assigned to you (from {source}):\n{quote(title)}\n"
        f"Accept it with: coleo bus acknowledge-task {task}\n"
        "The whole task is in: coleo bus get-full-briefing"
    )


def reworded(task: str, old: str, new: str) -> str:
    """A person changed the words of a task in work."""
    return f"The wording of your task {task} was changed. It was:\n{quote(old)}\nIt is now:\n{quote(new)}"


def done_by_person(task: str, title: str) -> str:
    """A person ticked a task in work."""
    return f"Your task {task} was ticked by a person: it is done, stop working on it.\n{quote(title)}"


def comment(task: str, text: str) -> str:
    """A person wrote a comment under a task in work."""
    return f"A comment was written under your task {task}:\n{quote(text)}"


def released(task: str, title: str, reason: str) -> str:
    """The seat's claim was taken back."""
    return f"You no longer hold task {task} ({reason}).\n{quote(title)}"
