"""``python -m coleo.harness.shell``: the worker, in the terminal it is started in, for the seat ``COLEO_SEAT``."""

from __future__ import annotations

import os
import signal
import sys
import termios
import time
import tty

from coleo.bus.context import create
from coleo.harness.shell.control import Control
from coleo.harness.shell.desk import Desk
from coleo.harness.shell.jobs import Jobs
from coleo.harness.shell.run import end_children
from coleo.harness.shell.transcript import Transcript
from coleo.harness.shell.worker import Worker
from coleo.model.errors import BadInput, ColeoError


def main() -> int:
    """Exit codes: 0 ended as asked, 1 something would not end, 2 bad input, 70 our own mistake."""
    try:
        ctx = create(os.environ, now=time.time())
        seat = ctx.me()
        if not (os.isatty(0) and os.isatty(1)):
            raise BadInput(
                "the shell worker needs a terminal",
                todo="start it through a seat (harness: shell), or by hand in a terminal",
            )
        transcript = Transcript(ctx.layout.seat(seat).transcript)
    except (ColeoError, OSError) as error:
        print(f"coleo: {error}", file=sys.stderr)
        return error.exit_code if isinstance(error, ColeoError) else 1
    control = Control()
    desk = Desk(ctx.layout, seat, ctx.cwd, dict(os.environ), control)
    before = termios.tcgetattr(0)
    tty.setraw(0)
    os.set_blocking(1, False)
    try:
        worker = Worker(Jobs(desk, transcript), control, 0, 1)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGWINCH):
            signal.signal(number, worker.on_signal)
        signal.set_wakeup_fd(control.wakeup_fd, warn_on_full_buffer=False)
        return worker.run()
    finally:
        end_children()
        os.set_blocking(1, True)
        try:
            termios.tcsetattr(0, termios.TCSAFLUSH, before)
        except termios.error:
            pass


if __name__ == "__main__":
    code = main()
    # A job that did not end in time must not hold the interpreter back: the terminal is as it was, nothing is open.
    sys.stdout.flush()
    os._exit(code)
