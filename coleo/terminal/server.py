"""The host's side of its socket: connections, request lines, events, and raw output for who is attached."""

from __future__ import annotations

import _socket
import json
import os
import struct

from coleo.terminal.loop import Loop
from coleo.terminal.protocol import REQUEST_LIMIT, bind, line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

#: A client that does not read so much is left; a person's terminal gets the screen anew instead.
UNREAD_LIMIT = 16 << 20
UNREAD_RAW = 1 << 20


class Connection:
    """One client. attached: it gets raw output, and what it sends is typed by a person."""

    def __init__(self, sock: _socket.socket) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.subscribed = False
        self.attached = False
        self.missed = False
        self.got = bytearray()
        self.unsent = bytearray()


class Server:
    """Listens at a path and serves any number of clients.

    answer: gets a connection and a request, gives the answer's fields; raises ValueError for what cannot be done.
    left: called when a connection has ended. caught_up: called when a slow attached client reads again.
    """

    def __init__(
        self,
        loop: Loop,
        path: str,
        answer: Callable[[Connection, dict[str, Any]], Mapping[str, object] | None],
        left: Callable[[Connection], None],
        caught_up: Callable[[Connection], None],
    ) -> None:
        self.path = path
        self._loop, self._answer, self._left, self._caught_up = loop, answer, left, caught_up
        self._connections: dict[int, Connection] = {}
        self._listener: _socket.socket | None = None
        self._inode: tuple[int, int] | None = None

    def listen(self) -> None:
        """Makes the socket, or makes it anew where its file is gone or is another's. Raises CannotBeDone, OSError."""
        if self._listener is not None:
            if self._mine():
                return
            self._loop.read(self._listener.fileno(), None)
            self._listener.close()
            self._listener = None
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        self._listener = bind(self.path)
        self._inode = self._file()
        self._loop.read(self._listener.fileno(), self._accept)

    @property
    def subscribed(self) -> bool:
        """Whether anybody wants events."""
        return any(connection.subscribed for connection in self._connections.values())

    @property
    def attached(self) -> list[Connection]:
        """Who has a person at the other end."""
        return [connection for connection in self._connections.values() if connection.attached]

    def event(self, values: Mapping[str, object]) -> None:
        """To everybody who subscribed."""
        data = line(values)
        for connection in list(self._connections.values()):
            if connection.subscribed:
                self._send(connection, data)

    def raw(self, data: bytes) -> None:
        """Output, to everybody who is attached."""
        for connection in self.attached:
            if connection.missed or len(connection.unsent) > UNREAD_RAW:
                connection.missed = True
            else:
                self._send(connection, data)

    def send_raw(self, connection: Connection, data: bytes) -> None:
        """Output, to one who is attached."""
        self._send(connection, data)

    def close(self) -> None:
        """Sends what can be sent, ends all connections, removes the socket's file if it still is this one."""
        for connection in list(self._connections.values()):
            self.finish(connection)
        if self._listener is not None:
            if self._mine():
                os.unlink(self.path)
            self._loop.read(self._listener.fileno(), None)
            self._listener.close()
            self._listener = None

    def finish(self, connection: Connection) -> None:
        """Ends one connection; it is given a second to take what is for it."""
        connection.sock.settimeout(1.0)
        try:
            connection.sock.sendall(bytes(connection.unsent))
        except OSError:
            pass
        self.drop(connection)

    def drop(self, connection: Connection) -> None:
        """Ends one connection."""
        if self._connections.pop(connection.fd, None) is None:
            return
        self._loop.read(connection.fd, None)
        self._loop.write(connection.fd, None)
        connection.sock.close()
        self._left(connection)

    def _file(self) -> tuple[int, int] | None:
        try:
            at = os.stat(self.path, follow_symlinks=False)
        except OSError:
            return None
        return at.st_dev, at.st_ino

    def _mine(self) -> bool:
        return self._inode is not None and self._file() == self._inode

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            fd, _ = self._listener._accept()  # type: ignore[attr-defined]  # what socket.accept calls
        except OSError:
            return
        os.set_inheritable(fd, False)
        connection = Connection(_socket.socket(fileno=fd))
        connection.sock.setblocking(False)
        if not _same_user(connection.sock):
            connection.sock.close()
            return
        self._connections[fd] = connection
        self._loop.read(fd, lambda: self._readable(connection))

    def _readable(self, connection: Connection) -> None:
        try:
            data = connection.sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.drop(connection)
            return
        connection.got += data
        while (end := connection.got.find(b"\n")) >= 0:
            request = bytes(connection.got[:end])
            del connection.got[: end + 1]
            self._request(connection, request)
            if connection.fd not in self._connections:
                return
        if len(connection.got) > REQUEST_LIMIT:
            self.drop(connection)

    def _request(self, connection: Connection, data: bytes) -> None:
        number: object = None
        answer: Mapping[str, object] | None
        try:
            request = json.loads(data)
            if not isinstance(request, dict):
                raise ValueError("a request is a JSON object")
            number = request.get("n")
            answer = self._answer(connection, request)
        except (ValueError, KeyError, TypeError) as error:
            answer = {"ok": False, "error": str(error) or repr(error)}
        if answer is None or (connection.attached and "attach" not in answer):
            return
        self._send(connection, line({"n": number, "ok": True, **answer}))

    def _send(self, connection: Connection, data: bytes) -> None:
        connection.unsent += data
        self._writable(connection)
        if len(connection.unsent) > UNREAD_LIMIT:
            self.drop(connection)

    def _writable(self, connection: Connection) -> None:
        try:
            while connection.unsent:
                del connection.unsent[: connection.sock.send(connection.unsent[:65536])]
        except BlockingIOError:
            self._loop.write(connection.fd, lambda: self._writable(connection))
            return
        except OSError:
            self.drop(connection)
            return
        self._loop.write(connection.fd, None)
        if connection.missed:
            connection.missed = False
            self._caught_up(connection)


def _same_user(sock: _socket.socket) -> bool:
    """Whether the other end runs as this user or root: the socket's mode says it already, this also after a chmod."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return True
    found = sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, struct.calcsize("3i"))
    uid: int = struct.unpack("3i", found)[1]
    return uid in (0, os.geteuid())
