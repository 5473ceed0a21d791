"""The command line of the verbs."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coleo.bus import entry
from coleo.bus.verbs import VERBS
from coleo.files.layout import Layout
from coleo.model.errors import BadInput
from tests.bus.calling import ids, project
from tests.files.project import NOW, lay

VERB_NAMES = [
    *("get-full-briefing", "get-my-instructions", "claim-task", "acknowledge-task", "task-progress", "complete-task"),
    *("fail-task", "create-task", "send-message", "check-inbox", "ack-inbox", "update-heartbeat", "log-event"),
    "list-skills",
]


def run(
    layout: Layout, *args: str, seat: str = "ada", stdin: bytes = b"", cwd: str | None = None, **environ: str
) -> subprocess.CompletedProcess[bytes]:
    """`coleo bus …` as a process of its own, as an agent starts it."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("COLEO_")}
    variables |= {"COLEO_SEAT": seat, **environ}
    if cwd is None:
        variables["COLEO_PROJECT"] = layout.root
    return subprocess.run(
        [sys.executable, "-m", "coleo", "bus", *args],
        input=stdin, capture_output=True, env=variables, cwd=cwd or layout.root, timeout=60, check=False,
    )  # fmt: skip


def test_every_verb_that_agents_were_promised_is_there() -> None:
    """Each with a summary, an example that it understands, and a function with its parameters."""
    assert set(VERB_NAMES) <= set(VERBS)
    import inspect
    from importlib import import_module
    from shlex import split

    for verb in VERBS.values():
        function = getattr(import_module(f"coleo.bus.{verb.module}"), verb.key)
        accepted = inspect.signature(function).parameters
        assert next(iter(accepted)) == "ctx" and {param.key for param in verb.params} == set(accepted) - {"ctx"}
        for param in verb.params:
            assert (accepted[param.key].default is inspect.Parameter.empty) == param.required
        words = split(verb.example)
        assert words[:3] == ["coleo", "bus", verb.name]
        entry.parse(verb, words[3:])
        assert verb.name in entry.overview() and verb.example in entry.usage(verb)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["t-1", "some text"], {"task": "t-1", "text": "some text"}),
        (["t-1", "--status", "blocked", "x"], {"task": "t-1", "text": "x", "status": "blocked"}),
        (["t-1", "--status=blocked", "x"], {"task": "t-1", "text": "x", "status": "blocked"}),
        (["t-1", "- did this\n- did that"], {"task": "t-1", "text": "- did this\n- did that"}),
        (["t-1", "--- a rule"], {"task": "t-1", "text": "--- a rule"}),
        (["t-1", "--", "--status"], {"task": "t-1", "text": "--status"}),
        (["--json", "t-1", "-x"], {"task": "t-1", "text": "-x"}),
    ],
)
def test_values_come_by_place_and_by_option(args: list[str], expected: dict[str, str]) -> None:
    """Texts may begin with a dash; models write them that way."""
    assert entry.parse(VERBS["task-progress"], args).values == expected


@pytest.mark.parametrize(
    ("verb", "args", "words"),
    [
        ("task-progress", ["t-1"], "text is missing"),
        ("task-progress", ["t-1", "two", "words"], "quotes"),
        ("task-progress", ["t-1", "x", "--status", "nice"], "on_track"),
        ("task-progress", ["t-1", "x", "--stats", "nice"], "no option --stats"),
        ("task-progress", ["t-1", "x", "--status"], "needs a value"),
        ("ack-inbox", [], "message is missing"),
        ("send-message", ["bob", "soon", "x"], "urgent"),
    ],
)
def test_a_wrong_command_line_is_told_with_an_example(verb: str, args: list[str], words: str) -> None:
    """Exit 2; nothing runs."""
    with pytest.raises(BadInput, match=words):
        entry.parse(VERBS[verb], args)


def test_text_and_data(tmp_path: Path) -> None:
    """Plain text for a model, one JSON object with --json; errors likewise, with their exit code."""
    layout = project(tmp_path)
    os.utime(layout.plan, (1, 1))
    shown = run(layout, "get-full-briefing")
    assert shown.returncode == 0 and shown.stdout.startswith(b"coleo briefing for seat ada") and not shown.stderr
    data = json.loads(run(layout, "get-full-briefing", "--json").stdout)
    assert data["next"]["title"] == "Put out the fire"
    refused = run(layout, "claim-task", data["next"]["id"][:-1])
    assert refused.returncode == 2 and refused.stderr.startswith(b"coleo: ") and not refused.stdout
    assert run(layout, "claim-task", data["next"]["id"]).returncode == 0
    taken = run(layout, "claim-task", data["next"]["id"], "--json", seat="bob")
    assert taken.returncode == 3
    assert json.loads(taken.stdout)["error"]["found"].startswith("held by ada since")
    assert run(layout, "no-such-verb").returncode == 2
    assert run(layout).returncode == 2 and run(layout, "--help").returncode == 0
    assert b"Example: coleo bus claim-task" in run(layout, "claim-task", "--help").stdout


def test_it_works_from_any_subfolder_and_through_links(tmp_path: Path) -> None:
    """Without COLEO_PROJECT the nearest project above the real folder counts; --seat overrides for people."""
    layout = lay(tmp_path / "real", "ada", "bob")
    deep = tmp_path / "real" / "src" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "link").symlink_to(deep)
    for folder in (deep, tmp_path / "link"):
        reply = run(layout, "update-heartbeat", "working", "--json", "--seat", "bob", cwd=str(folder))
        assert json.loads(reply.stdout)["seat"] == "bob"
    outside = run(layout, "check-inbox", cwd=str(tmp_path))
    assert outside.returncode == 2 and b"coleo init" in outside.stderr
    assert run(layout, "check-inbox", seat="").returncode == 2


def test_long_and_private_texts_come_by_standard_input(tmp_path: Path) -> None:
    """They then stand in no process list (case g11)."""
    layout = project(tmp_path)
    text = "private\n" * 5000
    assert run(layout, "send-message", "bob", "normal", "-", stdin=text.encode()).returncode == 0
    assert run(layout, "create-task", "Title", "--desc", "-", stdin=b"body \xff").returncode == 0
    data = json.loads(run(layout, "check-inbox", "--json", seat="bob").stdout)
    assert data["messages"][0]["text"] == text
    too_long = run(layout, "send-message", "bob", "normal", "-", stdin=b"x" * 3_000_000)
    assert too_long.returncode == 2 and b"too large" in too_long.stderr


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO8859-1"])
def test_any_text_is_printed_in_any_locale(tmp_path: Path, locale: str) -> None:
    """Also words of the command line that are no UTF-8."""
    layout = project(tmp_path)
    environ: dict[str, Any] = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert run(layout, "send-message", "bob", "normal", "ünï ✓", **environ).returncode == 0
    broken = [sys.executable.encode(), b"-m", b"coleo", b"bus", b"send-message", b"bob", b"normal", b"caf\xe9"]
    variables = {**os.environ, "COLEO_PROJECT": layout.root, "COLEO_SEAT": "ada"}
    assert subprocess.run(broken, env=variables, capture_output=True, timeout=60, check=False).returncode == 0
    shown = run(layout, "check-inbox", seat="bob", **environ)
    assert shown.returncode == 0 and b"> caf" in shown.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`coleo bus get-full-briefing | head -1`."""
    layout = project(tmp_path)
    out, into = os.pipe()
    os.close(out)
    variables = {**os.environ, "COLEO_PROJECT": layout.root, "COLEO_SEAT": "ada"}
    code = subprocess.run(
        [sys.executable, "-m", "coleo", "bus", "get-full-briefing"],
        env=variables, stdout=into, stderr=subprocess.PIPE, timeout=60, check=False,
    )  # fmt: skip
    os.close(into)
    assert code.returncode == 0 and not code.stderr


def test_underscores_are_understood(tmp_path: Path) -> None:
    """The first source document writes verbs that way."""
    layout = project(tmp_path)
    assert entry.main(["get_full_briefing"], {"COLEO_PROJECT": layout.root, "COLEO_SEAT": "ada"}, NOW) == 0
    assert ids(layout)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_full_disk_is_told_as_a_full_disk_not_as_a_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], as_json: bool
) -> None:
    layout = project(tmp_path)

    def full(*_args: object, **_named: object) -> bool:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("coleo.files.atomic.create", full)
    environ = {"COLEO_PROJECT": layout.root, "COLEO_SEAT": "ada"}
    words = ["send-message", "bob", "normal", "hello", *(["--json"] if as_json else [])]
    assert entry.main(words, environ, NOW) == 1
    said = capfd.readouterr()
    assert "No space left" in (said.out if as_json else said.err)
    assert not as_json or json.loads(said.out)["error"]["exit_code"] == 1
