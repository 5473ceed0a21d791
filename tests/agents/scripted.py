"""A terminal agent that does what it is told: the field's agents behave in these ways.

    python scripted.py '{"swallow_enters": 2, "log": "/tmp/x/got.jsonl"}'      or the name of a file with such an object

It needs the standard library only and knows nothing of coleo. Its screen:

    scripted agent                       a title
    said: first line of a prompt         one row for each prompt that was accepted
    * working                            while a turn runs
    ? Do you trust this folder?          while a dialog is open; Enter takes the marked answer
    > text                               the composer, below everything; long pastes show as "[Pasted text +9 lines]"

Keys of the script (all optional):

    log                 file of JSON lines: what came in ({"got": hex}), what was accepted ({"submit": text}), answers
                        to dialogs ({"dialog": name, "answer": text}), interrupts, its end
    transcript          file of JSON lines as receipts: {"type": "typed" | "turn", "text": ...}
    receipts            which of them it writes; default both
    start_s             seconds until it draws anything; input before is lost when `lose_early_input`, else kept
    cooked_start        the terminal stays in line mode until then
    title               its window title
    dialogs             [{"name", "text", "at": "start" | "paste" | "enter", "for_s": 4, "enter": "yes"}]: opens at that
                        moment, once; swallows what is typed; Enter answers it; goes by itself after `for_s`
    unknown_screen      text that is shown instead of everything, for `unknown_s` seconds (0: for ever)
    swallow_enters      the first N Enters do nothing (in the composer)
    swallow_paste       the first N pastes vanish
    slow_paste_s        a paste shows so much later
    slow_read           [bytes, seconds]: reads that little at a time
    never_read          reads nothing at all
    echo                false: nothing that is typed is shown
    busy_s              how long a turn takes (0.05)
    while_busy          "queue" (default), "steer" (turn starts anew), "drop"; or "cooked": line mode, reads later
    hide_busy           shows no sign of work; hide_composer_busy: no composer in a turn
    menu                a composer that begins with / opens a menu; Enter picks its first row and clears the composer
    repaint_hz          draws everything so often, for ever; spinner: with a changing glyph
    flood_bytes         writes so many bytes of lines at the start, as fast as it can
    print_lines         prints so many lines, then ends
    crash               {"at": "start" | "paste" | "enter" | "turn", "code": 3} or "signal": 9
    grandchild          "plain", "deaf" (ignores HUP and TERM), "session" (deaf, in a session of its own, orphaned)
    close_terminal_s    after so long it closes its terminal and goes on for `closed_s`
    queries             writes these bytes (hex) at the start, logs the `answers` bytes that come back ("terminal")
    frames              draws between "begin" and "end synchronised update"
    exit_word           this text, submitted, ends it with code 0 ("/exit"); deaf_to_term: ignores SIGTERM and SIGHUP
"""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import sys
import termios
import time
import tty
from typing import Any

PASTE_BEGIN, PASTE_END = b"\x1b[200~", b"\x1b[201~"


class Agent:
    """The program. Everything happens in `run`; times are seconds of the monotonic clock."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self.begun = time.monotonic()
        self.timers: list[tuple[float, Any]] = []
        self.composer = b""
        self.pending = b""
        self.paste: bytes | None = None
        self.said: list[str] = []
        self.queued: list[str] = []
        self.busy_until = 0.0
        self.working = ""
        self.dialog: dict[str, Any] | None = None
        self.dialogs: list[dict[str, Any]] = list(script.get("dialogs", []))
        self.enters = self.pastes = 0
        self.drawn = 0
        self.up = False
        self.covered = False
        self.cooked = termios.tcgetattr(0)

    def log(self, **values: object) -> None:
        """One line of evidence for the test."""
        self._append(self.script.get("log"), values)

    def _append(self, path: str | None, values: dict[str, object]) -> None:
        if path:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(fd, (json.dumps(values) + "\n").encode())
            os.close(fd)

    def later(self, seconds: float, call: Any) -> None:
        """Calls in so many seconds."""
        self.timers.append((time.monotonic() + seconds, call))

    def raw(self, on: bool) -> None:
        """Raw mode, or what it was before."""
        if on:
            tty.setraw(0)
        else:
            termios.tcsetattr(0, termios.TCSANOW, self.cooked)

    def write(self, data: bytes) -> None:
        """Everything, whatever the terminal takes at a time."""
        while data:
            data = data[os.write(1, data) :]

    # What it shows.

    def rows(self) -> list[str]:
        """The screen as text."""
        if self.covered:
            return str(self.script["unknown_screen"]).split("\n")
        rows = ["scripted agent", *[f"said: {text.partition(chr(10))[0]}" for text in self.said[-20:]]]
        if self.working and not self.script.get("hide_busy"):
            glyph = "|/-\\"[self.drawn % 4] if self.script.get("spinner") else ""
            rows.append(f"* working {glyph}")
        rows += [f"queued: {text.partition(chr(10))[0]}" for text in self.queued]
        if self.dialog:
            return [*rows, f"? {self.dialog['text']}", "  1. yes   2. no   (Enter to confirm)"]
        if self.script.get("menu") and self.composer.startswith(b"/"):
            rows.append("menu: first row")
        if not (self.working and self.script.get("hide_composer_busy")):
            shown = self.composer.decode("utf-8", "replace") if self.script.get("echo", True) else ""
            lines = shown.split("\n")
            rows.append(f"> [Pasted text +{len(lines) - 1} lines]" if len(lines) > 3 else f"> {lines[0]}")
            rows += [f"  {line}" for line in lines[1:]] if len(lines) <= 3 else []
        return rows

    def draw(self) -> None:
        """All of the screen, anew."""
        if not self.up:
            return
        self.drawn += 1
        begin, end = ("\x1b[?2026h", "\x1b[?2026l") if self.script.get("frames") else ("", "")
        text = "\r\n".join(f"{row}\x1b[K" for row in self.rows())
        self.write(f"{begin}\x1b[?25l\x1b[H{text}\x1b[J\x1b[?25h{end}".encode())

    # What happens to it.

    def start(self) -> None:
        """The composer comes up."""
        self.raw(True)
        self.up = True
        title = self.script.get("title")
        self.write((f"\x1b]0;{title}\x07" if title else "").encode() + b"\x1b[2J\x1b[?2004h")
        if self.script.get("lose_early_input"):
            termios.tcflush(0, termios.TCIFLUSH)
        if "unknown_screen" in self.script:
            self.covered = True
            if self.script.get("unknown_s"):
                self.later(self.script["unknown_s"], self.uncover)
        self.open_dialog("start")
        self.draw()

    def uncover(self) -> None:
        """The screen that nobody knows goes away."""
        self.covered = False
        self.draw()

    def open_dialog(self, moment: str) -> bool:
        """The dialog of this moment, if one is left."""
        for dialog in self.dialogs:
            if dialog.get("at", "start") == moment:
                self.dialogs.remove(dialog)
                self.dialog = dialog
                self.draw()
                if dialog.get("for_s"):
                    self.later(dialog["for_s"], functools.partial(self.close_dialog, dialog, "by itself"))
                return True
        return False

    def close_dialog(self, dialog: dict[str, Any], answer: str) -> None:
        """It is answered, or goes."""
        if self.dialog is dialog:
            self.log(dialog=dialog.get("name", dialog["text"]), answer=answer)
            self.dialog = None
            self.draw()

    def crash(self, moment: str) -> None:
        """The end, if this is the moment for it."""
        crash = self.script.get("crash", {})
        if crash.get("at") != moment:
            return
        self.log(crash=moment)
        if "signal" in crash:
            os.kill(os.getpid(), crash["signal"])
        os._exit(crash.get("code", 3))

    def take(self, data: bytes) -> None:
        """Input."""
        self.log(got=data.hex())
        if self.covered:
            return
        self.pending += data
        while self.pending and self.take_one():
            pass

    def take_one(self) -> bool:
        """One key, or one stretch of a paste. False when more must come first."""
        data = self.pending
        if self.paste is not None:
            end = data.find(PASTE_END)
            if end < 0:
                keep = next((n for n in range(5, 0, -1) if data.endswith(PASTE_END[:n])), 0)
                self.paste += data[: len(data) - keep]
                self.pending = data[len(data) - keep :]
                return False
            text, self.paste = self.paste + data[:end], None
            self.pending = data[end + len(PASTE_END) :]
            self.pasted(text)
            return True
        if data.startswith(PASTE_BEGIN):
            self.paste, self.pending = b"", data[len(PASTE_BEGIN) :]
            return True
        if PASTE_BEGIN.startswith(data) and len(data) > 1:
            return False
        key, self.pending = data[:1], data[1:]
        self.key(key)
        return True

    def pasted(self, text: bytes) -> None:
        """A whole paste."""
        if self.dialog:
            self.log(lost=text.decode("utf-8", "replace"))
            return
        self.pastes += 1
        if self.pastes <= self.script.get("swallow_paste", 0):
            return
        self.crash("paste")
        if self.open_dialog("paste"):
            return
        self.later(self.script.get("slow_paste_s", 0.0), lambda: self.insert(text.replace(b"\r", b"\n")))

    def insert(self, text: bytes) -> None:
        """Into the composer."""
        self.composer += text
        self.draw()

    def key(self, key: bytes) -> None:
        """One byte that was typed."""
        if key in (b"\r", b"\n"):
            self.enter()
        elif key == b"\x03":
            self.log(interrupt=True)
            if not self.working and not self.composer:
                self.log(ended="interrupt")
                sys.exit(0)
            self.composer, self.queued = b"", []
            self.finish()
        elif self.dialog:
            self.log(lost=key.decode("latin-1"))
        elif key == b"\x7f":
            self.insert(b"")
            self.composer = self.composer[:-1]
            self.draw()
        elif key == b"\x15":
            self.composer = b""
            self.draw()
        elif key >= b" ":
            self.insert(key)

    def enter(self) -> None:
        """Enter: an answer to a dialog, or a submission."""
        if self.dialog:
            self.close_dialog(self.dialog, self.dialog.get("enter", "yes"))
            return
        self.enters += 1
        if self.enters <= self.script.get("swallow_enters", 0):
            self.log(swallowed=self.enters)
            return
        self.crash("enter")
        if self.open_dialog("enter"):
            return
        text = self.composer.decode("utf-8", "replace")
        if self.script.get("menu") and text.startswith("/"):
            self.log(menu=text)
            self.composer = b""
            self.draw()
            return
        if not text.strip():
            return
        self.composer = b""
        self.log(submit=text)
        self.receipt("typed", text)
        if text.strip() == self.script.get("exit_word", "/exit"):
            self.log(ended="asked")
            sys.exit(0)
        if not self.working:
            self.turn(text)
        elif self.script.get("while_busy", "queue") == "queue":
            self.queued.append(text)
        elif self.script["while_busy"] == "steer":
            self.turn(text)
        self.draw()

    def turn(self, text: str) -> None:
        """The model gets it."""
        self.crash("turn")
        self.receipt("turn", text)
        self.said.append(text)
        self.working = text
        self.busy_until = time.monotonic() + self.script.get("busy_s", 0.05)
        if self.script.get("while_busy") == "cooked":
            self.write(b"\x1b[?2004l")
            self.raw(False)
        self.later(self.script.get("busy_s", 0.05), self.over)
        self.draw()

    def over(self) -> None:
        """The turn has ended, if no later one has begun."""
        if self.working and time.monotonic() >= self.busy_until - 0.001:
            self.finish()

    def finish(self) -> None:
        """Idle again, or the next of the queue."""
        self.working = ""
        if self.script.get("while_busy") == "cooked":
            self.raw(True)
            self.write(b"\x1b[?2004h")
        if self.queued:
            self.turn(self.queued.pop(0))
        self.draw()

    def receipt(self, kind: str, text: str) -> None:
        """A line in the transcript."""
        if kind in self.script.get("receipts", ["typed", "turn"]):
            self._append(self.script.get("transcript"), {"type": kind, "text": text})

    def run(self) -> None:
        """Until it is told to end, crashes, or its terminal is gone."""
        self.prepare()
        reading = not self.script.get("never_read")
        size, gap = self.script.get("slow_read", [65536, 0.0])
        next_read = 0.0
        while True:
            now = time.monotonic()
            waits = [due - now for due, _ in self.timers]
            can_read = reading and not (self.working and self.script.get("while_busy") == "cooked")
            if can_read and next_read > now:
                waits.append(next_read - now)
            ready, _, _ = select.select(
                [0] if can_read and next_read <= now else [], [], [], max(0.0, min(waits)) if waits else None
            )
            if ready:
                try:
                    data = os.read(0, size)
                except OSError:
                    data = b""
                if not data:
                    self.log(ended="hung up")
                    return
                next_read = time.monotonic() + gap
                if self.up:
                    self.take(data)
                elif not self.script.get("lose_early_input"):
                    self.pending += data
            now = time.monotonic()
            for timer in [timer for timer in self.timers if timer[0] <= now]:
                self.timers.remove(timer)
                timer[1]()

    def prepare(self) -> None:
        """What the script wants before, and besides, its composer."""
        script = self.script
        self.log(started=os.getpid(), cwd=os.getcwd(), term=os.environ.get("TERM"), argv=sys.argv[2:])
        signal.signal(signal.SIGWINCH, lambda *_: self.draw())
        if script.get("deaf_to_term"):
            ignore()
        if script.get("grandchild"):
            self.grandchild(script["grandchild"])
        self.crash("start")
        for number in range(script.get("print_lines", 0)):
            self.write(f"line {number}\r\n".encode())
        if script.get("print_lines"):
            self.log(ended="printed")
            sys.exit(0)
        if not script.get("cooked_start"):
            self.raw(True)
        if script.get("queries"):
            self.write(bytes.fromhex(script["queries"]))
            left = script["answers"]
            while left > 0 and select.select([0], [], [], 10)[0]:
                answer = os.read(0, left)
                left -= len(answer)
                self.log(terminal=answer.hex())
        left = script.get("flood_bytes", 0)
        while left > 0:
            self.write(b"".join(b"flood %d\r\n" % (left - n) for n in range(100)))
            left -= 1200
        if script.get("start_s"):
            self.later(script["start_s"], self.start)
        else:
            self.start()
        if script.get("repaint_hz"):
            self.repaint(1 / script["repaint_hz"])
        if script.get("close_terminal_s"):
            self.later(script["close_terminal_s"], self.close_terminal)

    def repaint(self, every_s: float) -> None:
        """Draws for ever."""
        self.draw()
        self.later(every_s, lambda: self.repaint(every_s))

    def close_terminal(self) -> None:
        """The program goes on without a terminal."""
        for fd in (0, 1, 2):
            os.close(fd)
        time.sleep(self.script.get("closed_s", 5))
        os._exit(0)

    def grandchild(self, kind: str) -> None:
        """A process of its own that stays."""
        if os.fork():
            return
        if kind == "session":
            os.setsid()
            if os.fork():
                os._exit(0)
        if kind in ("deaf", "session"):
            ignore()
        self.log(grandchild=os.getpid())
        while True:
            time.sleep(60)


def ignore() -> None:
    """Deaf to what asks for an end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def main() -> None:
    """The script is the first argument."""
    given = sys.argv[1] if len(sys.argv) > 1 else "{}"
    if not given.lstrip().startswith("{"):
        with open(given, encoding="utf-8") as file:
            given = file.read()
    agent = Agent(json.loads(given))
    try:
        agent.run()
    finally:
        try:
            agent.raw(False)
        except termios.error:
            pass


if __name__ == "__main__":
    main()
