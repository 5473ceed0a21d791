"""seat.md: read with every fault at its line, changed by one key with every other byte kept."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coleo.files import front as front_matter
from coleo.files import seatfile, yamledit
from coleo.files.layout import Layout
from coleo.model.errors import BadInput
from coleo.model.problem import ERROR, WARNING
from coleo.model.seat import McpServer, SeatConfig
from tests.files.project import lay

FULL = """\
---
# who sits here
enabled: false   # not yet
harness: claude
model: opus-4.5
account: team
working_directory: src
worktree: true
command: [claude, --continue]
args:
  - --verbose
  # the next one is for tests
  - "--name=x y"
startup_delay_s: 2
timezone: Europe/Berlin
max_session_seconds: 3600
skip_permissions: false
auto_trust: true
pass_env: [SSH_AUTH_SOCK]
mcp:
  search: {command: [npx, search], env: {DEPTH: "3"}}
  docs:
    url: http://localhost:9000
ctx_warning_threshold: 20
ctx_handoff_threshold: 50
max_crashes: 3
verify: make check
trust: agents
personality: |
  Calm,
    exact.

convictions:
- Small steps
- 'Tests: first'
telegram: true
---

# Ada

--- is no end of anything here
---
"""


def parse(text: str | bytes) -> seatfile.SeatRead:
    """What is read of a seat.md."""
    return seatfile.parse(text if isinstance(text, bytes) else text.encode(), "seat.md", "ada")


def front(*lines: str) -> str:
    """A seat.md with these lines as its front matter."""
    return "\n".join(["---", *lines, "---", "body", ""])


def test_every_key_is_read() -> None:
    """All keys of DESIGN.md section 10, in block and flow form, with comments between."""
    read = parse(FULL)
    assert read.problems == ()
    assert read.config == SeatConfig(
        "ada",
        enabled=False,
        harness="claude",
        model="opus-4.5",
        account="team",
        working_directory="src",
        worktree=True,
        command=("claude", "--continue"),
        args=("--verbose", "--name=x y"),
        startup_delay_s=2.0,
        timezone="Europe/Berlin",
        max_session_seconds=3600,
        skip_permissions=False,
        auto_trust=True,
        pass_env=("SSH_AUTH_SOCK",),
        mcp=(
            McpServer("search", command=("npx", "search"), env=(("DEPTH", "3"),)),
            McpServer("docs", url="http://localhost:9000"),
        ),
        ctx_warning_threshold=20,
        ctx_handoff_threshold=50,
        max_crashes=3,
        verify="make check",
        trust="agents",
        personality="Calm,\n  exact.\n",
        convictions=("Small steps", "Tests: first"),
        telegram=True,
    )
    assert read.body == "\n# Ada\n\n--- is no end of anything here\n---\n"


def test_the_record_and_the_model_have_the_same_keys_and_defaults() -> None:
    """A key cannot be readable and then be dropped, or have two defaults."""
    defaults = SeatConfig("ada").as_dict()
    assert set(seatfile.SeatFile.model_fields) == set(defaults) - {"seat"}
    assert parse(front()).config == SeatConfig("ada")
    for name, value in seatfile.SeatFile().model_dump().items():
        assert type(defaults[name])(value or type(defaults[name])()) == defaults[name], name


@pytest.mark.parametrize(
    "text", ["", "# Ada\n", "\ufeff# Ada\n", front(), front("# only", "# comments"), front("model:")]
)
def test_a_seat_without_settings_has_the_defaults(text: str) -> None:
    """An empty file, no front matter, an empty one, a key without a value."""
    assert parse(text).config == SeatConfig("ada")
    assert parse(text).problems == ()


def test_bom_and_crlf_are_taken_as_they_come() -> None:
    """Files of Windows editors; python-frontmatter alone loses the settings after a BOM."""
    read = parse(b"\xef\xbb\xbf---\r\nharness: codex\r\nmodel: 3\r\n---\r\nHello\r\n")
    assert read.config.harness == "codex"
    assert read.body == "Hello\r\n"
    assert [one.line for one in read.problems] == [3]


@pytest.mark.parametrize(
    ("line", "key", "found", "wanted"),
    [
        ("enabled: 'false'", "enabled", 'string "false"', "boolean, true or false"),
        ("enabled: yes", "enabled", 'string "yes"', "boolean, true or false"),
        ("enabled: 1", "enabled", "integer 1", "boolean, true or false"),
        ("command: claude --continue", "command", 'string "claude --continue"', "list of strings"),
        ("args: [1]", "args[0]", "integer 1", "string"),
        ("model: 4.5", "model", "float 4.5", "string"),
        ("model: 2026-12-01", "model", "date or time 2026-12-01", "string"),
        ("max_crashes: true", "max_crashes", "boolean true", "integer, 1 to 100"),
        ("max_crashes: 0", "max_crashes", "integer 0", "integer, 1 to 100"),
        ("startup_delay_s: .nan", "startup_delay_s", "float NaN", "number, 0 to 86400"),
        ("timezone: Mars/Base", "timezone", 'string "Mars/Base"', "a time zone such as Europe/Berlin"),
        ("trust: everybody", "trust", 'string "everybody"', "one of people, agents"),
        ("harness: ../x", "harness", 'string "../x"', "the name of a harness, such as shell or claude"),
        ("pass_env: [A, A=B]", "pass_env[1]", 'string "A=B"', "the name of a variable"),
        ("mcp: {a: {}}", "mcp.a", "table", "either command or url"),
        ("mcp: {a: 3}", "mcp.a", "integer 3", "table"),
        ("mcp: {a: {command: npx}}", "mcp.a.command", 'string "npx"', "list of strings"),
        ("ctx_warning_threshold: 60", "ctx_warning_threshold", "integer 60", "less than ctx_handoff_threshold (60)"),
    ],
)
def test_a_wrong_value_names_line_key_found_and_wanted(line: str, key: str, found: str, wanted: str) -> None:
    """Case g06 for seats: nothing of the wrong type passes, whatever YAML or Python would make of it."""
    (problem,) = parse(front("# first", line)).problems
    assert (problem.file, problem.line, problem.key) == ("seat.md", 3, key)
    assert (problem.found, problem.wanted, problem.severity) == (found, wanted, ERROR)


def test_coleos_own_variables_cannot_be_passed() -> None:
    """An arm must not be made to speak for another seat."""
    (problem,) = parse(front("pass_env: [COLEO_SEAT]")).problems
    assert problem.key == "pass_env[0]" and problem.severity == ERROR


@pytest.mark.parametrize(
    ("line", "suggest", "wanted"),
    [
        ("harnes: shell", "harness", ""),
        ("skip-permissions: true", "skip_permissions", ""),
        ("dangerously_skip_permissions: false", None, "skip_permissions"),
        ("name: ada", None, "nothing"),
        ("mcp: {a: {url: x, comand: y}}", "command", ""),
    ],
)
def test_an_unknown_key_is_a_warning_and_the_rest_counts(line: str, suggest: str | None, wanted: str) -> None:
    """Case g07 for seats."""
    read = parse(front(line, "model: opus"))
    (problem,) = read.problems
    assert (problem.severity, problem.suggest, problem.line) == (WARNING, suggest, 2)
    assert wanted in problem.wanted
    assert read.config.model == "opus"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (front("a: 1", "model: x", "model: y"), 4),
        (front("- a"), 2),
        (front("just words"), 2),
        (front("model: [", "x"), 4),
        (front("model: x", "\tharness: y"), 3),
        (front("a: !!python/object:os.system x"), 2),
        (front("model: \x01"), 2),
        (front("a: &a [*a]"), 2),
        (front("model: &m x", "account: *m"), 2),
        (front("a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))), 2),
        (front("personality: " + "x" * yamledit.LIMIT), 2),
        (front("a: " + "[" * 5000), 2),
        ("---\nmodel: x\n", 1),
        (b"---\nmodel: \xff\n---\n", 2),
        (b"x" * (seatfile.LIMIT + 1), None),
    ],
)
def test_what_cannot_be_read_is_one_problem_with_its_line(text: str | bytes, line: int | None) -> None:
    """It never raises out of a parser, runs nothing, and an arm does not start on half a configuration."""
    read = parse(text)
    (problem,) = read.problems
    assert (problem.line, problem.key, problem.severity) == (line, "", ERROR)
    assert read.config == SeatConfig("ada")


def test_a_horizontal_rule_first_is_no_front_matter_that_swallows_the_page() -> None:
    """``---`` and text below is a rule in Markdown; it is told of, for a person may have meant settings."""
    (problem,) = parse("---\n\n# Title\n").problems
    assert problem.line == 1


def test_read_raises_with_every_error_at_once(tmp_path: Path) -> None:
    """BadInput, exit code 2; warnings alone do not stop a seat."""
    layout = lay(tmp_path, "ada")
    path = Path(layout.seat("ada").seat_md)
    path.write_text(front("enabled: 1", "max_crashes: 0", "frob: 1"))
    with pytest.raises(BadInput) as caught:
        seatfile.read(layout, "ada")
    assert "2 problems" in str(caught.value) and f"{path}:2: enabled" in str(caught.value)
    path.write_text(front("frob: 1"))
    assert seatfile.read(layout, "ada") == SeatConfig("ada")
    with pytest.raises(BadInput, match="no file"):
        seatfile.read(layout, "bob")
    with pytest.raises(BadInput, match="not a seat name"):
        seatfile.read(layout, "../ada")


def test_the_working_directory_is_relative_to_the_project(tmp_path: Path) -> None:
    """One that is not there is a warning: a branch may bring it."""
    layout = lay(tmp_path, "ada")
    path = Path(layout.seat("ada").seat_md)
    (tmp_path / "src").mkdir()
    for folder, expected in (
        ("", layout.root),
        ("src", f"{layout.root}/src"),
        (str(tmp_path / "src"), f"{layout.root}/src"),
    ):
        path.write_text(front(f"working_directory: '{folder}'"))
        read = seatfile.look(layout, "ada")
        assert read.problems == ()
        assert seatfile.working_directory(layout, read.config) == expected
    path.write_text(front("working_directory: nowhere"))
    (problem,) = seatfile.look(layout, "ada").problems
    assert (problem.key, problem.severity) == ("working_directory", WARNING)


# --- changing one key ---


def seat_with(tmp_path: Path, text: str) -> tuple[Layout, Path]:
    """A project with the seat ada."""
    layout = lay(tmp_path, "ada")
    path = Path(layout.seat("ada").seat_md)
    path.write_bytes(text.encode())
    return layout, path


def changes(before: str, after: str) -> list[str]:
    """The lines that went (-) and came (+)."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("enabled", "true", ["-enabled: false   # not yet", "+enabled: true   # not yet"]),
        ("enabled", None, ["-enabled: false   # not yet"]),
        ("model", "sonnet", ["-model: opus-4.5", "+model: sonnet"]),
        ("model", "4.5", ["-model: opus-4.5", '+model: "4.5"']),
        ("verify", "a: b # c", ["-verify: make check", '+verify: "a: b # c"']),
        ("startup_delay_s", "1.5", ["-startup_delay_s: 2", "+startup_delay_s: 1.5"]),
        ("command", "[codex, --x]", ["-command: [claude, --continue]", '+command: ["codex", "--x"]']),
        ("command", "codex", ["-command: [claude, --continue]", '+command: ["codex"]']),
        ("pass_env", ("A", "B"), ["-pass_env: [SSH_AUTH_SOCK]", '+pass_env: ["A", "B"]']),
        ("personality", "Quick.", ["-personality: |", "-  Calm,", "-    exact.", "+personality: Quick."]),
        ("personality", "One.\nTwo.\n", ["-  Calm,", "-    exact.", "+  One.", "+  Two."]),
        ("convictions", None, ["-convictions:", "-- Small steps", "-- 'Tests: first'"]),
    ],
)
def test_one_key_changes_and_no_other_byte(tmp_path: Path, key: str, value: Any, expected: list[str]) -> None:
    """Comments behind and between, quotes, order, spacing and the body stay."""
    layout, path = seat_with(tmp_path, FULL)
    inode = path.stat().st_ino
    (tmp_path / "src").mkdir()
    seatfile.set_key(layout, "ada", key, value)
    assert changes(FULL, path.read_text()) == expected
    assert path.stat().st_ino == inode
    assert seatfile.look(layout, "ada").problems == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (front("a: 1", "# model: x", "b: 2"), front("a: 1", "# model: x", "model: opus", "b: 2")),
        (front("harness: shell"), front("harness: shell", "model: opus")),
        (front("model:"), front("model: opus")),
        (front("model:   # later", "trust: people"), front("model: opus   # later", "trust: people")),
        ("---\r\ntrust: people\r\n---\r\nx\r\n", "---\r\ntrust: people\r\nmodel: opus\r\n---\r\nx\r\n"),
        ("\ufeff---\nmodel: a\n---\n", "\ufeff---\nmodel: opus\n---\n"),
        ("# Ada\n", "---\nmodel: opus\n---\n# Ada\n"),
        ("", "---\nmodel: opus\n---\n"),
        ("---\n---\n", "---\nmodel: opus\n---\n"),
        ("---\n{harness: shell, model: a}\n---\n", "---\n{harness: shell, model: opus}\n---\n"),
    ],
)  # fmt: skip
def test_a_new_or_empty_key_finds_its_place(tmp_path: Path, before: str, after: str) -> None:
    """Below its own commented-out line, else last; in files without front matter, with BOM, with CRLF, in flow form."""
    layout, path = seat_with(tmp_path, before)
    seatfile.set_key(layout, "ada", "model", "opus")
    assert path.read_bytes().decode() == after
    assert seatfile.read(layout, "ada").model == "opus"


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        (front("model: x"), "modl", "y"),
        (front("model: x"), "seat", "y"),
        (front("model: x"), "max_crashes", "0"),
        (front("model: x"), "enabled", "maybe"),
        (front("model: x"), "pass_env", "[COLEO_SEAT]"),
        (front("model: x"), "mcp", "{a: {}}"),
        (front("model: x"), "args", "[a"),
        (front("model: x"), "ctx_warning_threshold", "90"),
        (front("model: [", "x"), "model", "y"),
        (front("model: x", "model: y"), "harness", "shell"),
        ("---\nmodel: x\n", "model", "y"),
    ],
)
def test_what_cannot_be_set_changes_nothing(tmp_path: Path, text: str, key: str, value: str) -> None:
    """Unknown key, wrong value, two values that contradict each other, front matter that is broken."""
    layout, path = seat_with(tmp_path, text)
    with pytest.raises(BadInput):
        seatfile.set_key(layout, "ada", key, value)
    assert path.read_text() == text


def test_a_fault_elsewhere_does_not_stop_a_change(tmp_path: Path) -> None:
    """The key that is wrong must be mendable by the command too."""
    layout, path = seat_with(tmp_path, front("max_crashes: 0", "model: 3"))
    seatfile.set_key(layout, "ada", "max_crashes", "4")
    assert path.read_text() == front("max_crashes: 4", "model: 3")
    with pytest.raises(BadInput, match="no such seat"):
        seatfile.set_key(layout, "bob", "model", "x")


_SCALARS = st.one_of(
    st.integers(-1000, 10**9),
    st.booleans(),
    st.text(max_size=12),
    st.text(alphabet="ab:#- \n'\"|>[]{}&*!%@\\", max_size=12),
)
_VALUES = st.one_of(_SCALARS, st.lists(_SCALARS, max_size=3))
_KEYS = st.sampled_from(["a", "b", "c", "long_key"])


@given(
    st.dictionaries(_KEYS, _VALUES, max_size=4), _KEYS, st.one_of(st.none(), _VALUES), st.sampled_from(["\n", "\r\n"])
)
def test_any_value_of_any_key_can_be_changed(data: dict[str, Any], key: str, value: Any, end: str) -> None:
    """The result says exactly what was asked for, and each line that has nothing to do with the key is still there."""
    block, lines = "", {}
    for number, (name, one) in enumerate(data.items()):
        comment = f"# about {name} {number}{end}"
        lines[name] = yamledit.change("", {name: one}, end)
        block += comment + lines[name]
    after = yamledit.change(block, {key: value}, end)
    wanted = {name: one for name, one in data.items() if name != key}
    if value is not None:
        wanted[key] = value
    if end == "\n":
        assert yamledit.load(after)[0] == wanted
    for name, line in lines.items():
        if name != key:
            assert line in after
    assert all(f"# about {name} {number}{end}" in after for number, name in enumerate(data))


@given(st.binary(max_size=120))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    """Whatever an editor, a merge or an agent has left in seat.md."""
    assert seatfile.parse(b"---\n" + data + b"\n---\n", "seat.md", "ada").config.seat == "ada"
    assert seatfile.parse(data, "seat.md", "ada").config.seat == "ada"


def test_a_seat_md_that_is_no_file_is_a_problem(tmp_path: Path) -> None:
    """A folder of that name."""
    layout = lay(tmp_path)
    os.makedirs(layout.seat("ada").seat_md)
    assert [one.severity for one in seatfile.look(layout, "ada").problems] == [ERROR]


BOMB = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)), ""])


@pytest.mark.parametrize(
    "block", [BOMB, "a: &a [*a]\n", "a: " + "[" * 5000 + "\n", "? {a: 1}\n: " + "{b: " * 100 + "\n"]
)
def test_the_quick_reader_is_not_kept_busy_either(block: str) -> None:
    """Task files and seat.md are read by the brain in each cycle, and agents can write both."""
    with pytest.raises(front_matter.BadFront):
        front_matter.parse(block.encode())
