"""The worker's receipts: which prompts of coleo's it has (``typed``) and which it has taken up (``turn``).

One JSON object per line in ``run/transcripts/<seat>.jsonl``, each written by one `os.write`, so a reader finds whole
lines whatever happens to the worker. A prompt is known by its header line; see `coleo.model.prompt`.
"""

from __future__ import annotations

import json
import os
import re

from coleo.files.layout import make_private
from coleo.model.instant import iso

#: A transcript longer than this is put aside (``.1``) when a worker starts.
LONGEST = 8 << 20

_HEADER = re.compile(r"(?:=== (?!END )|\[CRON[: ]).*\[msg_id: ([^\]\n]+)\] \[([0-9a-f]+)\]")


def prompt_ids(text: str) -> tuple[str, ...]:
    """The ids of coleo's prompts in a submitted text; () for a person's own words.

    The text begins with a header, and all headers that count carry its nonce: words of others stand behind ``> ``
    and know no nonce.
    """
    ids: list[str] = []
    nonce = ""
    for number, line in enumerate(text.split("\n")):
        found = _HEADER.match(line)
        if not found:
            if number == 0:
                return ()
            continue
        nonce = nonce or found[2]
        if found[2] == nonce:
            ids += found[1].split(", ")
    return tuple(dict.fromkeys(ids))


class Transcript:
    """The file of one seat. No write here ever stops the worker: a full disk costs a receipt, not the work."""

    def __init__(self, path: str) -> None:
        self._path = path
        make_private(os.path.dirname(path))
        try:
            if os.stat(path).st_size > LONGEST:
                os.replace(path, path + ".1")
        except FileNotFoundError:
            pass

    def write(self, kind: str, now: float, **fields: object) -> bool:
        """Append one line; False when it could not be written."""
        line = json.dumps({"ts": iso(now), "type": kind, **fields}, separators=(",", ":")).encode() + b"\n"
        try:
            make_private(os.path.dirname(self._path))
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        try:
            return os.write(fd, line) == len(line)
        except OSError:
            return False
        finally:
            os.close(fd)
