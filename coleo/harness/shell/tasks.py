"""Which tasks the worker may run, and as what commands.

A task is run only if every word of it that is executed stands in the plan and was put there, or into the inbox, by
a person; what agents wrote needs ``trust: agents`` in this seat's seat.md (case h08). Notes, comments, results and
messages are never executed.
"""

from __future__ import annotations

import os
import re
import sys

from coleo.files import atomic, front
from coleo.files.layout import Layout, make_private, user_config
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from coleo.bus.tasks import TaskView

LANGUAGES = ("sh", "bash", "python")
#: Setting ``shell.time_limit_s`` when nobody sets it.
TIME_LIMIT_S = 1800.0
#: The longest time limit that a block may ask for.
LONGEST_S = 7 * 86400.0

_PYTHON = "import sys; del sys.argv[0]; exec(compile(open(sys.argv[0], 'rb').read(), sys.argv[0], 'exec'))"
_OPEN = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})[ \t]*(.*)")
_TIMEOUT = re.compile(r"(\d{1,7}(?:\.\d+)?)(s|m|h|)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


class BadBlock(Exception):
    """A block that cannot be run as it is written; the text says why."""


class Fence(Record):
    """One fenced block. language: the first word of its info string, lower case."""

    language: str
    info: str
    code: str


class Command(Record):
    """One block. number: from 1, among those that are run. limit_s: None for the setting."""

    number: int
    language: str
    code: str
    limit_s: float | None = None


def why_not(task: TaskView, trust_agents: bool) -> str:
    """Why this worker cannot do a task; "" when it can."""
    if not any(fence.language in LANGUAGES for fence in _fences_of(task)):
        return "it has no fenced sh, bash or python block, and this seat is a shell that runs nothing else"
    if _by_agent(task) and not trust_agents:
        who = task.origin.replace("seat:", "seat ")
        return f"it was written by {who}, and this seat runs the commands of people only (trust in its seat.md)"
    return ""


def commands(task: TaskView) -> list[Command]:
    """The blocks to run, in order. Raises BadBlock for an info string that cannot be understood."""
    found: list[Command] = []
    for fence in _fences_of(task):
        if fence.language in LANGUAGES:
            number = len(found) + 1
            found.append(Command(number, fence.language, fence.code, _limit(number, fence.info)))
    return found


def _by_agent(task: TaskView) -> bool:
    return task.origin not in ("plan", "inbox")


def _fences_of(task: TaskView) -> list[Fence]:
    """The blocks of a task. Of a person's task those below its line in the plan, as the plan's reader found them; an
    agent's task (``create-task``) has its description in its own file."""
    described = fences(task.description)
    if not task.blocks:
        return described if _by_agent(task) else []
    infos = [fence.info for fence in described] if len(described) == len(task.blocks) else [""] * len(task.blocks)
    return [Fence(block.lang, info, block.code) for block, info in zip(task.blocks, infos, strict=True)]


def fences(text: str) -> list[Fence]:
    """The fenced blocks that name a language, in order; also below list items."""
    found: list[Fence] = []
    closing, info, indent = "", "", 0
    code: list[str] = []
    for line in text.split("\n"):
        if closing:
            bare = line.strip()
            if bare.startswith(closing) and not bare.strip(closing[0]):
                found.append(_fence(info, code))
                closing = ""
            else:
                code.append(line[min(indent, len(line) - len(line.lstrip())) :])
            continue
        opened = _OPEN.fullmatch(line)
        if opened and not (opened[1][0] == "`" and "`" in opened[2]):
            closing, info, indent, code = opened[1], opened[2].strip(), opened.start(1), []
    if closing:
        found.append(_fence(info, code))
    return [fence for fence in found if fence.language]


def _fence(info: str, code: list[str]) -> Fence:
    return Fence(info.split()[0].lower() if info else "", info, "".join(f"{line}\n" for line in code))


def _limit(number: int, info: str) -> float | None:
    for word in info.split()[1:]:
        name, equals, value = word.strip("{},").partition("=")
        if name != "timeout" or not equals:
            continue
        found = _TIMEOUT.fullmatch(value.strip("\"'"))
        seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
        if not 0 < seconds <= LONGEST_S:
            raise BadBlock(f"block {number} says {word!r}; wanted a time such as timeout=30, timeout=5m or timeout=2h")
        return seconds
    return None


def argv(command: Command, path: str, environ: Mapping[str, str]) -> list[str]:
    """The command line for a block whose text is in the file `path`. A failing line ends sh and bash blocks."""
    match command.language:
        case "sh":
            return ["/bin/sh", "-e", path]
        case "bash":
            return ["bash", "-e", "-o", "pipefail", path]
        case _:
            return [_python(environ), "-u", "-c", _PYTHON, path]


def _python(environ: Mapping[str, str]) -> str:
    """The project's own python where its PATH has one, else the one that runs this worker."""
    for folder in environ.get("PATH", "").split(os.pathsep):
        for name in ("python", "python3"):
            path = os.path.join(folder, name)
            if folder and os.access(path, os.X_OK) and os.path.isfile(path):
                return path
    return sys.executable


def environment(environ: Mapping[str, str], task_id: str) -> dict[str, str]:
    """What a block sees: the seat's environment, its task's id, and ``coleo`` at the end of PATH."""
    path, own = environ.get("PATH", os.defpath), os.path.dirname(sys.executable)
    if own not in path.split(os.pathsep):
        path = f"{path}{os.pathsep}{own}"
    return {**environ, "COLEO_TASK": task_id, "PATH": path}


def script(layout: Layout, seat: str, task_id: str, command: Command) -> str:
    """Write a block to a file of its own (0600; no text of it in a command line) and give its path."""
    folder = os.path.join(layout.run, "shell", seat)
    make_private(folder)
    ending = "py" if command.language == "python" else "sh"
    path = os.path.join(folder, f"{task_id}-{command.number}.{ending}")
    atomic.write(path, command.code.encode("utf-8", "surrogateescape"))
    return path


def trusts_agents(layout: Layout, seat: str) -> bool:
    """Whether this seat's seat.md says ``trust: agents``. Whatever cannot be read says no."""
    try:
        data = atomic.read(layout.seat(seat).seat_md, limit=1 << 20)
        return data is not None and front.read(data)[0].get("trust") == "agents"
    except (OSError, ValueError, front.BadFront):
        return False


def time_limit(layout: Layout, environ: Mapping[str, str]) -> tuple[float, str]:
    """Setting ``shell.time_limit_s`` in seconds, and a word on a value that cannot be used ("" for none).

    Environment, project, user, default, as all settings; read here because the settings' own reader takes longer
    to load than this whole worker.
    """
    named = environ.get("COLEO_SHELL_TIME_LIMIT_S", "").strip()
    places: list[tuple[str, object]] = [
        ("COLEO_SHELL_TIME_LIMIT_S", float(named) if named.isdigit() else named or None)
    ]
    places += [(path, _in_config(path)) for path in (layout.config, user_config(environ))]
    trouble = ""
    for where, value in places:
        if value is None:
            continue
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= LONGEST_S:
            return float(value), trouble
        trouble = f"{where}: shell.time_limit_s is {value!r}, not a number of seconds"
    return TIME_LIMIT_S, trouble


def _in_config(path: str) -> object:
    data = atomic.read(path)
    if not data:
        return None
    import tomllib

    try:
        table = tomllib.loads(data.decode("utf-8-sig")).get("shell", {})
    except ValueError as error:
        return str(error)
    return table.get("time_limit_s") if isinstance(table, dict) else None
