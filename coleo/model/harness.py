"""What coleo knows about one agent CLI, as one record: how to start it, read its screen, prompt it, end it.

The files in ``coleo/harness/*.toml`` hold it; the host gets it whole in its spec file. Patterns are regular
expressions (``re.search`` with MULTILINE on the rows of a region, trailing blanks cut off). A rule that is wrong
may only ever have the effect that nothing is typed (DESIGN.md sections 2.7 and 6).
"""

from __future__ import annotations

import re

from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Rule kinds with the priority that a rule of that kind has when it names none; the highest match decides.
PRIORITIES = {"dialog": 40, "busy": 30, "draft": 20, "composer_empty": 10, "ready": 10}
REGION = re.compile(r"all|composer|cursor|title|(?:last|first):[1-9][0-9]{0,3}")
COMPOSERS = ("screen", "none")


class Rule(Record):
    """One thing to look for on the screen.

    kind: dialog, busy, draft, composer_empty or ready. region: ``all``; ``last:N`` and ``first:N`` (rows that are
    not blank, counted from the end or the start of the screen); ``composer`` (see `Harness.composer_begin`);
    ``cursor`` (the row of the cursor); ``title`` (the window title that the program set). priority: the highest
    match decides the state; at equal priority the order of `PRIORITIES`.
    """

    kind: str
    pattern: str
    region: str = "all"
    priority: int = 0

    @property
    def weight(self) -> int:
        """The priority that counts."""
        return self.priority or PRIORITIES[self.kind]


class Receipts(Record):
    """Where the agent itself writes down what it was told, and how its lines look.

    kind: ``jsonl`` or ``none``. path: of the transcript, with placeholders as in `Harness.argv` and ``*``.
    typed, turn: regular expressions for the lines that prove that the CLI has a prompt (perhaps in its own queue),
    or that the model got it; the line must hold the prompt's id besides.
    """

    kind: str = "none"
    path: str = ""
    typed: str = ""
    turn: str = ""


class Harness(Record):
    """One agent CLI.

    argv, env: how to start it; ``{python}`` ``{project}`` ``{seat}`` ``{seat_dir}`` and the like are filled in.
    composer: ``screen`` (it draws an input box that the screen shows) or ``none`` (a plain line reader). paste: it
    understands bracketed paste. rules: see `Rule`. composer_begin, composer_end: regular expressions of the row
    where the input box begins (the last such row on the screen) and, below it, of the row where it has ended.
    settle_ms: between the shown paste and Enter. enter: what Enter sends. exit_keys, interrupt_keys: typed one by
    one. deliver_busy: shown to take prompts in the middle of a turn. weak_receipts: an emptied composer is all the
    proof there is. quiet_s: nobody may have typed for so long. checked_with: the version this was tried with.
    """

    name: str
    summary: str = ""
    argv: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    composer: str = "screen"
    paste: bool = True
    rules: tuple[Rule, ...] = ()
    composer_begin: str = ""
    composer_end: str = ""
    settle_ms: int = 150
    enter: str = "\r"
    receipts: Receipts = Receipts()
    weak_receipts: bool = False
    deliver_busy: bool = False
    exit_keys: tuple[str, ...] = ()
    interrupt_keys: tuple[str, ...] = ()
    quiet_s: float = 30.0
    checked_with: str = ""

    def of_kind(self, *kinds: str) -> tuple[Rule, ...]:
        """The rules of some kinds, in the order of the file."""
        return tuple(rule for rule in self.rules if rule.kind in kinds)


def to_json(harness: Harness) -> dict[str, Any]:
    """The record as JSON values: ``rules`` a list of objects, ``env`` an object, ``receipts`` an object."""
    return {
        **harness.as_dict(),
        "argv": list(harness.argv),
        "env": dict(harness.env),
        "rules": [rule.as_dict() for rule in harness.rules],
        "receipts": harness.receipts.as_dict(),
        "exit_keys": list(harness.exit_keys),
        "interrupt_keys": list(harness.interrupt_keys),
    }


def from_json(data: Mapping[str, Any]) -> Harness:
    """The record that `to_json` wrote. Raises ValueError for what is none: unknown fields, types, bad patterns."""
    try:
        values = dict(data)
        values["rules"] = tuple(Rule(**rule) for rule in values.get("rules", ()))
        values["receipts"] = Receipts(**values.get("receipts", {}))
        values["env"] = tuple((str(name), str(value)) for name, value in dict(values.get("env", {})).items())
        for name in ("argv", "exit_keys", "interrupt_keys"):
            values[name] = tuple(str(part) for part in values.get(name, ()))
        harness = Harness(**values)
        problems = check(harness)
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"not a harness: {error}") from error
    if problems:
        raise ValueError("not a harness: " + "; ".join(problems))
    return harness


def check(harness: Harness) -> list[str]:
    """What is wrong with a harness that was read from a file: one sentence each, [] when it can be used."""
    problems = []
    if harness.composer not in COMPOSERS:
        problems.append(f"composer is {harness.composer!r}, it must be one of {', '.join(COMPOSERS)}")
    if harness.composer == "screen" and not harness.of_kind("composer_empty"):
        problems.append("a composer on the screen needs a composer_empty rule: nothing could ever be typed")
    if harness.composer == "screen" and not (harness.composer_begin or harness.of_kind("draft")):
        problems.append(
            "a composer on the screen needs composer_begin or a draft rule: a swallowed Enter could not be seen"
        )
    for rule in harness.rules:
        if rule.kind not in PRIORITIES:
            problems.append(f"rule kind {rule.kind!r}, it must be one of {', '.join(PRIORITIES)}")
        if not REGION.fullmatch(rule.region):
            problems.append(f"region {rule.region!r}, it must be all, last:N, first:N, composer, cursor or title")
        if rule.region == "composer" and not harness.composer_begin:
            problems.append("a rule looks at the composer, but composer_begin does not say where it is")
    receipts = harness.receipts
    patterns = [rule.pattern for rule in harness.rules]
    for pattern in [*patterns, harness.composer_begin, harness.composer_end, receipts.typed, receipts.turn]:
        try:
            re.compile(pattern, re.MULTILINE)
        except re.error as error:
            problems.append(f"pattern {pattern!r}: {error}")
    return problems
