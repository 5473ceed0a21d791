"""The fixture `crash`: the library, built once for each test process, and a folder of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.library import build
from tests.crash.running import CrashRun


@pytest.fixture(scope="session")
def crash_library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the compiled preload library."""
    return build(str(tmp_path_factory.mktemp("crash-library")))


@pytest.fixture
def crash(crash_library: str, tmp_path: Path) -> CrashRun:
    """Runs the driver below this test's own folder."""
    return CrashRun(crash_library, tmp_path)
