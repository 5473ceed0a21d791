"""The terminal pair: what is checked before a start, what the program finds, what goes in and out."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coleo.terminal.protocol import HostSpec
from coleo.terminal.pty import OUTBOX_LIMIT, WRITE_LIMIT, Outbox, Terminal, find_program, problem, slices
from tests.agents.setup import LINES, spec


@given(st.one_of(st.text(max_size=200).map(str.encode), st.binary(max_size=200)), st.integers(8, 40))
def test_slices_are_all_of_it(data: bytes, limit: int) -> None:
    """In order, none longer than asked for, and none empty but for nothing."""
    pieces = list(slices(data, limit))
    assert b"".join(pieces) == data
    assert all(0 < len(piece) <= limit for piece in pieces) or data == b""


@given(st.text(alphabet="aä漢🚀\n", max_size=120), st.integers(16, 40))
def test_slices_end_between_characters(text: str, limit: int) -> None:
    """And never inside a paste marker (case a07)."""
    for piece in slices(b"\x1b[200~" + text.encode() + b"\x1b[201~", limit):
        piece.decode()
        assert piece.count(b"\x1b") == piece.count(b"\x1b[200~") + piece.count(b"\x1b[201~")


def outcome(wanted: HostSpec) -> str:
    return problem(wanted)


def test_what_is_wrong_is_said_before_the_start(tmp_path: Path) -> None:
    """Program, folder, environment and size: each in words, and none of them starts anything."""
    plain = tmp_path / "plain"
    plain.write_text("no program\n")
    for wanted, why in (
        (spec(tmp_path, []), "names no program"),
        (spec(tmp_path, ["no-such-program"]), "no-such-program was not found in PATH"),
        (spec(tmp_path, ["./missing"]), "missing was not found as a file"),
        (spec(tmp_path, [str(plain)]), "is not executable"),
        (spec(tmp_path, [str(tmp_path)]), "was not found as a file"),
        (spec(tmp_path, ["true"], cwd=str(tmp_path / "gone")), "is not a folder"),
        (spec(tmp_path, ["true"], cwd=str(plain)), "is not a folder"),
        (spec(tmp_path, ["true", "a\0b"]), "NUL"),
        (spec(tmp_path, ["true"], env=(("A=B", "c"), ("PATH", "/bin"))), "no name for an environment variable"),
        (spec(tmp_path, ["true"], env=()), "PATH (which is not set)"),
        (spec(tmp_path, ["true"], rows=0), "0 rows"),
    ):
        assert why in problem(wanted), problem(wanted)
    assert problem(spec(tmp_path, ["true"])) == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter everything")
def test_a_folder_that_may_not_be_entered(tmp_path: Path) -> None:
    """Said before the start."""
    closed = tmp_path / "closed"
    closed.mkdir(0o600)
    assert "may not be entered" in problem(spec(tmp_path, ["true"], cwd=str(closed)))


def test_programs_are_found_as_the_arm_would(tmp_path: Path) -> None:
    """By the arm's PATH, relative to its folder; a file without x-bit only when there is no other."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "two" / "tool").chmod(0o755)
    env = {"PATH": f"{tmp_path}/one:two"}
    assert find_program("tool", env, str(tmp_path)) == f"{tmp_path}/two/tool"
    assert find_program("tool", {"PATH": f"{tmp_path}/one"}, "/") == f"{tmp_path}/one/tool"
    assert find_program("./two/tool", {}, str(tmp_path)) == f"{tmp_path}/two/tool"
    assert find_program("two/../one", {}, str(tmp_path)) is None


CHILD = """
import json, os, signal, sys, termios
ignored = [n for n in range(1, 32) if n not in (9, 19) and signal.getsignal(n) == signal.SIG_IGN and n not in (13, 25)]
lines = open("/proc/self/status").read() if os.path.exists("/proc/self/status") else ""
flags = {l.split(":")[0]: l.split()[1] for l in lines.splitlines() if l.startswith(("SigBlk", "SigIgn"))}
print(json.dumps({"cwd": os.getcwd(), "env": dict(os.environ), "ignored": ignored, "flags": flags,
    "size": os.get_terminal_size(), "leader": os.getsid(0) == os.getpid() == os.getpgid(0), "tty": os.ttyname(0),
    "fds": sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []}))
"""


def test_what_the_program_finds(tmp_path: Path) -> None:
    """Its folder, exactly its environment, its window, a session of its own, no descriptor and no signal of ours."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGHUP, signal.SIGUSR2)}
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    opened = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(opened, True)
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    try:
        wanted = spec(
            tmp_path,
            [sys.executable, "-S", str(script)],
            env=(("PATH", "/bin"), ("A", "ä"), ("TERM", "dumb"), ("LINES", "9")),
        )
        here = os.getcwd()
        terminal = Terminal.start(wanted)
        assert os.getcwd() == here
    finally:
        os.close(opened)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        for number, handler in before.items():
            signal.signal(number, handler)
    out = b""
    while (data := terminal.read()) != b"":
        out += data or b""
    os.waitpid(terminal.pid, 0)
    terminal.close()
    seen = json.loads(out)
    assert seen["cwd"] == os.path.realpath(tmp_path)
    seen["env"].pop("LC_CTYPE", None)
    assert seen["env"] == {"PATH": "/bin", "A": "ä", "TERM": "xterm-256color"}
    assert seen["ignored"] == [] and seen["size"] == [200, 50] and seen["leader"]
    if seen["flags"]:
        # Python itself ignores SIGPIPE (13) and SIGXFSZ (25) once it runs.
        assert int(seen["flags"]["SigBlk"], 16) == 0
        assert int(seen["flags"]["SigIgn"], 16) & ~(1 << 12 | 1 << 24) == 0
        assert len(seen["fds"]) == 4, "the three of its terminal, and the one that lists them"


def test_line_mode_is_seen_from_this_side(tmp_path: Path) -> None:
    """`canonical` follows the program's own setting without a word from it."""
    code = "import tty, sys; sys.stdin.read(1); tty.setraw(0); print('raw'); sys.stdin.read(1)"
    terminal = Terminal.start(spec(tmp_path, [sys.executable, "-c", code], LINES))
    assert terminal.canonical
    terminal.outbox.add(b"x\n")
    terminal.flush()
    out = b""
    while b"raw" not in out:
        out += terminal.read() or b""
    assert not terminal.canonical
    terminal.resize(10, 20)
    terminal.close()
    os.waitpid(terminal.pid, 0)
    assert terminal.fd == -1


def test_an_outbox_has_an_end() -> None:
    """A program that never reads cannot make its host grow."""
    outbox = Outbox()
    assert outbox.add(b"x" * OUTBOX_LIMIT) and not outbox.add(b"x")
    outbox.drop()
    assert not outbox and outbox.add(b"x" * WRITE_LIMIT)


def test_nobody_reads_any_more() -> None:
    """What waits is forgotten: it has no address."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    os.set_blocking(write_end, False)
    outbox = Outbox()
    outbox.add(b"x")
    assert outbox.write(write_end) == 0 and not outbox
    os.close(write_end)
