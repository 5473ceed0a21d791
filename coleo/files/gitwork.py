"""``[git] commit = "auto"``: what coleo wrote below ``.project/`` is committed, and nothing that anybody has staged.

Which files: those that coleo writes (`gitfiles.py`), where nobody else has a hand in them. A task's file, the archive,
``crons.json`` and ``record.json`` go as they are; the inbox when it is empty again; a plan only when each difference
from the last commit is coleo's own tick or addition (`ownwrites.py`). What is staged, was never committed (a plan), is
open in an editor with changes, or holds changes of people is left to a person; so is whatever vanished.

How, in an order that a kill can cut anywhere:

    look     git status below .project/: what differs, what is staged, the branch
    blobs    of the files, made by git as `git add` makes them (line ends, filters)
    trees    of .project/ by a private index, of the folders above one by one: nothing else of the repository is read
    commit   an object; author and committer are the repository's user. No hook runs, nothing is signed
    index    these files are the new ones in it (`gitpublish.py`)
    HEAD     moves, if it still is where it was; else the index is put back, and all begins anew

A kill between the last two leaves these files staged, with the content that they have. The other order would leave
them staged with the content before: somebody's next commit would take ours back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from coleo.files import gitlook, gitmessage, gitrun, ownwrites
from coleo.files.editorlock import unsaved
from coleo.files.gitfiles import Own
from coleo.files.gitmessage import Change
from coleo.files.gitpublish import Index, Moved
from coleo.files.gitrun import Entry, Git, GitError, NoGit, Repository, TimedOut
from coleo.files.layout import Layout
from coleo.model.plan import TaskSet
from coleo.model.record import Record

DEADLINE_S = 10.0
ROUNDS = 3

STAGED = "somebody has staged it"
THEIRS = "it holds changes of people"
NEW_PLAN = "it was never committed"
UNSAVED = "an editor has unsaved changes of it"
DETACHED = "HEAD is detached: a commit there would be on no branch"

_NEW_FILE = "100644"


class Outcome(Record):
    """What came of it. commit: its id, "" when none was made; files: committed, as paths below ``.project/``.

    left: (file, why) of files that differ and are a person's to commit. waits: why it has to be tried again later.
    problem: what a person has to mend first.
    """

    commit: str = ""
    subject: str = ""
    files: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    waits: str = ""
    problem: str = ""


class _Piece(Record):
    """One file of a commit: its path from the root, what HEAD has there (None: nothing), what it becomes."""

    path: str
    before: Entry | None
    after: Entry
    change: Change


def commit(
    layout: Layout,
    tasks: TaskSet,
    now: float,
    *,
    deadline_s: float = DEADLINE_S,
    environ: Mapping[str, str] = os.environ,
) -> Outcome:
    """Commit what coleo wrote. tasks: of the last read of the plan. Blocks for `deadline_s` and a moment, at most.

    Raises nothing for what git or the files say. Outside of a repository nothing is done, and nothing said.
    """
    git = Git(layout.project, environ, deadline_s)
    try:
        found = gitrun.repository(git)
        if found is None:
            return Outcome()
        git.folder = found.top
        with Index(git, found, layout.root) as index:
            attempt = _Attempt(layout, tasks, now, git, found, index)
            for _round in range(ROUNDS):
                try:
                    return attempt.once()
                except Moved as moved:
                    why = str(moved)
        return Outcome(waits=why or "others move HEAD or the index all the time")
    except NoGit:
        return Outcome(problem="there is no git in PATH")
    except TimedOut:
        return Outcome(waits=f"git took more than {deadline_s:g} s")
    except GitError as error:
        return Outcome(problem=str(error))
    except OSError as error:
        return Outcome(problem=f"{error.filename or layout.project}: {error.strerror or error}")


class _Attempt:
    """One commit in the making."""

    def __init__(
        self, layout: Layout, tasks: TaskSet, now: float, git: Git, repository: Repository, index: Index
    ) -> None:
        self.layout, self.tasks, self.now = layout, tasks, now
        self.git, self.repository, self.index = git, repository, index
        self.own = Own(layout, tasks)
        self.left: list[tuple[str, str]] = []
        self.head = ""
        self.detached = False

    def once(self) -> Outcome:
        """Look, and commit what there is. Raises Moved when somebody was faster, and as `Git`."""
        self.left = []
        why = gitlook.under_way(self.repository.git_dir, self.now)
        if why:
            return Outcome(waits=why)
        pieces = self._pieces(self._look())
        if not pieces:
            return Outcome(left=tuple(self.left))
        if self.detached:
            return Outcome(waits=DETACHED)
        try:
            who = gitrun.identity(self.git)
        except GitError:
            return Outcome(problem="git knows no user.name and user.email here", left=tuple(self.left))
        subject, text = gitmessage.message([one.change for one in pieces], self.tasks)
        after = {one.path: one.after for one in pieces}
        parent = ["-p", self.head] if self.head else []
        message = text.encode("utf-8", "replace")
        new = self.git.line("commit-tree", self._tree(after), *parent, "-F", "-", stdin=message, environ=who)
        reason = f"commit (coleo): {subject.removeprefix('coleo: ')}"
        self.index.publish(new, self.head, {one.path: one.before for one in pieces}, after, reason, who, self.now)
        return Outcome(new, subject, tuple(one.change.path for one in pieces), tuple(self.left))

    def _look(self) -> dict[str, Entry | None]:
        """What differs and may be committed: path from the root to what HEAD has there."""
        rows = self.git(
            *("-c", "core.fsmonitor=false", "status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind"),
            *("--no-renames", "--untracked-files=all", "--ignore-submodules=all", "--"),
            self.repository.prefix or ".",
        )
        found: dict[str, Entry | None] = {}
        for row in (os.fsdecode(one) for one in rows.split(b"\0") if one):
            match row.split(" ", 8):
                case ["#", "branch.oid", oid]:
                    self.head = "" if oid == "(initial)" else oid
                case ["#", "branch.head", name]:
                    self.detached = name == "(detached)"
                case ["1", state, _sub, head_mode, _index_mode, mode, head_id, _index_id, path]:
                    # Not what was taken away, became a symlink, has another mode, or is only announced (`add -N`).
                    if state[1] not in "DT" and (state[0] != "." or mode == head_mode):
                        self._consider(path, Entry(head_mode, head_id), found, staged=state[0] != ".")
                case ["?", *_]:
                    self._consider(row[2:], None, found, staged=False)
        return found

    def _consider(self, path: str, head: Entry | None, found: dict[str, Entry | None], *, staged: bool) -> None:
        name = path.removeprefix(self.repository.prefix)
        if name not in self.own or "\n" in path:
            return
        if name == self.own.inbox and (staged or head is None or os.path.getsize(self._whole(path))):
            return  # words that wait in it are not coleo's to commit; that it is empty again is
        if staged:
            self.left.append((name, STAGED))
        elif unsaved(self._whole(path)):
            self.left.append((name, UNSAVED))
        elif name in self.own.plans and head is None:
            self.left.append((name, NEW_PLAN))
        else:
            found[path] = head

    def _whole(self, path: str) -> str:
        return os.path.join(self.repository.top, path)

    def _pieces(self, wanted: Mapping[str, Entry | None]) -> list[_Piece]:
        """The files of the commit with their blobs; without what comes out as it was, and plans that people changed."""
        paths = sorted(wanted)
        ids = self._blobs(paths)
        blobs = gitrun.contents(self.git, [one.id for one in wanted.values() if one is not None] + ids)
        pieces = []
        for path, oid in zip(paths, ids, strict=True):
            before = wanted[path]
            name = path.removeprefix(self.repository.prefix)
            if before is not None and before.id == oid:
                continue
            if name == self.own.inbox and blobs[oid]:
                continue
            if name in self.own.plans and before is not None and not self._is_ours(path, before.id, oid):
                self.left.append((name, THEIRS))
                continue
            change = Change(name, blobs.get(before.id) if before else None, blobs[oid])
            pieces.append(_Piece(path, before, Entry(before.mode if before else _NEW_FILE, oid), change))
        return pieces

    def _blobs(self, paths: Sequence[str]) -> list[str]:
        if not paths:
            return []
        names = b"".join(os.fsencode(path) + b"\n" for path in paths)
        try:
            return self.git("hash-object", "-w", "--stdin-paths", stdin=names).decode().split()
        except GitError:
            if not all(os.path.isfile(self._whole(path)) for path in paths):
                raise Moved from None
            raise

    def _is_ours(self, path: str, old: str, new: str) -> bool:
        """Whether only coleo led from one content to the other, both as they are in the work tree."""
        before, after = (self.git("cat-file", "--filters", f"--path={path}", oid) for oid in (old, new))
        return ownwrites.only_ours(self.layout, before, after)

    def _tree(self, after: Mapping[str, Entry]) -> str:
        """The whole tree of the commit; beside the way from the root to ``.project/`` only names and ids are read."""
        prefix = self.repository.prefix
        parts = prefix.split("/")[:-1]
        levels: list[dict[str, tuple[Entry, str]]] = []
        tree = self.git.line("rev-parse", "--verify", f"{self.head}^{{tree}}") if self.head else ""
        for part in parts:
            levels.append(gitrun.tree_entries(self.git, tree) if tree else {})
            entry, kind = levels[-1].get(part, (Entry("", ""), ""))
            tree = entry.id if kind == "tree" else ""
        private = {"GIT_INDEX_FILE": self.index.tree}
        if os.path.lexists(self.index.tree):
            os.unlink(self.index.tree)
        below = [f"--prefix={prefix}"] if parts else []
        if tree:
            self.git("read-tree", *below, tree, environ=private)
        self.git("update-index", "--add", "-z", "--index-info", stdin=gitrun.index_lines(after), environ=private)
        tree = self.git.line("write-tree", "--missing-ok", *below, environ=private)
        for part, level in zip(reversed(parts), reversed(levels), strict=True):
            tree = gitrun.make_tree(self.git, {**level, part: (Entry("040000", tree), "tree")})
        return tree
