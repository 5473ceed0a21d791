"""A commit becomes visible: the index of the person first, then HEAD, each only if nobody else has moved it.

The index is copied, changed in the copy, and put in its place as git itself would do it: the new content appears as
``index.lock``, which keeps every other git command out, and is renamed. In between stands one look at whether the
index is still the one that was copied. So the lock is held for microseconds and every entry of others stays.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Mapping

from coleo.files import gitlook, gitrun
from coleo.files.gitrun import Entry, Git, GitError, NoGit, Repository, TimedOut

LEAST_S = 1.0
"""Nothing is begun with less time than this before the deadline."""
ASK_S = 2.0


class Moved(Exception):
    """Somebody was faster: look again. args: what git said, where that is more than this."""


class Index:
    """The index of a repository, and private ones beside it. As a context: those are gone afterwards.

    tree: path of one to build a tree with.
    """

    def __init__(self, git: Git, repository: Repository, root: str) -> None:
        self._git, self._repository = git, repository
        self._path = os.path.realpath(os.path.join(repository.git_dir, "index"))
        # Beside it, for the rename; with the project in the name, for there may be two in one repository.
        mark = hashlib.sha256(os.fsencode(root)).hexdigest()[:8]
        self.tree, self._new, self._old = (
            os.path.join(os.path.dirname(self._path), f"coleo-{mark}.{kind}") for kind in ("tree", "index", "back")
        )

    def __enter__(self) -> Index:
        lock = f"{self._path}.lock"
        with contextlib.suppress(FileNotFoundError):
            if os.path.samefile(lock, self._new):  # a kill left it: nobody else has this file
                os.unlink(lock)
        self.sweep()
        return self

    def __exit__(self, *_error: object) -> None:
        self.sweep()

    def sweep(self) -> None:
        """Remove the private ones."""
        for path in (self.tree, self._new, self._old):
            for one in (path, f"{path}.lock"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(one)

    def publish(
        self,
        new: str,
        head: str,
        before: Mapping[str, Entry | None],
        after: Mapping[str, Entry],
        reason: str,
        who: Mapping[str, str],
        now: float,
    ) -> None:
        """Make the commit `new` what HEAD is, and the entries `after` what the index has.

        head: what HEAD is ("": a branch without commits). before: what HEAD has at the same paths, and what the index
        must have. reason: for the reflog. Raises Moved when somebody changed either of them: then both are as they
        were. Raises also as `Git`.
        """
        seen = self._copy()
        there = gitrun.index_entries(self._git, self._new, self._repository.prefix)
        if any(path in there if entry is None else there.get(path) != entry for path, entry in before.items()):
            raise Moved
        self._enter(after)
        if seen is not None:
            os.chmod(self._new, seen.st_mode & 0o777)
        if self._git.left_s() < LEAST_S:
            raise TimedOut
        if gitlook.under_way(self._repository.git_dir, now):
            raise Moved
        ours = self._swap(self._new, seen)
        if ours is None:
            raise Moved
        try:
            self._git("update-ref", "-m", reason, "HEAD", new, head or "0" * len(new), environ=who)
        except BaseException as error:
            if self._is_in_head(after, head) is False:
                self._swap(self._old if seen is not None else "", ours)
            if isinstance(error, GitError):
                raise Moved("" if "but expected" in str(error) else str(error)) from None
            raise

    def _copy(self) -> os.stat_result | None:
        """Copies of the index, to change and to put back; what it was then, None when there is none."""
        self.sweep()
        try:
            with open(self._path, "rb") as file:
                seen = os.fstat(file.fileno())
                with open(self._new, "xb") as copy:
                    shutil.copyfileobj(file, copy)
        except FileNotFoundError:
            return None
        shutil.copyfile(self._new, self._old)
        os.chmod(self._old, seen.st_mode & 0o777)
        return seen

    def _enter(self, after: Mapping[str, Entry]) -> None:
        copy = {"GIT_INDEX_FILE": self._new}
        self._git("update-index", "--add", "-z", "--index-info", stdin=gitrun.index_lines(after), environ=copy)
        # Sizes and times of the files, so that nobody has to compare contents; where git is too old, somebody has to.
        names = b"".join(os.fsencode(path) + b"\0" for path in after)
        with contextlib.suppress(GitError):
            self._git(
                "add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=names, environ=copy
            )  # fmt: skip

    def _swap(self, new: str, seen: os.stat_result | None) -> os.stat_result | None:
        """Put `new` ("": nothing) in the place of the index, if that still is what was seen (None: nothing).

        Returns what lies there then (any status when it is nothing); None when somebody was faster.
        """
        lock = f"{self._path}.lock"
        try:
            _lay(new, lock)
        except FileExistsError:
            return None
        try:
            ours = os.stat(lock)
            if _signature(self._path) != (None if seen is None else _of(seen)):
                os.unlink(lock)
                return None
            if new:
                os.rename(lock, self._path)
            else:
                os.unlink(self._path)
                os.unlink(lock)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(lock)
            raise
        return ours

    def _is_in_head(self, after: Mapping[str, Entry], head: str) -> bool | None:
        """Whether HEAD has these entries: it did move, or somebody committed them out of the index. None: unknown."""
        try:
            there = gitrun.tree_entries(self._git.again(ASK_S), "HEAD", "-r", "--", self._repository.prefix or ".")
        except GitError:
            return None if head else False
        except (TimedOut, NoGit, OSError):
            return None
        return all(there.get(path, (None, ""))[0] == entry for path, entry in after.items())


def _lay(new: str, lock: str) -> None:
    """The lock, with the content of `new` from its first moment where the file system has hard links."""
    if new:
        try:
            os.link(new, lock)
        except FileExistsError:
            raise
        except OSError:
            with open(lock, "xb") as file, open(new, "rb") as content:
                try:
                    shutil.copyfileobj(content, file)
                except BaseException:
                    os.unlink(lock)
                    raise
    else:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _of(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def _signature(path: str) -> tuple[int, int, int, int] | None:
    try:
        return _of(os.stat(path))
    except FileNotFoundError:
        return None
