"""The real terminals: one lasting connection to each seat's host.

A link connects, subscribes and keeps the last status and the last word on every block; events arrive within a
millisecond and call `on_change`. A link that breaks is tried again as long as the host process lives; when the host
is gone its exit record (or its absence) says how the arm ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable
from typing import Any

from coleo.brain.facts import Seen
from coleo.daemon.clock import Clock
from coleo.daemon.terminals import Typing
from coleo.files import process
from coleo.files.layout import Layout
from coleo.model.arm import Arm, ProcessId
from coleo.model.delivery import DeliveryStatus, HostStatus
from coleo.model.errors import ColeoError
from coleo.terminal.client import HostClient
from coleo.terminal.launch import launch
from coleo.terminal.protocol import HostGone, HostRefused, HostSpec, read_exit

RETRY_S = 0.2
LAST_ROWS = 3


class Link:
    """What is known of one seat's host, and the task that keeps knowing it."""

    def __init__(self, seat: str, socket: str, spec_path: str) -> None:
        self.seat = seat
        self.socket = socket
        self.spec_path = spec_path
        self.client: HostClient | None = None
        self.status: HostStatus | None = None
        self.blocks: dict[str, DeliveryStatus] = {}
        self.host: ProcessId | None = None
        self.generation = 0
        self.exit = ""
        self.last_words = ""
        self.failure = ""
        self.asked: set[str] = set()
        self.stop_for = ""
        self.task: asyncio.Task[None] | None = None

    def typing(self, flight: str) -> Typing | None:
        """The last word on a block; None when the host never heard of it."""
        found = self.blocks.get(flight)
        if found is None:
            return Typing("waiting", "on its way to the host") if flight in self.asked else None
        return Typing(found.state.value, found.reason, found.typed, found.at)

    def seen(self, now: float) -> Seen:
        """What the brain is told."""
        status = self.status
        if status is None:
            alive = self.host is not None and not self.exit
            return Seen(host_alive=alive, exit=self.exit, failure=self.failure, evidence=self.last_words, at=now)
        return Seen(
            host_alive=not self.exit,
            reachable=self.client is not None and not self.client.gone,
            child_alive=status.alive and not self.exit,
            exit=self.exit,
            failure=self.failure,
            screen=status.state.value,
            screen_since_at=status.since_at,
            evidence=self.last_words or status.evidence,
            at=now,
        )


class Hosts:
    """All hosts of a project, as `coleo.daemon.terminals.Terminals` wants them."""

    def __init__(self, layout: Layout, clock: Clock, on_change: Callable[[str], None]) -> None:
        self._layout = layout
        self._clock = clock
        self._on_change = on_change
        self._links: dict[str, Link] = {}
        self._jobs: set[asyncio.Task[None]] = set()

    def adopt(self, arms: dict[str, Arm]) -> None:
        """Connect to the hosts that the records name and that live, and to those that no record names."""
        strays = find_hosts(self._layout)
        for seat in sorted({*arms, *strays}):
            alive = seat in arms and arms[seat].alive
            recorded = arms[seat].host if alive else None
            host = recorded if recorded is not None and process.same(recorded) else strays.get(seat)
            link = self._link(seat)
            link.host = host
            link.generation = arms[seat].generation if seat in arms else 0
            if host is not None:
                if not os.path.exists(link.socket):
                    process.send(host, _REBIND)
                self._start(link)
            elif alive:
                link.host = recorded
                self._ended(link)

    def seen(self, seat: str) -> Seen:
        """What is known of the seat now."""
        link = self._links.get(seat)
        return link.seen(self._clock.now()) if link else Seen()

    def processes(self, seat: str) -> tuple[ProcessId | None, ProcessId | None, int]:
        """Host, child, generation."""
        link = self._links.get(seat)
        if link is None:
            return None, None, 0
        return link.host, link.status.child if link.status else None, link.generation

    def typing(self, seat: str, flight: str) -> Typing | None:
        """The host's word on a block."""
        link = self._links.get(seat)
        if link is None:
            return None
        known = link.typing(flight)
        if known is None and link.client is None and not link.exit and link.host is not None:
            return Typing("waiting", "its host cannot be asked yet")
        return known

    def launch(self, seat: str, generation: int, spec: dict[str, Any]) -> None:
        """Start a host in a thread; the link follows."""
        link = self._renew(seat)
        link.generation = generation
        self._do(self._launch(link, HostSpec(**spec)))

    def failed(self, seat: str, generation: int, reason: str) -> None:
        """Nothing was started."""
        link = self._renew(seat)
        link.generation = generation
        link.failure = reason
        self._on_change(seat)

    def stop(self, seat: str, reason: str) -> None:
        """Ask the host to end its arm; when it cannot be asked now, as soon as it can."""
        link = self._links.get(seat)
        if link is not None:
            link.stop_for = reason
            self._ask(seat, lambda client: client.stop(reason=reason))

    def deliver(self, seat: str, flight: str, text: str) -> None:
        """Hand over a block; the host answers at once, events follow."""
        link = self._links[seat]
        link.asked.add(flight)

        async def hand(client: HostClient) -> None:
            link.blocks[flight] = await client.deliver(flight, text)

        self._ask(seat, hand)

    def withdraw(self, seat: str, flight: str) -> None:
        """Take back what waits at the gate."""
        link = self._links[seat]

        async def take_back(client: HostClient) -> None:
            status = await client.cancel(flight, "taken back")
            if status is not None:
                link.blocks[flight] = status

        self._ask(seat, take_back)

    def settle(self, seat: str, flight: str) -> None:
        """No more Enter for it; forget it."""
        link = self._links.get(seat)
        if link is None:
            return
        known = link.blocks.pop(flight, None)
        link.asked.discard(flight)
        if known is not None and not link.exit:
            self._ask(seat, lambda client: client.receipt(flight, "turn"))

    def keep(self) -> None:
        """Broken links of living hosts are tried again; swept socket files are made again."""
        for link in self._links.values():
            if link.host is None or link.exit:
                continue
            if not os.path.exists(link.socket) and link.client is not None and not link.client.gone:
                self._ask(link.seat, lambda client: client.rebind())
            elif link.task is None or link.task.done():
                self._start(link)

    def collected(self, seat: str) -> None:
        """The arm's end is in its record now."""
        self._links.pop(seat, None)

    async def close(self) -> None:
        """Close all connections; hosts and arms go on."""
        jobs = [*self._jobs, *(link.task for link in self._links.values() if link.task is not None)]
        for link in self._links.values():
            if link.client is not None:
                await link.client.close()
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)

    def _link(self, seat: str) -> Link:
        if seat not in self._links:
            self._links[seat] = Link(seat, self._layout.host_socket(seat), self._layout.host_spec(seat))
        return self._links[seat]

    def _renew(self, seat: str) -> Link:
        old = self._links.pop(seat, None)
        if old is not None and old.task is not None:
            old.task.cancel()
        return self._link(seat)

    async def _launch(self, link: Link, spec: HostSpec) -> None:
        os.makedirs(os.path.dirname(link.socket), mode=0o700, exist_ok=True)
        try:
            link.host = await asyncio.to_thread(launch, spec, link.spec_path)
        except (ColeoError, OSError) as error:
            link.failure = str(error)
            self._on_change(link.seat)
            return
        self._on_change(link.seat)
        self._start(link)

    def _start(self, link: Link) -> None:
        link.task = asyncio.get_running_loop().create_task(self._follow(link), name=f"host of {link.seat}")

    async def _follow(self, link: Link) -> None:
        """Connect and read events until the host ends."""
        while not link.exit:
            try:
                link.client = await HostClient.connect(link.socket)
                await self._listen(link, link.client)
            except (HostGone, HostRefused, OSError):
                pass
            if link.client is not None:
                client, link.client = link.client, None
                with contextlib.suppress(HostGone, OSError):
                    await client.close()
            if link.host is None or not process.same(link.host):
                self._ended(link)
                return
            self._on_change(link.seat)
            await asyncio.sleep(RETRY_S)

    async def _listen(self, link: Link, client: HostClient) -> None:
        unsure = set(link.asked)
        link.status = await client.status()
        link.generation = link.status.generation
        for block in await client.deliveries():
            link.blocks[block.id] = block
        link.asked -= unsure - set(link.blocks)
        if link.stop_for and not link.status.stopping:
            await client.stop(reason=link.stop_for)
        self._on_change(link.seat)
        async for event in client.events():
            match event.get("event"):
                case "delivery":
                    block = DeliveryStatus.from_json(event["delivery"])
                    link.blocks[block.id] = block
                case "state" | "exit":
                    link.status = HostStatus.from_json(event["status"])
                case _:
                    continue
            self._on_change(link.seat)

    def _ended(self, link: Link) -> None:
        """The host process is gone: its last word is the exit record, if it could leave one."""
        how = "its host was killed" if link.host else "it had no host yet when the last brain ended"
        try:
            record = read_exit(link.spec_path)
        except (ValueError, OSError):
            record = None
        if record is not None and record.generation == link.generation:
            how = record.failure or str(record.exit or "its terminal was lost")
            link.last_words = " / ".join([row for row in record.screen if row.strip()][-LAST_ROWS:])
            for block in record.deliveries:
                link.blocks[block.id] = block
        link.exit = how
        self._on_change(link.seat)

    def _ask(self, seat: str, question: Callable[[HostClient], Awaitable[object]]) -> None:
        """One request, in its own time; a host that is gone says so through its link."""
        link = self._links.get(seat)
        if link is None:
            return
        client = link.client

        async def ask() -> None:
            if client is None or client.gone:
                return
            with contextlib.suppress(HostGone, HostRefused, OSError):
                await question(client)
            self._on_change(seat)

        self._do(ask())

    def _do(self, job: Any) -> None:
        task = asyncio.get_running_loop().create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)


_REBIND = 10
"""SIGUSR1: a host makes its socket anew."""


def find_hosts(layout: Layout) -> dict[str, ProcessId]:
    """Hosts of this project that run now, by seat, found by the ``COLEO_*`` variables in their environment."""
    found: dict[str, ProcessId] = {}
    for pid in process.pids():
        try:
            environ = process.environ(pid)
        except OSError:
            continue
        if environ.get("COLEO_PROJECT") != layout.root or "COLEO_HOST" not in environ:
            continue
        identity = process.identity(pid)
        seat = environ.get("COLEO_SEAT", "")
        if identity is not None and seat and "coleo.terminal.host" in process.command_line(pid):
            found[seat] = identity
    return found
