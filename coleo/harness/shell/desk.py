"""What the worker's job needs at hand: project and seat, the verbs, the clock, the screen, what must not be shown."""

from __future__ import annotations

import os
import time

from coleo.bus.context import Context, Reply
from coleo.bus.verbs import VERBS
from coleo.files import envfile, redact
from coleo.files.layout import Layout
from coleo.harness.shell.control import Control, Show, Status
from coleo.model.errors import ColeoError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


class Desk:
    """One seat's place of work. cwd: the seat's working folder, where commands run."""

    def __init__(
        self,
        layout: Layout,
        seat: str,
        cwd: str,
        environ: Mapping[str, str],
        control: Control,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.layout, self.seat, self.cwd, self.environ = layout, seat, cwd, environ
        self.control = control
        self.now = clock

    def call(self, verb: str, **values: Any) -> Reply:
        """One of the verbs that every agent has. Raises ColeoError as `coleo bus` would print it."""
        ctx = Context(self.layout, self.seat, self.now(), self.environ, self.cwd)
        return VERBS[verb].run(ctx, **values)

    def say(self, *lines: str) -> None:
        """Lines for the screen."""
        self.control.tell(Show(lines))

    def say_error(self, error: ColeoError | OSError) -> None:
        """An error that a person can mend, for the screen."""
        self.say(*f"coleo: {error}".split("\n"))

    def status(self, text: str) -> None:
        """The status row while something is being done."""
        self.control.tell(Status(f"[coleo] {text}", True))

    def at_rest(self) -> None:
        """The status row of a worker that waits for a prompt."""
        self.control.tell(Status("", False))

    def without_secrets(self, text: str) -> str:
        """`text` as it may be written down: secrets of the project and the seat masked (case g10)."""
        secrets: set[str] = set()
        for path in (self.layout.secrets_env, self.layout.seat(self.seat).env):
            try:
                secrets |= set(envfile.read(path).values.values())
            except OSError:
                continue
        secrets |= {value for name, value in self.environ.items() if redact.is_secret_name(name)}
        return redact.redact(text, sorted(secrets, key=len, reverse=True))

    @property
    def home(self) -> str:
        """Where the worker writes its own files of this seat: ``run/shell/<seat>``."""
        return os.path.join(self.layout.run, "shell", self.seat)
