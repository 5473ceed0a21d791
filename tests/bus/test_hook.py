"""`coleo hook EVENT`: one line, one ring, and never an obstacle for an agent."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies

from coleo.bus import doorbell, hook
from coleo.files import activity
from coleo.files.layout import Layout, make_private
from tests.files.project import NOW, lay, log
from tests.waiting import eventually


def run(
    layout: Layout | None, *args: str, stdin: bytes = b"", cwd: str | None = None, seat: str = "ada"
) -> subprocess.CompletedProcess[bytes]:
    """The hook as an agent's harness starts it."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("COLEO_")}
    variables |= {"COLEO_SEAT": seat, **({"COLEO_PROJECT": layout.root} if layout else {})}
    return subprocess.run(
        [sys.executable, "-m", "coleo", "hook", *args],
        input=stdin, capture_output=True, env=variables, cwd=cwd, timeout=60, check=False,
    )  # fmt: skip


def test_one_line_with_the_names_of_things(tmp_path: Path) -> None:
    """Who, which tool, which session; never what a tool was given, nor the words of a prompt."""
    layout = lay(tmp_path, "ada")
    given = {
        "session_id": "s-1",
        "tool_name": "Bash",
        "tool_use_id": "u-1",
        "tool_input": {"command": "export TOKEN=CANARY_9f"},
        "prompt": "=== AGENT MESSAGE from bob [msg_id: m-abc, m-def] [00ff] ===\n> CANARY_9f [msg_id: ../x]",
    }
    done = run(layout, "PreToolUse", stdin=json.dumps(given).encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (line,) = log(layout)
    assert line.pop("ts")
    assert line == {
        "action": "tool_call",
        "seat": "ada",
        "event": "PreToolUse",
        "session_id": "s-1",
        "tool_name": "Bash",
        "tool_use_id": "u-1",
        "messages": "m-abc,m-def",
    }
    assert b"CANARY" not in b"".join(path.read_bytes() for path in Path(layout.activity).iterdir())


@pytest.mark.parametrize("rubbish", [b"", b"not json", b"[1, 2]", b'{"a": ', b"\xff\xfe\x00", b"{" * 100_000, b"null"])
def test_rubbish_is_an_event_all_the_same(tmp_path: Path, rubbish: bytes) -> None:
    """Exit 0, silent, one valid line."""
    layout = lay(tmp_path, "ada")
    done = run(layout, "Stop", stdin=rubbish)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [(line["action"], line["event"]) for line in log(layout)] == [("hook", "Stop")]


@pytest.mark.parametrize("args", [(), ("",), ("Stop\nforged",), ("x" * 100,), ("--help",)])
def test_what_is_no_event_leaves_no_line(tmp_path: Path, args: tuple[str, ...]) -> None:
    """And is no error."""
    layout = lay(tmp_path, "ada")
    assert run(layout, *args).returncode == 0
    assert [line["event"] for line in log(layout)] in ([], ["--help"])


def test_away_from_any_project_it_is_silent(tmp_path: Path) -> None:
    """No project, a project that is gone, a folder that nobody can write to."""
    assert run(None, "Stop", cwd=str(tmp_path)).returncode == 0
    assert run(Layout(str(tmp_path / "gone")), "Stop").returncode == 0
    layout = lay(tmp_path, "ada")
    Path(layout.coleo).write_text("a file in its place")
    done = run(layout, "Stop")
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_line_is_written_as_the_log_is_written(tmp_path: Path) -> None:
    """Same file, same time format, under the same lock, behind a torn tail (cases g01 g03)."""
    layout = lay(tmp_path, "ada")
    activity.append(layout, "notice", now=NOW, seat="ada")
    path = Path(activity.path_of(layout, NOW))
    with path.open("ab") as file:
        file.write(b'{"torn')
    hook._append(layout.root, hook._line("Stop", "ada", b"{}", NOW))
    lines = path.read_bytes().splitlines()
    assert lines[1] == b'{"torn' and len(lines) == 3
    assert json.loads(lines[2])["ts"] == json.loads(lines[0])["ts"]


def test_the_hook_waits_for_the_logs_lock(tmp_path: Path) -> None:
    """While another writes, it does not (case g03)."""
    layout = lay(tmp_path, "ada")
    activity.append(layout, "notice", now=NOW, seat="ada")
    writer = threading.Thread(target=hook._append, args=(layout.root, hook._line("Stop", "ada", b"{}", NOW)))
    with open(layout.lock("activity"), "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        writer.start()
        eventually(lambda: "->" in Path("/proc/locks").read_text(), what="somebody waits for a lock")
        assert log(layout, "hook") == []
    writer.join(30)
    assert len(log(layout, "hook")) == 1


@given(strategies.text(max_size=30), strategies.binary(max_size=60))
def test_any_input_makes_one_line_of_json(seat: str, data: bytes) -> None:
    """Whatever comes in."""
    line = hook._line("Stop", seat, data, NOW)
    assert line.endswith(b"\n") and line.count(b"\n") == 1 and line.isascii()
    assert json.loads(line)["event"] == "Stop"


@given(strategies.dictionaries(strategies.sampled_from(hook.KEPT), strategies.text(max_size=700), max_size=4))
def test_kept_values_are_read_as_json_would(given_: dict[str, str]) -> None:
    """By the C scanner without the json package."""
    line = json.loads(hook._line("Stop", "", json.dumps(given_).encode(), NOW))
    assert {name: line[name] for name in given_ if name in line} == {n: v[:512] for n, v in given_.items() if v}


@pytest.mark.parametrize("deep", [False, True])
def test_the_doorbell_rings(tmp_path: Path, deep: bool) -> None:
    """Also where the path is longer than a socket's name may be; and nobody listening is no error."""
    root = tmp_path / ("x" * 100) / "y" if deep else tmp_path
    root.mkdir(parents=True, exist_ok=True)
    layout = lay(root, "ada")
    assert doorbell.ring(layout) is False
    make_private(layout.run)
    bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    folder = os.open(layout.run, os.O_RDONLY)
    try:
        bell.bind(f"/proc/self/fd/{folder}/brain.sock")
        bell.settimeout(10)
        assert doorbell.ring(layout, "mail") is True
        assert bell.recv(100) == b"mail"
        assert run(layout, "Stop").returncode == 0
        assert bell.recv(100) == b"hooks"
    finally:
        os.close(folder)
        bell.close()


def test_a_full_queue_makes_nobody_wait(tmp_path: Path) -> None:
    """A brain that does not listen any more."""
    layout = lay(tmp_path, "ada")
    make_private(layout.run)
    bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    folder = os.open(layout.run, os.O_RDONLY)
    try:
        bell.bind(f"/proc/self/fd/{folder}/brain.sock")
        rings = [doorbell.ring(layout) for _ in range(2000)]
        assert rings[0] is True and rings[-1] is False
    finally:
        os.close(folder)
        bell.close()
