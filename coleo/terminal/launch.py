"""Starting a host so that it outlives whoever starts it (DESIGN.md section 3)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from coleo.model.arm import ProcessId
from coleo.model.errors import CannotBeDone
from coleo.terminal.protocol import HostSpec, exit_path, write_private

#: What the host itself needs of the environment; the arm's comes from the spec.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


def launch(spec: HostSpec, path: str, *, environ: Mapping[str, str] = os.environ, timeout_s: float = 15.0) -> ProcessId:
    """Writes the spec to `path` (0600), starts its host, and returns who the host is once it listens.

    The host is in a session of its own, a child of nobody, and in a systemd scope of its own when the caller runs
    in a unit. An old exit record is removed first. Raises CannotBeDone with the reason when the arm cannot be
    started. Blocks for some 100 ms: from a loop, call it in a thread.
    """
    try:
        write_private(path, spec.to_json())
        if os.path.lexists(exit_path(path)):
            os.unlink(exit_path(path))
    except OSError as error:
        raise CannotBeDone(f"the spec of seat {spec.seat} cannot be written: {error}") from error
    plain = [sys.executable, "-P", "-m", "coleo.terminal.host", path]
    scoped = _scope(spec, environ)
    for command in ([*scoped, *plain], plain) if scoped else (plain,):
        answer = _start(command, spec, environ, timeout_s)
        if answer is not None:
            break
    else:
        raise CannotBeDone(f"the host of seat {spec.seat} ended before it said anything", found=" ".join(plain))
    if "failure" in answer:
        raise CannotBeDone(str(answer["failure"]))
    return ProcessId(**answer["host"])


def _start(command: list[str], spec: HostSpec, environ: Mapping[str, str], timeout_s: float) -> dict[str, Any] | None:
    env = {name: environ[name] for name in _KEPT if name in environ}
    env |= {name: value for name, value in spec.env if name in ("COLEO_PROJECT", "COLEO_SEAT")}
    env |= {"COLEO_SEAT": spec.seat, "COLEO_HOST": str(spec.generation), "PYTHONPATH": _code(environ)}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=env,
        start_new_session=True,
    )
    try:
        out, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise CannotBeDone(f"the host of seat {spec.seat} did not start within {timeout_s:g} s") from None
    try:
        answer = json.loads(out)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _code(environ: Mapping[str, str]) -> str:
    """Where coleo is imported from, for the case that it is not installed; behind it what the caller has."""
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.pathsep.join(filter(None, [own, environ.get("PYTHONPATH")]))


def _scope(spec: HostSpec, environ: Mapping[str, str]) -> list[str]:
    """The command that puts the host outside of the caller's systemd unit, whose stop would end it; [] without one."""
    if "INVOCATION_ID" not in environ or not os.path.isdir("/run/systemd/system"):
        return []
    run = shutil.which("systemd-run", path=environ.get("PATH"))
    if run is None:
        return []
    user = [] if os.geteuid() == 0 and "XDG_RUNTIME_DIR" not in environ else ["--user"]
    return [run, *user, "--scope", "--quiet", "--collect", f"--description=coleo seat {spec.seat}", "--"]
