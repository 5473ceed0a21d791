"""Hosts with the scripted agent in them, for tests: harness records, start and end of a host, what the agent got."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coleo.model.arm import ProcessId
from coleo.model.harness import Harness, Receipts, Rule
from coleo.terminal import processes
from coleo.terminal.client import ask
from coleo.terminal.launch import launch
from coleo.terminal.protocol import ExitRecord, HostGone, HostSpec, connect, line, read_exit
from tests.waiting import eventually

PROGRAM = str(Path(__file__).with_name("scripted.py"))

#: How coleo reads the screen of `scripted.py`.
SCRIPTED = Harness(
    name="scripted",
    summary="the scripted agent of the tests",
    composer="screen",
    paste=True,
    rules=(
        Rule("dialog", r"^\? .+\n.*\(Enter to confirm\)"),
        Rule("busy", r"^\* working"),
        Rule("composer_empty", r"\A>\Z", "composer"),
    ),
    composer_begin=r"^>( |$)",
    receipts=Receipts("jsonl", "{transcript}", '"type": "typed"', '"type": "turn"'),
)


def harness_file(script: dict[str, Any]) -> str:
    """The text of a harness file (``scripted.toml``) for the scripted agent with this script."""
    argv = json.dumps(["{python}", PROGRAM, json.dumps(script)])
    return f"argv = {argv}\n" + Path(PROGRAM).with_name("scripted.toml").read_text()


#: A program that reads lines and shows nothing of them.
LINES = Harness(name="lines", summary="a line reader", composer="none", paste=False, enter="\n", weak_receipts=True)


class Started:
    """A host that a test has started. `got` is what its agent wrote down."""

    def __init__(self, folder: Path, spec: HostSpec, host: ProcessId) -> None:
        self.folder, self.spec, self.host = folder, spec, host
        self.spec_path = str(folder / "host.json")

    @property
    def socket(self) -> str:
        """Where it listens."""
        return self.spec.socket

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """One request to the host."""
        return ask(self.socket, {"op": op, **fields}, timeout_s=20)

    def status(self) -> dict[str, Any]:
        """The host's status, as JSON values."""
        status: dict[str, Any] = self.ask("status")["status"]
        return status

    def rows(self) -> list[str]:
        """The rows of its screen."""
        rows: list[str] = self.ask("screen")["screen"]["rows"]
        return rows

    def delivery(self, id: str) -> dict[str, Any]:
        """Where a prompt stands."""
        found: dict[str, Any] = self.ask("delivery", id=id)["delivery"]
        return found

    def until(self, state: str, timeout_s: float = 15.0) -> dict[str, Any]:
        """Waits for a state of the screen."""

        def reached() -> dict[str, Any] | None:
            status = self.status()
            return status if status["state"] == state else None

        return eventually(reached, timeout_s, what=f"the screen is {state}") or {}

    def until_delivery(self, id: str, *states: str, timeout_s: float = 25.0) -> dict[str, Any]:
        """Waits for a prompt to come so far."""

        def reached() -> dict[str, Any] | None:
            found = self.delivery(id)
            return found if found["state"] in states else None

        return eventually(reached, timeout_s, what=f"{id} is {' or '.join(states)}") or {}

    def got(self, key: str) -> list[Any]:
        """What the agent wrote down under a key, in order."""
        try:
            lines = (self.folder / "got.jsonl").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [values[key] for values in map(json.loads, lines) if key in values]

    def bytes_got(self) -> bytes:
        """Every byte that the agent read after its composer was there."""
        return b"".join(bytes.fromhex(data) for data in self.got("got"))

    def until_gone(self, timeout_s: float = 20.0) -> ExitRecord:
        """Waits for the end of the host; how its arm ended."""
        eventually(lambda: not processes.same(self.host), timeout_s, what="the host ends")
        record = read_exit(self.spec_path)
        assert record is not None, "the host has left no exit record"
        return record


def spec(folder: Path, argv: list[str], harness: Harness = SCRIPTED, **more: Any) -> HostSpec:
    """A spec for a program in `folder`, with the environment that an arm has at the least."""
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    values = {
        "seat": "worker",
        "generation": 1,
        "argv": tuple(argv),
        "cwd": str(folder),
        "env": tuple(env.items()),
        "socket": str(folder / "host.sock"),
        "harness": harness,
    }
    return HostSpec(**{**values, **more})


@contextlib.contextmanager
def hosted(folder: Path, wanted: HostSpec) -> Iterator[Started]:
    """A host with this spec, ended with everything in it at the latest when the test leaves."""
    started = Started(folder, wanted, launch(wanted, str(folder / "host.json")))
    try:
        yield started
    finally:
        end(started)


@contextlib.contextmanager
def scripted(folder: Path, harness: Harness = SCRIPTED, **script: Any) -> Iterator[Started]:
    """A host with the scripted agent, told to do what `script` says."""
    folder.mkdir(parents=True, exist_ok=True)
    script = {"log": str(folder / "got.jsonl"), "transcript": str(folder / "transcript.jsonl"), **script}
    with hosted(folder, spec(folder, [sys.executable, PROGRAM, json.dumps(script)], harness)) as started:
        yield started


def end(started: Started) -> None:
    """Stops the host without grace; kills it when it does not answer."""
    if not processes.same(started.host):
        return
    try:
        started.ask("stop", grace_s=0, keys=False)
        eventually(lambda: not processes.same(started.host), 15)
    except (HostGone, AssertionError):
        for process in [*processes.descendants(started.host.pid), processes.look(started.host.pid)]:
            if process is not None:
                processes.signal_process(ProcessId(process.pid, process.start, started.host.boot), signal.SIGKILL)


class Person:
    """Somebody at the terminal of an arm, without a terminal of their own: what they type, what they see."""

    def __init__(self, started: Started, rows: int = 30, cols: int = 100) -> None:
        self._sock = socket.socket(fileno=connect(started.socket).detach())
        self._sock.settimeout(20)
        self.seen = b""
        self._send(op="attach", rows=rows, cols=cols)
        self._stream = self._sock.makefile("rb", buffering=0)
        answer = self._stream.readline()
        assert json.loads(answer)["ok"], answer

    def _send(self, **values: object) -> None:
        self._sock.sendall(line(values))

    def type(self, text: str) -> None:
        """Keys."""
        self._send(op="input", data=base64.b64encode(text.encode()).decode())

    def resize(self, rows: int, cols: int) -> None:
        """Another window size."""
        self._send(op="resize", rows=rows, cols=cols)

    def until_sees(self, data: bytes) -> None:
        """Waits for output."""
        while data not in self.seen:
            more = self._stream.read(65536)
            assert more, f"the host left; seen: {self.seen[-500:]!r}"
            self.seen += more

    def until_left(self) -> None:
        """Reads until the host ends the connection."""
        while more := self._stream.read(65536):
            self.seen += more

    def leave(self) -> None:
        """Goes."""
        self._stream.close()
        self._sock.close()
