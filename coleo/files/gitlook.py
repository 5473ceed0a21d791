"""A glance at the repository around a project, cheap enough for `coleo status`: nothing is read but what is asked.

What could be committed is counted by one ``git status`` below ``.project/`` that runs while the rest of the status is
made. It takes no lock and refreshes no index. Measured with 300 changed
files: git takes 3 to 12 ms beside the rest. (Commits are made by `gitwork.py`.)
"""

from __future__ import annotations

import os
import time

from coleo.files import atomic
from coleo.files.layout import MARK, Layout, user_config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

WAIT_S = 0.075
"""`count` waits no longer: a repository so large that git needs more for its index has no line in the status."""
_SIGKILL, _SIGPIPE = 9, 13  # the same on every Unix; `signal` costs a millisecond to import
WRITING_S = 900.0
"""A commit message that is being written is waited for so long; after that it was given up."""

MODES = ("off", "suggest", "auto")

#: What would lead git to another repository, index or configuration than a person has in a shell (``git rev-parse
#: --local-env-vars``): coleo may have been started by a hook.
_LOCAL = frozenset(
    (
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_SHALLOW_FILE"),
        *("GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_IMPLICIT_WORK_TREE"),
        *("GIT_GRAFT_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_INTERNAL_SUPER_PREFIX"),
        *("GIT_REFLOG_ACTION", "GIT_EXTERNAL_DIFF"),
    )
)

#: Under way, by what lies in the git folder meanwhile.
_UNDER_WAY = (
    ("MERGE_HEAD", "a merge is in progress"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is in progress"),
    ("REVERT_HEAD", "a revert is in progress"),
    ("rebase-merge", "a rebase is in progress"),
    ("rebase-apply", "a rebase or `git am` is in progress"),
    ("sequencer", "a row of cherry-picks or reverts is in progress"),
    ("BISECT_LOG", "a bisect is in progress"),
    ("BISECT_START", "a bisect is in progress"),
    ("index.lock", "another git command runs (or left its index.lock)"),
    ("HEAD.lock", "another git command runs (or left its HEAD.lock)"),
)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for git: the repository is found from the folder, texts are English, nobody is asked."""
    kept = {name: value for name, value in environ.items() if name not in _LOCAL}
    plain = {"LC_ALL": "C", "LANGUAGE": "", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    return {**kept, **plain, "GIT_LITERAL_PATHSPECS": "1"}


def git_folder(folder: str) -> str | None:
    """The git folder of the work tree that `folder` lies in (of a worktree or submodule its own); None for none."""
    here = os.path.realpath(folder)
    while True:
        mark = os.path.join(here, ".git")
        if os.path.isdir(mark):
            return mark
        if os.path.isfile(mark):
            data = (atomic.read(mark, limit=65536) or b"").strip()
            target = os.fsdecode(data.removeprefix(b"gitdir:").strip())
            return os.path.normpath(os.path.join(here, target)) if data.startswith(b"gitdir:") else None
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above


def under_way(git_dir: str, now: float) -> str:
    """What somebody is in the middle of, so that nothing should be committed now; "" for nothing.

    A commit whose message is being written holds no lock, and fails when HEAD moves under it. Its message file is
    then newer than the last move of HEAD.
    """
    for name, why in _UNDER_WAY:
        if os.path.lexists(os.path.join(git_dir, name)):
            return why
    written_at, moved_at = _mtime(git_dir, "COMMIT_EDITMSG"), _mtime(git_dir, "logs", "HEAD")
    if written_at > moved_at and now - written_at < WRITING_S:
        return "the message of a commit is being written"
    return ""


def _mtime(*parts: str) -> float:
    try:
        return os.stat(os.path.join(*parts)).st_mtime_ns / 1e9
    except OSError:
        return 0.0


def mode(layout: Layout, environ: Mapping[str, str] = os.environ) -> str:
    """``git.commit`` as `settings.load` gives it, without pydantic and most of the time without a TOML parser."""
    said = environ.get("COLEO_GIT_COMMIT", "").strip()
    for value in (said, _said(layout.config), _said(user_config(environ))):
        if value in MODES:
            return value
    return "suggest"


def _said(path: str) -> str:
    try:
        data = atomic.read(path) or b""
    except OSError:
        return ""
    if not any(b"commit" in row and not row.lstrip().startswith(b"#") for row in data.splitlines()):
        return ""
    import tomllib

    try:
        table = tomllib.loads(data.decode("utf-8-sig")).get("git")
    except (ValueError, RecursionError):
        return ""
    value = table.get("commit") if isinstance(table, dict) else None
    return value if isinstance(value, str) else ""


class Uncommitted:
    """Counts files below ``.project/`` that could be committed, when ``commit = "suggest"``.

    Starts git when it is made; `count` waits for the rest. There is nothing to count outside of a repository, without
    git, with another setting, or while a merge or the like is in progress. As a context: git has ended afterwards.
    """

    def __init__(
        self,
        layout: Layout,
        now: float,
        environ: Mapping[str, str] = os.environ,
        wait_s: float | None = None,
    ) -> None:
        self._wait_s = WAIT_S if wait_s is None else wait_s
        self._pid, self._pipe = 0, -1
        git_dir = git_folder(layout.project)
        if git_dir is None or mode(layout, environ) != "suggest" or under_way(git_dir, now):
            return
        try:
            self._start(layout.project, environment(environ))
        except OSError:
            self._close()

    def _start(self, folder: str, environ: Mapping[str, str]) -> None:
        words = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", folder]
        words += ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"]
        words += ["--", "."]
        self._pipe, writing = os.pipe()
        try:
            files = (
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, writing, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            )
            self._pid = os.posix_spawnp("git", words, environ, file_actions=files, setsigdef=(_SIGPIPE,))
        finally:
            os.close(writing)

    def __enter__(self) -> Uncommitted:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._pid:
            self._ended(kill=True)

    def count(self) -> int | None:
        """How many; None when there is nothing to count, or git does not answer in time."""
        if not self._pid:
            return None
        data = self._output()
        well = self._ended(kill=data is None)
        return data.count(b"\0") if well and data is not None else None

    def _ended(self, *, kill: bool) -> bool:
        """Let git end, or end it. Whether it ended well."""
        try:
            if kill:
                os.kill(self._pid, _SIGKILL)
            _pid, status = os.waitpid(self._pid, 0)
        except (ChildProcessError, ProcessLookupError):
            status = 1
        self._pid = 0
        self._close()
        return status == 0

    def _output(self) -> bytes | None:
        import select

        end = time.monotonic() + self._wait_s
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        parts: list[bytes] = []
        while True:
            left_ms = (end - time.monotonic()) * 1000
            if left_ms <= 0 or not poll.poll(left_ms):
                return None
            part = os.read(self._pipe, 65536)
            if not part:
                return b"".join(parts)
            parts.append(part)

    def _close(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1


def hint(layout: Layout, count: int) -> str:
    """One line for a person: how many files, and the command for the folder in which they are."""
    try:
        where = os.path.relpath(layout.project)
    except OSError:
        where = MARK
    if not all(char.isalnum() or char in "._-/+@" for char in where):
        import shlex

        where = shlex.quote(where)
    files = "1 file" if count == 1 else f"{count} files"
    return f"{files} below .project/ could be committed: git add {where} && git commit"
