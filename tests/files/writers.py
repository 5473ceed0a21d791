"""Others who write to a file at full speed while coleo changes it: ``python -m tests.files.writers KIND FILE``.

Each adds lines ``<kind> <n>``, one after the other, in the way of one family of programs, until its input ends; then
it prints how many. After `MOST` it only waits: the file must not grow without end.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys


def below_the_heading(data: bytes, line: str) -> bytes:
    """Everything after it moves: a byte that is set at a place that was looked up before lands in a wrong one."""
    first, end, rest = data.partition(b"\n")
    return first + end + line.encode() + rest


def append(path: str, line: str) -> None:
    """``echo >> file``: opens, writes once at the end, closes."""
    with open(path, "ab", buffering=0) as file:
        file.write(line.encode())


def held_open(path: str, line: str) -> None:
    """A logger: holds the file open and writes a line in pieces."""
    with open(path, "ab", buffering=0) as file:
        for at in range(0, len(line), 4):
            file.write(line[at : at + 4].encode())


def in_place(path: str, line: str) -> None:
    """nano, or vim with backupcopy=yes: reads, truncates, writes everything."""
    with open(path, "rb") as file:
        data = below_the_heading(file.read(), line)
    with open(path, "wb", buffering=0) as file:
        half = len(data) // 2
        file.write(data[:half])
        file.write(data[half:])


def update(path: str, line: str) -> None:
    """Opens for reading and writing and holds that: reads, then writes the end."""
    with open(path, "r+b", buffering=0) as file:
        file.seek(0, os.SEEK_END)
        file.write(line.encode())


def rename(path: str, line: str) -> None:
    """vim, git, most editors: a new file takes the place of the old one."""
    with open(path, "rb") as file:
        data = below_the_heading(file.read(), line)
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.rename(path + ".new", path)


def sed(path: str, line: str) -> None:
    """The real program, ``sed -i``."""
    subprocess.run(["sed", "-i", f"1 a\\\n{line.rstrip()}", path], check=True)


#: Those that put the newest line first.
NEWEST_FIRST = ("in_place", "rename", "sed")

KINDS = {"append": append, "held_open": held_open, "in_place": in_place, "update": update, "rename": rename, "sed": sed}


MOST = 3000


def main() -> None:
    """See the module."""
    kind, path = sys.argv[1], sys.argv[2]
    count = 0
    while not select.select([sys.stdin], [], [], 0 if count < MOST else None)[0]:
        KINDS[kind](path, f"{kind} {count}\n")
        count += 1
    print(count)


if __name__ == "__main__":
    main()
