"""The fixture `crash`: the library, built once for each test process, and a folder of its own for each test."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.library import build
from tests.crash.running import CrashRun


@pytest.fixture(scope="session")
def crash_library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the compiled preload library."""
    return build(str(tmp_path_factory.mktemp("crash-library")))


@pytest.fixture
def crash(crash_library: str, tmp_path: Path) -> Iterator[CrashRun]:
    """Runs the driver below this test's own folder: in memory where the machine has that, for thousands of fsyncs."""
    if not os.access("/dev/shm", os.W_OK):
        yield CrashRun(crash_library, tmp_path)
        return
    with tempfile.TemporaryDirectory(prefix="coleo-crash-", dir="/dev/shm") as folder:
        yield CrashRun(crash_library, Path(folder))
