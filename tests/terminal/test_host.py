"""The host as its clients see it: `HostClient` and `ask` against a real one with the scripted agent in it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from coleo.model.arm import ProcessId
from coleo.model.delivery import DeliveryState, Exit, ScreenState
from coleo.model.errors import CannotBeDone
from coleo.terminal import processes
from coleo.terminal.client import HostClient, ask
from coleo.terminal.launch import launch
from coleo.terminal.protocol import HostGone, HostRefused, bind, connect, exit_path, read_exit
from coleo.terminal.pty import paste
from tests.agents.setup import LINES, SCRIPTED, Started, hosted, scripted, spec
from tests.waiting import eventually


def run(started: Started, talk: Callable[[HostClient], Awaitable[None]]) -> None:
    """Has a client of its own talk to the host."""

    async def connected() -> None:
        client = await HostClient.connect(started.socket)
        try:
            async with asyncio.timeout(60):
                await talk(client)
        finally:
            await client.close()

    asyncio.run(connected())


@contextlib.asynccontextmanager
async def listening(client: HostClient) -> AsyncIterator[asyncio.Queue[dict[str, object]]]:
    """The events of a client, in a queue."""
    queue: asyncio.Queue[dict[str, object]] = asyncio.Queue()

    async def pump() -> None:
        async for event in client.events():
            queue.put_nowait(event)
        queue.put_nowait({"event": "left"})

    task = asyncio.create_task(pump())
    try:
        yield queue
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(queue: asyncio.Queue[dict[str, object]], name: str, key: str, state: str) -> list[str]:
    """The states of one kind of event, up to the one that is waited for."""
    seen: list[str] = []
    while not seen or seen[-1] != state:
        event = await queue.get()
        if event["event"] == name:
            value = event[key]
            assert isinstance(value, dict)
            seen.append(str(value["state"]))
    return seen


def test_a_delivery_as_the_brain_sees_it(tmp_path: Path) -> None:
    """Status, events in order, the screen, the receipt of the transcript told back."""

    async def talk(client: HostClient) -> None:
        async with listening(client) as events:
            status = await client.status()
            assert (status.seat, status.generation, status.alive) == ("worker", 1, True)
            assert status.host == agent.host and status.child is not None and status.exit is None
            while (await client.status()).state is not ScreenState.READY:
                await asyncio.wait_for(events.get(), 10)
            first = await client.deliver("m-1", "hello\nworld")
            assert first.state in (DeliveryState.PASTED, DeliveryState.ENTERED)
            states = await until(events, "delivery", "delivery", "submitted")
            assert list(dict.fromkeys(states)) == ["waiting", "pasted", "entered", "submitted"]
            found = await client.delivery("m-1")
            assert found is not None and (found.receipt, found.pastes, found.enters) == ("weak", 1, 1)
            proved = await client.receipt("m-1", "turn")
            assert proved is not None and proved.receipt == "turn"
            assert (await client.deliver("m-1", "hello\nworld")).receipt == "turn"
            assert await client.delivery("m-2") is None and await client.cancel("m-2") is None
            assert [one.id for one in await client.deliveries()] == ["m-1"]
            shot = await client.screen(colours=True)
            assert shot.known and "said: hello" in shot.rows and shot.size == (50, 200)
            assert sum(cols for cols, _, _ in shot.runs[0]) == 200
            assert b"said: hello" in await client.tail()

    with scripted(tmp_path) as agent:
        run(agent, talk)
        assert agent.got("submit") == ["hello\nworld"]
        receipts = [json.loads(line) for line in (tmp_path / "transcript.jsonl").read_text().splitlines()]
        assert [line["type"] for line in receipts] == ["typed", "turn"]


def test_nothing_is_missed_between_two_clients(tmp_path: Path) -> None:
    """Who subscribes is told first how things stand: the state, and every prompt that came before."""

    async def talk(client: HostClient) -> None:
        async with listening(client) as events:
            first = await events.get()
            assert isinstance(first["status"], dict)
            assert (first["event"], first["status"]["state"]) == ("state", "ready")
            assert await until(events, "delivery", "delivery", "submitted") == ["submitted"]

    with scripted(tmp_path) as agent:
        agent.until("ready")
        agent.ask("deliver", id="m-1", text="hello")
        agent.until_delivery("m-1", "submitted")
        agent.until("ready")
        run(agent, talk)


def test_the_end_is_told_and_written(tmp_path: Path) -> None:
    """The exit event, then the connection ends; the record is there before."""

    async def talk(client: HostClient) -> None:
        async with listening(client) as events:
            await until(events, "state", "status", "ready")
            await client.deliver("m-1", "hello")
            while (event := await events.get())["event"] != "exit":
                pass
            status = event["status"]
            assert isinstance(status, dict) and status["exit"] == {"code": 7, "signal": None}
            record = read_exit(agent.spec_path)
            assert record is not None and record.exit == Exit(code=7)
            while (await events.get())["event"] != "left":
                pass
        assert client.gone
        with pytest.raises(HostGone):
            await client.status()

    with scripted(tmp_path, crash={"at": "turn", "code": 7}) as agent:
        run(agent, talk)
        record = agent.until_gone()
        assert [one.id for one in record.deliveries] == ["m-1"]
        assert any("scripted agent" in row for row in record.screen)
        assert stat.S_IMODE(os.stat(exit_path(agent.spec_path)).st_mode) == 0o600
        assert not os.path.lexists(agent.socket)
        with pytest.raises(HostGone):
            ask(agent.socket, {"op": "status"})


def test_several_clients(tmp_path: Path) -> None:
    """Each gets its own answers; one that leaves in the middle of a line disturbs nobody."""

    async def talk(client: HostClient) -> None:
        other = await HostClient.connect(agent.socket)
        sock = connect(agent.socket)
        sock.send(b'{"op": "status"')
        both = await asyncio.gather(*[each.status() for each in (client, other, client, other)])
        assert len({status.host for status in both}) == 1
        sock.close()
        await other.close()
        assert (await client.status()).alive

    with scripted(tmp_path) as agent:
        run(agent, talk)


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"op": "no such"}, "no operation"),
    ({}, "no operation"),
    ({"op": "deliver", "id": "", "text": "x"}, "id is ''"),
    ({"op": "deliver", "id": 5, "text": "x"}, "id is 5"),
    ({"op": "deliver", "id": "m", "text": None}, "text is None"),
    ({"op": "deliver", "id": "m", "text": "x", "quiet_s": "soon"}, "quiet_s"),
    ({"op": "receipt", "id": "m", "kind": "weak"}, "kind"),
    ({"op": "keys", "data": "%%%"}, "base64"),
    ({"op": "input", "data": "eA=="}, "attach first"),
    ({"op": "resize", "rows": True, "cols": 80}, "window"),
    ({"op": "resize", "rows": 50, "cols": 1}, "window"),
    ({"op": "attach", "rows": 0, "cols": 80}, "window"),
    ({"op": "stop", "grace_s": -1}, "grace_s"),
    ({"op": "tail", "limit": "x"}, "limit"),
]


def test_what_is_refused(tmp_path: Path) -> None:
    """With the reason, and without harm to the arm."""
    with scripted(tmp_path) as agent:
        for request, why in REFUSED:
            with pytest.raises(HostRefused, match=why):
                ask(agent.socket, request)
        assert agent.status()["alive"]


def test_hostile_lines(tmp_path: Path) -> None:
    """No JSON, no object, bytes without end: answered or left, and the arm lives."""
    with scripted(tmp_path) as agent:
        sock = connect(agent.socket)
        sock.settimeout(20)
        for data in (b"\n", b"nonsense\n", b"[1]\n", b"\xff\xfe\n", b'"op"\n', b'{"op": ["status"]}\n'):
            sock.send(data)
            assert json.loads(sock.recv(65536))["ok"] is False
        sock.close()
        sock = connect(agent.socket)
        sock.settimeout(20)
        with contextlib.suppress(OSError):
            for _ in range(200):
                sock.send(b"x" * 65536)
        sock.close()
        assert agent.status()["alive"] and agent.ask("figures")["faults"] == 0


def test_silence_costs_nothing(tmp_path: Path) -> None:
    """No timer is pending while the agent is silent, also with a subscriber and after a delivery; nothing was drawn
    before somebody looked.
    """

    async def talk(client: HostClient) -> None:
        async with listening(client) as events:
            await until(events, "state", "status", "ready")
            await client.deliver("m-1", "hello")
            await until(events, "delivery", "delivery", "submitted")
            while (await client.request("figures"))["timers"]:
                await asyncio.sleep(0)

    with scripted(tmp_path / "a") as agent:
        eventually(lambda: agent.got("started"))
        assert agent.ask("figures")["drawn"] is False
        run(agent, talk)


def test_the_screen_is_got_anew_after_a_flood(tmp_path: Path) -> None:
    """Output faster than it can be drawn: the window twitches once, and the screen is known again, at its old size."""
    with scripted(tmp_path, flood_bytes=3 << 20) as agent:
        agent.until("ready", 30)
        shot = agent.ask("screen")["screen"]
        assert shot["rows"][:2] == ["scripted agent", ">"] and shot["known"] and shot["size"] == [50, 200]
        assert not any(shot["rows"][2:])


def test_a_line_reader_after_a_flood(tmp_path: Path) -> None:
    """There is nobody who would draw it anew: the last lines are drawn."""
    code = "import sys\nfor n in range(60000): print('line', n)\ninput()"
    with hosted(tmp_path, spec(tmp_path, [sys.executable, "-c", code], LINES)) as agent:
        eventually(lambda: "line 59999" in agent.rows(), 30)
        assert agent.ask("screen")["screen"]["known"]


def test_questions_to_the_terminal_are_answered(tmp_path: Path) -> None:
    """In order, with the cursor where it is."""
    asked = b"\x1b[2J\x1b[4;7H\x1b[6n\x1b[c\x1b]11;?\x07\x1b[?2004$p"
    right = b"\x1b[4;7R\x1b[?62;22c\x1b]11;rgb:1111/1111/1111\x1b\\\x1b[?2004;2$y"
    with scripted(tmp_path, queries=asked.hex(), answers=len(right)) as agent:
        agent.until("ready")
        assert b"".join(bytes.fromhex(data) for data in agent.got("terminal")) == right


@pytest.mark.parametrize(
    "script",
    [
        {"start_s": 0.5, "lose_early_input": True},
        {"start_s": 0.5, "cooked_start": True},
        {"slow_paste_s": 0.8},
        {"repaint_hz": 40, "spinner": True},
        {"repaint_hz": 40, "frames": True},
        {"busy_s": 0.6, "hide_busy": True},
        {"busy_s": 0.6, "hide_composer_busy": True},
        {"slow_read": [3, 0.002]},
        {"title": "✳ working"},
    ],
    ids=lambda script: "-".join(script),
)
def test_exactly_once_whatever_the_agent_is_like(tmp_path: Path, script: dict[str, object]) -> None:
    """Two prompts, asked for at once and right at the start, arrive once each, in order."""
    with scripted(tmp_path, SCRIPTED, **script) as agent:
        for number in (1, 2):
            agent.ask("deliver", id=f"m-{number}", text=f"prompt {number}\nmore")
        agent.until_delivery("m-2", "submitted")
        assert agent.got("submit") == ["prompt 1\nmore", "prompt 2\nmore"]
        assert agent.bytes_got() == paste("prompt 1\nmore") + b"\r" + paste("prompt 2\nmore") + b"\r"


def test_a_busy_agent_in_line_mode(tmp_path: Path) -> None:
    """aider gives the terminal back to the kernel while it works: nothing is typed then."""
    with scripted(tmp_path, SCRIPTED.replace(deliver_busy=True), busy_s=1.0, while_busy="cooked") as agent:
        agent.until("ready")
        agent.ask("deliver", id="m-1", text="one")
        agent.until_delivery("m-1", "submitted")
        eventually(lambda: agent.status()["icanon"])
        agent.ask("deliver", id="m-2", text="two")
        assert "line mode" in agent.delivery("m-2")["reason"]
        agent.until_delivery("m-2", "submitted")
        assert agent.got("submit") == ["one", "two"]


def test_a_dialog_that_opens_on_enter(tmp_path: Path) -> None:
    """A permission dialog comes with the Enter: it gets no second one, whoever waits."""
    dialog = {"name": "allow", "text": "Allow this command?", "at": "enter"}
    with scripted(tmp_path, dialogs=[dialog]) as agent:
        agent.until("ready")
        agent.ask("deliver", id="m-1", text="hello")
        eventually(lambda: "dialog is open" in agent.delivery("m-1")["reason"])
        assert agent.status()["state"] == "dialog" and agent.got("answer") == []
        agent.ask("keys", data="Bw==")
        agent.ask("keys", data="DQ==")
        agent.until_delivery("m-1", "submitted")
        assert agent.got("answer") == ["yes"], "by the keys of whoever decided it, not by the delivery"
        assert agent.got("submit") == ["hello"]


def test_an_agent_that_never_reads(tmp_path: Path) -> None:
    """The prompt fails after five seconds without progress; the host answers all the time."""
    with scripted(tmp_path, never_read=True) as agent:
        agent.until("ready")
        agent.ask("deliver", id="m-1", text="x" * 300_000)
        failed = agent.until_delivery("m-1", "failed")
        assert "read nothing" in failed["reason"] and failed["pastes"] == 1
        agent.ask("deliver", id="m-2", text="next")
        assert "not read yet" in agent.delivery("m-2")["reason"]


def test_the_socket_is_private_and_comes_back(tmp_path: Path) -> None:
    """0600 whatever the umask; removed, it is made again for who asks, or by SIGUSR1; SIGHUP does nothing."""

    async def talk(client: HostClient) -> None:
        os.unlink(agent.socket)
        await client.rebind()
        await client.rebind()
        assert agent.status()["alive"]

    before = os.umask(0)
    try:
        with scripted(tmp_path) as agent:
            assert stat.S_IMODE(os.stat(agent.socket).st_mode) == 0o600
            assert stat.S_IMODE(os.stat(agent.spec_path).st_mode) == 0o600
            run(agent, talk)
            os.unlink(agent.socket)
            processes.signal_process(agent.host, signal.SIGHUP)
            processes.signal_process(agent.host, signal.SIGUSR1)
            eventually(lambda: os.path.exists(agent.socket))
            assert agent.status()["alive"]
    finally:
        os.umask(before)


def test_a_deep_folder(tmp_path: Path) -> None:
    """Paths of sockets may be longer than the kernel's 108 bytes."""
    deep = tmp_path.joinpath(*["a folder with quite a long name"] * 8)
    deep.mkdir(parents=True)
    with scripted(deep) as agent:
        assert len(agent.socket) > 250
        agent.until("ready")
        run(agent, lambda client: client.resize(20, 60))
        assert agent.ask("screen")["screen"]["size"] == [20, 60]


def test_one_host_per_seat(tmp_path: Path) -> None:
    """A second host for the same socket is refused, a socket that nobody answers on is replaced."""
    with scripted(tmp_path) as agent:
        with pytest.raises(CannotBeDone, match="another host"):
            launch(agent.spec, str(tmp_path / "second.json"))
        assert agent.status()["alive"]
        processes.signal_process(ProcessId(**agent.status()["child"]), signal.SIGKILL)
        agent.until_gone()
    bind(agent.socket).close()
    assert os.path.exists(agent.socket)
    with scripted(tmp_path) as agent:
        agent.until("ready")


@pytest.mark.parametrize(
    ("argv", "more", "why"),
    [
        (["no-such-program"], {}, "not found in PATH"),
        (["true"], {"cwd": "/no/such/folder"}, "is not a folder"),
        (["./broken"], {}, "could not be started"),
    ],
)
def test_a_start_that_cannot_be(tmp_path: Path, argv: list[str], more: dict[str, Any], why: str) -> None:
    """The reason comes at once, and stands in the exit record; no process and no socket is left."""
    (tmp_path / "broken").write_text("#!/no/such/interpreter\n")
    (tmp_path / "broken").chmod(0o755)
    wanted = spec(tmp_path, argv, **more)
    with pytest.raises(CannotBeDone, match=why):
        launch(wanted, str(tmp_path / "host.json"))
    record = read_exit(str(tmp_path / "host.json"))
    assert record is not None
    assert why in record.failure and record.child is None and record.exit is None
    eventually(lambda: not processes.same(record.host))
    assert not os.path.exists(wanted.socket)


def test_a_spec_that_is_none(tmp_path: Path) -> None:
    """Said by the host that was given it."""
    path = tmp_path / "host.json"
    for content in ("", "{}", '{"seat": 5}', "[1]"):
        path.write_text(content)
        done = subprocess.run([sys.executable, "-m", "coleo.terminal.host", str(path)], capture_output=True, timeout=30)
        assert done.returncode == 1 and "cannot be read" in json.loads(done.stdout)["failure"]
    assert subprocess.run([sys.executable, "-m", "coleo.terminal.host"], capture_output=True).returncode == 2


def test_the_host_outlives_who_started_it(tmp_path: Path) -> None:
    """Another session, another group, a child of nobody: kill -9 of the starter's group does not reach it."""
    wanted = spec(tmp_path, ["cat"], LINES)
    code = (
        "import json, sys\nfrom coleo.terminal.launch import launch\nfrom coleo.terminal.protocol import HostSpec\n"
        "host = launch(HostSpec.from_json(json.loads(sys.argv[1])), sys.argv[2])\n"
        "print(json.dumps(host.as_dict()), flush=True)\nsys.stdin.read()"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(wanted.to_json()), str(tmp_path / "host.json")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert starter.stdout is not None and starter.stdin is not None
    started = Started(tmp_path, wanted, ProcessId(**json.loads(starter.stdout.readline())))
    os.killpg(starter.pid, signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    starter.stdin.close()
    host = processes.look(started.host.pid)
    assert host is not None and host.session == host.pid == host.group and started.status()["alive"]
    processes.signal_process(started.host, signal.SIGTERM)
    record = started.until_gone()
    assert record.stopping == "the host was told to end" and record.exit is not None


def test_its_own_way_out(tmp_path: Path) -> None:
    """Exit keys first: the agent ends by itself, with code 0."""
    with scripted(tmp_path, SCRIPTED.replace(exit_keys=("\x15", "/exit", "\r"))) as agent:
        agent.until("ready")
        agent.ask("stop", reason="the day is over")
        record = agent.until_gone()
        assert record.exit == Exit(code=0) and agent.got("ended") == ["asked"]
        assert record.stopping == "the day is over"


def test_no_keys_into_a_dialog(tmp_path: Path) -> None:
    """Also not to end it: TERM it is."""
    dialog = {"name": "trust", "text": "Do you trust this folder?"}
    with scripted(tmp_path, SCRIPTED.replace(exit_keys=("/exit", "\r")), dialogs=[dialog]) as agent:
        agent.until("dialog")
        agent.ask("stop")
        assert agent.until_gone().exit == Exit(signal=signal.SIGTERM)
        assert agent.bytes_got() == b"" and agent.got("answer") == []


def test_what_is_asked_of_an_arm_that_is_being_stopped(tmp_path: Path) -> None:
    """No prompt is taken any more; a second stop is without grace."""
    with scripted(tmp_path, deaf_to_term=True) as agent:
        agent.until("ready")
        agent.ask("stop", grace_s=3600)
        with pytest.raises(HostRefused, match="being stopped"):
            agent.ask("deliver", id="m-1", text="hello")
        assert agent.status()["stopping"] == "asked to stop"
        agent.ask("stop")
        assert agent.until_gone().exit == Exit(signal=signal.SIGKILL)


def test_an_end_that_cannot_be_written_down(tmp_path: Path) -> None:
    """The disk is full, or the like: the host stays and answers until it can."""
    with scripted(tmp_path) as agent:
        child = ProcessId(**agent.until("ready")["child"])
        os.mkdir(exit_path(agent.spec_path))
        processes.signal_process(child, signal.SIGKILL)
        eventually(lambda: agent.status()["exit"])
        assert agent.status()["exit"] == {"code": None, "signal": 9} and processes.same(agent.host)
        os.rmdir(exit_path(agent.spec_path))
        assert agent.until_gone().exit == Exit(signal=9)


def test_faults_of_its_own_are_written_down(tmp_path: Path) -> None:
    """In a private log beside the spec, never swallowed, never the end of the arm."""
    with scripted(tmp_path) as agent:
        agent.until("ready")
        os.unlink(agent.socket)
        os.mkdir(agent.socket)
        processes.signal_process(agent.host, signal.SIGUSR1)
        log = Path(f"{agent.spec_path}.log")
        eventually(lambda: log.exists() and "Error" in log.read_text())
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
        os.rmdir(agent.socket)
        processes.signal_process(agent.host, signal.SIGUSR1)
        eventually(lambda: os.path.exists(agent.socket))
        assert agent.ask("figures")["faults"] >= 1
