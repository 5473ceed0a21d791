"""Records: frozen, equal by value, checked when they are made."""

from __future__ import annotations

from typing import Any

import pytest

from coleo.model.record import Record


class Point(Record):
    """Two numbers."""

    x: int
    y: int = 0


class Named(Point):
    """Fields of a base come first."""

    name: str = ""


def test_values_by_place_and_by_name() -> None:
    assert Point(1) == Point(x=1, y=0)
    assert Named(1, 2, "a").as_dict() == {"x": 1, "y": 2, "name": "a"}
    assert repr(Named(1)) == "Named(x=1, y=0, name='')"
    assert {Point(1): "a"}[Point(1, 0)] == "a"
    assert Point(1) != Named(1)


def test_a_record_cannot_be_changed_only_replaced() -> None:
    point = Point(1)
    with pytest.raises(AttributeError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    assert point.replace(y=5) == Point(1, 5)
    assert point == Point(1)


@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 2}), ((1,), {"z": 2})], ids=str)
def test_what_does_not_fit_is_refused(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Point(*args, **kwargs)
    with pytest.raises(TypeError):
        Point(1).replace(z=1)


def test_equal_records_have_equal_hashes_however_they_were_made() -> None:
    assert hash(Point(y=2, x=1)) == hash(Point(1, 2)) == hash(Point(1).replace(y=2))


def test_match_by_place() -> None:
    match Named(1, 2, "a"):
        case Named(x, y, name):
            assert (x, y, name) == (1, 2, "a")
        case _:
            raise AssertionError("it did not match")
