"""The way in: exit codes, errors as text and as JSON, help, the quick reading, a reader that goes away."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from coleo.cli import app as apps
from coleo.cli import main as entry
from coleo.cli import out, quick
from coleo.files import activity
from tests.cli.helpers import coleo, facts, project

ALL = [name for names in entry.MODULES.values() for name in names]


def test_version_names_the_program(tmp_path: Path) -> None:
    ran = coleo(tmp_path, "--version")
    assert (ran.returncode, ran.stdout.split()[0]) == (0, "coleo")


def test_help_lists_every_command_with_a_sentence(tmp_path: Path) -> None:
    ran = coleo(tmp_path, "--help")
    assert ran.returncode == 0
    listed = ran.stdout.partition("Commands:")[2]
    for name in ALL:
        if name != "arm":
            assert f"  {name} " in listed, name


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and command of a group, by its words."""
    root = typer.main.get_command(entry.build(None))
    pending: list[tuple[str, Any]] = [("", root)]
    while pending:
        words, command = pending.pop()
        below = getattr(command, "commands", None)
        if below is None:
            yield words, command
        else:
            pending += [(f"{words} {name}".strip(), each) for name, each in below.items() if name != "arm"]


@pytest.mark.parametrize(
    ("words", "command"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_command_has_a_sentence_and_examples_that_it_understands(words: str, command: Any) -> None:
    """An example in a help text that does not even parse teaches the wrong thing."""
    assert command.help
    examples = [line.strip() for line in (command.epilog or "").splitlines()[2:]]
    assert examples, words
    root: Any = typer.main.get_command(entry.build(None))
    for example in examples:
        assert f"coleo {words}" in example
        call = example.partition("coleo ")[2].partition("   (")[0].partition(" |")[0]
        given = shlex.split(call)
        if words in ("bus", "demo") or "--help" in given:
            continue
        context = root.make_context("coleo", list(given), resilient_parsing=False)
        name, found, rest = root.resolve_command(context, [*context._protected_args, *context.args])
        while hasattr(found, "commands"):
            inner = found.make_context(name, rest, parent=context)
            name, found, rest = found.resolve_command(inner, [*inner._protected_args, *inner.args])
        found.make_context(name, rest, parent=context)


def test_outside_of_a_project_the_error_says_what_to_do(tmp_path: Path) -> None:
    ran = coleo(tmp_path, "status")
    assert ran.returncode == 2
    assert "coleo init" in ran.stderr
    assert ran.stdout == ""


def test_with_json_an_error_is_an_object_on_standard_error(tmp_path: Path) -> None:
    ran = coleo(tmp_path, "status", "--json")
    error = json.loads(ran.stderr)["error"]
    assert error["exit_code"] == ran.returncode == 2
    assert error["todo"] == "coleo init"


@pytest.mark.parametrize(
    "words", [["statos"], ["status", "--jsn"], ["seat", "restart"], ["log", "-n", "many"], ["task", "shw"]]
)
def test_a_typing_error_is_bad_input_and_no_traceback(tmp_path: Path, words: list[str]) -> None:
    ran = coleo(tmp_path, *words)
    assert ran.returncode == 2
    assert "--help" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_mistyped_command_gets_the_nearest_one(tmp_path: Path) -> None:
    assert "status" in coleo(tmp_path, "statsu").stderr


def test_a_command_works_from_any_folder_below_and_for_another_project(tmp_path: Path) -> None:
    layout = project(tmp_path / "one", "ada")
    deep = tmp_path / "one" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "link").symlink_to(deep)
    assert facts(deep, "status")["project"] == layout.root
    assert facts(tmp_path / "link", "status")["project"] == layout.root
    assert facts(tmp_path, "--project", layout.root, "status")["project"] == layout.root
    assert facts(tmp_path, "status", COLEO_PROJECT=layout.root)["project"] == layout.root


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    """``coleo log -n 100000 | head -1`` is no error."""
    layout = project(tmp_path)
    os.makedirs(layout.activity)
    line = activity.line("notice", 1_800_000_000.0, {"text": "x" * 500})
    Path(layout.activity, "2027-01-15.jsonl").write_bytes(line * 2000)
    with subprocess.Popen(
        [sys.executable, "-m", "coleo", "log", "-n", "2000"],
        cwd=layout.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_call: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(quick, "run", interrupted)
    assert entry.main(["status"]) == 130


@pytest.mark.parametrize(
    ("number", "code"), [(errno.EACCES, 1), (errno.ENOSPC, 1), (errno.EROFS, 1), (errno.EBADF, None)]
)
def test_what_the_machine_refuses_is_told_and_no_bug(
    number: int, code: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(_call: object) -> int:
        raise OSError(number, os.strerror(number), "/some/file")

    monkeypatch.setattr(quick, "run", refused)
    if code is None:
        with pytest.raises(OSError):
            entry.main(["status"])
        return
    assert entry.main(["status"]) == code
    said = capsys.readouterr().err
    assert "/some/file" in said
    assert os.strerror(number) in said


def test_a_project_that_is_none_is_bad_input(tmp_path: Path) -> None:
    ran = coleo(tmp_path, "--project", str(tmp_path / "nowhere"), "status")
    assert (ran.returncode, "coleo init" in ran.stderr) == (2, True)


def test_a_bug_of_ours_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """It must reach the entry point, which writes the report and exits 70."""

    def broken(_call: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(quick, "run", broken)
    with pytest.raises(ZeroDivisionError):
        entry.main(["status"])


LINES = [
    "status",
    "status --json",
    "tasks",
    "tasks --all --json",
    "why ada",
    "why --json t-k3v9qz",
    "log",
    "log -n 5",
    "log -f --json",
    "log --follow --seat ada --task t-a --action notice --since 2h -n 3",
]


@pytest.mark.parametrize("line", LINES)
def test_quick_and_typer_read_the_same_command_line_alike(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick reading is only a shorter way to the same call."""
    words = line.split()
    found = quick.parse(words)
    assert found is not None
    calls: list[dict[str, object]] = []

    def noted(**arguments: object) -> None:
        calls.append(arguments)

    monkeypatch.setattr(f"{found.quick.module}.{found.quick.function}", noted)
    quick.run(found)
    typer.main.get_command(entry.build(words[0])).main(args=words, prog_name="coleo", standalone_mode=False)
    one, other = ({name: value for name, value in call.items() if value not in (None, False)} for call in calls)
    assert one == other


@pytest.mark.parametrize(
    "line",
    ["status --help", "status --js", "status x", "why", "why a b", "log -n", "log -n x", "log -n5", "seat list", ""],
)
def test_quick_leaves_everything_else_to_typer(line: str) -> None:
    assert quick.parse(line.split()) is None


def test_status_and_log_load_no_heavy_library(tmp_path: Path) -> None:
    """typer and pydantic take longer to load than `coleo status` may take in all (DESIGN section 12)."""
    layout = project(tmp_path, "ada")
    assert coleo(layout, "status").returncode == 0
    heavy = {"typer", "pydantic", "rich", "mistune", "ruamel.yaml", "asyncio"}
    for words in (["status"], ["status", "--json"], ["log"], ["tasks"]):
        code = (
            "import sys; from coleo.cli.main import main; "
            f"code = main({words!r}); print(sorted(sys.modules), file=sys.stderr); sys.exit(code)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", code], cwd=layout.root, capture_output=True, text=True, timeout=60, check=True
        )
        assert not heavy & set(eval(ran.stderr)), words


def test_completion_offers_commands_seats_and_tasks(tmp_path: Path) -> None:
    layout = project(tmp_path, "ada", "bob")
    common = {"_COLEO_COMPLETE": "complete_zsh"}
    assert "resume" in coleo(layout, **common, _TYPER_COMPLETE_ARGS="coleo res").stdout
    offered = coleo(layout, **common, _TYPER_COMPLETE_ARGS="coleo why ").stdout
    assert "ada" in offered
    assert "Write the letter" in offered


def test_completion_outside_of_a_project_offers_nothing_and_does_not_fail(tmp_path: Path) -> None:
    ran = coleo(tmp_path, _COLEO_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="coleo why ")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_spans_are_short(capsys: pytest.CaptureFixture[str]) -> None:
    assert [out.span(s) for s in (0, 59, 60, 3600, 3660, 90000)] == ["0 s", "59 s", "1 min", "1 h", "1 h 1 min", "1 d"]
    assert out.ago(None, 5.0) == "-"
    assert apps.examples("coleo x").startswith("\b\n")


def test_a_plain_table_lines_up_wide_and_hostile_text() -> None:
    """In a pipe a table is text: two spaces between columns, one row for each entry."""
    made = out.plain_table(("A", "B"), [("日本", "x\ny"), ("a", "\x1b[2J")])
    assert made.splitlines() == ["A     B", "日本  x y", "a     \\x1b[2J"]


def test_a_full_disk_is_told_as_a_full_disk_not_as_a_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    layout = project(tmp_path, "ada")

    def full(*_args: object, **_named: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("coleo.files.mail.send", full)
    monkeypatch.chdir(layout.root)
    assert entry.main(["send", "ada", "hello"]) == 1
    assert "No space left" in capsys.readouterr().err
