"""What is wrong in a file that people write: one record for settings, seats, crons and permissions alike."""

from __future__ import annotations

from coleo.model.errors import BadInput
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

ERROR, WARNING = "error", "warning"


class Problem(Record):
    """One thing that a person can mend.

    file: a path, or what else was read (``command line``, ``environment variable COLEO_MAX_ARMS``). line: 1-based,
    None where it is not known. key: dotted (``brain.max_arms``, ``args[2]``), "" for the whole file. severity:
    ``error`` or ``warning``. suggest: the name that was probably meant.
    """

    file: str
    line: int | None
    key: str
    found: str
    wanted: str
    severity: str = ERROR
    suggest: str | None = None

    @property
    def where(self) -> str:
        """``file:line``, or the file alone."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        wanted = f", wanted {self.wanted}" if self.wanted else ""
        meant = f" (did you mean {self.suggest}?)" if self.suggest else ""
        return f"{self.where}: {key}found {self.found}{wanted}{meant}"

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {name: getattr(self, name) for name in self.__match_args__}


def raise_if_any(problems: Iterable[Problem], what: str, *, strict: bool = False) -> None:
    """BadInput that names every error at once (`strict`: warnings too); nothing when there is none.

    what: what was read, such as ``the settings``.
    """
    counted = [problem for problem in problems if strict or problem.severity == ERROR]
    if not counted:
        return
    if len(counted) == 1:
        one = counted[0]
        meant = f" (did you mean {one.suggest}?)" if one.suggest else ""
        raise BadInput(
            f"{one.key or what}: not right{meant}",
            file=one.file,
            line=one.line,
            found=one.found,
            wanted=one.wanted or None,
        )
    lines = "".join(f"\n  {problem}" for problem in counted)
    raise BadInput(f"{len(counted)} problems in {what}:{lines}")
