"""What rows mean, by the rules of a harness."""

from __future__ import annotations

from coleo.model.delivery import ScreenState
from coleo.model.harness import Harness, Rule
from coleo.terminal.reading import Reader, Reading, shows
from tests.agents.setup import LINES, SCRIPTED


def read(*rows: str, harness: Harness = SCRIPTED, cursor: tuple[int, int] = (0, 0), title: str = "") -> Reading:
    return Reader(harness).read((*rows, *[""] * 5), cursor, title)


def test_the_states_of_the_scripted_agent() -> None:
    """Ready, busy, draft, dialog, nothing."""
    assert read("scripted agent", ">").state is ScreenState.READY
    assert read("scripted agent", "* working", ">") == Reading(
        ScreenState.BUSY, "empty", r"busy rule '^\\* working' matches row 2: * working"
    )
    draft = read("scripted agent", "> half a thought")
    assert (draft.state, draft.composer) == (ScreenState.DRAFT, "draft") and "row 2: > half a thought" in draft.evidence
    dialog = read("scripted agent", "? Trust?", "  1. yes   (Enter to confirm)")
    assert dialog.dialog and dialog.composer == "unseen" and "row 2: ? Trust?" in dialog.evidence


def test_an_unknown_screen_is_its_own_evidence() -> None:
    """The last rows that are not blank."""
    assert read("a", "Update?", "", "Press a key") == Reading(None, "unseen", "a / Update? / Press a key")
    assert read().evidence == "the screen is empty"


def test_the_last_composer_counts() -> None:
    """A conversation may quote a prompt sign; the composer is the last row that begins one."""
    assert read("> quoted", "answer", ">").composer == "empty"
    assert read(">", "answer", "> text").composer == "draft"


def test_the_end_of_a_composer() -> None:
    """Text of several rows belongs to it, what stands below its border does not."""
    boxed = SCRIPTED.replace(
        composer_begin="^│ >", composer_end="^╰", rules=(Rule("composer_empty", r"\A│ > *│\Z", "composer"),)
    )
    assert read("╭──╮", "│ >  │", "╰──╯", "hints below", harness=boxed).composer == "empty"
    assert read("╭──╮", "│ > a│", "│   b│", "╰──╯", harness=boxed).composer == "draft"
    assert read("╭──╮", "nothing", "╰──╯", harness=boxed).composer == "unseen"


def test_priority_decides() -> None:
    """A dialog wins over what stands around it; a rule that says so wins over a dialog's words in a conversation."""
    rows = ("He asked: ? really", "(Enter to confirm)", ">")
    sure = SCRIPTED.replace(
        rules=(Rule("dialog", "Enter to confirm"), Rule("composer_empty", r"\A>\Z", "composer", 50))
    )
    assert read(*rows, harness=sure) == Reading(
        ScreenState.READY, "empty", r"composer_empty rule '\\A>\\Z' matches row 3: >"
    )
    plain = sure.replace(rules=(sure.rules[0], Rule("composer_empty", r"\A>\Z", "composer")))
    assert read(*rows, harness=plain).dialog


def test_regions() -> None:
    """Rows that are not blank count from either end; the cursor's row; the title."""
    rows = ("one", "", "two", "three", "")
    for region, pattern, hit in (
        ("last:1", "three", True),
        ("last:1", "two", False),
        ("last:2", r"two\nthree", True),
        ("first:2", "two", True),
        ("first:1", "two", False),
        ("cursor", "two", True),
        ("cursor", "three", False),
        ("title", "work", True),
        ("all", "^two$", True),
        ("composer", "one", False),
    ):
        harness = SCRIPTED.replace(rules=(Rule("busy", pattern, region),))
        seen = read(*rows, harness=harness, cursor=(2, 0), title="at work")
        assert (seen.state is ScreenState.BUSY) is hit, (region, pattern)
    assert (
        "matches the title: at work"
        in read(harness=SCRIPTED.replace(rules=(Rule("busy", "work", "title"),)), title="at work").evidence
    )


def test_a_draft_rule_replaces_the_guess() -> None:
    """With rules of its own a harness says what a draft is; a placeholder text in the composer is none."""
    harness = SCRIPTED.replace(
        rules=(Rule("composer_empty", "^>( Try .*)?$", "composer"), Rule("draft", r"^> \[Pasted", "composer"))
    )
    assert read("> Try this", harness=harness).composer == "empty"
    assert read("> [Pasted 3 lines]", harness=harness).composer == "draft"
    assert read("> anything", harness=harness).composer == "unseen"


def test_whether_a_text_stands_on_the_screen() -> None:
    """Its first or its last line, wherever rows were broken, in any script."""
    text = "=== MESSAGE [0f1e] ===\n> 漢字 and more\n=== END [0f1e] ==="
    assert shows(("x", "> === MESSAGE [0f", "1e] ===", "[3 more lines]"), text)
    assert shows(("...", "=== END [0f1e] ==="), text)
    assert not shows(("> 漢字 and more",), text)
    assert not shows(("anything",), "\n")


def test_without_rules_no_screen_is_needed() -> None:
    """A line reader is never drawn for."""
    assert not Reader(LINES).looks and Reader(SCRIPTED).looks
