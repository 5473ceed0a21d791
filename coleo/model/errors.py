"""The errors that a person can mend, each with its exit code (DESIGN.md section 1 words; exit codes in README).

Three kinds of trouble are told apart: what a person can mend (these classes), what an agent or the
outside did (recorded, retried or quarantined, never raised to the top) and our own bugs (anything else:
exit 70 with a report).
"""

from __future__ import annotations


class ColeoError(Exception):
    """Something that a person can mend.

    file, line: where (line is 1-based); found, wanted: what was there and what would be right; todo: what to do.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        found: str | None = None,
        wanted: str | None = None,
        todo: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.found = found
        self.wanted = wanted
        self.todo = todo

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        parts = [where + self.message]
        if self.found is not None:
            parts.append(f"  found:  {self.found}")
        if self.wanted is not None:
            parts.append(f"  wanted: {self.wanted}")
        if self.todo is not None:
            parts.append(f"  to do:  {self.todo}")
        return "\n".join(parts)

    def as_dict(self) -> dict[str, object]:
        """For ``--json``: message, file, line, found, wanted, todo, exit_code; None where not known."""
        return {
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "found": self.found,
            "wanted": self.wanted,
            "todo": self.todo,
            "exit_code": self.exit_code,
        }


class CannotBeDone(ColeoError):
    """The input is fine, the state does not allow it (exit 1)."""


class BadInput(ColeoError):
    """A file, an option or an argument is wrong (exit 2)."""

    exit_code = 2


class Taken(ColeoError):
    """Somebody else holds it: a task, the brain's lock (exit 3)."""

    exit_code = 3


class Unsafe(ColeoError):
    """Permissions or an owner that coleo will not work with (exit 4)."""

    exit_code = 4


#: What the system refuses and a person can mend: by the name of the error, what to do about it.
_MENDABLE = {
    "ENOSPC": "make room on that disk, then do it again",
    "EDQUOT": "make room within the quota, then do it again",
    "EROFS": "make that file system writable, then do it again",
    "EACCES": "give yourself the permission, then do it again",
    "EPERM": "give yourself the permission, then do it again",
    "EIO": "look at the disk: it could not be read or written",
    "EMFILE": "raise the limit of open files (ulimit -n), then do it again",
    "ENFILE": "end other programs: the system has no open files left",
    "ENOMEM": "end other programs: the system has no memory left",
}


def refused_by_system(error: OSError) -> CannotBeDone | None:
    """A full disk, a read-only file system, a missing permission in words for a person; None for a bug of ours."""
    import errno

    todo = _MENDABLE.get(errno.errorcode.get(error.errno or 0, ""))
    if todo is None:
        return None
    file = error.filename if isinstance(error.filename, str) else None
    return CannotBeDone("the system does not let coleo do this", file=file, found=error.strerror, todo=todo)
