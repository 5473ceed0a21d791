"""Secret files are read as shells read them, and an arm gets what it may have and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coleo.files import envfile
from tests.files.project import lay


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=plain", "plain"),
        ("  A = spaced out  ", "spaced out"),
        ("export A=1", "1"),
        ("A=", ""),
        ("A=''", ""),
        ("A='single $x \\n'", "single $x \\n"),
        ('A="double \\"q\\" \\n\\t\\\\ \\$x"', 'double "q" \n\t\\ $x'),
        ("A=x # a comment", "x"),
        ("A=x#y", "x#y"),
        ('A="x # y" # z', "x # y"),
        ("A=a=b=c", "a=b=c"),
        ("A='first\nsecond'", "first\nsecond"),
        ('A="-----BEGIN\nkey\n-----END"', "-----BEGIN\nkey\n-----END"),
        ("A=ünïcode", "ünïcode"),
        ("A=1\nA=2", "2"),
        ("\ufeffA=bom", "bom"),
        ("# A=0\n\n   # x\nA=after comments", "after comments"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_means_what_it_says(line: str, value: str, end: str) -> None:
    """Quotes, comments, export, several lines, BOM and CRLF."""
    found = envfile.parse((line.replace("\n", end) + end + "B=after" + end).encode())
    assert found.values == {"A": value, "B": "after"}
    assert found.problems == ()


@pytest.mark.parametrize(
    "line", ["no equals", "=x", "1A=x", "A B=x", "A='never closed", 'A="never closed', "A=x\0y", "é=x"]
)
def test_a_bad_line_is_reported_by_its_number_and_costs_nothing_else(line: str) -> None:
    """And never by its text: it may be half a secret."""
    found = envfile.parse(f"FIRST=1\n{line}\nLAST=2\n".encode())
    assert found.values == {"FIRST": "1", "LAST": "2"}
    ((number, what),) = found.problems
    assert number == 2
    assert line not in what


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_taken(data: bytes) -> None:
    """Names are names, and no value holds what no environment can."""
    found = envfile.parse(data)
    for name, value in found.values.items():
        assert name.isidentifier()
        assert name.isascii()
        assert "\0" not in value


def test_no_file_is_an_empty_one(tmp_path: Path) -> None:
    """Most seats have no secrets."""
    assert envfile.read(str(tmp_path / ".env")) == envfile.EnvFile()


def test_the_seat_wins_over_the_project_and_both_over_what_is_passed(tmp_path: Path) -> None:
    """Nearest first; what coleo adds for the harness is weaker than what a person wrote."""
    layout = lay(tmp_path, "ada")
    found = envfile.arm_environment(
        {"HOME": "/h", "A": "parent", "B": "parent", "OTHER": "x"},
        layout,
        "ada",
        pass_env=["A", "B", "ABSENT"],
        secrets={"B": "project", "C": "project"},
        seat_env={"C": "seat", "TZ": "Europe/Berlin"},
        extra={"TZ": "UTC", "HARNESS": "1"},
    )
    assert found == {
        "HOME": "/h",
        "A": "parent",
        "B": "project",
        "C": "seat",
        "TZ": "Europe/Berlin",
        "HARNESS": "1",
        "TERM": "xterm-256color",
        "COLEO_PROJECT": layout.root,
        "COLEO_SEAT": "ada",
        "COLEO_SEAT_DIR": layout.seat("ada").dir,
    }


def test_no_file_makes_an_arm_speak_for_another_seat(tmp_path: Path) -> None:
    """COLEO_* comes from coleo alone, even when a person lets it in by name."""
    layout = lay(tmp_path, "ada")
    other = {"COLEO_SEAT": "bob", "COLEO_PROJECT": "/elsewhere", "COLEO_SIGNING_KEY": "k"}
    found = envfile.arm_environment(
        other, layout, "ada", list(other), other, other, {"COLEO_ORCHESTRATOR": "boss", "COLEO_SEAT": "bob"}
    )
    assert found["COLEO_SEAT"] == "ada"
    assert found["COLEO_PROJECT"] == layout.root
    assert found["COLEO_ORCHESTRATOR"] == "boss"
    assert "COLEO_SIGNING_KEY" not in found
