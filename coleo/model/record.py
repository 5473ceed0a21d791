"""Frozen records at the cost of a plain class.

``dataclasses`` and ``typing`` cost 10 to 18 ms of import time, more than everything else that an
agent's verb does. A subclass of `Record` declares annotated fields as a dataclass does; type checkers
treat it as a frozen dataclass.

    class Point(Record):
        x: int
        y: int = 0
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_options: Any) -> Callable[[T], T]:
        return lambda cls: cls


@dataclass_transform(frozen_default=True)
class Record:
    """Base of all immutable values: equality, hash, repr, ``match`` patterns, `replace`."""

    __match_args__: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        names = list(cls.__match_args__)
        defaults = dict(cls._defaults)
        for name in cls.__dict__.get("__annotations__", {}):  # noqa: RUF063 - inspect is the import to avoid
            if name.startswith("_"):
                continue
            if name not in names:
                names.append(name)
            if name in cls.__dict__:
                defaults[name] = cls.__dict__[name]
        type.__setattr__(cls, "__match_args__", tuple(names))
        cls._defaults = defaults

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fields = self.__match_args__
        if len(args) > len(fields):
            raise TypeError(f"{type(self).__name__} takes {len(fields)} values, got {len(args)}")
        values = self.__dict__
        values.update(zip(fields, args, strict=False))
        for name, value in kwargs.items():
            if name in values or name not in fields:
                raise TypeError(f"{type(self).__name__} has no free field {name!r}")
            values[name] = value
        for name in fields[len(args) :]:
            if name not in values:
                if name not in self._defaults:
                    raise TypeError(f"{type(self).__name__} needs a value for {name!r}")
                values[name] = self._defaults[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *[self.__dict__[name] for name in self.__match_args__]))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({inside})"

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed. Raises TypeError for an unknown field."""
        unknown = set(changes) - set(self.__match_args__)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {sorted(unknown)[0]!r}")
        return type(self)(**{**self.__dict__, **changes})

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, in declared order; values as they are (shallow)."""
        return {name: getattr(self, name) for name in self.__match_args__}
