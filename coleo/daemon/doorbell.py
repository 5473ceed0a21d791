"""The doorbell: agents' verbs ring it after a write, so that the brain looks within a millisecond.

One datagram on ``run/brain.sock``; its content is the area that changed, or nothing. Nobody has to ring: it is a
hint like a file event.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable

_MAX = 256


class Doorbell:
    """Listens on the socket of one project; `on_ring` gets the text of each datagram."""

    def __init__(self, path: str, on_ring: Callable[[str], None]) -> None:
        self._path = path
        self._on_ring = on_ring
        self._socket: socket.socket | None = None
        self._inode = 0

    def open(self) -> None:
        """Bind it. The caller holds the project's lock, so what lies at the path is left over from a dead brain."""
        self.close()
        folder, name = os.path.split(self._path)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        bell.setblocking(False)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            short = f"/proc/self/fd/{descriptor}/{name}" if os.path.isdir("/proc/self/fd") else self._path
            bell.bind(short)
        except BaseException:
            bell.close()
            raise
        finally:
            os.close(descriptor)
        os.chmod(self._path, 0o600)
        self._inode = os.stat(self._path).st_ino
        self._socket = bell
        asyncio.get_running_loop().add_reader(bell.fileno(), self._read, bell)

    def keep(self) -> None:
        """Call at each tick: binds it again when the socket file was swept away."""
        try:
            here = os.stat(self._path).st_ino
        except OSError:
            here = 0
        if here != self._inode or self._socket is None:
            self.open()

    def close(self) -> None:
        """Stop listening and take the socket file away, if it is still ours."""
        if self._socket is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()
        self._socket = None
        with contextlib.suppress(OSError):
            if os.stat(self._path).st_ino == self._inode:
                os.unlink(self._path)

    def _read(self, bell: socket.socket) -> None:
        while True:
            try:
                text = bell.recv(_MAX).decode("utf-8", "replace")
            except OSError:
                return
            self._on_ring(text)
