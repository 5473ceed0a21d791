"""Running git: one repository, one deadline for all commands together, no prompt, no hook, no child left behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping

from coleo.files import gitlook
from coleo.model.record import Record

TERM_WAIT_S = 1.0
"""How long a command that is ended may take to remove its lock files."""

#: No hook runs (a commit of coleo must not start a test suite), nothing dies of a line end, messages are UTF-8.
_OPTIONS = ("-c", "core.hooksPath=/dev/null", "-c", "core.safecrlf=false", "-c", "i18n.commitEncoding=UTF-8")

NOTHING: Mapping[str, str] = {}

_IDENT = re.compile(r"(?P<name>.*) <(?P<mail>[^<>]*)> \d+ [+-]\d+\s*")


class GitError(Exception):
    """git said no. args: its words, in one line."""


class NoGit(Exception):
    """There is no git to run."""


class TimedOut(Exception):
    """The deadline has passed."""


class Entry(Record):
    """A file as a tree or an index has it: mode in octal, object id."""

    mode: str
    id: str


class Repository(Record):
    """top: the root of its work tree; git_dir: of this work tree; prefix: of ``.project/`` below top, with its slash
    ("" when it is the root itself)."""

    top: str
    git_dir: str
    prefix: str


class Git:
    """Runs commands in `folder` until `deadline_s` after it was made."""

    def __init__(self, folder: str, environ: Mapping[str, str], deadline_s: float) -> None:
        self.folder = folder
        self._environ = gitlook.environment(environ)
        self._end = time.monotonic() + deadline_s

    def again(self, deadline_s: float) -> Git:
        """The same with a deadline of its own."""
        return Git(self.folder, self._environ, deadline_s)

    def left_s(self) -> float:
        """Seconds until the deadline."""
        return self._end - time.monotonic()

    def __call__(self, *words: str, stdin: bytes = b"", environ: Mapping[str, str] = NOTHING) -> bytes:
        """The output of one command. environ: more variables. Raises GitError, NoGit, TimedOut."""
        command = ["git", "--no-optional-locks", *_OPTIONS, *words]
        try:
            child = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**self._environ, **environ},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError:
            if not os.path.isdir(self.folder):
                raise GitError(f"{self.folder} is gone") from None
            raise NoGit from None
        except PermissionError as error:
            raise GitError(str(error)) from None
        try:
            out, err = child.communicate(stdin, timeout=max(self.left_s(), 0.001))
        except subprocess.TimeoutExpired:
            _end(child)
            raise TimedOut from None
        except BaseException:
            _end(child)
            raise
        if child.returncode:
            said = " ".join(os.fsdecode(err).split()) or f"exit code {child.returncode}"
            raise GitError(f"git {words[0] if words[0] != '-c' else words[2]}: {said[:400]}")
        return out

    def line(self, *words: str, stdin: bytes = b"", environ: Mapping[str, str] = NOTHING) -> str:
        """As a call, for output of one line."""
        return os.fsdecode(self(*words, stdin=stdin, environ=environ)).rstrip("\n")


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a command and what it started; first so that git takes away its lock files."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=TERM_WAIT_S)
            return
    child.kill()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    child.wait()


def repository(git: Git) -> Repository | None:
    """The one whose work tree `git.folder` lies in; None for none. Raises GitError when git refuses it."""
    try:
        said = git("rev-parse", "--absolute-git-dir", "--show-toplevel", "--show-prefix")
    except GitError as error:
        if "not a git repository" in str(error) or "must be run in a work tree" in str(error):
            return None
        raise
    git_dir, top, prefix = os.fsdecode(said).split("\n")[:3]
    return Repository(top, git_dir, prefix)


def identity(git: Git) -> dict[str, str]:
    """Variables that make author and committer the user of the repository. Raises GitError when none is configured."""
    said = git.line("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
    found = _IDENT.fullmatch(said)
    if found is None:
        raise GitError(f"git var: no identity: {said}")
    names = {"NAME": found["name"], "EMAIL": found["mail"]}
    return {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in names.items()}


def index_entries(git: Git, index: str, folder: str) -> dict[str, Entry | None]:
    """What an index file holds below a folder, by path from the root. None: in conflict, or marked by a person to be
    left alone (assume-unchanged, skip-worktree), or only announced (`git add -N`)."""
    found: dict[str, Entry | None] = {}
    for row in _rows(git("ls-files", "-v", "-s", "-z", "--", folder or ".", environ={"GIT_INDEX_FILE": index})):
        head, _, path = row.partition("\t")
        tag, mode, oid, stage = head.split(" ")
        found[path] = Entry(mode, oid) if tag == "H" and stage == "0" else None
    return found


def tree_entries(git: Git, tree: str, *folders: str) -> dict[str, tuple[Entry, str]]:
    """(entry, type) by name of one tree."""
    found = {}
    for row in _rows(git("ls-tree", "-z", tree, *folders)):
        head, _, name = row.partition("\t")
        mode, kind, oid = head.split(" ")
        found[name] = (Entry(mode, oid), kind)
    return found


def make_tree(git: Git, entries: Mapping[str, tuple[Entry, str]]) -> str:
    """The id of a tree with these entries; what `tree_entries` gives."""
    rows = (f"{entry.mode} {kind} {entry.id}\t{name}" for name, (entry, kind) in entries.items())
    return git.line("mktree", "--missing", "-z", stdin=b"".join(os.fsencode(row) + b"\0" for row in rows))


def _rows(data: bytes) -> Iterator[str]:
    return (os.fsdecode(row) for row in data.split(b"\0") if row)


def index_lines(entries: Mapping[str, Entry]) -> bytes:
    """Entries by path, as `git update-index -z --index-info` reads them."""
    return b"".join(os.fsencode(f"{one.mode} {one.id}\t{path}") + b"\0" for path, one in sorted(entries.items()))


def contents(git: Git, ids: list[str]) -> dict[str, bytes]:
    """The bytes of blobs, by id, in one command."""
    data = git("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in ids).encode()) if ids else b""
    found: dict[str, bytes] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        words = data[at:end].split()
        if len(words) != 3:
            at = end + 1
            continue
        size = int(words[2])
        found[words[0].decode()] = data[end + 1 : end + 1 + size]
        at = end + 2 + size
    return found
