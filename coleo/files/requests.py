"""What people ask of a running brain: one file per request, one file per answer.

``run/requests/<id>.json`` holds ``{id, op, args, asked_at, pid}``; the brain does it and writes
``run/answers/<id>.json``. The doorbell is only a hint: a request that nobody was told of is found at the next tick,
and one that was asked while no brain ran is found at its start. The answer is written before the request is
removed, so a brain that dies between the two does nothing twice: `pending` passes over what is answered.
"""

from __future__ import annotations

import os
import time

from coleo.files import atomic
from coleo.files.layout import Layout, make_private
from coleo.model.errors import BadInput
from coleo.model.instant import iso, parse
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: What a brain can be asked for. pause, resume, restart: look at ``run/desired.json`` now (`coleo.files.desired`).
OPS = frozenset({"down", "pause", "resume", "restart", "start", "stop", "wake"})

#: An answer that nobody has read for this long is removed.
KEEP_ANSWER_S = 3600.0


class Request(Record):
    """One request as the brain reads it; `args` are plain JSON values."""

    id: str
    op: str
    args: dict[str, object]
    asked_at: float


def folder(layout: Layout) -> str:
    """Where requests lie."""
    return os.path.join(layout.run, "requests")


def answers(layout: Layout) -> str:
    """Where answers lie."""
    return os.path.join(layout.run, "answers")


def ask(layout: Layout, op: str, args: Mapping[str, object] | None = None, *, now: float) -> str:
    """Lay down a request and give its id. BadInput for an `op` that no brain knows."""
    if op not in OPS:
        raise BadInput("no such request", found=repr(op), wanted="one of " + " ".join(sorted(OPS)))
    make_private(folder(layout))
    while True:
        request_id = f"{int(now * 1000):013d}-{os.urandom(4).hex()}"
        content = {"id": request_id, "op": op, "args": dict(args or {}), "asked_at": iso(now), "pid": os.getpid()}
        if atomic.create(_path(folder(layout), request_id), _bytes(content)):
            return request_id


def pending(layout: Layout) -> list[Request]:
    """Requests without an answer, oldest first. What cannot be read is answered with the reason, never raised."""
    found: list[Request] = []
    for request_id in _ids(folder(layout)):
        if os.path.exists(_path(answers(layout), request_id)):
            _remove(_path(folder(layout), request_id))
            continue
        request, wrong = _read(layout, request_id)
        if request is not None:
            found.append(request)
        elif wrong:
            reply(layout, request_id, {"ok": False, "message": wrong})
    return found


def reply(layout: Layout, request_id: str, obj: Mapping[str, object]) -> None:
    """Answer a request: ``{"ok": bool, "message": str, ...}``; the request is done with."""
    make_private(answers(layout))
    atomic.write_json(_path(answers(layout), request_id), dict(obj))
    _remove(_path(folder(layout), request_id))


def answer(layout: Layout, request_id: str) -> dict[str, object] | None:
    """The answer, or None while there is none."""
    try:
        found = atomic.read_json(_path(answers(layout), request_id))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def withdraw(layout: Layout, request_id: str) -> None:
    """Take back a request that nobody answered, and forget its answer if there is one."""
    _remove(_path(folder(layout), request_id))
    _remove(_path(answers(layout), request_id))


def wait(
    layout: Layout,
    request_id: str,
    *,
    deadline_s: float,
    alive: Callable[[], bool] = lambda: True,
    monotonic: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> dict[str, object] | None:
    """The answer as soon as it is there (then forgotten); None at the deadline, or when nobody is `alive` to answer."""
    end = monotonic() + deadline_s
    while True:
        gone = not alive()
        found = answer(layout, request_id)
        if found is not None:
            withdraw(layout, request_id)
            return found
        if gone or monotonic() >= end:
            return None
        pause(0.01)


def sweep(layout: Layout, now: float) -> int:
    """Remove answers that nobody fetched within `KEEP_ANSWER_S`; how many went. The brain calls it now and then."""
    gone = 0
    for request_id in _ids(answers(layout)):
        asked_at = int(request_id[:13]) / 1000 if request_id[:13].isdigit() else 0.0
        if now - asked_at > KEEP_ANSWER_S:
            gone += _remove(_path(answers(layout), request_id))
    return gone


def _read(layout: Layout, request_id: str) -> tuple[Request | None, str]:
    try:
        found = atomic.read_json(_path(folder(layout), request_id))
    except ValueError as error:
        return None, f"the request cannot be read: {error}"
    if found is None:
        return None, ""
    if not isinstance(found, dict) or found.get("op") not in OPS or not isinstance(found.get("args", {}), dict):
        return None, "not a request that this version of coleo knows"
    asked_at = parse(str(found.get("asked_at", ""))) or 0.0
    return Request(request_id, str(found["op"]), dict(found.get("args", {})), asked_at), ""


def _ids(path: str) -> list[str]:
    try:
        names = os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name[:-5] for name in names if name.endswith(".json") and not name.startswith("."))


def _path(where: str, request_id: str) -> str:
    return os.path.join(where, f"{os.path.basename(request_id)}.json")


def _bytes(content: dict[str, object]) -> bytes:
    import json

    return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True
