"""A person at a terminal: an editor in a real PTY, keys in, what it printed out."""

from __future__ import annotations

import contextlib
import os
import re
import select
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, TracebackType

import pyte
from ptyprocess import PtyProcess

#: Escape sequences of an xterm: CSI, OSC, charset switches, single ones.
_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78McDEHNO])")

#: Nothing is asked.
NO_ANSWERS: Mapping[str, str] = MappingProxyType({})


class Keyboard:
    """Starts `argv` in a PTY of 24 by 100 and types into it; ends it, whatever happened, on leaving the block.

    TERM should be vt100: pyte knows all of that.
    """

    def __init__(self, argv: Sequence[str], folder: str, environ: Mapping[str, str]) -> None:
        self._process = PtyProcess.spawn(list(argv), cwd=folder, env=dict(environ), dimensions=(24, 100))
        self._printed = ""
        self._screen = pyte.Screen(100, 24)
        self._stream = pyte.ByteStream(self._screen)
        self._name = argv[0]

    def __enter__(self) -> Keyboard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.close(force=True)

    def type(self, keys: str) -> None:
        """Sends the keys; what the editor prints meanwhile is read, or it would stand still."""
        self._printed = ""
        rest = keys.encode()
        while rest:
            self._read(0)
            rest = rest[os.write(self._process.fd, rest) :]

    def until(self, done: Callable[[], bool], answers: Mapping[str, str], timeout_s: float = 20.0) -> None:
        """Waits for evidence outside of the screen; a question printed meanwhile gets its answer, once each time."""
        deadline = time.monotonic() + timeout_s
        while not done():
            self._read(0.02)
            for question, answer in answers.items():
                if question in self._printed:
                    self.type(answer)
            assert time.monotonic() < deadline, f"{self._name} stands still; it printed: {self._printed[-600:]!r}"

    def until_shown(self, *texts: str, timeout_s: float = 20.0) -> str:
        """Waits until one of the texts stands on the screen; which one, the first given winning."""
        found = ""

        def shown() -> bool:
            nonlocal found
            screen = "\n".join(self._screen.display)
            found = next((text for text in texts if text in screen), "")
            return bool(found)

        self.until(shown, NO_ANSWERS, timeout_s)
        return found

    def until_gone(self, text: str, timeout_s: float = 20.0) -> None:
        """Waits until `text` does not stand on the screen any more."""
        self.until(lambda: text not in "\n".join(self._screen.display), NO_ANSWERS, timeout_s)

    def until_ended(self, answers: Mapping[str, str] = NO_ANSWERS, timeout_s: float = 20.0) -> None:
        """Waits until the editor has gone."""
        self.until(lambda: not self._process.isalive(), answers, timeout_s)

    def _read(self, wait_s: float) -> None:
        """Takes what was printed: at most one read, after at most `wait_s`."""
        if select.select([self._process.fd], [], [], wait_s)[0]:
            with contextlib.suppress(OSError):
                data = os.read(self._process.fd, 65536)
                self._stream.feed(data)
                self._printed = _SEQUENCES.sub("", self._printed + data.decode(errors="replace"))
