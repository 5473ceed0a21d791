"""``coleo hook EVENT``: what an agent's own hooks call, on each tool call: one line in the activity log, one ring.

It must cost nothing and break nothing: it imports next to nothing (budget: 15 ms over a bare Python), says nothing,
and its exit code is 0 whatever happens, with coleo away, no project, rubbish on standard input or a full disk.

Of the JSON on standard input only the names of things are kept (`KEPT`), never what a tool was given or gave, and of
a prompt only the ids of messages that it holds: so nothing in the line can be a secret. The line is written as
`coleo.files.activity` writes: under its lock, whole, after a torn tail.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

KEPT = (
    "session_id",
    "transcript_path",
    "cwd",
    "tool_name",
    "tool_use_id",
    "source",
    "reason",
    "trigger",
    "notification_type",
    "permission_mode",
)
ACTIONS = {"PreToolUse": "tool_call"}
"""Events that have a name of their own in the log; a tool call counts as work (DESIGN.md section 5)."""

_LIMIT = 1 << 20
_WAIT_S = 2.0
_LONGEST = 512
_IDS = 20
_SEAT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:")


def main(args: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Log the event and ring the doorbell. Always 0."""
    try:
        given = _input()
        event = args[0] if args else ""
        if not event or not _WORD.issuperset(event) or len(event) > 64:
            return 0
        root = _root(environ)
        if root is None:
            return 0
        _append(root, _line(event, environ.get("COLEO_SEAT", ""), given, time.time()))
        _ring(root)
    except Exception:  # an agent must never stumble over its supervisor
        return 0
    return 0


def _input() -> bytes:
    """Standard input, at most 1 MiB, at most 2 s of waiting for more of it."""
    import select

    if os.isatty(0):
        return b""
    parts: list[bytes] = []
    size = 0
    while size < _LIMIT and select.select([0], [], [], _WAIT_S)[0]:
        part = os.read(0, 1 << 16)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _root(environ: Mapping[str, str]) -> str | None:
    """The project: ``COLEO_PROJECT``, else the nearest ``.project`` above the real current folder."""
    named = environ.get("COLEO_PROJECT", "")
    here = os.path.realpath(named or os.getcwd())
    while not os.path.isdir(os.path.join(here, ".project")):
        above = os.path.dirname(here)
        if named or above == here:
            return None
        here = above
    return here


def _load(data: bytes) -> dict[str, Any]:
    """The JSON object in `data`; what is none is an empty one."""
    text = data.decode("utf-8", "replace").strip().removeprefix("\ufeff")
    if not text.startswith("{"):
        return {}
    try:
        found = _scanner()(text, 0)[0]
    except Exception:  # StopIteration, JSONDecodeError, RecursionError: rubbish
        return {}
    return found if isinstance(found, dict) else {}


def _scanner() -> Any:
    """The C scanner of the json package without the package, whose import costs 8 ms; else the package."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return lambda text, _at: (json.loads(text), 0)

    class Rules:
        strict = False
        object_hook = None
        object_pairs_hook = None
        parse_float = float
        parse_int = float
        parse_constant = float

    rules: Any = Rules
    rules.memo = {}
    return make_scanner(rules)


def _line(event: str, seat: str, data: bytes, now: float) -> bytes:
    """The log line: valid JSON, ASCII, whatever came in."""
    given = _load(data)
    fields = [("ts", _iso(now)), ("action", ACTIONS.get(event, "hook")), ("event", event)]
    if seat and _SEAT.issuperset(seat) and len(seat) <= 32:
        fields.insert(2, ("seat", seat))
    fields += [(name, value[:_LONGEST]) for name in KEPT if isinstance(value := given.get(name), str) and value]
    prompt = given.get("prompt")
    if isinstance(prompt, str) and (ids := _message_ids(prompt)):
        fields.append(("messages", ids))
    return ("{" + ", ".join(f"{_quoted(name)}: {_quoted(value)}" for name, value in fields) + "}\n").encode()


def _message_ids(prompt: str) -> str:
    """The ids in ``[msg_id: …]`` marks, comma-separated: what proves that a prompt has arrived."""
    found = []
    for part in prompt.split("[msg_id:")[1 : _IDS + 1]:
        for one in part.partition("]")[0].split(","):
            if one.strip() and _WORD.issuperset(one.strip()) and len(one) < 130:
                found.append(one.strip())
    return ",".join(found)


def _quoted(text: str) -> str:
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import py_encode_basestring_ascii as encode_basestring_ascii
    return encode_basestring_ascii(text)


def _iso(now: float) -> str:
    """As `coleo.model.instant.iso`, whose import costs too much here."""
    millis = int(now * 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(millis // 1000)) + f".{millis % 1000:03d}Z"


def _append(root: str, line: bytes) -> None:
    """One write of the whole line under the log's lock, after the line feed that a torn tail may lack."""
    import fcntl

    activity = os.path.join(root, ".coleo", "activity")
    locks = os.path.join(root, ".coleo", "run", "locks")
    for folder in (activity, locks):
        if not os.path.isdir(folder):
            os.makedirs(folder, 0o700, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    lock = os.open(os.path.join(locks, "activity.lock"), flags, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        day = line[8:18].decode()
        log = os.open(os.path.join(activity, f"{day}.jsonl"), flags | os.O_APPEND, 0o600)
        try:
            size = os.fstat(log).st_size
            if size and os.pread(log, 1, size - 1) != b"\n":
                line = b"\n" + line
            os.write(log, line)
        finally:
            os.close(log)
    finally:
        os.close(lock)


def _ring(root: str) -> None:
    import _socket

    path = os.path.join(root, ".coleo", "run", "brain.sock")
    folder = -1
    if len(os.fsencode(path)) > 100:
        folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
        path = f"/proc/self/fd/{folder}/brain.sock"
    bell = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    bell.setblocking(False)
    try:
        bell.sendto(b"hooks", path)
    finally:
        bell.close()
        if folder >= 0:
            os.close(folder)
