"""The preload library that ends a process at its N-th file-system call: building and steering it.

Linux with a C compiler only; `preload.c` says which calls are counted and why those are enough.
"""

from __future__ import annotations

import ctypes
import enum
import os
import shutil
import subprocess

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "preload.c")


class Mode(enum.IntEnum):
    """What happens at the N-th call; the numbers are those of `preload.c`."""

    COUNT = 0
    BEFORE = 1
    HALF = 2
    SHORT = 3
    FAIL = 4
    FULL = 5


def build(folder: str) -> str:
    """Compiles the library into `folder`; its path."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "no C compiler: install the package gcc (and libc6-dev)"
    target = os.path.join(folder, "crash.so")
    command = [compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", target, SOURCE, "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


class Library:
    """The library in a process that was started with it in LD_PRELOAD."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._library.crash_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]
        self._library.crash_disarm.restype = ctypes.c_long

    def arm(self, root: str, n: int, mode: Mode, report_fd: int) -> None:
        """From now on, calls below `root` (a real path) count; the N-th is named on `report_fd`."""
        self._library.crash_arm(os.fsencode(root), n, int(mode), report_fd)

    def disarm(self) -> int:
        """Counts no more; how many calls there were."""
        return int(self._library.crash_disarm())
