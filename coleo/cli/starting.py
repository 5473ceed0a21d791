"""Starting and ending the brain from the command line: what is refused, the way to the background, what is told."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

from coleo import __version__
from coleo.bus import doorbell
from coleo.cli import named, out
from coleo.files import arms, locks, process, project, requests, settings
from coleo.files.layout import Layout, make_private
from coleo.model.errors import BadInput, CannotBeDone, ColeoError, Taken
from coleo.model.instant import iso

#: How long a brain may take from its start to its first full look at everything.
UP_S = 30.0
LOG_LIMIT = 4 << 20


def overrides(pairs: Sequence[str]) -> dict[str, str]:
    """``KEY=VALUE`` of the command line as a table. BadInput for what has no ``=``."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise BadInput("not a setting", found=repr(pair), wanted="KEY=VALUE, such as brain.max_arms=4")
        found[key.strip()] = value
    return found


def check(layout: Layout, values: dict[str, str]) -> None:
    """Refuse what a brain must not start with: bad settings (exit 2), unsafe files (4), another brain (3)."""
    settings.load(layout, values).raise_if_bad()
    project.require_safe(layout)
    pid = named.brain_pid(layout)
    if pid is not None:
        raise Taken(
            "a brain runs in this project already",
            file=layout.root,
            found=f"pid {pid}" if pid else "a process that has not said its pid yet",
            todo="coleo status; to end it: coleo down",
        )


def foreground(layout: Layout, values: dict[str, str]) -> int:
    """Be the brain until somebody ends it; tells what it watches and why it ended."""
    from coleo.daemon.up import up

    def ready() -> None:
        try:
            tell()
        except out.ReaderGone:  # nobody reads what is told; that is no reason to end
            pass

    def tell() -> None:
        seats = layout.seats_present()
        out.line(f"coleo {__version__} is up in {layout.root} (pid {os.getpid()})")
        out.line(f"  plan   {os.path.relpath(layout.plan, layout.root)}")
        out.line(f"  inbox  {os.path.relpath(layout.inbox, layout.root)}")
        out.line(f"  seats  {', '.join(seats) or 'none yet: coleo seat add NAME --template worker'}")
        out.line("Ctrl-C ends it and leaves the agents running; `coleo down` ends both")

    reason = up(layout, overrides=values, ready=ready)
    out.line(f"the brain has ended: {reason}")
    return 0


def detach(layout: Layout, pairs: Sequence[str]) -> tuple[int, str]:
    """Start the brain in the background: its pid and its log. Returns when its first look at everything is done.

    CannotBeDone, with the end of the log, when it ends before that or takes longer than `UP_S`.
    """
    log = log_path(layout)
    make_private(layout.run)
    _rotate(log)
    words = [sys.executable, "-m", "coleo", "--project", layout.root, "up"]
    words += [word for pair in pairs for word in ("--set", pair)]
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        begin = os.fstat(fd).st_size
        os.write(fd, f"{iso(out.now())} {' '.join(words)}\n".encode("utf-8", "replace"))
        child = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=fd, stderr=fd, cwd=layout.root, start_new_session=True
        )
    finally:
        os.close(fd)
    deadline = time.monotonic() + UP_S
    request = None
    while time.monotonic() < deadline:
        if child.poll() is not None:
            raise _failed(f"the brain ended at once (exit {child.returncode})", log, begin, child.returncode)
        if request is None and named.brain_pid(layout) == child.pid and os.path.exists(layout.brain_socket):
            request = requests.ask(layout, "wake", now=out.now())
            doorbell.ring(layout, "requests")
        if request is not None and requests.answer(layout, request) is not None:
            requests.withdraw(layout, request)
            return child.pid, log
        time.sleep(0.02)
    raise _failed(f"the brain (pid {child.pid}) is not ready after {UP_S:g} s", log, begin, 1)


def _failed(message: str, log: str, begin: int, code: int) -> ColeoError:
    try:
        with open(log, "rb") as file:
            file.seek(begin)
            said = file.read(1 << 20).decode("utf-8", "replace").splitlines()[1:]
    except OSError:
        said = []
    problem = CannotBeDone(message, file=log, found="\n          ".join(said[-12:]) or "its log is empty")
    problem.exit_code = code if code in (2, 3, 4) else 1
    return problem


def _rotate(log: str) -> None:
    try:
        if os.path.getsize(log) > LOG_LIMIT:
            os.replace(log, log + ".1")
    except OSError:
        pass


def log_path(layout: Layout) -> str:
    """Where a brain in the background writes what it would say on a terminal."""
    return os.path.join(layout.run, "brain.log")


def living(layout: Layout) -> list[str]:
    """Seats whose host or agent still runs: by the identity in their record, or found by a host's environment."""
    from coleo.daemon.hosts import find_hosts

    recorded = {
        name
        for name, arm in arms.read_all(layout).items()
        if any(one is not None and process.same(one) for one in (arm.host, arm.child))
    }
    return sorted(recorded | find_hosts(layout).keys())


def adopt(layout: Layout) -> list[str]:
    """A brain for arms that outlived theirs, so that they can be ended in the ordinary way; it starts no others.

    The seats that it found; [] when there are none, and no brain is started then.
    """
    left = living(layout)
    if left:
        detach(layout, [f"brain.max_arms={len(left)}"])
    return left


def stop_forgotten(layout: Layout) -> list[str]:
    """Ask each host that was not told to end its arm, directly; the seats. For a stop that got lost on its way."""
    from coleo.daemon.hosts import find_hosts
    from coleo.terminal.client import ask
    from coleo.terminal.protocol import HostGone, HostRefused

    asked = []
    for name in find_hosts(layout):
        path = layout.host_socket(name)
        try:
            if not ask(path, {"op": "status"})["status"].get("stopping"):
                ask(path, {"op": "stop", "reason": "coleo down"})
                asked.append(name)
        except (HostGone, HostRefused, OSError):
            continue
    return asked


def gone(layout: Layout, within_s: float) -> bool:
    """Whether no brain holds the project any more, at the latest after `within_s`."""
    deadline = time.monotonic() + within_s
    while locks.is_held(layout.lock("brain")):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True
