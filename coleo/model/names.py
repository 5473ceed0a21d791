"""Names that become parts of paths: checked once, here, before any path is built from them."""

from __future__ import annotations

import re

from coleo.model.errors import BadInput

SEAT = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
MESSAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
RESERVED_SEATS = frozenset({"human", "brain", "coleo", "all"})


def check_seat(name: str) -> str:
    """The name itself, or BadInput: lower-case letters, digits, ``-`` and ``_``, at most 32, not a reserved word."""
    if not SEAT.fullmatch(name) or name in RESERVED_SEATS:
        raise BadInput(
            "not a seat name",
            found=repr(name),
            wanted="1 to 32 of a-z 0-9 - _, beginning with a letter or digit, and not "
            + ", ".join(sorted(RESERVED_SEATS)),
        )
    return name


def check_sender(name: str) -> str:
    """A seat name, or one of the reserved senders (human, brain)."""
    if name in RESERVED_SEATS:
        return name
    return check_seat(name)


def check_task(task_id: str) -> str:
    """The id itself, or BadInput: what may stand after ``^`` in a plan and in a file name."""
    if not TASK.fullmatch(task_id):
        raise BadInput("not a task id", found=repr(task_id), wanted="an id such as t-k3v9qz, as `coleo tasks` shows it")
    return task_id


def check_message(message_id: str) -> str:
    """The id itself, or BadInput."""
    if not MESSAGE.fullmatch(message_id):
        raise BadInput(
            "not a message id", found=repr(message_id), wanted="an id such as m-7h2k9..., as `coleo mail list` shows it"
        )
    return message_id
