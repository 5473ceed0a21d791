"""What goes over a host's socket and lies beside it: the spec, the exit record, the screen, lines of JSON.

A client writes one JSON object a line, ``{"op": ..., "n": ...}``; the answer repeats ``n`` and says ``ok``. After
``subscribe``, whose answer is how things stand, the host also sends ``{"event": "state" | "delivery" | "exit", ...}``.
After ``attach`` the rest of what the host sends is the terminal's own output, byte for byte.

Sockets live in folders of any depth: a path longer than the kernel's 108 bytes is reached through the folder.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from _socket import AF_UNIX, SOCK_STREAM
from _socket import socket as RawSocket

from coleo.model.arm import ProcessId
from coleo.model.delivery import DeliveryStatus, Exit
from coleo.model.errors import CannotBeDone
from coleo.model.harness import Harness, from_json, to_json
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ROWS, COLS = 50, 200
#: A request line above this ends the connection: it is no request of ours.
REQUEST_LIMIT = 4 << 20


class HostGone(CannotBeDone):
    """Nobody answers on the socket: the host has ended, or never was."""


class HostRefused(CannotBeDone):
    """The host answered that it cannot do this."""


class HostSpec(Record):
    """What a host is to run: the content of ``run/hosts/<seat>.json`` (0600: env holds the seat's secrets).

    argv: the program and its arguments, placeholders filled in. env: the whole environment of the arm. transcript:
    where the agent writes its receipts ("" for nowhere). log: where the host's own faults go ("" for nowhere).
    """

    seat: str
    generation: int
    argv: tuple[str, ...]
    cwd: str
    env: tuple[tuple[str, str], ...]
    socket: str
    harness: Harness
    rows: int = ROWS
    cols: int = COLS
    transcript: str = ""
    log: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        values = self.as_dict()
        return {**values, "argv": list(self.argv), "env": dict(self.env), "harness": to_json(self.harness)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> HostSpec:
        """Of the values that `to_json` gives. Raises ValueError for what is no spec."""
        try:
            values = dict(data)
            values["argv"] = tuple(str(part) for part in values["argv"])
            values["env"] = tuple((str(name), str(value)) for name, value in values["env"].items())
            values["harness"] = from_json(values["harness"])
            return cls(**values)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not a host's spec: {error!r}") from error


class ExitRecord(Record):
    """What a host leaves behind when its arm has ended: ``run/hosts/<seat>.exit.json``, beside the spec.

    failure: why the arm was never started ("" when it was). screen: the last rows that it showed. deliveries: every
    prompt that the host was asked to deliver and did not see through, and the last 100 that it did.
    """

    seat: str
    generation: int
    host: ProcessId
    child: ProcessId | None
    exit: Exit | None
    at: float
    failure: str = ""
    stopping: str = ""
    screen: tuple[str, ...] = ()
    deliveries: tuple[DeliveryStatus, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        values = self.as_dict()
        for name in ("host", "child", "exit"):
            values[name] = values[name] and values[name].as_dict()
        return {**values, "screen": list(self.screen), "deliveries": [each.as_dict() for each in self.deliveries]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExitRecord:
        """Of the values that `to_json` gives. Raises ValueError for what is no exit record."""
        try:
            values = dict(data)
            values["host"] = ProcessId(**values["host"])
            values["child"] = ProcessId(**values["child"]) if values["child"] else None
            values["exit"] = Exit(**values["exit"]) if values["exit"] else None
            values["screen"] = tuple(values["screen"])
            values["deliveries"] = tuple(DeliveryStatus.from_json(each) for each in values["deliveries"])
            return cls(**values)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not an exit record: {error!r}") from error


class Style(Record):
    """How cells look: colours are ``default``, a name such as ``brightred``, or six hex digits."""

    fg: str = "default"
    bg: str = "default"
    bold: bool = False
    italics: bool = False
    underscore: bool = False
    strikethrough: bool = False
    reverse: bool = False


class ScreenShot(Record):
    """What the screen shows. rows: text without trailing blanks. cursor: (row, column) from 0.

    known: it is what the program has drawn; else output was too fast and nothing has redrawn the screen since.
    runs: with colours, for each row its parts of equal style in order, as (columns, text, style): a wide character
    takes two columns. skipped: sequences that the screen could not take, since the start.
    """

    rows: tuple[str, ...]
    cursor: tuple[int, int]
    size: tuple[int, int]
    known: bool
    title: str = ""
    cursor_shown: bool = True
    skipped: int = 0
    runs: tuple[tuple[tuple[int, str, Style], ...], ...] = ()

    @property
    def text(self) -> str:
        """The rows as one text, blank rows at the end left out."""
        return "\n".join(self.rows).rstrip("\n")

    def to_json(self) -> dict[str, Any]:
        """As JSON values; a style is the list of its fields."""
        runs = [[[cols, text, list(style.as_dict().values())] for cols, text, style in row] for row in self.runs]
        return {**self.as_dict(), "rows": list(self.rows), "runs": runs}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ScreenShot:
        """Of the values that `to_json` gives."""
        values = {name: data[name] for name in cls.__match_args__}
        values["rows"] = tuple(values["rows"])
        values["cursor"], values["size"] = tuple(values["cursor"]), tuple(values["size"])
        values["runs"] = tuple(
            tuple((cols, text, Style(*style)) for cols, text, style in row) for row in values["runs"]
        )
        return cls(**values)


def exit_path(spec_path: str) -> str:
    """Where the exit record of the host with this spec lies."""
    return spec_path.removesuffix(".json") + ".exit.json"


def read_exit(spec_path: str) -> ExitRecord | None:
    """The exit record beside a spec, None when there is none. Raises ValueError when it cannot be read."""
    try:
        with open(exit_path(spec_path), "rb") as file:
            return ExitRecord.from_json(json.loads(file.read()))
    except FileNotFoundError:
        return None


def write_private(path: str, values: object) -> None:
    """One JSON file, 0600, whole or not at all: another file, flushed, takes its place."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temp = f"{path}.{os.getpid()}.tmp"
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(fd)
        os.replace(temp, path)
    except BaseException:
        try:
            os.unlink(temp)
        except FileNotFoundError:
            pass
        raise


def line(values: Mapping[str, object]) -> bytes:
    """One message on the wire."""
    return json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n"


def connect(path: str) -> RawSocket:
    """A stream connected to the socket at `path`, whatever the length of the path; blocking, closed on exec.

    Raises HostGone when nobody listens there.
    """
    sock = RawSocket(AF_UNIX, SOCK_STREAM)
    try:
        _at(path, sock.connect)
    except OSError as error:
        sock.close()
        if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR, errno.ENOTSOCK):
            raise HostGone("no host answers", found=f"{path}: {error.strerror}") from error
        raise
    return sock


def bind(path: str) -> RawSocket:
    """A listening socket at `path`, 0600, not blocking. A socket that nobody answers on is replaced.

    Raises CannotBeDone when another host answers there.
    """
    try:
        connect(path).close()
    except HostGone:
        try:
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError):
            pass
    else:
        raise CannotBeDone("another host of this seat is running", found=path)
    sock = RawSocket(AF_UNIX, SOCK_STREAM)
    before = os.umask(0o177)
    try:
        _at(path, sock.bind)
        sock.listen(64)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    finally:
        os.umask(before)
    return sock


def _at(path: str, use: Any) -> None:
    """Calls `use` with an address for `path` that fits into the kernel's 108 bytes."""
    if len(os.fsencode(path)) < 100:
        use(path)
        return
    folder, name = os.path.split(path)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if sys.platform == "linux":
            use(f"/proc/self/fd/{fd}/{name}")
            return
        here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fchdir(fd)
            use(name)
        finally:
            os.fchdir(here)
            os.close(here)
    finally:
        os.close(fd)
