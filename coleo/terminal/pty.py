"""The pseudo-terminal of one arm: the checks before the start, the start, reading, and writing that waits for nobody.

ptyprocess does the fork and the terminal; everything that can go wrong between fork and exec is looked at before,
because a child that fails there would live on as a second host (DESIGN.md section 3). After the start its object is
given up: it would block in `isalive` and signal a pid that may be another process by then (cases b14, h09).
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import struct
import termios

from coleo.terminal.protocol import HostSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PASTE_BEGIN, PASTE_END = b"\x1b[200~", b"\x1b[201~"
WRITE_LIMIT = 4096
#: What a person or a brain may have waiting in front of a program that does not read.
OUTBOX_LIMIT = 1 << 20


def problem(spec: HostSpec) -> str:
    """Why an arm with this spec cannot be started, "" when it can as far as can be seen."""
    env = dict(spec.env)
    if not spec.argv or not spec.argv[0]:
        return "the harness names no program to start"
    for text in (*spec.argv, spec.cwd, *env, *env.values()):
        if "\0" in text:
            return f"a NUL character in the arguments or the environment: {text[:60]!r}"
    for name in env:
        if not name or "=" in name:
            return f"{name!r} is no name for an environment variable"
    if not os.path.isdir(spec.cwd):
        return f"the working directory {spec.cwd} is not a folder"
    if not os.access(spec.cwd, os.X_OK):
        return f"the working directory {spec.cwd} may not be entered"
    program = find_program(spec.argv[0], env, spec.cwd)
    if program is None:
        where = "as a file" if os.sep in spec.argv[0] else f"in PATH ({env.get('PATH') or 'which is not set'})"
        return f"the program {spec.argv[0]} was not found {where}"
    if not os.access(program, os.X_OK):
        return f"the program {program} is not executable"
    if not (0 < spec.rows < 1000 and 1 < spec.cols < 2000):
        return f"a terminal of {spec.rows} rows and {spec.cols} columns"
    return ""


def find_program(name: str, env: Mapping[str, str], cwd: str) -> str | None:
    """The file that `name` means to a program with this environment; one that is not executable only if no other is."""
    if os.sep in name:
        path = os.path.normpath(os.path.join(cwd, name))
        return path if os.path.isfile(path) else None
    found = None
    for folder in env.get("PATH", "").split(os.pathsep):
        path = os.path.join(cwd, folder, name)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            found = found or path
    return found


class Terminal:
    """A started program behind its pseudo-terminal, an xterm-256color of the spec's size.

    pid: of the program, which leads its own session and group.

    Nobody here waits for the process: whoever reaps children does.
    """

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self.fd = fd
        self.outbox = Outbox()

    @classmethod
    def start(cls, spec: HostSpec) -> Terminal:
        """Starts the program of a spec without a `problem`. Raises OSError when the kernel refuses it after all."""
        from ptyprocess import PtyProcess

        env = {name: value for name, value in spec.env if name not in ("LINES", "COLUMNS")}
        # What the host draws, whatever kind of terminal the brain was started in.
        env["TERM"] = dict(spec.harness.env).get("TERM", "xterm-256color")
        program = find_program(spec.argv[0], env, spec.cwd)
        assert program is not None, "problem() was not asked"
        here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.chdir(spec.cwd)
            process = PtyProcess.spawn(
                [program, *spec.argv[1:]], env=env, dimensions=(spec.rows, spec.cols), preexec_fn=_as_new
            )
        except Exception as error:
            # exec failed: ptyprocess's object hangs in the frames of the error, and with it both ends of the terminal.
            _forget_frames(error)
            raise OSError(str(error)) from None
        finally:
            os.fchdir(here)
            os.close(here)
        fd = os.dup(process.fd)
        process.fileobj.close()
        process.closed = True
        os.set_blocking(fd, False)
        return cls(process.pid, fd)

    def read(self, limit: int = 65536) -> bytes | None:
        """What the program wrote; None when there is nothing now, b"" when nobody holds the other end any more."""
        try:
            return os.read(self.fd, limit)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno == errno.EIO:
                return b""
            raise

    def flush(self) -> int:
        """Writes what waits, as far as the program takes it now: the number of bytes."""
        return self.outbox.write(self.fd)

    @property
    def canonical(self) -> bool:
        """Whether the terminal is in line mode: a program that draws a composer does not read now (`aider`, busy)."""
        try:
            return bool(termios.tcgetattr(self.fd)[3] & termios.ICANON)
        except termios.error:
            return True

    def resize(self, rows: int, cols: int) -> None:
        """Another window size; the kernel tells the program."""
        try:
            fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        except OSError:
            pass

    def close(self) -> None:
        """Gives the terminal up; the program is hung up on."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Outbox:
    """Bytes on their way to the program, in order, in writes of at most 4 KiB that end between characters (case a07).

    progress: bytes that went out since the start.
    """

    def __init__(self) -> None:
        self.progress = 0
        self._entries: list[bytes] = []
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, data: bytes) -> bool:
        """Puts `data` behind what waits. False when too much waits already: nothing of it is taken."""
        if self._size + len(data) > OUTBOX_LIMIT:
            return False
        if data:
            self._entries.append(data)
            self._size += len(data)
        return True

    def drop(self) -> None:
        """Forgets what waits."""
        self._entries.clear()
        self._size = 0

    def write(self, fd: int) -> int:
        """Writes to a descriptor that does not block, until all is out or it takes no more (case a09)."""
        done = 0
        while self._entries:
            entry = self._entries[0]
            piece = next(slices(entry))
            try:
                count = os.write(fd, piece)
            except BlockingIOError:
                break
            except OSError:
                # Nobody is there to read it ever again; that they are gone shows where the terminal is read.
                self.drop()
                break
            self._entries[0] = entry[count:]
            if not self._entries[0]:
                self._entries.pop(0)
            self._size -= count
            done += count
            if count < len(piece):
                break
        self.progress += done
        return done


def slices(data: bytes, limit: int = WRITE_LIMIT) -> Iterator[bytes]:
    """`data` in pieces of at most `limit` bytes, never cut inside a UTF-8 character or a paste marker."""
    start = 0
    while len(data) - start > limit:
        end = start + limit
        while end > start + limit - 4 and data[end] & 0xC0 == 0x80:
            end -= 1
        escape = data.rfind(b"\x1b", max(start + 1, end - 5), end)
        if escape > start:
            end = escape
        yield data[start:end]
        start = end
    yield data[start:]


def paste(text: str) -> bytes:
    """A bracketed paste of sanitised text, the Enter not in it."""
    return PASTE_BEGIN + text.encode() + PASTE_END


def _forget_frames(error: BaseException) -> None:
    trace = error.__traceback__
    while trace is not None:
        try:
            trace.tb_frame.clear()
        except RuntimeError:
            pass
        trace = trace.tb_next


def _as_new() -> None:
    """In the child, before exec: ignored signals and masks would go on to the agent and all that it starts."""
    for number in signal.valid_signals():
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            continue
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
