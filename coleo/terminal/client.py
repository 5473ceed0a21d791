"""Talking to a host: `HostClient` for the brain, `ask` for one question at the command line."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

from coleo.model.delivery import DeliveryStatus, HostStatus
from coleo.terminal.protocol import HostGone, HostRefused, ScreenShot, connect, line

_LIMIT = 16 << 20


def ask(path: str, request: dict[str, Any], timeout_s: float = 5.0) -> dict[str, Any]:
    """One request (``{"op": "status"}``), one answer. Raises HostGone or HostRefused; blocks at most `timeout_s`."""
    raw = connect(path)
    with socket.socket(fileno=raw.detach()) as sock:
        sock.settimeout(timeout_s)
        try:
            sock.sendall(line(request))
            with sock.makefile("rb") as stream:
                answer = stream.readline(_LIMIT)
        except OSError as error:
            raise HostGone("the host does not answer", found=f"{path}: {error}") from error
    return _answer(path, answer)


def _answer(path: str, answer: bytes) -> dict[str, Any]:
    if not answer.endswith(b"\n"):
        raise HostGone("the host ended in the middle of an answer", found=path)
    values: dict[str, Any] = json.loads(answer)
    if not values.get("ok"):
        raise HostRefused(str(values.get("error", "the host refused")), found=path)
    return values


class HostClient:
    """A lasting connection to one host. Made by `connect`; every method raises HostGone once the host is gone."""

    def __init__(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.path = path
        self._reader, self._writer = reader, writer
        self._number = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._gone = False
        self._pump = asyncio.create_task(self._read(), name=f"host client {path}")

    @classmethod
    async def connect(cls, path: str) -> HostClient:
        """A client of the host that listens at `path`. Raises HostGone when none does."""
        raw = connect(path)
        sock = socket.socket(fileno=raw.detach())
        sock.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=sock, limit=_LIMIT)
        return cls(path, reader, writer)

    @property
    def gone(self) -> bool:
        """Whether the connection has ended."""
        return self._gone

    async def request(self, op: str, **fields: Any) -> dict[str, Any]:
        """Any operation of the host. Raises HostGone, HostRefused."""
        if self._gone:
            raise HostGone("the host has ended", found=self.path)
        self._number += 1
        number = self._number
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self._writer.write(line({"op": op, "n": number, **fields}))
        try:
            await self._writer.drain()
            values = await future
        except (ConnectionError, BrokenPipeError) as error:
            raise HostGone("the host has ended", found=self.path) from error
        finally:
            self._waiting.pop(number, None)
        if not values.get("ok"):
            raise HostRefused(str(values.get("error", "the host refused")), found=self.path)
        return values

    async def status(self) -> HostStatus:
        """What the host knows of its arm now; the screen is read anew for it."""
        return HostStatus.from_json((await self.request("status"))["status"])

    async def deliver(self, id: str, text: str, *, quiet_s: float | None = None) -> DeliveryStatus:
        """Have `text` typed once under `id`; returns at once. An id that the host knows is answered, not typed again.

        quiet_s: nobody may have typed for so long (None: as the harness says; 0 for what may not wait).
        """
        fields = {} if quiet_s is None else {"quiet_s": quiet_s}
        return DeliveryStatus.from_json((await self.request("deliver", id=id, text=text, **fields))["delivery"])

    async def delivery(self, id: str) -> DeliveryStatus | None:
        """Where the prompt `id` stands; None when the host was never asked to deliver it."""
        found = (await self.request("delivery", id=id))["delivery"]
        return DeliveryStatus.from_json(found) if found else None

    async def deliveries(self) -> tuple[DeliveryStatus, ...]:
        """Every prompt that is not finished, and the last 100 that are."""
        return tuple(DeliveryStatus.from_json(each) for each in (await self.request("deliveries"))["deliveries"])

    async def cancel(self, id: str, reason: str = "") -> DeliveryStatus | None:
        """Take back a prompt that still waits at the gate: it is ``failed`` with nothing typed, and may be asked again.

        One that was typed stays as it is. None when the host does not know it.
        """
        found = (await self.request("cancel", id=id, reason=reason))["delivery"]
        return DeliveryStatus.from_json(found) if found else None

    async def receipt(self, id: str, kind: str) -> DeliveryStatus | None:
        """Tell the host that the agent's own files name `id` (kind typed or turn): it presses no more Enter for it."""
        found = (await self.request("receipt", id=id, kind=kind))["delivery"]
        return DeliveryStatus.from_json(found) if found else None

    async def screen(self, *, colours: bool = False) -> ScreenShot:
        """What the screen shows; with `colours` also how it looks."""
        return ScreenShot.from_json((await self.request("screen", colours=colours))["screen"])

    async def tail(self, limit: int = 65536) -> bytes:
        """The last bytes that the arm wrote to its terminal, as they came (at most a MiB is kept)."""
        return base64.b64decode((await self.request("tail", limit=limit))["data"])

    async def keys(self, data: bytes) -> None:
        """Type `data` now, past the gate: interrupts, answers to dialogs. Refused in the middle of a paste."""
        await self.request("keys", data=base64.b64encode(data).decode("ascii"))

    async def resize(self, rows: int, cols: int) -> None:
        """Another window size."""
        await self.request("resize", rows=rows, cols=cols)

    async def stop(self, grace_s: float = 5.0, *, reason: str = "asked to stop", keys: bool = True) -> None:
        """End the arm: its exit keys (unless `keys` is false), TERM, KILL, `grace_s` each. Returns at once.

        The exit comes as an event and as the exit record; the host itself ends when nothing of the arm is left.
        """
        await self.request("stop", grace_s=grace_s, reason=reason, keys=keys)

    async def rebind(self) -> None:
        """Make the socket anew after somebody removed its file."""
        await self.request("rebind")

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """Subscribes: first how things stand (the state, each prompt), then every change, until the host ends.

        ``{"event": "state", "status": ...}``, ``{"event": "delivery", "delivery": ...}``,
        ``{"event": "exit", "status": ...}``: values of `HostStatus.from_json` and `DeliveryStatus.from_json`.
        """
        answer = await self.request("subscribe")
        yield {"event": "state", "status": answer["status"]}
        for delivery in answer["deliveries"]:
            yield {"event": "delivery", "delivery": delivery}
        while (event := await self._events.get()) is not None:
            yield event

    async def close(self) -> None:
        """Leave; the host and its arm go on."""
        self._writer.close()
        self._pump.cancel()
        try:
            await self._pump
        except asyncio.CancelledError:
            pass
        try:
            await self._writer.wait_closed()
        except OSError:
            pass

    async def _read(self) -> None:
        try:
            while answer := await self._reader.readline():
                values = json.loads(answer)
                if "event" in values:
                    self._events.put_nowait(values)
                elif (future := self._waiting.get(values.get("n"))) and not future.done():
                    future.set_result(values)
        except (OSError, ValueError, asyncio.IncompleteReadError):
            pass
        finally:
            self._gone = True
            self._events.put_nowait(None)
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(HostGone("the host has ended", found=self.path))
