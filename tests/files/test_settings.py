"""Settings: five places, one order, every problem at once, and nothing right is lost to what is wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coleo.files import checked, settings
from coleo.files.layout import Layout
from coleo.model.errors import BadInput
from coleo.model.problem import ERROR, WARNING
from tests.files.project import lay

ROOT = Path(__file__).resolve().parents[2]


def config(tmp_path: Path, text: str | bytes, name: str = "project") -> Layout:
    """A project with this config.toml."""
    layout = lay(tmp_path / name)
    os.makedirs(layout.coleo, exist_ok=True)
    Path(layout.config).write_bytes(text if isinstance(text, bytes) else text.encode())
    return layout


def load(
    layout: Layout | None, tmp_path: Path, overrides: dict[str, Any] | None = None, /, **environ: str
) -> settings.Loaded:
    """The settings of a project for a user without any of his own, but for what `tmp_path/home` holds."""
    return settings.load(layout, overrides, {"HOME": str(tmp_path / "home"), **environ})


def test_without_any_file_everything_has_its_default(tmp_path: Path) -> None:
    """A project works before anybody has set anything."""
    loaded = load(lay(tmp_path), tmp_path)
    assert loaded.settings == settings.Settings()
    assert not loaded.problems
    assert set(loaded.sources.values()) == {"default"}
    brain = loaded.settings.brain
    assert (brain.poll_interval_ms, brain.max_arms, brain.arm_grace_period_minutes) == (30_000, 8, 5)


def test_the_first_place_that_says_something_wins(tmp_path: Path) -> None:
    """Command line, COLEO_*, OCTOPAI_*, project, user, default; and each value tells where it comes from."""
    layout = config(tmp_path, "[brain]\nmax_arms = 3\nsettle_s = 1\n")
    user = tmp_path / "home" / ".coleo" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text('timezone = "Europe/Berlin"\n[brain]\nmax_arms = 2\nmax_attempts = 9\n')
    key = "brain.max_arms"

    def found(overrides: dict[str, Any] | None = None, /, **environ: str) -> tuple[int, str]:
        loaded = load(layout, tmp_path, overrides, **environ)
        assert not loaded.problems
        return loaded.settings.brain.max_arms, loaded.sources[key]

    older, short, full = {"OCTOPAI_MAX_ARMS": "4"}, {"COLEO_MAX_ARMS": "5"}, {"COLEO_BRAIN_MAX_ARMS": "6"}
    assert found() == (3, layout.config)
    assert found(**older) == (4, "OCTOPAI_MAX_ARMS")
    assert found(**older, **short) == (5, "COLEO_MAX_ARMS")
    assert found(**older, **short, **full) == (6, "COLEO_BRAIN_MAX_ARMS")
    assert found({key: "7"}, **older, **short, **full) == (7, "command line")
    loaded = load(layout, tmp_path)
    assert loaded.settings.brain.max_attempts == 9 and loaded.sources["brain.max_attempts"] == str(user)
    assert loaded.settings.timezone == "Europe/Berlin"
    assert loaded.sources["brain.settle_s"] == layout.config
    assert loaded.sources["brain.poll_interval_ms"] == "default"


def test_every_key_can_be_set_by_its_variable(tmp_path: Path) -> None:
    """COLEO_ and the key, dots as underscores; no key is forgotten, no two share a variable."""
    given = {"integer": "7", "number": "7.5", "string": "one two"}
    special = {"orchestrator": "ada", "timezone": "Asia/Tokyo", "git.commit": "auto", "log.level": "debug"}
    seen: set[str] = set()
    for key, (model, name) in settings.keys().items():
        assert not seen & set(settings.variables(key))
        seen |= set(settings.variables(key))
        if key in ("verify.sections", "brain.poll_interval_ms"):
            continue
        text = special.get(key) or given[checked.adapter(model, name).json_schema()["type"]]
        for variable in settings.variables(key):
            loaded = load(None, tmp_path, **{variable: text})
            assert not loaded.problems
            assert str(settings.flat(loaded.settings)[key]) == text
            assert loaded.sources[key] == variable


def test_a_project_in_the_home_folder_reads_its_file_once(tmp_path: Path) -> None:
    """~/.coleo/config.toml is then both; its problems are told once."""
    layout = config(tmp_path, "[brain]\nmax_arms = 0\n", "home")
    assert len(settings.load(layout, {}, {"HOME": layout.root}).problems) == 1


def test_what_is_wrong_does_not_count_and_the_rest_does(tmp_path: Path) -> None:
    """A bad value falls back to the next place that has a right one."""
    layout = config(tmp_path, '[brain]\nmax_arms = "3"\nsettle_s = 1\n')
    loaded = load(layout, tmp_path, COLEO_MAX_ARMS="many")
    assert loaded.settings.brain.max_arms == 8
    assert loaded.settings.brain.settle_s == 1.0
    assert [(one.file, one.line, one.found) for one in loaded.problems] == [
        (layout.config, 2, 'string "3"'),
        ("environment variable COLEO_MAX_ARMS", None, 'string "many"'),
    ]


def test_all_errors_are_raised_at_once(tmp_path: Path) -> None:
    """Nobody starts a brain five times to learn of five mistakes; with --strict unknown keys are among them."""
    layout = config(tmp_path, "[brain]\nmax_arms = true\nsettle_s = -1\nfrob = 1\n")
    loaded = load(layout, tmp_path)
    with pytest.raises(BadInput) as caught:
        loaded.raise_if_bad()
    assert caught.value.exit_code == 2
    assert f"{layout.config}:2: brain.max_arms: found boolean true, wanted integer, 1 to 1000" in str(caught.value)
    assert f"{layout.config}:3: brain.settle_s: found integer -1, wanted number, 0 to 3600" in str(caught.value)
    assert "frob" not in str(caught.value)
    with pytest.raises(BadInput, match="3 problems"):
        loaded.raise_if_bad(strict=True)
    only = load(config(tmp_path, "frob = 1\n", "other"), tmp_path)
    only.raise_if_bad()
    with pytest.raises(BadInput, match="frob"):
        only.raise_if_bad(strict=True)


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (b"[brain\n", 1, "no TOML"),
        (b"a = 1\nb = \n", 2, "no TOML"),
        (b"a = 1\na = 2\n", None, "no TOML"),
        (b"x = [\n1,\n", 3, "no TOML"),
        (b"# ok\nname = 'caf\xe9'\n", 2, "byte 0xe9"),
        (b"x = " + b"[" * 5000, None, "no TOML"),
    ],
)
def test_what_is_no_toml_is_one_problem_with_its_line(
    tmp_path: Path, text: bytes, line: int | None, found: str
) -> None:
    """Broken files never raise, and never hide what the other places say."""
    layout = config(tmp_path, text)
    loaded = load(layout, tmp_path, COLEO_MAX_ARMS="2")
    (problem,) = loaded.problems
    assert problem.file == layout.config and problem.severity == ERROR
    assert found in problem.found
    if line is not None:
        assert problem.line == line
    assert loaded.settings.brain.max_arms == 2


def test_bom_and_crlf_are_taken_as_they_come(tmp_path: Path) -> None:
    """Files of Windows editors have both; lines count the same."""
    layout = config(tmp_path, b"\xef\xbb\xbf[brain]\r\nmax_arms = 3\r\nsettle_s = 'x'\r\n")
    loaded = load(layout, tmp_path)
    assert loaded.settings.brain.max_arms == 3
    assert [one.line for one in loaded.problems] == [3]


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    """A folder in the place of config.toml; root would be let into a file without permissions."""
    layout = lay(tmp_path)
    os.makedirs(layout.config)
    (problem,) = load(layout, tmp_path).problems
    assert problem.file == layout.config and problem.severity == ERROR


@pytest.mark.parametrize(
    ("text", "key", "suggest"),
    [
        ("max_arms = 3\n", "max_arms", "brain.max_arms"),
        ("brain_max_arms = 3\n", "brain_max_arms", "brain.max_arms"),
        ("[brain]\nMAX_ARMS = 3\n", "brain.MAX_ARMS", "max_arms"),
        ("[git]\ncomit = 'off'\n", "git.comit", "commit"),
        ("zzz = 3\n", "zzz", None),
        ("[stuck]\nprompts = 3\n", "stuck", None),
    ],
)
def test_an_unknown_key_is_a_warning_with_what_was_meant(
    tmp_path: Path, text: str, key: str, suggest: str | None
) -> None:
    """Also a key that is known under another table."""
    (problem,) = load(config(tmp_path, text), tmp_path).problems
    assert (problem.key, problem.severity, problem.suggest) == (key, WARNING, suggest)


@pytest.mark.parametrize(
    "text",
    [
        "brain = 3\n",
        "[brain]\nstuck = 3\n",
        "verify = 'x'\n",
        "[verify.sections]\nA = 3\n",
        "timezone = 'Europe/Nowhere'\n",
        "timezone = '../../etc/passwd'\n",
        "orchestrator = 'Not A Seat'\n",
        "orchestrator = 'human'\n",
        "[git]\ncommit = 'on'\n",
        "[brain]\nsettle_s = nan\n",
        "[brain]\nsettle_s = inf\n",
        "[brain]\nmax_arms = 2026-12-01\n",
        "[shell]\ntime_limit_s = 0\n",
    ],
)
def test_wrong_values_are_errors(tmp_path: Path, text: str) -> None:
    """Types, ranges, names and zones are checked before anything starts, not where they are used."""
    loaded = load(config(tmp_path, text), tmp_path)
    assert [one.severity for one in loaded.problems] == [ERROR]
    assert loaded.settings == settings.Settings()


def test_sections_take_any_heading(tmp_path: Path) -> None:
    """Headings are people's words; the project's and the user's are put together, and the command line adds one."""
    layout = config(tmp_path, '[verify.sections]\n"Release 1.0" = "make check"\n')
    loaded = load(layout, tmp_path, {"verify.sections.Docs v2.1": "make docs"})
    assert not loaded.problems
    assert loaded.settings.verify.sections == {"Release 1.0": "make check", "Docs v2.1": "make docs"}


def test_the_command_line_knows_no_unknown_keys(tmp_path: Path) -> None:
    """Nobody types one without meaning something."""
    loaded = load(None, tmp_path, {"brain.max_armz": "3", "brain.max_arms": "0", "brain_poll_interval_ms": 500})
    assert [(one.file, one.key, one.severity, one.suggest) for one in loaded.problems] == [
        ("command line", "brain.max_armz", ERROR, "brain.max_arms"),
        ("command line", "brain.max_arms", ERROR, None),
    ]
    assert loaded.settings.brain.poll_interval_ms == 500


def test_secrets_in_wrong_places_are_not_shown(tmp_path: Path) -> None:
    """A problem repeats what was found, and problems are logged."""
    key = "sk-ant-FAKE-AAAAAAAAAAAAAAAAAAAA"
    (problem,) = load(config(tmp_path, f'[brain]\nmax_arms = "{key}"\n'), tmp_path).problems
    assert key not in str(problem)


def test_names_of_the_first_seed_are_understood() -> None:
    """``brain_poll_interval_ms`` and the short form; what is none names the nearest."""
    assert settings.canonical("brain_poll_interval_ms") == "brain.poll_interval_ms"
    assert settings.canonical("poll_interval_ms") == "brain.poll_interval_ms"
    assert settings.canonical("stuck.prompts") == "brain.stuck.prompts"
    assert settings.canonical(" git.commit ") == "git.commit"
    with pytest.raises(KeyError) as caught:
        settings.canonical("git.comit")
    assert caught.value.args == ("git.commit",)


@given(st.text(max_size=12))
def test_only_plain_digits_are_an_integer(text: str) -> None:
    """``int()`` takes ``3_000``, full-width digits, a sign and blanks in between; a setting does not (case g12)."""
    try:
        value = checked.parse_text(settings.Brain, "poll_interval_ms", text)
    except ValueError as error:
        assert str(error) == "integer, 100 to 86400000"
    else:
        assert text.strip().isascii() and text.strip().isdigit() and value == int(text)


@given(st.binary(max_size=200))
def test_no_bytes_in_a_settings_file_make_it_raise(data: bytes) -> None:
    """Whatever an editor, a merge or a crash has left there."""
    text, table, problem = settings.parse(data, "config.toml")
    assert (problem is None) or (not table)
    assert isinstance(text, str)
