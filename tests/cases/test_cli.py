"""Cases in which the command line is what a person sees: hostile titles (h02), long ones (d22), settings (g06 g07 g12),
and the activity log (g05 g13).

The key names of g06 and g07 are the product's; their ``[[seats]]`` are folders here, see test_files_settings.py.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coleo.bus import tasks
from coleo.files import activity, arms, mail, project, work
from coleo.files.layout import Layout
from coleo.model.arm import Arm, ArmState
from tests.cli.helpers import coleo, facts, task_ids
from tests.cli.helpers import project as small

DATA = Path(__file__).parent / "data"
NOW = 1_800_000_000.0
TITLE = (DATA / "h02" / "title.txt").read_text(encoding="utf-8").rstrip("\n")
H02 = json.loads((DATA / "h02" / "expected.json").read_text())


def forbidden() -> re.Pattern[str]:
    """The code points of the case; U+000A is the output's own."""
    parts = []
    for item in H02["shown_must_not_contain_codepoints"]:
        first, _, last = item.replace("U+", "").partition("-")
        parts.append(f"\\u{int(first, 16):04x}-\\u{int(last or first, 16):04x}")
    return re.compile(f"[{''.join(parts)}]")


FORBIDDEN = forbidden()


#: As it can stand in one line of a plan.
LINE = TITLE.replace("\n", " ")


@pytest.fixture
def hostile(tmp_path: Path) -> Layout:
    """A project in which the title of the case stands everywhere that somebody else may write."""
    layout = small(tmp_path, "ada", plan=f"# Plan\n- [ ] {LINE}\n")
    os.makedirs(layout.arms)
    arms.write(
        layout,
        Arm("ada", ArmState.IDLE, NOW, reason=TITLE, evidence=TITLE, waiting=TITLE, next=TITLE, parked=TITLE),
    )
    work.take(layout, tasks.view(layout)[0].task, "ada", NOW, by="brain")
    mail.send(layout, "ada", "human", TITLE, now=NOW)
    activity.append(layout, "notice", now=NOW, seat="ada", text=TITLE)
    Path(layout.inbox).write_text(f"{TITLE}\n\n- [ ] {LINE}\n")
    return layout


WORDS = [
    ["status"],
    ["tasks"],
    ["why", "ada"],
    ["why", "TASK"],
    ["task", "show", "TASK"],
    ["task", "note", "TASK", TITLE],
    ["log"],
    ["mail", "list"],
    ["mail", "show", "MAIL"],
    ["seat", "list"],
    ["seat", "show", "ada"],
    ["plan"],
    ["inbox"],
    ["check"],
]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_h02_no_command_lets_a_title_drive_the_terminal(hostile: Layout, words: list[str]) -> None:
    """Control characters and bidi overrides are shown as escapes, in text and in JSON alike."""
    ids = task_ids(hostile)
    names = {
        "TASK": next(iter(ids.values())),
        "MAIL": mail.scan(hostile, "ada", NOW).messages[0].id,
    }
    given = [names.get(word, word) for word in words]
    for more in ([], ["--json"]):
        ran = coleo(hostile, *given, *more)
        assert ran.returncode in (0, 2), ran.stderr
        for said in (ran.stdout, ran.stderr):
            assert not FORBIDDEN.search(said.replace("\n", "")), (more, said)


@pytest.mark.parametrize("words", [["status"], ["tasks"], ["plan"], ["log", "-n", "1"], ["mail", "list"]], ids=" ".join)
def test_h02_what_is_hidden_is_made_visible_and_takes_one_row(hostile: Layout, words: list[str]) -> None:
    rows = coleo(hostile, *words).stdout.splitlines()
    ours = [row for row in rows if H02["shown_must_contain"][0] in row]
    assert len(ours) == H02["rows"]
    for wanted in H02["shown_must_contain"]:
        assert wanted in ours[0]


def test_h02_json_gives_the_title_back_whole(hostile: Layout) -> None:
    assert list(task_ids(hostile)) == [LINE]
    assert facts(hostile, "mail", "list")["messages"][0]["text"] == TITLE


def test_h02_an_error_quotes_what_was_typed_safely(hostile: Layout) -> None:
    for words in (
        ["why", TITLE],
        ["seat", "show", TITLE],
        ["log", "--since", TITLE],
        ["config", "get", TITLE],
        [TITLE],
    ):
        ran = coleo(hostile, *words)
        assert ran.returncode == 2
        assert not FORBIDDEN.search(ran.stderr.replace("\n", "")), words


def on_a_terminal(layout: Layout, *words: str) -> str:
    """What a command writes when standard output is a terminal 120 columns wide."""
    leader, follower = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "coleo", *words],
            cwd=layout.root,
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "COLUMNS": "120", "TERM": "xterm-256color"},
        )
        os.close(follower)
        got = b""
        while select.select([leader], [], [], 30)[0]:
            try:
                data = os.read(leader, 65536)
            except OSError:
                break
            if not data:
                break
            got += data
        assert process.wait(30) == 0
    finally:
        os.close(leader)
    return got.decode("utf-8", "replace")


@pytest.mark.parametrize("words", [["status"], ["tasks"]], ids=" ".join)
def test_h02_on_a_real_terminal_only_our_own_colours_are_sequences(hostile: Layout, words: list[str]) -> None:
    """rich draws the table there: no markup, no sequence of a title is obeyed."""
    said = on_a_terminal(hostile, *words)
    assert "\\x1b" in said
    assert not FORBIDDEN.search(re.sub(r"\x1b\[[0-9;]*m", "", said).replace("\r\n", ""))


def test_h02_markup_in_a_title_is_text(tmp_path: Path) -> None:
    layout = small(tmp_path, plan="- [ ] press [red]here[/red] :smile: [link=http://x]y[/link]\n")
    assert "press [red]here[/red] :smile: [link=http://x]y[/link]" in on_a_terminal(layout, "tasks")


def test_d22_a_title_of_a_million_characters_is_shown_short(tmp_path: Path) -> None:
    layout = small(tmp_path, "ada", plan="- [ ] " + "w " * 500_000 + "\n")
    limit = json.loads((DATA / "d22" / "expected.json").read_text())["long_title"]["title_shown_max"]
    task = next(iter(task_ids(layout).values()))
    for words in (["tasks"], ["plan"], ["why", task], ["task", "show", task], ["status"]):
        ran = coleo(layout, *words)
        assert ran.returncode == 0, ran.stderr
        for row in ran.stdout.splitlines():
            assert len(max(re.findall(r"(?:w )+", row), key=len, default="")) <= limit, words


def case(case_id: str, tmp_path: Path) -> Layout:
    """A laid-down project with the config.toml of a case."""
    project.init(str(tmp_path), seats={"rand": "shell"})
    layout = Layout(os.path.realpath(tmp_path))
    Path(layout.config).write_bytes((DATA / case_id / "config.toml").read_bytes())
    return layout


def test_g06_check_and_up_name_every_problem_with_file_line_key_found_and_wanted(tmp_path: Path) -> None:
    layout = case("g06", tmp_path)
    expected = [line.partition(":")[0] for line in json.loads((DATA / "g06" / "expected.json").read_text())["errors"]]
    wanted = {key for key in expected if key.startswith("brain.")}
    found = facts(layout, "check", code=2)["problems"]
    errors = {problem["key"]: problem for problem in found if problem["severity"] == "error"}
    assert set(errors) == wanted
    for problem in errors.values():
        assert problem["file"] == layout.config
        assert problem["line"] > 0
        assert problem["found"]
        assert problem["wanted"]
    ran = coleo(layout, "up")
    assert ran.returncode == 2
    for key in wanted:
        assert key in ran.stderr
    assert not os.path.exists(layout.brain_socket)


def test_g07_unknown_keys_are_warnings_with_the_nearest_name_and_errors_with_strict(tmp_path: Path) -> None:
    layout = case("g07", tmp_path)
    expected: dict[str, Any] = json.loads((DATA / "g07" / "expected.json").read_text())
    found = facts(layout, "check")["problems"]
    assert {problem["severity"] for problem in found} == {"warning"}
    text = coleo(layout, "check").stdout
    for warning in expected["warnings"]:
        assert any(problem["key"] == warning["key"] for problem in found), warning
        assert f"did you mean {warning['suggest']}?" in text or f"did you mean brain.{warning['suggest']}?" in text
    assert coleo(layout, "check", "--strict").returncode == 2
    assert coleo(layout, "config", "get", "brain.poll_interval_ms").stdout == "5000\n"
    assert coleo(layout, "config", "get", "brain.max_arms").stdout == "8\n"


@pytest.mark.parametrize(
    "item", json.loads((DATA / "g12" / "expected.json").read_text()), ids=lambda item: repr(item["value"])
)
def test_g12_an_environment_variable_is_a_plain_number_or_an_error_that_names_it(
    tmp_path: Path, item: dict[str, Any]
) -> None:
    layout = small(tmp_path)
    ran = coleo(layout, "config", "list", "--json", COLEO_POLL_INTERVAL_MS=item["value"])
    found = json.loads(ran.stdout)
    value = next(row for row in found["settings"] if row["key"] == "brain.poll_interval_ms")
    if item["result"] == "error":
        assert ran.returncode == 2
        assert "COLEO_POLL_INTERVAL_MS" in found["problems"][0]["file"]
        assert value["value"] == 30000
    else:
        assert ran.returncode == 0
        assert value["value"] == (30000 if item["result"] == "default" else item["result"])
        assert value["source"] == ("default" if item["result"] == "default" else "COLEO_POLL_INTERVAL_MS")


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the kernel does not tell the peak of memory")
def test_g05_the_end_of_a_gigabyte_is_shown_in_little_memory(tmp_path: Path) -> None:
    """A sparse file with a line of 12 MB before the end: only the end is read. No timing here, see scripts/bench."""
    layout = small(tmp_path, "ada")
    os.makedirs(layout.activity)
    path = Path(layout.activity, "2027-01-15.jsonl")
    with path.open("wb") as file:
        file.seek(1 << 30)
        file.write(b"\n")
        for number in range(20):
            file.write(activity.line("notice", NOW + number, {"text": f"number {number}"}))
        file.write(b'{"ts": "2027-01-15T08:00:30.000Z", "action": "notice", "text": "' + b"x" * 12_000_000)
    said, kilobytes = with_memory(layout, "log", "-n", "20", "--json")
    assert [json.loads(line)["text"] for line in said.splitlines()] == [f"number {number}" for number in range(20)]
    assert kilobytes < 50 * 1024
    assert with_memory(layout, "status", "--json")[1] < 50 * 1024


def with_memory(layout: Layout, *words: str) -> tuple[str, int]:
    """What a command says, and the most memory (resident, KiB) that it had at any time."""
    code = (
        "import re, sys; from coleo.cli.main import main; code = main(sys.argv[1:]);"
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr); sys.exit(code)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=layout.root, capture_output=True, text=True, timeout=60, check=True
    )
    return ran.stdout, int(ran.stderr)


def test_g13_bad_lines_are_passed_over_and_everything_else_is_shown(tmp_path: Path) -> None:
    layout = small(tmp_path)
    os.makedirs(layout.activity)
    Path(layout.activity, "2026-11-30.jsonl").write_bytes((DATA / "g13" / "activity.jsonl").read_bytes())
    ran = coleo(layout, "log", "--json")
    assert [json.loads(line)["n"] for line in ran.stdout.splitlines()] == json.loads(
        (DATA / "g13" / "expected.json").read_text()
    )["readable"]
    assert len(coleo(layout, "log").stdout.splitlines()) == 4
