"""The host: ``python -m coleo.terminal.host SPECFILE`` keeps one arm in its terminal until the arm ends.

One process per seat, one thread, one loop (DESIGN.md section 3). It outlives the brain: nothing here needs one. It
always reads what the arm writes, draws it when somebody looks, types what it is asked to (`delivery`), and at the end
leaves nothing of the arm behind (`stop`) but ``run/hosts/<seat>.exit.json``: how the arm ended, its last screen, and
how far each prompt had come. That record is written before anybody is told, so a brain that was not there finds it.

Wake-ups: none while the arm is silent. A timer exists only while something is pending: a prompt, a stop, a redraw, or
output that has not been read yet for somebody who subscribed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from coleo.model.arm import ProcessId
from coleo.model.delivery import DeliveryStatus, Exit, HostStatus, ScreenState
from coleo.model.errors import ColeoError
from coleo.terminal import operations, processes
from coleo.terminal.keyboard import Keyboard
from coleo.terminal.loop import Loop
from coleo.terminal.protocol import ExitRecord, HostSpec, exit_path, line, write_private
from coleo.terminal.pty import Terminal, problem
from coleo.terminal.server import Connection, Server
from coleo.terminal.stop import Stopper
from coleo.terminal.view import LONGEST_S, QUIET_S, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EOF_S = 0.3
_READS, _LAST_READS = 16, 256
_FAULTS = 50
_RECORD_TRIES = 600
#: After so many looks that found the same state, a spinner or clock is at work: it is looked at less often.
_DULL = 20


class Host:
    """One arm: its terminal, its screen, its prompts, its clients."""

    def __init__(self, spec: HostSpec, spec_path: str) -> None:
        self.spec, self.spec_path = spec, spec_path
        self.loop = Loop(self.fault)
        self.server = Server(self.loop, spec.socket, self._request, self._left, operations.repaint_for(self))
        self.started_at = self.since_at = time.time()
        self.output_at: float | None = None
        self.exit: Exit | None = None
        self.stopper: Stopper | None = None
        self.me = _identity(os.getpid())
        self.child: ProcessId | None = None
        self.faults = 0
        self._unseen_since = -1.0
        self._reported = ""
        self._same = self._tries = 0
        self._written = False
        self._mode = os.umask(0o077)

    def start(self) -> None:
        """Binds the socket and starts the arm. Raises ColeoError or OSError when that cannot be done."""
        why = problem(self.spec)
        if why:
            raise ColeoError(why)
        self.server.listen()
        self.loop.on_signals(
            {
                signal.SIGCHLD: self._on_child,
                signal.SIGTERM: self._on_term,
                signal.SIGINT: self._on_term,
                signal.SIGHUP: lambda: None,
                signal.SIGUSR1: self.server.listen,
            }
        )
        processes.adopt_orphans()
        os.umask(self._mode)
        try:
            self.terminal = Terminal.start(self.spec)
        finally:
            os.umask(0o077)
        self.child = _identity(self.terminal.pid)
        size = (self.spec.rows, self.spec.cols)
        self.view = View(self.spec.harness, size, self.terminal, self.loop, self.advance)
        self.keyboard = Keyboard(
            self.spec.harness, self.terminal, self.view, self.loop, self.advance, self._delivery_changed
        )
        self.loop.read(self.terminal.fd, self._on_output)

    # Output, and what it means.

    def _on_output(self) -> None:
        if self.terminal.fd < 0 or self._drain():
            return
        self.loop.read(self.terminal.fd, None)
        if self.exit is None:
            self.loop.after("eof", EOF_S, self._on_eof)

    def _drain(self, reads: int = _READS) -> bool:
        """Reads what is there. False when nobody holds the other end of the terminal any more."""
        open_ = True
        for _ in range(reads):
            data = self.terminal.read()
            if not data:
                open_ = data is None
                break
            now = self.loop.now()
            if self.view.output_at is None or now - self.view.output_at > 1:
                self._same = 0
            self.output_at = time.time()
            self.view.output(data)
            self.server.raw(data)
            if self._unseen_since < 0:
                self._unseen_since = now
            if self.server.subscribed or self.keyboard.queue.head:
                quiet_s = QUIET_S if self._same < _DULL else QUIET_S * 5
                self.loop.again("look", min(quiet_s, self._unseen_since + LONGEST_S - now), self.advance)
        self.keyboard.flush()
        return open_

    def _on_eof(self) -> None:
        """The terminal was closed by all who held it: gone for good, or between two programs."""
        if self.exit is not None or self.terminal.fd < 0:
            return
        if self._drain(1):
            self.loop.read(self.terminal.fd, self._on_output)
            return
        self.view.lost("the program runs, but has closed its terminal")
        self._state_changed()
        self.stop("its terminal is lost", keys=False)

    def fresh(self, *, look: bool = False) -> bool:
        """Reads and draws what is there, so that the next look is of this moment. False when it is too much.

        Nothing is drawn for a harness without rules, unless somebody wants to `look`.
        """
        for _ in range(32):
            if self.terminal.fd >= 0:
                self._drain(1)
            if not (self.view.looks or look) or self.view.screen.feed():
                return True
        return False

    @staticmethod
    def time() -> float:
        """Seconds since the epoch."""
        return time.time()

    def advance(self) -> None:
        """Looks at the screen, tells what has changed, and takes the prompt on its way one step further."""
        if self.exit is not None:
            return
        self._unseen_since = -1.0
        self._same += 1
        if not self.fresh():
            self.loop.after("look", 0, self.advance)
        reading, known = self.view.read()
        self._state_changed()
        self.keyboard.step(reading, known=known, stopping=self.stopper is not None)

    def _state_changed(self) -> None:
        seen = self.view.state.value
        if seen != self._reported:
            self._reported, self.since_at, self._same = seen, time.time(), 0
            self.server.event({"event": "state", "status": self.status().as_json()})

    # The end.

    def stop(self, reason: str, *, grace_s: float = 5.0, keys: bool = True) -> None:
        """Ends the arm, and the host when nothing of it is left. A second time: at once."""
        if self.stopper is not None:
            self.stopper.hurry()
        elif self.child is not None:
            if keys:
                self.advance()
            no_keys = not keys or self.view.state in (ScreenState.DIALOG, ScreenState.LOST)
            typed = () if no_keys else self.spec.harness.exit_keys
            now = self.loop.now()
            self.stopper = Stopper(self.child, grace_s=grace_s, reason=reason, keys=typed, now=now)
            self.keyboard.queue.end("the arm is being stopped", time.time())
        self.loop.again("stop", 0, self._step_stop)

    def _step_stop(self) -> None:
        assert self.stopper is not None
        keys, again_s = self.stopper.step(self.loop.now(), alive=self.exit is None)
        if keys and self.exit is None:
            self.keyboard.type(keys)
        if not self.stopper.done:
            self.loop.again("stop", again_s, self._step_stop)
        elif self.exit is not None and (self._written or self._tries > _RECORD_TRIES):
            self.loop.stop()
        elif self.exit is not None:
            self._record_exit()
            self.loop.again("stop", 0 if self._written else 1.0, self._step_stop)
        else:
            self.fault(RuntimeError("the arm outlives SIGKILL"))
            self.loop.again("stop", 1.0, self._step_stop)

    def _on_term(self) -> None:
        self.stop("the host was told to end")

    def _on_child(self) -> None:
        """Reaps everything: the program, and the orphans that came to this host."""
        while True:
            try:
                pid, code = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                pid = 0
            if not pid:
                break
            if pid == self.terminal.pid and self.exit is None:
                value = os.waitstatus_to_exitcode(code)
                self.exit = Exit(code=value) if value >= 0 else Exit(signal=-value)
                self._ended()
        if self.stopper is not None:
            self.loop.again("stop", 0, self._step_stop)

    def _ended(self) -> None:
        """The program has ended: its last words are read, its end is written down, then told."""
        self._drain(_LAST_READS)
        self.keyboard.queue.end(f"the agent ended with {self.exit}", time.time())
        self.loop.read(self.terminal.fd, None)
        self.loop.write(self.terminal.fd, None)
        self._record_exit()
        self.server.event({"event": "exit", "status": self.status().as_json()})
        for connection in self.server.attached:
            self.server.finish(connection)
        self.terminal.close()
        if self.stopper is None:
            assert self.child is not None
            self.stopper = Stopper(self.child, grace_s=5.0, reason="", now=self.loop.now())

    def _record_exit(self) -> None:
        """Writes the exit record; on a full disk again, every second for ten minutes, before the host ends."""
        self._tries += 1
        try:
            self._write_exit(self.view.last_text())
            self._written = True
        except OSError as error:
            if self._tries == 1:
                self.fault(error)

    def _write_exit(self, rows: tuple[str, ...], failure: str = "") -> None:
        record = ExitRecord(
            seat=self.spec.seat,
            generation=self.spec.generation,
            host=self.me,
            child=self.child,
            exit=self.exit,
            at=time.time(),
            failure=failure,
            stopping=self.stopper.reason if self.stopper else "",
            screen=rows,
            deliveries=tuple(self.keyboard.queue.all()) if self.child else (),
        )
        write_private(exit_path(self.spec_path), record.to_json())

    def failed(self, why: str) -> None:
        """The arm could not be started: that is written down as its end."""
        try:
            self._write_exit((), why)
        except OSError as error:
            self.fault(error)
        self.server.close()

    # Clients.

    def status(self) -> HostStatus:
        """Of this moment, as far as the screen was read."""
        return HostStatus(
            seat=self.spec.seat,
            generation=self.spec.generation,
            host=self.me,
            child=self.child,
            alive=self.exit is None,
            exit=self.exit,
            state=self.view.state,
            evidence=self.view.evidence,
            since_at=self.since_at,
            started_at=self.started_at,
            last_output_at=self.output_at,
            attached=self.view.attached,
            typed_at=self.keyboard.typed_at,
            bytes_out=self.view.bytes_out,
            screen_known=self.view.screen.known,
            icanon=self.exit is None and self.terminal.canonical,
            stopping=self.stopper.reason if self.stopper else "",
            left=self.stopper.left if self.stopper else 0,
        )

    def _delivery_changed(self, status: DeliveryStatus) -> None:
        self.server.event({"event": "delivery", "delivery": status.as_dict()})

    def _request(self, connection: Connection, request: dict[str, Any]) -> Mapping[str, object] | None:
        return operations.answer(self, connection, request)

    def _left(self, connection: Connection) -> None:
        if connection.attached:
            operations.left(self)

    def fault(self, error: BaseException) -> None:
        """One of our own: written to the log; after many of them the arm is ended rather than kept badly."""
        import traceback

        self.faults += 1
        text = "".join(traceback.format_exception(error))
        try:
            with open(self.spec.log or f"{self.spec_path}.log", "a", encoding="utf-8", opener=_private) as log:
                log.write(f"{time.time():.3f} {text}\n")
        except OSError:
            # A full disk: the count is still told (`figures`), and the arm goes on.
            pass
        if self.faults == _FAULTS:
            self.stop("the host has too many faults of its own", keys=False)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _identity(pid: int) -> ProcessId:
    """Also of a child that has ended and is not reaped yet."""
    process = processes.look(pid)
    if process is None:
        raise ColeoError(f"the kernel does not show process {pid}")
    return ProcessId(pid, process.start, processes.boot_id())


def main(argv: list[str]) -> int:
    """Starts the host in a process of its own; this one says who it is, or why there is none, and ends."""
    if len(argv) != 2:
        print("usage: python -m coleo.terminal.host SPECFILE", file=sys.stderr)
        return 2
    read_end, write_end = os.pipe()
    if os.fork():
        os.close(write_end)
        with open(read_end, "rb") as pipe:
            answer = pipe.read()
        sys.stdout.buffer.write(answer)
        return 0 if answer.startswith(b'{"host"') else 1
    os.close(read_end)
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.close(nowhere)
    try:
        os._exit(_run(argv[1], write_end))
    finally:
        os._exit(70)


def _run(path: str, tell: int) -> int:
    """The life of a host. tell: the descriptor that the one who waits for an answer reads."""
    try:
        with open(path, "rb") as file:
            spec = HostSpec.from_json(json.loads(file.read()))
    except (OSError, ValueError) as error:
        os.write(tell, line({"failure": f"the spec {path} cannot be read: {error}"}))
        return 1
    host = Host(spec, path)
    try:
        host.start()
    except Exception as error:
        why = error.message if isinstance(error, ColeoError) else f"the program could not be started: {error}"
        if not isinstance(error, ColeoError | OSError):
            host.fault(error)
        host.failed(why)
        os.write(tell, line({"failure": why}))
        return 1
    assert host.child is not None
    try:
        os.write(tell, line({"host": host.me.as_dict(), "child": host.child.as_dict()}))
    except BrokenPipeError:
        host.stop("who started it did not wait for it", keys=False)
    os.close(tell)
    host.loop.run()
    host.server.close()
    host.loop.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
