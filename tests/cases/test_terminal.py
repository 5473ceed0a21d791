"""Cases of theme a and b that a host must stand: each is a fault that was seen in public, with its right result."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coleo.model.arm import ProcessId
from coleo.model.delivery import DeliveryState
from coleo.model.prompt import Prompt, frame
from coleo.model.text import sanitise
from coleo.terminal import processes
from coleo.terminal.launch import launch
from coleo.terminal.pty import Outbox, Terminal, paste, problem, slices
from tests.agents.setup import LINES, SCRIPTED, Person, Started, hosted, scripted, spec
from tests.waiting import eventually

DATA = Path(__file__).parent / "data"


def case_text(id: str) -> str:
    return (DATA / id / "message.txt").read_bytes().decode()


def expected(id: str) -> dict[str, object]:
    values: dict[str, object] = json.loads((DATA / id / "expected.json").read_text())
    return values


def message(text: str, id: str = "m-1") -> str:
    return frame(Prompt(id, text, sender="analyst"), "0f1e2d3c")


def deliver(started: Started, text: str, id: str = "m-1", **more: object) -> None:
    started.ask("deliver", id=id, text=text, **more)


def sent(started: Started) -> list[str]:
    """What the agent accepted."""
    return [str(text) for text in started.got("submit")]


def no_such(pid: int) -> bool:
    found = processes.look(pid)
    return found is None or found.state == "Z"


def test_a01_arm_ends_between_paste_and_enter(tmp_path: Path) -> None:
    """A prompt whose Enter was never written is not called submitted; the next generation gets it exactly once."""
    slow = SCRIPTED.replace(settle_ms=60_000)
    with scripted(tmp_path / "one", slow) as first:
        first.until("ready")
        deliver(first, message("hello"))
        first.until_delivery("m-1", "pasted")
        eventually(lambda: first.bytes_got().endswith(b"\x1b[201~"))
        processes.signal_process(ProcessId(**first.status()["child"]), signal.SIGKILL)
        record = first.until_gone()
    assert record.exit is not None and record.exit.signal == signal.SIGKILL
    (left,) = record.deliveries
    assert (left.state, left.pastes, left.enters, left.receipt) == (DeliveryState.PASTED, 1, 0, None)
    assert sent(first) == []
    with scripted(tmp_path / "two") as second:
        second.until("ready")
        assert second.delivery("m-1") is None, "another generation knows nothing of the prompt"
        deliver(second, message("hello"))
        second.until_delivery("m-1", "submitted")
        assert sent(second) == [message("hello")]


def test_a02_prompts_go_one_after_the_other(tmp_path: Path) -> None:
    """Four prompts at the same moment are four submissions, in order, and no byte of one is inside another's frame."""
    texts = {f"cron-{n}": message(f"prompt {n}\nsecond line", f"cron-{n}") for n in range(4)}
    with scripted(tmp_path, SCRIPTED.replace(deliver_busy=True)) as agent:
        agent.until("ready")
        for id, text in texts.items():
            deliver(agent, text, id)
        for id in texts:
            agent.until_delivery(id, "submitted")
        assert sent(agent) == list(texts.values())
        assert agent.bytes_got() == b"".join(paste(text) + b"\r" for text in texts.values())


@pytest.mark.parametrize("id", ["a05", "a06"])
def test_a05_a06_what_reaches_the_terminal(tmp_path: Path, id: str) -> None:
    """Control characters and CR never get in; the text is one paste, the Enter a write of its own, one submission."""
    right = expected(id)
    writes = right["pty_writes"]
    assert isinstance(writes, list)
    assert sanitise(case_text(id)) == right["sanitised_text"]
    with scripted(tmp_path) as agent:
        agent.until("ready")
        deliver(agent, case_text(id))
        agent.until_delivery("m-1", "submitted")
        assert agent.bytes_got().hex() == "".join(write["hex"] for write in writes if "hex" in write)
        assert sent(agent) == [right["sanitised_text"]]
        got = [bytes.fromhex(data) for data in agent.got("got")]
        assert got[-1] == b"\r", "the Enter was read on its own"


def test_a05_tab_becomes_blanks_where_it_would_be_a_key(tmp_path: Path) -> None:
    """Typed without a paste, a TAB would complete something."""
    with scripted(tmp_path, SCRIPTED.replace(paste=False)) as agent:
        agent.until("ready")
        deliver(agent, "a\tb")
        agent.until_delivery("m-1", "submitted")
        assert sent(agent) == ["a    b"]


def test_a07_no_character_is_cut(tmp_path: Path) -> None:
    """A character that straddles offset 4096 of the frame arrives whole, and no write ends inside one."""
    right = expected("a07")
    text = sanitise(case_text("a07"))
    data = paste(text)
    assert (len(data), hashlib.sha256(data).hexdigest()) == (right["frame_bytes"], right["frame_sha256"])
    for piece in slices(data):
        assert len(piece) <= 4096
        piece.decode()
    with scripted(tmp_path) as agent:
        agent.until("ready")
        deliver(agent, text)
        agent.until_delivery("m-1", "submitted")
        assert sent(agent) == [text]
        assert agent.bytes_got() == data + b"\r"


def test_a09_a_slow_reader_gets_everything(tmp_path: Path) -> None:
    """64 KiB to a program that takes 100 bytes at a time: short writes are continued."""
    text = "".join(f"{n:07d}\n" for n in range(8192)).rstrip("\n")
    with scripted(tmp_path, slow_read=[100, 0.0005]) as agent:
        agent.until("ready")
        deliver(agent, text)
        agent.until_delivery("m-1", "submitted", timeout_s=60)
        assert sent(agent) == [text]


def test_a09_a_short_write_is_continued() -> None:
    """The outbox keeps what a full pipe did not take."""
    read_end, write_end = os.pipe()
    try:
        os.set_blocking(write_end, False)
        outbox, data, got = Outbox(), os.urandom(300_000), b""
        outbox.add(data)
        while outbox:
            outbox.write(write_end)
            got += os.read(read_end, 1000)
        while len(got) < len(data):
            got += os.read(read_end, 65536)
        assert got == data
    finally:
        os.close(read_end)
        os.close(write_end)


def test_a11_nothing_is_typed_into_a_dialog(tmp_path: Path) -> None:
    """A trust dialog at the start swallows what is typed and acts on Enter: the prompt waits for the composer."""
    dialog = {"name": "trust", "text": "Do you trust this folder?", "at": "start", "for_s": 1.0}
    with scripted(tmp_path, dialogs=[dialog]) as agent:
        status = agent.until("dialog")
        assert "Do you trust this folder?" in status["evidence"]
        deliver(agent, message("hello"))
        waiting = agent.delivery("m-1")
        assert waiting["state"] == "waiting" and "Do you trust this folder?" in waiting["reason"]
        agent.until_delivery("m-1", "submitted")
        assert agent.got("answer") == ["by itself"] and agent.got("lost") == []
        assert sent(agent) == [message("hello")]


def test_a11_an_unknown_screen_is_not_typed_into(tmp_path: Path) -> None:
    """A dialog that no rule knows: nothing is typed, the last rows are the reason, the prompt can be taken back."""
    with scripted(tmp_path, unknown_screen="Update available\nPress any key to go on") as agent:
        eventually(lambda: "Press any key" in agent.status()["evidence"])
        assert agent.status()["state"] == "starting"
        deliver(agent, message("hello"))
        waiting = agent.delivery("m-1")
        assert waiting["state"] == "waiting" and "Press any key" in waiting["reason"]
        back = agent.ask("cancel", id="m-1", reason="the seat starts anew")["delivery"]
        assert (back["state"], back["pastes"]) == ("failed", 0) and "the seat starts anew" in back["reason"]
        assert agent.bytes_got() == b""


def test_a11_a_program_that_ends_before_any_turn(tmp_path: Path) -> None:
    """Its exit, its last screen and the prompt that was never typed are in the exit record."""
    with scripted(tmp_path, unknown_screen="No licence found", crash={"at": "start", "code": 0}) as agent:
        record = agent.until_gone()
    assert record.exit is not None and record.exit.code == 0
    assert record.deliveries == ()


@pytest.mark.parametrize("text", ["/clear", "run /devices", "!ls", "# note", "@READ"])
def test_a13_a_slash_opens_no_menu(tmp_path: Path, text: str) -> None:
    """The header is always first, so a peer's `/clear` arrives as text; a swallowed Enter is pressed again alone."""
    with scripted(tmp_path, menu=True, swallow_enters=1) as agent:
        agent.until("ready")
        deliver(agent, message(text))
        done = agent.until_delivery("m-1", "submitted")
        assert agent.got("menu") == []
        assert sent(agent) == [message(text)] and f"> {text}" in sent(agent)[0].split("\n")
        assert (done["pastes"], done["enters"]) == (1, 2)
        assert agent.bytes_got() == paste(message(text)) + b"\r\r"


def test_a14_no_echo_is_no_loss(tmp_path: Path) -> None:
    """A line reader that shows nothing of its input gets the line once, also when the same id is asked again."""
    right = expected("a14")
    prompt = right["prompt"]
    assert isinstance(prompt, str)
    with hosted(tmp_path, spec(tmp_path, [sys.executable, str(DATA / "a14" / "fake_agent.py")], LINES)) as agent:
        eventually(lambda: any("ready >" in row for row in agent.rows()))
        for _ in range(3):
            deliver(agent, prompt)
        done = agent.until_delivery("m-1", "submitted")
        assert (done["receipt"], done["pastes"], done["enters"]) == ("weak", 1, 1)
        got = tmp_path / "got.log"
        eventually(lambda: got.exists() and got.read_text().endswith("\n"))
        deliver(agent, "the next one", "m-2")
        eventually(lambda: "the next one" in got.read_text())
        assert got.read_text().splitlines() == [prompt, "the next one"]
        assert got.read_text().count(prompt) == right["got.log lines"]


def test_a15_a_swallowed_enter_is_pressed_again_alone(tmp_path: Path) -> None:
    """The agent swallows two Enters: three are pressed, the payload goes out once."""
    with scripted(tmp_path, swallow_enters=2) as agent:
        agent.until("ready")
        deliver(agent, message("hello"))
        done = agent.until_delivery("m-1", "submitted")
        assert (done["pastes"], done["enters"]) == (1, 3)
        assert agent.bytes_got() == paste(message("hello")) + b"\r" * 3
        assert sent(agent) == [message("hello")]


def test_a15_enough_is_enough(tmp_path: Path) -> None:
    """After four Enters the prompt is unsent, however often it is asked, and no further prompt is added to it."""
    with scripted(tmp_path, swallow_enters=99) as agent:
        agent.until("ready")
        deliver(agent, message("hello"))
        done = agent.until_delivery("m-1", "unsent")
        assert (done["pastes"], done["enters"]) == (1, 4) and "text stays" in done["reason"]
        deliver(agent, message("hello"))
        deliver(agent, message("more", "m-2"), "m-2")
        waiting = agent.delivery("m-2")
        assert waiting["state"] == "waiting" and "composer holds text" in waiting["reason"]
        assert agent.bytes_got() == paste(message("hello")) + b"\r" * 4


def test_a16_the_draft_of_a_person_is_left_alone(tmp_path: Path) -> None:
    """A message waits while a person has typed of late, and while their words stand in the composer."""
    with scripted(tmp_path) as agent:
        agent.until("ready")
        person = Person(agent)
        person.type("merge PR only after")
        person.until_sees(b"merge PR only after")
        deliver(agent, message("normal"))
        assert "a person typed" in agent.delivery("m-1")["reason"]
        agent.ask("cancel", id="m-1")
        deliver(agent, message("urgent", "m-2"), "m-2", quiet_s=0)
        waiting = agent.delivery("m-2")
        assert waiting["state"] == "waiting" and "composer holds text" in waiting["reason"]
        assert sent(agent) == [] and agent.bytes_got() == b"merge PR only after"
        person.type(" the review\r")
        agent.until_delivery("m-2", "submitted")
        assert sent(agent) == ["merge PR only after the review", message("urgent", "m-2")]
        person.leave()


def test_a16_keys_in_the_middle_of_a_delivery(tmp_path: Path) -> None:
    """What a person types between a prompt's text and its Enter comes behind the Enter."""
    with scripted(tmp_path, SCRIPTED.replace(settle_ms=700)) as agent:
        agent.until("ready")
        person = Person(agent)
        deliver(agent, message("hello"))
        agent.until_delivery("m-1", "pasted")
        person.type("draft")
        agent.until_delivery("m-1", "submitted")
        eventually(lambda: agent.bytes_got().endswith(b"draft"))
        assert sent(agent) == [message("hello")]
        assert agent.bytes_got() == paste(message("hello")) + b"\rdraft"
        person.leave()


def test_b02_output_is_always_read(tmp_path: Path) -> None:
    """A program that prints 20,000 lines comes to its end though nobody looks."""
    with scripted(tmp_path, print_lines=20_000) as agent:
        record = agent.until_gone()
    assert record.exit is not None and record.exit.code == 0
    assert any("line 19999" in row for row in record.screen)


def test_b02_output_is_read_while_a_prompt_waits(tmp_path: Path) -> None:
    """Four MiB come while a prompt waits at the gate; it is delivered when the screen is known again."""
    with scripted(tmp_path, flood_bytes=4 << 20) as agent:
        deliver(agent, message("hello"))
        agent.until_delivery("m-1", "submitted", timeout_s=60)
        assert sent(agent) == [message("hello")]
        assert agent.status()["bytes_out"] > 4 << 20


def open_files() -> set[str]:
    return set(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"))


def test_b11_ended_arms_keep_no_descriptor(tmp_path: Path) -> None:
    """50 rounds of start, end and failed start leave the open descriptors as they were."""
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    good, bad = spec(tmp_path, ["true"]), spec(tmp_path, [str(broken)])
    assert problem(good) == problem(bad) == ""
    before = open_files()
    for _ in range(50):
        terminal = Terminal.start(good)
        while terminal.read() != b"":
            pass
        assert os.waitpid(terminal.pid, 0)[1] == 0
        terminal.close()
        with pytest.raises(OSError, match="No such file"):
            Terminal.start(bad)
    assert open_files() == before


def test_b11_hosts_leave_no_descriptor_at_the_brain(tmp_path: Path) -> None:
    """Starting hosts, also such that fail, leaves nothing open in whoever starts them."""
    before = open_files()
    for _ in range(5):
        with hosted(tmp_path, spec(tmp_path, ["true"], LINES)) as started:
            started.until_gone()
        with pytest.raises(Exception, match="was not found"):
            launch(spec(tmp_path, ["no-such-program"], LINES), str(tmp_path / "host.json"))
    assert open_files() == before


@pytest.mark.parametrize("kind", ["plain", "deaf", "session"])
def test_b13_nothing_of_an_arm_is_left(tmp_path: Path, kind: str) -> None:
    """Also a grandchild that ignores HUP and TERM, also one in a session of its own whose parent has ended."""
    with scripted(tmp_path, grandchild=kind, deaf_to_term=True) as agent:
        agent.until("ready")
        (grandchild,) = eventually(lambda: agent.got("grandchild"))
        child = agent.status()["child"]["pid"]
        agent.ask("stop", grace_s=0.3, reason="a test")
        record = agent.until_gone()
    assert no_such(grandchild) and no_such(child)
    assert record.stopping == "a test" and record.exit is not None


def test_b13_what_an_ended_arm_leaves_is_ended_too(tmp_path: Path) -> None:
    """The agent crashes; its tool servers do not outlive it."""
    with scripted(tmp_path, grandchild="session", crash={"at": "turn", "signal": 9}) as agent:
        agent.until("ready")
        (grandchild,) = eventually(lambda: agent.got("grandchild"))
        deliver(agent, message("hello"))
        agent.until_gone(30)
    assert no_such(grandchild)


def test_b13_the_own_group_is_never_signalled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a group's number claims to be."""
    signalled: list[object] = []
    monkeypatch.setattr(os, "killpg", lambda *what: signalled.append(what))
    for group in (0, 1, -1, os.getpgid(0), 1 << 30):
        assert processes.signal_group(group, signal.SIGKILL) is False
    assert signalled == []


def test_b14_a_program_that_closed_its_terminal(tmp_path: Path) -> None:
    """The host answers all the time; the state is lost, and then the arm is ended."""
    with scripted(tmp_path, close_terminal_s=0.2, closed_s=60, deaf_to_term=True) as agent:
        lost = agent.until("lost")
        assert lost["alive"] and lost["stopping"] == "its terminal is lost"
        agent.ask("stop")
        record = agent.until_gone()
    assert record.stopping == "its terminal is lost"
    assert record.exit is not None and record.exit.signal == signal.SIGKILL


def test_h09_no_signal_on_a_pid_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pids from a forged state file reach neither kill nor a pidfd; nor does a living process that is another one."""
    sent: list[object] = []
    for module, name in ((os, "kill"), (os, "killpg"), (signal, "pidfd_send_signal")):
        monkeypatch.setattr(module, name, lambda *what: sent.append(what), raising=False)
    me = processes.identity(os.getpid())
    assert me is not None
    for pid in [*json.loads((DATA / "h09" / "pids.json").read_text()), os.getpid()]:
        assert processes.signal_process(me.replace(pid=pid), signal.SIGTERM) is False
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        now = processes.identity(other.pid)
        assert now is not None
        for forged in (now.replace(start=now.start + 1), now.replace(boot="another boot")):
            assert processes.signal_process(forged, signal.SIGTERM) is False
        assert sent == []
    finally:
        other.communicate(b"\n")
