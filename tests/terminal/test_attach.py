"""A person's terminal, connected to an arm's and given back as it was: with a terminal pair in the place of theirs."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from coleo.model.arm import ProcessId
from coleo.model.errors import BadInput
from coleo.terminal import processes
from coleo.terminal.attach import key_bytes
from coleo.terminal.paint import RESET
from tests.agents.setup import LINES, Person, Started, hosted, scripted, spec
from tests.waiting import eventually

CODE = (
    "import sys\nfrom coleo.terminal.attach import run\nfrom coleo.model.errors import ColeoError\n"
    "try: print('outcome:', run(sys.argv[1], detach=sys.argv[2]))\n"
    "except ColeoError as error: print('outcome:', error.message)"
)


class Window:
    """A terminal window in which somebody runs `attach`."""

    def __init__(self, socket: str, *, rows: int = 30, cols: int = 90, detach: str = "ctrl-]") -> None:
        self.fd, self._theirs = pty.openpty()
        self.size(rows, cols)
        self.before = termios.tcgetattr(self._theirs)
        self.seen = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE, socket, detach], stdin=self._theirs, stdout=self._theirs, stderr=self._theirs
        )
        os.set_blocking(self.fd, False)

    def size(self, rows: int, cols: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, data: bytes) -> None:
        os.write(self.fd, data)

    def read(self) -> bytes:
        try:
            self.seen += os.read(self.fd, 65536)
        except BlockingIOError:
            pass
        return self.seen

    def until_sees(self, data: bytes) -> None:
        eventually(lambda: data in self.read(), 20, what=f"{data!r} on the person's screen")

    def outcome(self) -> str:
        """What `run` said, after everything that the window was given back."""
        self.until_sees(b"outcome:")
        eventually(lambda: self.read() and self.process.poll() is not None)
        assert termios.tcgetattr(self._theirs) == self.before, "the terminal is not what it was"
        return self.read().partition(b"outcome: ")[2].decode().strip()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.fd)
        os.close(self._theirs)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Started]:
    with scripted(tmp_path) as started:
        started.until("ready")
        yield started


@pytest.fixture
def window(agent: Started) -> Iterator[Window]:
    one = Window(agent.socket)
    yield one
    one.close()


def test_look_type_leave(agent: Started, window: Window) -> None:
    """The screen as it is, keys both ways (Ctrl-C too), the window's size; then everything as before on both sides."""
    window.until_sees(b"scripted agent")
    eventually(lambda: agent.ask("screen")["screen"]["size"] == [30, 90])
    window.type(b"hello")
    window.until_sees(b"hello")
    window.type(b"\x03")
    eventually(lambda: agent.got("interrupt"))
    assert agent.status()["attached"] == 1 and agent.status()["typed_at"] is not None
    window.type(b"bye\x1d never typed")
    assert window.outcome() == "detached"
    eventually(lambda: agent.bytes_got().endswith(b"bye"))
    assert RESET in window.seen and window.seen.index(b"\x1b[?1049h") < window.seen.index(RESET)
    eventually(lambda: agent.status()["attached"] == 0)
    assert agent.ask("screen")["screen"]["size"] == [50, 200]


def test_the_window_is_made_larger(agent: Started, window: Window) -> None:
    """The arm's window follows."""
    window.until_sees(b"scripted agent")
    window.size(40, 120)
    os.kill(window.process.pid, signal.SIGWINCH)
    eventually(lambda: agent.ask("screen")["screen"]["size"] == [40, 120])


def test_the_agent_is_killed(agent: Started, window: Window) -> None:
    """In raw mode, with paste on: the person's terminal is whole afterwards."""
    window.until_sees(b"\x1b[?2004h")
    processes.signal_process(ProcessId(**agent.status()["child"]), signal.SIGKILL)
    assert window.outcome() == "ended"
    assert RESET in window.seen


def test_the_host_is_killed(agent: Started, window: Window) -> None:
    """The same."""
    window.until_sees(b"scripted agent")
    child = ProcessId(**agent.status()["child"])
    processes.signal_process(agent.host, signal.SIGKILL)
    assert window.outcome() == "ended"
    eventually(lambda: not processes.same(child), what="an agent without its terminal is hung up on")


def test_the_person_is_sent_away(agent: Started, window: Window) -> None:
    """TERM to `attach` gives the terminal back; the arm does not notice."""
    window.until_sees(b"scripted agent")
    window.process.terminate()
    assert window.outcome() == "detached"
    assert agent.status()["alive"]


def test_another_key_to_leave(agent: Started) -> None:
    """And the newer ways in which terminals say a key."""
    for key, typed in (("ctrl-a", b"\x01"), ("ctrl-\\", b"\x1b[92;5u"), ("ctrl-]", b"\x1b[27;5;93~")):
        window = Window(agent.socket, detach=key)
        window.until_sees(b"scripted agent")
        window.type(b"x" + typed)
        assert window.outcome() == "detached"
        window.close()
    eventually(lambda: agent.bytes_got() == b"xxx")


def test_nobody_there(tmp_path: Path) -> None:
    """Said in words; the terminal is not touched."""
    window = Window(str(tmp_path / "none.sock"))
    assert window.outcome() == "no host answers"
    window.close()


def test_without_a_terminal(agent: Started) -> None:
    """A pipe cannot attach."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, agent.socket, "ctrl-]"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30
    )
    assert b"needs a terminal" in done.stdout


def test_keys_to_leave_are_checked() -> None:
    """What cannot be typed with Ctrl is refused."""
    assert key_bytes("ctrl-]") == (b"\x1d", b"\x1b[93;5u", b"\x1b[27;5;93~")
    assert key_bytes("ctrl-_")[0] == b"\x1f" and key_bytes("C-b")[0] == b"\x02"
    for name in ("", "x", "alt-x", "ctrl-", "ctrl-xx", "ctrl-1", "ctrl-é"):
        with pytest.raises(BadInput, match="not a detach key"):
            key_bytes(name)


def test_modes_and_colours_come_first(tmp_path: Path) -> None:
    """Who attaches later sees what the program drew and set long before, the cursor where it is."""
    code = r"print('\x1b[?1006h\x1b[?2004h\x1b[?25l\x1b[1;31mred\x1b[0m plain\x1b[3;4H', end='', flush=True); input()"
    with hosted(tmp_path, spec(tmp_path, [sys.executable, "-c", code], LINES)) as agent:
        eventually(lambda: "red plain" in agent.rows())
        person = Person(agent)
        person.until_sees(b"\x1b[3;4H\x1b[?25l")
        for part in (b"\x1b[?1006h", b"\x1b[?2004h", b"\x1b[0;1;31mred\x1b[0m plain"):
            assert part in person.seen
        assert b"\x1b[?1000h" not in person.seen
        person.leave()


def test_answers_of_the_persons_terminal(tmp_path: Path) -> None:
    """While somebody is attached their terminal answers, not the host; that is not typing."""
    code = "import sys, tty; tty.setraw(0)\nsys.stdin.read(1); print('\\x1b[c', end='', flush=True); sys.stdin.read(9)"
    with hosted(tmp_path, spec(tmp_path, [sys.executable, "-c", code], LINES)) as agent:
        eventually(lambda: not agent.status()["icanon"])
        person = Person(agent)
        agent.ask("keys", data="eA==")
        person.until_sees(b"\x1b[c")
        person.type("\x1b[?1;2c")
        assert agent.status()["typed_at"] is None and agent.status()["alive"]
        person.type("ab")
        record = agent.until_gone()
        assert record.exit is not None and record.exit.code == 0
        person.leave()


def test_a_slow_window_gets_the_screen_anew(tmp_path: Path) -> None:
    """A person who does not read for megabytes: what they missed is left out, the last screen is not."""
    code = "import sys\nfor n in range(250000): print('line', n)\nprint('the end'); input()"
    with hosted(tmp_path, spec(tmp_path, [sys.executable, "-c", code], LINES)) as agent:
        person = Person(agent)
        eventually(lambda: agent.ask("figures")["bytes_out"] > 250_000 * 11, 60)
        eventually(lambda: "the end" in agent.rows(), 30)
        person.until_sees(b"the end")
        assert len(person.seen) < 4 << 20
        person.leave()
