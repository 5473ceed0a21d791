"""A person at an arm's terminal: `run` connects theirs to it until they detach or the arm ends.

Whatever happens in between, also an agent that is killed in the middle of a drawing, their terminal is afterwards what
it was before: line mode, cursor, paste and mouse modes, the screen they had.
"""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import socket
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from coleo.model.errors import BadInput, CannotBeDone
from coleo.terminal.paint import RESET
from coleo.terminal.protocol import HostGone, HostRefused, connect, line

DETACH = "ctrl-]"
#: A screen of its own for the arm: what stood on the person's comes back afterwards.
_BEGIN = b"\x1b[?1049h\x1b[H\x1b[2J"


def run(path: str, *, detach: str = DETACH, stdin: int = 0, stdout: int = 1) -> str:
    """Shows the arm behind the socket `path` and types into it; returns ``detached`` or ``ended``.

    detach: the key that leaves, as `key_bytes` reads it; everything else goes to the arm, Ctrl-C too. Only in the
    main thread: signals are handled meanwhile. Raises HostGone, HostRefused, BadInput for a key that is none, and
    CannotBeDone without a terminal.
    """
    keys = key_bytes(detach)
    if not (os.isatty(stdin) and os.isatty(stdout)):
        raise CannotBeDone("attaching needs a terminal", todo="use `coleo screen` to look without one")
    size = os.get_terminal_size(stdout)
    raw = connect(path)
    with socket.socket(fileno=raw.detach()) as sock:
        sock.sendall(line({"op": "attach", "rows": size.lines, "cols": size.columns}))
        first = _accepted(sock, path)
        with _own_screen(stdin, stdout), _woken() as wake:
            _write(stdout, first)
            return _loop(sock, keys, stdin, stdout, wake)


def key_bytes(name: str) -> tuple[bytes, ...]:
    """All that a terminal may send for a key such as ``ctrl-]``: the byte, and the two newer ways to say it.

    Raises BadInput for what is not ``ctrl-`` and one character from @ to _ or a letter.
    """
    prefix, _, char = name.rpartition("-") if not name.endswith("--") else ("ctrl", "-", "-")
    if prefix.lower() not in ("ctrl", "c") or len(char) != 1 or not "@" <= char.upper() <= "_":
        raise BadInput("not a detach key", found=repr(name), wanted="ctrl- and a letter or one of @ [ \\ ] ^ _")
    code = ord(char.lower())
    return (bytes([ord(char.upper()) & 0x1F]), b"\x1b[%d;5u" % code, b"\x1b[27;5;%d~" % code)


def _accepted(sock: socket.socket, path: str) -> bytes:
    """Reads the host's answer; what came behind it is output already."""
    got = b""
    while b"\n" not in got:
        data = sock.recv(65536)
        if not data:
            raise HostGone("the host does not answer", found=path)
        got += data
    answer, _, rest = got.partition(b"\n")
    values = json.loads(answer)
    if not values.get("ok"):
        raise HostRefused(str(values.get("error")), found=path)
    return rest


def _loop(sock: socket.socket, keys: tuple[bytes, ...], stdin: int, stdout: int, wake: int) -> str:
    arm = sock.fileno()
    while True:
        ready, _, _ = select.select([arm, stdin, wake], [], [])
        if wake in ready:
            numbers = os.read(wake, 512)
            if signal.SIGTERM in numbers or signal.SIGHUP in numbers:
                return "detached"
            size = os.get_terminal_size(stdout)
            sock.sendall(line({"op": "resize", "rows": size.lines, "cols": size.columns}))
        try:
            if arm in ready:
                data = sock.recv(65536)
                if not data:
                    return "ended"
                _write(stdout, data)
            if stdin in ready:
                typed = _typed(stdin)
                found = min((at for at in map(typed.find, keys) if at >= 0), default=-1)
                before = typed[:found] if found >= 0 else typed
                if before:
                    sock.sendall(line({"op": "input", "data": base64.b64encode(before).decode("ascii")}))
                if found >= 0 or not typed:
                    return "detached"
        except ConnectionError:
            return "ended"


def _typed(stdin: int) -> bytes:
    """Keys; b"" when the person's own terminal is gone."""
    try:
        return os.read(stdin, 65536)
    except OSError:
        return b""


@contextmanager
def _own_screen(stdin: int, stdout: int) -> Iterator[None]:
    before = termios.tcgetattr(stdin)
    try:
        tty.setraw(stdin, termios.TCSADRAIN)
        _write(stdout, _BEGIN)
        yield
    finally:
        try:
            _write(stdout, RESET)
        except OSError:
            pass
        try:
            termios.tcsetattr(stdin, termios.TCSANOW, before)
        except termios.error:
            pass


@contextmanager
def _woken() -> Iterator[int]:
    """A descriptor that is readable after a new window size or a request to end; the old handlers come back."""
    read_end, write_end = os.pipe()
    for fd in (read_end, write_end):
        os.set_blocking(fd, False)
    before = {number: signal.signal(number, _nothing) for number in (signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP)}
    old = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    try:
        yield read_end
    finally:
        signal.set_wakeup_fd(old)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(read_end)
        os.close(write_end)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """The loop learns of the signal through its pipe."""


def _write(fd: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:
            select.select([], [fd], [])
