"""What clients can ask of a host, by the name of the operation. `HostClient` has a method for each."""

from __future__ import annotations

import binascii

from coleo.terminal.paint import paint
from coleo.terminal.queries import is_reply
from coleo.terminal.server import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from coleo.model.delivery import DeliveryStatus
    from coleo.terminal.host import Host

    Answer = Mapping[str, object] | None
    Operation = Callable[[Host, Connection, dict[str, Any]], Answer]


_REPEATED = 64 << 10


def answer(host: Host, connection: Connection, request: dict[str, Any]) -> Answer:
    """Carries out one request. Raises ValueError for what cannot be done."""
    operation = OPERATIONS.get(str(request.get("op")))
    if operation is None:
        raise ValueError(f"there is no operation {request.get('op')!r}")
    return operation(host, connection, request)


def _status(host: Host, _connection: Connection, _request: dict[str, Any]) -> Answer:
    host.advance()
    return {"status": host.status().as_json()}


def _subscribe(host: Host, connection: Connection, request: dict[str, Any]) -> Answer:
    host.advance()
    connection.subscribed = True
    return {"status": host.status().as_json(), **(_deliveries(host, connection, request) or {})}


def _deliver(host: Host, _connection: Connection, request: dict[str, Any]) -> Answer:
    id, text, quiet_s = _text(request, "id"), _text(request, "text"), request.get("quiet_s")
    if quiet_s is not None and not (isinstance(quiet_s, int | float) and 0 <= quiet_s < 86400):
        raise ValueError(f"quiet_s is {quiet_s!r}, it must be a number of seconds")
    known = host.keyboard.queue.find(id)
    if known is None or not known.typed:
        _must_live(host)
    host.keyboard.queue.ask(id, text, quiet_s=quiet_s, at=host.time())
    host.advance()
    return _told(host.keyboard.queue.find(id))


def _delivery(host: Host, _connection: Connection, request: dict[str, Any]) -> Answer:
    return _told(host.keyboard.queue.find(_text(request, "id")))


def _deliveries(host: Host, _connection: Connection, _request: dict[str, Any]) -> Answer:
    return {"deliveries": [status.as_dict() for status in host.keyboard.queue.all()]}


def _cancel(host: Host, _connection: Connection, request: dict[str, Any]) -> Answer:
    found = host.keyboard.queue.cancel(_text(request, "id"), str(request.get("reason") or ""), host.time())
    host.advance()
    return _told(found)


def _receipt(host: Host, _connection: Connection, request: dict[str, Any]) -> Answer:
    kind = request.get("kind")
    if kind not in ("typed", "turn"):
        raise ValueError(f"kind is {kind!r}, it must be typed or turn")
    found = host.keyboard.queue.receipt(_text(request, "id"), kind, host.time())
    host.advance()
    return _told(found)


def _told(status: DeliveryStatus | None) -> Answer:
    return {"delivery": status and status.as_dict()}


def _screen(host: Host, _connection: Connection, request: dict[str, Any]) -> Answer:
    host.fresh(look=True)
    if not host.view.screen.known:
        host.view.want_redraw()
    return {"screen": host.view.screen.shot(colours=bool(request.get("colours"))).to_json()}


def _tail(host: Host, _connection: Connection, request: dict[str, Any]) -> Answer:
    limit = request.get("limit", 65536)
    if type(limit) is not int:
        raise ValueError(f"limit is {limit!r}, it must be a number of bytes")
    return {"data": binascii.b2a_base64(host.view.screen.tail(limit), newline=False).decode("ascii")}


def _keys(host: Host, _connection: Connection, request: dict[str, Any]) -> Answer:
    _must_live(host)
    if host.keyboard.busy:
        raise ValueError("a prompt is being typed")
    host.keyboard.type(_data(request))
    return {}


def _input(host: Host, connection: Connection, request: dict[str, Any]) -> Answer:
    if not connection.attached:
        raise ValueError("attach first")
    data = _data(request)
    if host.exit is None:
        (host.keyboard.type if is_reply(data) else host.keyboard.person)(data)
    return {}


def _resize(host: Host, _connection: Connection, request: dict[str, Any]) -> Answer:
    if host.exit is None:
        host.view.resize(*_size(request))
    return {}


def _attach(host: Host, connection: Connection, request: dict[str, Any]) -> Answer:
    """The answer, the screen as it is, then everything that the arm writes; the window gets the person's size."""
    size = _size(request)
    _must_live(host)
    connection.subscribed = False
    host.loop.after(f"attach {connection.fd}", 0, lambda: _begin(host, connection, size))
    return {"attach": True}


def _begin(host: Host, connection: Connection, size: tuple[int, int]) -> None:
    connection.attached = True
    host.view.attached = len(host.server.attached)
    repaint_for(host)(connection)
    host.view.resize(*size)


def repaint_for(host: Host) -> Callable[[Connection], None]:
    """What to do for an attached client that has missed output."""

    def repaint(connection: Connection) -> None:
        host.fresh(look=True)
        screen = host.view.screen
        picture = paint(screen.shot(colours=True), host.view.queries.modes)
        if not screen.known:
            # Not drawn here either, and a window that somebody looks at must not twitch: the last of it as it came.
            picture += screen.tail(_REPEATED)
        host.server.send_raw(connection, picture)

    return repaint


def left(host: Host) -> None:
    """Somebody who was attached has left: without another, the window gets its own size back."""
    host.view.attached = len(host.server.attached)
    if not host.view.attached and host.exit is None:
        host.view.resize(host.spec.rows, host.spec.cols)


def _stop(host: Host, _connection: Connection, request: dict[str, Any]) -> Answer:
    grace_s = request.get("grace_s", 5.0)
    if not (isinstance(grace_s, int | float) and 0 <= grace_s <= 3600):
        raise ValueError(f"grace_s is {grace_s!r}, it must be a number of seconds")
    host.stop(str(request.get("reason") or "asked to stop"), grace_s=grace_s, keys=bool(request.get("keys", True)))
    return {}


def _rebind(host: Host, _connection: Connection, _request: dict[str, Any]) -> Answer:
    host.server.listen()
    return {}


def _figures(host: Host, _connection: Connection, _request: dict[str, Any]) -> Answer:
    """What it costs: for `coleo why` and the benchmark."""
    screen = host.view.screen
    return {
        "wakeups": host.loop.wakeups,
        "timers": host.loop.timers(),
        "behind": screen.behind,
        "drawn": screen.asked,
        "faults": host.faults,
        "bytes_out": host.view.bytes_out,
    }


def _must_live(host: Host) -> None:
    if host.exit is not None:
        raise ValueError(f"the arm has ended with {host.exit}")
    if host.stopper is not None:
        raise ValueError("the arm is being stopped")


def _text(request: dict[str, Any], name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is {value!r}, it must be a text")
    return value


def _data(request: dict[str, Any]) -> bytes:
    try:
        return binascii.a2b_base64(_text(request, "data"), strict_mode=True)
    except binascii.Error as error:
        raise ValueError(f"data is not base64: {error}") from error


def _size(request: dict[str, Any]) -> tuple[int, int]:
    rows, cols = request.get("rows"), request.get("cols")
    if type(rows) is not int or type(cols) is not int or not (0 < rows < 1000 and 1 < cols < 2000):
        raise ValueError(f"a window of {rows!r} rows and {cols!r} columns")
    return rows, cols


OPERATIONS: dict[str, Operation] = {
    "status": _status,
    "subscribe": _subscribe,
    "deliver": _deliver,
    "delivery": _delivery,
    "deliveries": _deliveries,
    "cancel": _cancel,
    "receipt": _receipt,
    "screen": _screen,
    "tail": _tail,
    "keys": _keys,
    "input": _input,
    "resize": _resize,
    "attach": _attach,
    "stop": _stop,
    "rebind": _rebind,
    "figures": _figures,
}
