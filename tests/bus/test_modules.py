"""What agents' commands load: nothing that costs more than the command itself (DESIGN.md sections 8 and 12)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bus.calling import ids, project
from tests.files.project import lay

BANNED = {
    "logging", "typing", "inspect", "dataclasses", "pathlib", "tomllib", "socket", "datetime", "calendar", "tempfile",
    "shutil", "subprocess", "random", "secrets", "uuid", "asyncio", "difflib", "traceback",
    "pydantic", "typer", "rich", "mistune", "ruamel", "frontmatter", "filelock", "psutil", "watchfiles", "tomlkit",
}  # fmt: skip

LIST = """
import os, runpy, sys
sys.argv = ["coleo", *sys.argv[1:]]
out = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
code = 0
try:
    from coleo.__main__ import main
    code = main()
finally:
    os.write(out, f"{code} {' '.join(sorted(sys.modules))}".encode())
"""


def loaded(root: str, *args: str, stdin: bytes = b"{}") -> tuple[int, set[str]]:
    """Exit code and sys.modules after a command."""
    environ = {**os.environ, "COLEO_PROJECT": root, "COLEO_SEAT": "ada"}
    done = subprocess.run(
        [sys.executable, "-c", LIST, *args], input=stdin, capture_output=True, env=environ, timeout=60, check=True
    )
    code, *modules = done.stdout.decode().split()
    return int(code), set(modules)


def bare() -> set[str]:
    """What a Python that does nothing has loaded: site packages may bring their own."""
    done = subprocess.run([sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, check=True)
    return {name.split(".")[0] for name in done.stdout.decode().split()}


@pytest.mark.parametrize(
    "args",
    [
        ("get-full-briefing",),
        ("get-my-instructions",),
        ("claim-task", "TASK"),
        ("acknowledge-task", "TASK"),
        ("task-progress", "TASK", "half"),
        ("release-task", "TASK", "no", "--cannot"),
        ("fail-task", "TASK", "no"),
        ("send-message", "bob", "normal", "hello"),
        ("check-inbox",),
        ("ack-inbox", "m-abcdefghijklm"),
        ("update-heartbeat", "idle"),
        ("log-event", "done"),
        ("list-skills",),
        ("--help",),
    ],
    ids=lambda args: args[0],
)
def test_verbs_load_nothing_slow(tmp_path: Path, args: tuple[str, ...]) -> None:
    """With the plan read before (by a brain, or by the first verb)."""
    layout = project(tmp_path)
    os.utime(layout.plan, (1, 1))
    task = ids(layout, 1764500000.0)["Clean up"]
    if args[0] in ("acknowledge-task", "task-progress", "fail-task"):
        assert loaded(layout.root, "bus", "claim-task", task)[0] == 0
    code, modules = loaded(layout.root, "bus", *(task if word == "TASK" else word for word in args))
    assert code == 0
    slow = ({name.split(".")[0] for name in modules} - bare()) & BANNED
    assert not slow


def test_a_hook_loads_next_to_nothing(tmp_path: Path) -> None:
    """Not even json, re or the rest of coleo."""
    layout = lay(tmp_path, "ada")
    code, modules = loaded(layout.root, "hook", "PreToolUse", stdin=b'{"tool_name": "Bash"}')
    assert code == 0
    extra = {name.split(".")[0] for name in modules} - bare()
    assert not extra & (BANNED | {"json"})
    assert {name for name in modules if name.startswith("coleo.")} == {"coleo.__main__", "coleo.bus", "coleo.bus.hook"}
