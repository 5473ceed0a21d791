"""New tasks at the end of a plan: how they are written, and that they come out as tasks again.

Nothing that stands in the file changes: an addition is one write at its end, below ``## Inbox`` (a new heading when
the last section is another one). Before it is written, plan and addition are parsed together; what would not come
out as meant (the plan ends inside a fence or a comment) is not written.
"""

from __future__ import annotations

import os
from collections import Counter

from coleo.files import inplace, ownwrites
from coleo.files.layout import Layout
from coleo.files.markdown import Parsed, PlanParser, parser_of
from coleo.files.planlook import in_conflict
from coleo.model.errors import CannotBeDone
from coleo.model.plan import INBOX_SECTION, title_key
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class PlanItem(Record):
    """A task to be added. title: one line as it is written behind the box, marks included; body: the lines below
    it, not indented, without line ends; both as bytes, so that nothing of what somebody wrote is re-encoded."""

    title: bytes
    body: tuple[bytes, ...] = ()
    done: bool = False


def item(
    title: str,
    description: str = "",
    *,
    seat: str | None = None,
    priority: str = "normal",
    after: Sequence[str] = (),
    fixed_id: str | None = None,
) -> PlanItem:
    """A `PlanItem` from words: the title is put in one line, marks are written behind it."""
    words = " ".join(title.replace("\0", " ").split())
    marks = [f"@{seat}"] if seat else []
    marks += [f"!{priority}"] if priority != "normal" else []
    marks += [f'after:"{ref}"' if " " in ref else f"after:{ref}" for ref in after]
    marks += [f"^{fixed_id}"] if fixed_id else []
    lines = description.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n") if description.strip() else []
    return PlanItem(_bytes(" ".join([words, *marks])), tuple(_bytes(line) for line in lines))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def block(items: Sequence[PlanItem], line_end: bytes = b"\n") -> bytes:
    """The items as they are written."""
    rows: list[bytes] = []
    for one in items:
        rows.append((b"- [x] " if one.done else b"- [ ] ") + one.title)
        if one.body and one.body[0].lstrip()[:1] in (b"=", b"-"):
            rows.append(b"")  # would make the title a heading
        rows += [b"  " + row if row.strip() else b"" for row in one.body]
    return b"".join(row + line_end for row in rows)


def is_task(one: PlanItem) -> bool:
    """Whether an item, written by itself, is a task: its title must not be empty (a comment only)."""
    return any(line.line == 1 for line in PlanParser().parse(block([one])).lines)


def addition(
    data: bytes,
    items: Sequence[PlanItem],
    section: str = INBOX_SECTION,
    parser: PlanParser | None = None,
    seats: frozenset[str] = frozenset(),
) -> bytes:
    """What to write at the end of a plan that holds `data`. Raises CannotBeDone when it would not come out as tasks."""
    parser = parser or PlanParser()
    crlf, lf, cr = data.count(b"\r\n"), data.count(b"\n"), data.count(b"\r")
    end = b"\r\n" if crlf * 2 > lf else b"\r" if cr and not lf else b"\n"
    before = parser.parse(data, seats)
    last = before.headings[-1].text if before.headings else None
    lead = end if data and not data.endswith((b"\n", b"\r")) else b""
    if last is None or title_key(last) != title_key(section):
        gap = end if data.strip() and not _ends_blank(data + lead) else b""
        lead += gap + b"## " + section.encode() + end + end
    whole = lead + block(items, end)
    after = parser.parse(data + whole, seats)
    if after.failed or _titles(after)[: len(before.lines)] != _titles(before) or not _all_there(before, after, items):
        raise CannotBeDone(
            "nothing can be added to the plan: its end is not open for a list",
            found="most likely a code fence or an HTML comment that is not closed",
            wanted="an end that is ordinary text or a list",
            todo="close the fence (```) or the comment (-->) at the end of plan.md",
        )
    return whole


def _ends_blank(data: bytes) -> bool:
    rest = data.rstrip(b" \t\r\n")
    tail = data[len(rest) :]
    return tail.count(b"\n") > 1 or tail.count(b"\r") - tail.count(b"\r\n") > 1


def _titles(parsed: Parsed) -> list[tuple[str, bool]]:
    return [(line.title, line.done) for line in parsed.lines]


def _all_there(before: Parsed, after: Parsed, items: Sequence[PlanItem]) -> bool:
    new = [line for line in after.lines[len(before.lines) :] if line.parent is None and line.depth == 0]
    return len(new) == len(items)


def append(
    layout: Layout,
    items: Sequence[PlanItem] | Callable[[bytes], Sequence[PlanItem]],
    section: str = INBOX_SECTION,
    *,
    deadline_s: float = 10.0,
) -> None:
    """Add tasks to ``plan.md``. items: or what makes them from the plan's bytes, asked again whenever those change.

    Raises CannotBeDone (no plan, conflict markers, an open end), inplace.Busy and inplace.Changed, OSError.
    """
    parser, seats = parser_of(layout.plan), frozenset(layout.seats_present())
    file = os.path.relpath(layout.plan, layout.root)

    def change(data: bytes) -> None:
        wanted = items(data) if callable(items) else items
        if not wanted:
            return
        if in_conflict(data):
            raise CannotBeDone("the plan holds conflict markers: nothing is added before they are resolved", file=file)
        more = addition(data, wanted, section, parser, seats)
        ownwrites.note(layout, data, data + more)
        inplace.append(layout.plan, data, more, layout.journal)

    try:
        inplace.retrying(change, layout.plan, deadline_s)
    except FileNotFoundError:
        raise CannotBeDone("there is no plan to add to", file=file, todo="make it again, or `coleo init`") from None
    except CannotBeDone as error:
        error.file = error.file or file
        raise


def counts(data: bytes, items: Sequence[PlanItem]) -> dict[str, int]:
    """How many lines with the titles of these items a plan has: by title key, for `missing`."""
    there = _titles_in(data)
    return {key: there[key] for key in _keys(items)}


def missing(data: bytes, items: Sequence[PlanItem], before: Mapping[str, int]) -> list[PlanItem]:
    """The items that do not stand in a plan yet. before: what `counts` said when they were about to be added."""
    there = _titles_in(data)
    more = {key: there[key] - count for key, count in before.items()}
    left = []
    for one, key in zip(items, _keys(items), strict=True):
        if more.get(key, 0) > 0:
            more[key] -= 1
        else:
            left.append(one)
    return left


def _titles_in(data: bytes) -> Counter[str]:
    """How often each title stands in a plan; ``@name`` stays in, so that it is the same whatever seats there are."""
    return Counter(title_key(row.title) for row in parser_of("titles of a plan").parse(data).rows)


def _keys(items: Sequence[PlanItem]) -> list[str]:
    """The title of each item as `_titles_in` counts it."""
    rows = [PlanParser().parse(block([one])).rows for one in items]
    return [title_key(row[0].title) if row else "" for row in rows]
