"""`coleo config`: every value with its source; a change keeps the rest of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.helpers import coleo, facts, project


def test_list_says_where_each_value_comes_from(tmp_path: Path) -> None:
    """Case g12: command line, environment, project file, defaults, in this order."""
    layout = project(tmp_path)
    Path(layout.coleo).mkdir(mode=0o700)
    Path(layout.config).write_text("[brain]\nmax_arms = 3\npoll_interval_ms = 5000\nsettle_s = 1\n")
    found = facts(
        layout, "config", "list", "--set", "brain.settle_s=4", COLEO_POLL_INTERVAL_MS="7000", OCTOPAI_MAX_ARMS=""
    )
    rows = {row["key"]: (row["value"], row["source"]) for row in found["settings"]}
    assert rows["brain.settle_s"] == (4.0, "command line")
    assert rows["brain.poll_interval_ms"] == (7000, "COLEO_POLL_INTERVAL_MS")
    assert rows["brain.max_arms"] == (3, layout.config)
    assert rows["brain.retention_days"] == (30, "default")
    assert "COLEO_POLL_INTERVAL_MS" in coleo(layout, "config", "list", COLEO_POLL_INTERVAL_MS="7000").stdout


def test_list_shows_what_is_wrong_and_exits_2(tmp_path: Path) -> None:
    layout = project(tmp_path)
    Path(layout.coleo).mkdir(mode=0o700)
    Path(layout.config).write_text("[brain]\nmax_arms = 'many'\nmax-arms = 4\n")
    ran = coleo(layout, "config", "list")
    assert ran.returncode == 2
    assert "brain.max_arms" in ran.stderr
    assert "did you mean max_arms" in ran.stderr


def test_get_takes_the_older_names_too(tmp_path: Path) -> None:
    layout = project(tmp_path)
    assert coleo(layout, "config", "get", "brain.max_arms").stdout == "8\n"
    assert coleo(layout, "config", "get", "brain_poll_interval_ms").stdout == "30000\n"
    assert facts(layout, "config", "get", "git.commit") == {
        "key": "git.commit",
        "value": "suggest",
        "source": "default",
    }
    ran = coleo(layout, "config", "get", "brain.max_arm")
    assert (ran.returncode, "brain.max_arms" in ran.stderr) == (2, True)


def test_get_does_not_answer_with_a_default_for_a_value_that_is_refused(tmp_path: Path) -> None:
    """Case g12: `coleo up` refuses such a value, so a script must not get 30000 and exit 0 for it."""
    layout = project(tmp_path)
    ran = coleo(layout, "config", "get", "brain.poll_interval_ms", COLEO_POLL_INTERVAL_MS="30s")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "COLEO_POLL_INTERVAL_MS" in ran.stderr
    assert coleo(layout, "config", "get", "brain.max_arms", COLEO_POLL_INTERVAL_MS="30s").stdout == "8\n"
    Path(layout.coleo).mkdir(mode=0o700)
    Path(layout.config).write_text("[brain]\nmax_arms = 'many'\n")
    ran = coleo(layout, "config", "get", "brain.max_arms")
    assert (ran.returncode, f"{layout.config}:2" in ran.stderr) == (2, True)


def test_set_changes_one_line_and_says_what_counts_now(tmp_path: Path) -> None:
    layout = project(tmp_path)
    Path(layout.coleo).mkdir(mode=0o700)
    text = "# ours\n[brain]\nmax_arms = 3  # enough\n\n[git]\ncommit = 'off'\n"
    Path(layout.config).write_text(text)
    found = facts(layout, "config", "set", "max_arms", "5")
    assert (found["value"], found["source"]) == (5, layout.config)
    assert Path(layout.config).read_text() == text.replace("= 3", "= 5")
    ran = coleo(layout, "config", "set", "brain.max_arms", "6", COLEO_MAX_ARMS="9")
    assert "does not count: COLEO_MAX_ARMS" in ran.stderr
    assert "max_arms" in coleo(layout, "log").stdout


@pytest.mark.parametrize(
    ("key", "value"), [("brain.max_arms", "many"), ("brain.max_arms", "0"), ("brain.nothing", "1")]
)
def test_set_refuses_what_would_be_wrong_and_writes_nothing(tmp_path: Path, key: str, value: str) -> None:
    layout = project(tmp_path)
    assert coleo(layout, "config", "set", key, value).returncode == 2
    assert not Path(layout.config).exists() or Path(layout.config).read_text() == ""


def test_set_for_the_user_works_outside_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    where = tmp_path / "elsewhere"
    where.mkdir()
    ran = coleo(where, "config", "set", "brain.max_arms", "2", "--user", HOME=str(home))
    assert ran.returncode == 0, ran.stderr
    assert "max_arms = 2" in (home / ".coleo" / "config.toml").read_text()
    assert coleo(where, "config", "get", "brain.max_arms", HOME=str(home)).stdout == "2\n"
    assert coleo(where, "config", "set", "brain.max_arms", "2").returncode == 2
