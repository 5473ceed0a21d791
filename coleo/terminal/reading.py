"""What a screen means, by the rules of a harness: the state, the composer, and the evidence for both."""

from __future__ import annotations

import re

from coleo.model.delivery import ScreenState
from coleo.model.harness import PRIORITIES, Harness, Rule
from coleo.model.record import Record


class Reading(Record):
    """One look at a screen.

    state: None when no rule matched. composer: ``empty``, ``draft`` (it holds text) or ``unseen``. evidence: which
    rule matched where; without one, the last rows.
    """

    state: ScreenState | None
    composer: str
    evidence: str

    @property
    def dialog(self) -> bool:
        """Whether an Enter would answer a question."""
        return self.state is ScreenState.DIALOG


_STATES = {
    "dialog": ScreenState.DIALOG,
    "busy": ScreenState.BUSY,
    "draft": ScreenState.DRAFT,
    "composer_empty": ScreenState.READY,
    "ready": ScreenState.READY,
}
_ORDER = list(PRIORITIES)


class Reader:
    """The rules of one harness, compiled."""

    def __init__(self, harness: Harness) -> None:
        order = sorted(harness.rules, key=lambda rule: (-rule.weight, _ORDER.index(rule.kind)))
        self._rules = [(rule, re.compile(rule.pattern, re.MULTILINE)) for rule in order]
        self._begin = re.compile(harness.composer_begin) if harness.composer_begin else None
        self._end = re.compile(harness.composer_end) if harness.composer_end else None
        self._draft_rules = bool(harness.of_kind("draft"))

    @property
    def looks(self) -> bool:
        """Whether there is any rule: without one no screen is needed."""
        return bool(self._rules)

    def read(self, rows: tuple[str, ...], cursor: tuple[int, int] = (0, 0), title: str = "") -> Reading:
        """What these rows mean. cursor: (row, column) from 0."""
        regions: dict[str, tuple[str, list[int]]] = {}
        winner = ""
        state: ScreenState | None = None
        composer = ""
        for rule, pattern in self._rules:
            if state is not None and (composer or rule.kind not in ("composer_empty", "draft")):
                continue
            if rule.region not in regions:
                regions[rule.region] = self._region(rule.region, rows, cursor, title)
            text, numbers = regions[rule.region]
            found = pattern.search(text) if numbers else None
            if found is None:
                continue
            if state is None:
                state, winner = _STATES[rule.kind], _evidence(rule, text, numbers, found.start())
            if rule.kind in ("composer_empty", "draft") and not composer:
                composer = "empty" if rule.kind == "composer_empty" else "draft"
        if not composer:
            composer = "unseen"
            if self._begin is not None and not self._draft_rules:
                text, numbers = self._region("composer", rows, cursor, title)
                if numbers:
                    composer = "draft"
                    if state is None:
                        state, winner = (
                            ScreenState.DRAFT,
                            f"the composer holds text, row {numbers[0] + 1}: {text[:120]}",
                        )
        return Reading(state, composer, winner or last_rows(rows))

    def _region(self, region: str, rows: tuple[str, ...], cursor: tuple[int, int], title: str) -> tuple[str, list[int]]:
        """The text of a region and the numbers of its rows; no rows when it is not there."""
        kind, _, count = region.partition(":")
        numbers: list[int]
        match kind:
            case "title":
                return title, [-1]
            case "cursor":
                numbers = [cursor[0]] if cursor[0] < len(rows) else []
            case "composer":
                numbers = self._composer(rows)
            case "last":
                numbers = [n for n, row in enumerate(rows) if row][-int(count) :]
            case "first":
                numbers = [n for n, row in enumerate(rows) if row][: int(count)]
            case _:
                numbers = list(range(len(rows)))
        return "\n".join(rows[n] for n in numbers), numbers

    def _composer(self, rows: tuple[str, ...]) -> list[int]:
        if self._begin is None:
            return []
        for begin in range(len(rows) - 1, -1, -1):
            if self._begin.search(rows[begin]):
                break
        else:
            return []
        end = begin + 1
        while end < len(rows) and not (self._end and self._end.search(rows[end])):
            end += 1
        while end > begin + 1 and not rows[end - 1]:
            end -= 1
        return list(range(begin, end))


def _evidence(rule: Rule, text: str, numbers: list[int], at: int) -> str:
    line = text.count("\n", 0, at)
    row = text.split("\n")[line].strip()[:120]
    where = "the title" if numbers == [-1] else f"row {numbers[min(line, len(numbers) - 1)] + 1}"
    return f"{rule.kind} rule {rule.pattern!r} matches {where}: {row}"


def last_rows(rows: tuple[str, ...], count: int = 3) -> str:
    """The last rows with text, as one line: the evidence for a screen that no rule knows."""
    seen = [row.strip()[:120] for row in rows if row.strip()][-count:]
    return " / ".join(seen) if seen else "the screen is empty"


def shows(rows: tuple[str, ...], text: str) -> bool:
    """Whether the first or the last line of `text` stands on the screen, wherever rows were broken."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return False
    seen = "".join("".join(rows).split())
    return any("".join(line.split())[:60] in seen for line in (lines[0], lines[-1]))
