"""Proof before the tick: the command that has to pass before a task counts as done (DESIGN.md section 5).

The task's own fenced block ``verify`` comes first, then its section's command (setting ``verify.sections``), then the
seat's (``verify`` in seat.md), then the project's (setting ``verify.command``). It runs by ``sh -c`` in a session of
its own, in the working tree of the caller, with a time limit; the end of its output is kept.
"""

from __future__ import annotations

import os

from coleo.files import atomic, front
from coleo.files.layout import Layout, user_config
from coleo.files.redact import redact
from coleo.model.plan import Task, title_key
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

    from coleo.bus.context import Context

TAIL = 4096
"""Bytes of output that are kept: the last ones."""
TIMEOUT_S = 600.0
_STEP_S = 0.2


class Checked(Record):
    """A verification that ran. how: ``exit 1``, ``no end after 600 s``… output: the last `TAIL` bytes as text."""

    command: str
    passed: bool
    how: str
    output: str


def run(ctx: Context, task: Task) -> Checked | None:
    """Run the verification of a task; None when it has none."""
    command, limit_s = command_for(ctx.layout, task, ctx.seat or "")
    if not command:
        return None
    return execute(command, workplace(ctx.layout, ctx.cwd), limit_s)


def command_for(layout: Layout, task: Task, seat: str = "") -> tuple[str, float]:
    """(command, time limit in s) for a task that `seat` completes; "" when nothing is to be verified."""
    if not _in_settings(layout):
        return (task.verify or "").strip() or _of_seat(layout, seat), TIMEOUT_S
    from coleo.files import settings

    found = settings.load(layout).settings.verify
    command = (task.verify or "").strip()
    if not command and task.section:
        sections = {title_key(name): value for name, value in found.sections.items()}
        command = sections.get(title_key(task.section), "")
    return command or _of_seat(layout, seat) or found.command, float(found.timeout_s)


def _of_seat(layout: Layout, seat: str) -> str:
    """The seat's own command; "" for none, also when its seat.md cannot be read (`coleo check` tells)."""
    data = atomic.read(layout.seat(seat).seat_md) if seat else None
    try:
        values, _body = front.read(data or b"")
    except front.BadFront:
        return ""
    found = values.get("verify")
    return found.strip() if isinstance(found, str) else ""


def _in_settings(layout: Layout) -> bool:
    """Whether a settings file or a variable speaks of verification; reading them properly costs ten times the verb."""
    if any("VERIFY" in name for name in os.environ):
        return True
    return any(_speaks(atomic.read(path) or b"") for path in (layout.config, user_config()))


def _speaks(config: bytes) -> bool:
    """Whether a settings file sets anything about verification: an empty ``[verify]`` with comments does not."""
    table = b""
    for line in config.splitlines():
        line = line.strip()
        if line.startswith(b"["):
            table = line
        elif line and not line.startswith(b"#") and (b"verify" in table or b"verify" in line):
            return True
    return False


def workplace(layout: Layout, cwd: str) -> str:
    """Where the work was done: the caller's own working tree when it is in another one, else the project's root."""
    here = os.path.realpath(cwd)
    if here == layout.root or here.startswith(layout.root + os.sep):
        return layout.root
    while True:
        if os.path.exists(os.path.join(here, ".git")):
            return here
        above = os.path.dirname(here)
        if above == here:
            return layout.root
        here = above


def execute(command: str, folder: str, limit_s: float) -> Checked:
    """Run a command to its end, or to the time limit: then its whole process group is ended."""
    import subprocess

    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return Checked(command, False, f"it could not be started: {error}", "")
    try:
        tail, in_time = _follow(process, limit_s)
    finally:
        _end(process)
    output = redact(tail.decode("utf-8", "replace")).strip("\n")
    if not in_time:
        return Checked(command, False, f"no end after {limit_s:g} s", output)
    code = process.returncode
    how = f"exit {code}" if code >= 0 else f"signal {-code}"
    return Checked(command, code == 0, how, output)


def _follow(process: subprocess.Popen[bytes], limit_s: float) -> tuple[bytes, bool]:
    """The last bytes of output, and whether it ended in time. A child that keeps the pipe open does not hold us up."""
    import select
    import time

    assert process.stdout is not None
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    end = time.monotonic() + limit_s
    tail, is_open = b"", True
    while True:
        over = _is_over(process.pid)
        wait_s = 0.0 if over else max(min(_STEP_S, end - time.monotonic()), 0.0)
        ready, _, _ = select.select([pipe] if is_open else [], [], [], wait_s)
        if ready:
            part = os.read(pipe, 1 << 16)
            tail, is_open = (tail + part)[-TAIL:], bool(part)
        elif over:
            return tail, True
        elif time.monotonic() >= end:
            return tail, False


def _is_over(pid: int) -> bool:
    """Whether the child has ended; it is not reaped, so that its id stays its own until its group is ended."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing of it stays: what it left in its group is killed too."""
    import signal

    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def block(text: str) -> str:
    """Output as an indented block of Markdown."""
    return "\n".join("    " + line if line else "" for line in text.split("\n"))
