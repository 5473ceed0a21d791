"""Ringing the brain: one datagram to ``run/brain.sock``, so that it looks now and not at its next tick.

A hint only. Nobody listens, no socket, a full queue: all the same, nothing is said and nothing waits.
"""

from __future__ import annotations

import os

from coleo.files.layout import Layout

LONGEST = 100
"""Bytes of a Unix socket path that every kernel takes."""


def ring(layout: Layout, area: str = "") -> bool:
    """Tell a running brain that something has changed. area: what (``mail``, ``tasks``, ``plan``, a seat…), or "".

    True when somebody was there to hear it. Never raises.
    """
    try:
        import _socket

        path = layout.brain_socket
        folder = -1
        if len(os.fsencode(path)) > LONGEST:
            folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
            path = f"/proc/self/fd/{folder}/{os.path.basename(path)}"
        try:
            bell = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
            bell.setblocking(False)
            bell.sendto(area.encode("utf-8", "replace")[:200], path)
            bell.close()
        finally:
            if folder >= 0:
                os.close(folder)
    except (OSError, ImportError):
        return False
    return True
