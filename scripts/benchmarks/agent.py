"""An agent that answers at once, in a real terminal: ``agent.py TRANSCRIPT [SECONDS]``.

It draws a composer ("> "), takes bracketed pastes, and writes each submitted prompt to TRANSCRIPT as a turn. To
TRANSCRIPT.times it writes one JSON line for its start and for the first byte of each paste, with the instant of the
monotonic clock, which is the same in all processes. Told to end, it takes SECONDS for it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import tty

BEGIN, END = b"\x1b[200~", b"\x1b[201~"


def main() -> None:
    """Until the terminal ends."""
    transcript = sys.argv[1]
    slow_s = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0

    def ends(*_: object) -> None:
        time.sleep(slow_s)
        os._exit(0)

    signal.signal(signal.SIGTERM, ends)
    signal.signal(signal.SIGHUP, ends)
    tty.setraw(0)
    note(transcript, "start")
    draw(b"")
    os.write(1, b"\x1b[?2004h")
    pending, text = b"", b""
    while True:
        select.select([0], [], [])
        try:
            data = os.read(0, 65536)
        except OSError:
            return ends()
        if not data or data == b"\x04":
            return ends()
        if BEGIN in data:
            note(transcript, "paste")
        pending += data
        if pending.startswith(BEGIN[: len(pending)]) and END not in pending:
            continue
        keys = pending.replace(BEGIN, b"").replace(END, b"")
        pending = b""
        if keys.endswith(b"\r") and (text or keys[:-1]):
            with open(transcript, "a") as file:
                file.write(json.dumps({"type": "turn", "text": (text + keys[:-1]).decode(errors="replace")}) + "\n")
            text = b""
        elif not keys.endswith(b"\r"):
            text += keys
        draw(text)


def note(transcript: str, what: str) -> None:
    """One line with the instant."""
    at = time.monotonic_ns()
    fd = os.open(transcript + ".times", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, json.dumps({"what": what, "at_ns": at}).encode() + b"\n")
    os.close(fd)


def draw(text: bytes) -> None:
    """The composer: one row."""
    os.write(1, b"\r\x1b[2K> " + (b"[pasted %d bytes]" % len(text) if text else b""))


if __name__ == "__main__":
    main()
