"""Names that become parts of paths are checked before a path is built."""

from __future__ import annotations

import pytest

from coleo.model.errors import BadInput
from coleo.model.names import check_message, check_seat, check_sender, check_task

BAD = ["", ".", "..", "a/b", "../x", "a\0", "a b", "-a", ".hidden", "a\n", "ä"]


@pytest.mark.parametrize("name", [*BAD, "Ada", "human", "brain", "coleo", "all", "a" * 33])
def test_what_is_no_seat(name: str) -> None:
    with pytest.raises(BadInput):
        check_seat(name)


@pytest.mark.parametrize("name", ["ada", "a", "seat-2", "x_y", "7of9", "a" * 32])
def test_what_is_a_seat(name: str) -> None:
    assert check_seat(name) == name


@pytest.mark.parametrize("name", BAD)
def test_what_is_neither_task_nor_message(name: str) -> None:
    with pytest.raises(BadInput):
        check_task(name)
    with pytest.raises(BadInput):
        check_message(name)


def test_people_and_the_brain_send_but_do_not_sit() -> None:
    assert check_sender("human") == "human"
    assert check_sender("brain") == "brain"
    with pytest.raises(BadInput):
        check_sender("../x")


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = BadInput("wrong", file="a.toml", line=3, found="x", wanted="y", todo="z")
    assert str(error) == "a.toml:3: wrong\n  found:  x\n  wanted: y\n  to do:  z"
    assert error.as_dict()["exit_code"] == 2
