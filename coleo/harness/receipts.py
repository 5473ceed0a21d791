"""What an agent's own files say of prompts: ``typed`` (the CLI has it) or ``turn`` (the model gets it), by id.

A line counts when the harness's pattern matches it and it names the id where only coleo puts one: in a header line
of coleo's inside one of its strings (words of others stand behind ``> ``, so they cannot claim another's receipt),
or as the value of its own top-level ``id``.
"""

from __future__ import annotations

import glob
import json
import os
import re
from typing import TYPE_CHECKING, Any, Literal, Protocol

from coleo.harness.load import fill
from coleo.model.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from coleo.model.harness import Harness

Receipt = Literal["typed", "turn"]

#: A line longer than this is no receipt: it is skipped without being kept in memory.
LONGEST_LINE = 8 << 20
_CHUNK = 1 << 20

_HEADER = re.compile(r"^[ \t]*(?:=== (?!END )|\[CRON[: ]).*\[msg_id: ([^\]\n]+)\] \[[0-9a-f]+\]", re.MULTILINE)


class SeatFiles(Protocol):
    """What is needed of `coleo.files.layout.SeatPaths`."""

    @property
    def transcript(self) -> str:
        """The file of the seat for harnesses that write one for coleo."""


class Mark(Record):
    """How far a file was read: its inode, and the offset after the last whole line."""

    inode: int = 0
    offset: int = 0


class Reader:
    """Reads one arm's files as they grow; keeps what every id got, whenever it is asked for."""

    def __init__(self, harness: Harness, values: Mapping[str, str], since: Mapping[str, Mark] | None = None) -> None:
        """values: as `coleo.harness.load.values` gives them. since: `marks` of an earlier reader, to go on there."""
        places = {name: glob.escape(value) for name, value in values.items()}
        self._pattern = fill(harness.receipts.path, places) if harness.receipts.kind == "jsonl" else ""
        self._typed = re.compile(harness.receipts.typed) if harness.receipts.typed else None
        self._turn = re.compile(harness.receipts.turn) if harness.receipts.turn else None
        self._found: dict[str, Receipt] = {}
        self.marks: dict[str, Mark] = dict(since or {})
        #: Lines that matched a pattern and could not be read as JSON.
        self.skipped = 0

    def look(self, ids: Iterable[str]) -> dict[str, Receipt]:
        """What the files say now of these ids; an id that no file names is not in it. Never raises for a bad file."""
        for path in glob.glob(self._pattern) if self._pattern else ():
            self._read(path)
        return {name: self._found[name] for name in ids if name in self._found}

    def _read(self, path: str) -> None:
        mark = self.marks.get(path, Mark())
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != mark.inode or status.st_size < mark.offset:
                    mark = Mark(status.st_ino, 0)
                if status.st_size > mark.offset:
                    file.seek(mark.offset)
                    mark = mark.replace(offset=mark.offset + self._lines(file))
        except OSError:
            return
        self.marks[path] = mark

    def _lines(self, file: Any) -> int:
        """Take all whole lines from here; how many bytes they are. What a line lacks its end for is read next time."""
        read, rest, too_long = 0, b"", 0
        while chunk := file.read(_CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                read += len(line) + 1 + too_long
                if not too_long:
                    self._line(line)
                too_long = 0
            if len(rest) > LONGEST_LINE:
                too_long += len(rest)
                rest = b""
        return read

    def _line(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        turn = self._turn is not None and self._turn.search(text) is not None
        if not turn and not (self._typed is not None and self._typed.search(text)):
            return
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            self.skipped += 1
            return
        for name in _ids(value):
            if turn or name not in self._found:
                self._found[name] = "turn" if turn else "typed"


def look(
    harness: Harness, seat: SeatFiles, ids: Iterable[str], since: Mapping[str, Mark] | None = None
) -> dict[str, Receipt]:
    """Once, from the beginning (or `since`) of a seat's own transcript. Who looks again and again keeps a `Reader`."""
    return Reader(harness, {"transcript": seat.transcript}, since).look(ids)


def _ids(value: object) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(value.get("id"), str):
        yield value["id"]
    for text in _strings(value):
        for tag in _HEADER.findall(text) if "[msg_id: " in text else ():
            yield from tag.split(", ")


def _strings(value: object) -> Iterator[str]:
    """Every string inside a JSON value, without recursion."""
    open_ = [value]
    while open_:
        match open_.pop():
            case str(text):
                yield text
            case dict(table):
                open_.extend(table.values())
            case list(items):
                open_.extend(items)
            case _:
                pass
