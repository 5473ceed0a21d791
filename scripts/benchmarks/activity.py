"""A gigabyte of activity log: `status` and `log` must not notice."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from coleo.files.layout import Layout
from coleo.model.instant import iso, utc_date
from scripts.benchmarks.measure import Options, Row, beside_bare_python
from scripts.benchmarks.project import coleo, lay

LINE = '{"ts":"%s","action":"tool_call","seat":"seat%02d","tool_name":"Bash","text":"%s"}\n'


def large(folder: str, options: Options) -> Iterator[Row]:
    """All of it of today, in one file; `log` also with a filter that the last line of all does not fit."""
    size = 1 << 27 if options.quick else 1 << 30
    project = lay(folder, [f"seat{n:02}" for n in range(10)], plan="# Plan\n\n- [ ] one\n")
    now = time.time()
    path = os.path.join(Layout(project.root).activity, f"{utc_date(now)}.jsonl")
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    block = "".join(LINE % (iso(now), n % 10, "words of an agent " * (n % 20)) for n in range(5000)).encode()
    with open(path, "wb") as file:
        for _ in range(size // len(block) + 1):
            file.write(block)
    os.chmod(path, 0o600)
    what = f"{size / (1 << 30):g} GiB of activity"
    for words in (("status",), ("log",), ("log", "-n", "20", "--seat", "seat03")):
        pair = beside_bare_python(lambda n, words=words: coleo(*words), options.rounds(20), project.environ(), folder)  # type: ignore[misc]
        yield Row(f"{what}: coleo {' '.join(words)}", "200 ms", pair.command, limit=200.0, base=pair.base)
