"""The loop: timers by name, descriptors, signals, and nothing at all when nothing is pending."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from coleo.terminal.loop import Loop


@pytest.fixture
def faults() -> list[BaseException]:
    return []


@pytest.fixture
def loop(faults: list[BaseException]) -> Iterator[Loop]:
    one = Loop(faults.append)
    yield one
    one.close()


def test_timers_by_name(loop: Loop) -> None:
    """`after` keeps the earlier, `again` takes the newer, `cancel` takes none; each fires once."""
    fired: list[str] = []
    loop.after("a", 0.02, lambda: fired.append("late"))
    loop.after("a", 0.0, lambda: fired.append("early"))
    loop.after("a", 5.0, lambda: fired.append("never"))
    loop.again("b", 0.0, lambda: fired.append("replaced"))
    loop.again("b", 0.01, lambda: fired.append("newer"))
    loop.after("c", 0.0, lambda: fired.append("cancelled"))
    loop.cancel("c")
    loop.after("end", 0.05, loop.stop)
    assert loop.timers() == ["a", "b", "end"]
    loop.run()
    assert fired == ["early", "newer"] and loop.timers() == []


def test_a_callback_that_raises_stops_nothing(loop: Loop, faults: list[BaseException]) -> None:
    """The fault is told, the loop goes on."""

    def bad() -> None:
        raise ValueError("a bug")

    loop.after("bad", 0.0, bad)
    loop.after("end", 0.01, loop.stop)
    loop.run()
    assert [str(fault) for fault in faults] == ["a bug"]


def test_descriptors_and_signals(loop: Loop) -> None:
    """Readable, writable, ended; a signal becomes a call in the loop."""
    read_end, write_end = os.pipe()
    got: list[object] = []

    def readable() -> None:
        data = os.read(read_end, 10)
        got.append(data)
        if not data:
            loop.read(read_end, None)
            os.kill(os.getpid(), signal.SIGUSR2)

    def writable() -> None:
        os.write(write_end, b"x")
        loop.write(write_end, None)
        loop.after("close", 0.0, lambda: os.close(write_end))

    def signalled() -> None:
        got.append("signal")
        loop.stop()

    loop.on_signals({signal.SIGUSR2: signalled})
    loop.read(read_end, readable)
    loop.write(write_end, writable)
    loop.run()
    os.close(read_end)
    assert got == [b"x", b"", "signal"]
