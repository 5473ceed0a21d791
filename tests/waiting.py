"""Waiting in tests: look for evidence until a deadline, never a bare sleep."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(check: Callable[[], T], timeout_s: float = 10.0, *, what: str = "") -> T:
    """The first truthy value of `check`, asked again every 10 ms; AssertionError after `timeout_s`.

    The last thing that `check` gave, or raised, is in the error: it is the evidence of what was there instead.
    """
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while True:
        seen: object
        try:
            value = check()
            if value:
                return value
            seen = value
        except AssertionError as error:
            seen = error
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {timeout_s:g} s: {what or check}; last seen: {seen!r}")
        pause.wait(0.01)


async def eventually_async(check: Callable[[], T], timeout_s: float = 10.0, *, what: str = "") -> T:
    """`eventually` for code that runs in an event loop: the loop goes on between two looks."""
    deadline = time.monotonic() + timeout_s
    while not (value := check()):
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {timeout_s:g} s: {what or check}; last seen: {value!r}")
        await asyncio.sleep(0.01)
    return value
