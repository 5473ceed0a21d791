"""What coleo commits by itself, with real git: only its own words, and nothing of what anybody has staged."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from coleo.files import gitwork, inbox, plan
from coleo.files.gitrun import Git, GitError, TimedOut
from coleo.files.gitwork import NEW_PLAN, STAGED, THEIRS, UNSAVED, Outcome
from coleo.files.planadd import item
from coleo.model.plan import TaskSet
from tests.files.repo import MAIL, SECRET, Repo

BELOW = ["", "sub", "with space/für alle/日本"]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "repo")
    made.commit_all()
    return made


def meanwhile(monkeypatch: pytest.MonkeyPatch, command: str, act: Callable[[], object], times: int = 1) -> None:
    """Somebody else acts just before coleo runs a git command, the first `times` times."""
    ask = Git.__call__
    left = [times]

    def call(self: Git, *words: str, **rest: object) -> bytes:
        if command in words and left[0]:
            left[0] -= 1
            act()
        return ask(self, *words, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "__call__", call)


def test_a_tick_and_a_task_file_become_one_commit_of_the_repositorys_user(repo: Repo) -> None:
    before = repo.head
    task = repo.done("Write the parser")
    found = repo.commit()
    assert (found.files, found.left) == (("plan.md", f"tasks/{task}-write-the-parser.md"), ())
    assert found.commit == repo.head
    assert repo.git("rev-parse", "HEAD^").strip() == before
    assert "- [x] Write the parser" in repo.shown("plan.md")
    who = repo.git("log", "-1", "--format=%an <%ae> %cn <%ce>").strip()
    assert who == "Ada Löwe <ada@example.com> Ada Löwe <ada@example.com>"
    assert repo.git("log", "-1", "--format=%B").strip() == f"coleo: 1 task done\n\n{task} done: Write the parser"
    assert repo.status == "?? .coleo/\n"
    assert repo.git("diff-files") == "", "sizes and times are known too: nothing has to be compared"
    assert repo.leftovers() == []
    assert repo.commit() == Outcome(), "there is nothing to do a second time"


@pytest.mark.parametrize("below", BELOW)
def test_the_project_may_lie_anywhere_in_the_repository(tmp_path: Path, below: str) -> None:
    repo = Repo(tmp_path / "the repo, größer", below)
    (repo.top / "sub").mkdir(exist_ok=True)
    (repo.top / "sub" / "other.txt").write_text("beside\n")
    repo.commit_all()
    repo.done("Write the parser")
    names = repo.git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0")
    assert len(repo.commit().files) == 2
    now = repo.git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0")
    assert set(now) - set(names) == {os.path.join(below, ".project/tasks", os.listdir(repo.layout.tasks)[0])}
    assert set(names) <= set(now)
    assert repo.status.replace('"', "") == f"?? {os.path.join(below, '.coleo')}/\n"
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


def test_what_a_person_has_staged_stays_byte_for_byte(repo: Repo) -> None:
    (repo.top / "code.py").write_text("two\n")
    (repo.top / "new file").write_text("staged\n")
    repo.write("notes.md", "mine\n")
    repo.git("add", "code.py", "new file", ".project/notes.md")
    (repo.top / "code.py").write_text("three\n")
    repo.git("rm", "-q", "--cached", ".project/.gitignore")
    task = repo.done("Write the parser")
    before = dict(row.split("\t")[::-1] for row in repo.staged.split("\0") if row)
    assert len(repo.commit().files) == 2
    after = dict(row.split("\t")[::-1] for row in repo.staged.split("\0") if row)
    ours = {".project/plan.md", f".project/tasks/{task}-write-the-parser.md"}
    assert {name: row for name, row in after.items() if name not in ours} == {
        name: row for name, row in before.items() if name not in ours
    }
    assert repo.git("diff", "--cached", "--name-status").split() == [
        *("D", ".project/.gitignore", "A", ".project/notes.md", "M", "code.py", "A", "new", "file")
    ]
    assert repo.git("show", "HEAD:code.py") == "one\n"
    assert repo.git("show", ":code.py") == "two\n"
    assert (repo.top / "code.py").read_text() == "three\n"


def test_a_file_that_is_staged_is_left_out_as_it_is(repo: Repo) -> None:
    repo.tick("Write the parser")
    repo.git("add", ".project/plan.md")
    task = repo.done("Write its tests")
    entry = repo.git("ls-files", "--stage", ".project/plan.md")
    found = repo.commit()
    assert found.files == (f"tasks/{task}-write-its-tests.md",)
    assert found.left == (("plan.md", STAGED),)
    assert repo.git("ls-files", "--stage", ".project/plan.md") == entry
    assert "[x]" not in repo.shown("plan.md")


@pytest.mark.parametrize("words", [("--assume-unchanged",), ("--skip-worktree",)], ids=str)
def test_files_that_a_person_told_git_to_leave_alone_are_left_alone(repo: Repo, words: tuple[str, ...]) -> None:
    repo.git("update-index", *words, ".project/plan.md")
    repo.tick("Write the parser")
    assert repo.commit() == Outcome()
    assert "[x]" not in repo.shown("plan.md")


def test_a_file_that_is_only_announced_is_left_out(repo: Repo) -> None:
    task = repo.done("Write the parser")
    repo.git("add", "-N", f".project/tasks/{task}-write-the-parser.md")
    assert repo.commit().files == ("plan.md",)
    assert repo.status.splitlines()[0] == f" A .project/tasks/{task}-write-the-parser.md"


def test_no_hook_runs_and_nothing_is_signed(repo: Repo) -> None:
    marks = repo.top / "hooks ran"
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        path = repo.top / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {hook} >>'{marks}'\nexit 1\n")
        path.chmod(0o755)
    repo.git("config", "commit.gpgSign", "true")
    repo.git("config", "user.signingKey", "nobody")
    repo.done("Write the parser")
    assert repo.commit().commit
    assert not marks.exists()
    assert "gpgsig" not in repo.git("cat-file", "commit", "HEAD")


# What is a person's.


def test_a_plan_with_changes_of_people_is_left_to_them(repo: Repo) -> None:
    text = Path(repo.layout.plan).read_text()
    repo.write("plan.md", text.replace("parser", "parser, quickly").replace("## Inbox", "Words.\n\n## Inbox"))
    task = repo.done("Write its tests")
    found = repo.commit()
    assert found.files == (f"tasks/{task}-write-its-tests.md",)
    assert found.left == (("plan.md", THEIRS),)
    assert repo.status.startswith(" M .project/plan.md")
    repo.commit_all()
    repo.tick("Write the parser, quickly")
    assert repo.commit().files == ("plan.md",), "after theirs is committed, ours can be"


def test_a_box_that_a_person_ticked_is_theirs_to_commit(repo: Repo) -> None:
    repo.write("plan.md", Path(repo.layout.plan).read_text().replace("[ ] Write the", "[x] Write the"))
    assert repo.commit().left == (("plan.md", THEIRS),)
    repo.tick("Write its tests")
    assert repo.commit().left == (("plan.md", THEIRS),)


def test_without_the_memory_of_what_was_written_the_plan_is_left(repo: Repo) -> None:
    repo.tick("Write the parser")
    shutil.rmtree(repo.layout.run)
    assert repo.commit().left == (("plan.md", THEIRS),)


def test_several_ticks_and_additions_are_one_step_after_another(repo: Repo) -> None:
    repo.tick("Write the parser")
    plan.add_items(repo.layout, [item("Call Ada")])
    repo.tick("Write its tests")
    found = repo.commit()
    assert found.files == ("plan.md",)
    assert found.subject == "coleo: 2 tasks done, 1 added"
    assert repo.shown("plan.md").count("[x]") == 2
    assert "- [ ] Call Ada" in repo.shown("plan.md")


def test_a_sub_plan_is_a_plan(repo: Repo) -> None:
    repo.write("later/x y.md", "- [ ] Think\n")
    repo.write("plan.md", Path(repo.layout.plan).read_text() + "\n[later](<later/x y.md>)\n")
    repo.tasks()
    assert dict(repo.commit().left) == {"plan.md": THEIRS, "later/x y.md": NEW_PLAN}
    repo.commit_all()
    repo.tick("Think")
    found = repo.commit()
    assert (found.files, found.subject) == (("later/x y.md",), "coleo: 1 task done")


def test_what_was_taken_from_the_inbox_is_committed_and_what_waits_there_is_not(repo: Repo) -> None:
    repo.write("inbox.md", "- [ ] Call Ada\n")
    os.utime(repo.layout.inbox, (repo.now - 60, repo.now - 60))
    tasks = repo.tasks()
    assert len(inbox.sync(repo.layout, tasks, repo.now).added) == 1
    found = repo.commit()
    assert len(found.files) == 2
    assert found.subject == "coleo: 1 taken from the inbox"
    repo.write("inbox.md", "- [ ] Half a thou")
    repo.tick("Write the parser")
    assert repo.commit().files == ("plan.md",)
    assert repo.status.startswith(" M .project/inbox.md")
    repo.commit_all()
    repo.write("inbox.md", "")
    assert repo.commit().files == ("inbox.md",), "that it is empty again is coleo's to say"


def test_mail_and_secrets_are_never_committed_even_where_nothing_ignores_them(repo: Repo) -> None:
    repo.write(".gitignore", "")
    repo.write("seats/rand/STATE.md", "mine\n")
    repo.write("seats/rand/crons.json", "{}\n")
    repo.write("seats/rand/record.json", "{}\n")
    repo.write("seats/rand/crons.json.bak", "{}\n")
    repo.write("tasks/.t-abc234-x.md.tmp", "half\n")
    repo.write("tasks/t-abc234-x.md~", "half\n")
    repo.write("archive/other.md", "mine\n")
    assert repo.commit().files == ("seats/rand/crons.json", "seats/rand/record.json")
    assert MAIL in repo.git("status", "--porcelain", "-uall")
    assert SECRET in repo.git("status", "--porcelain", "-uall")


def test_files_that_vanished_or_became_something_else_are_left(repo: Repo) -> None:
    task = repo.done("Write the parser")
    repo.commit()
    head = repo.head
    os.unlink(os.path.join(repo.layout.tasks, f"{task}-write-the-parser.md"))
    outside = repo.top / "elsewhere.md"
    os.rename(repo.layout.plan, outside)
    os.symlink(outside, repo.layout.plan)
    os.chmod(repo.layout.inbox, 0o755)
    os.symlink(outside, os.path.join(repo.layout.tasks, "t-abc234-not-a-file.md"))
    assert repo.commit() == Outcome()
    assert repo.head == head


def test_a_file_with_unsaved_changes_in_an_editor_waits(repo: Repo) -> None:
    repo.tick("Write the parser")
    os.symlink(f"ada@{os.uname().nodename}.{os.getpid()}:1", os.path.join(repo.layout.project, ".#plan.md"))
    assert repo.commit().left == (("plan.md", UNSAVED),)


def test_an_ignored_project_is_none_of_gits_business(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    (tmp_path / ".gitignore").write_text(".project\n.coleo\n")
    repo.commit_all()
    repo.done("Write the parser")
    assert repo.commit() == Outcome()
    assert repo.status == ""


# Not now.


def conflict(repo: Repo, *words: str) -> None:
    """A merge or the like that stops half-way."""
    repo.git("checkout", "-q", "-b", "other")
    (repo.top / "code.py").write_text("theirs\n")
    repo.commit_all("theirs")
    repo.git("checkout", "-q", "main")
    (repo.top / "code.py").write_text("ours\n")
    repo.commit_all("ours")
    repo.git("-c", "core.editor=true", *words, code=1)


def revert(repo: Repo) -> None:
    """A revert that stops half-way."""
    for text in ("two\n", "three\n"):
        (repo.top / "code.py").write_text(text)
        repo.commit_all(text)
    repo.git("revert", "HEAD~1", code=1)


def patch(repo: Repo) -> None:
    """A `git am` that stops."""
    (repo.top / "p.patch").write_text(
        "From: a <a@b>\nSubject: [PATCH] x\n\n---\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"
    )
    repo.git("am", "-q", "p.patch", code=128)


def editing(repo: Repo) -> None:
    """Somebody has `git commit` open in an editor: only the message is there."""
    path = repo.top / ".git/COMMIT_EDITMSG"
    path.write_text("so fa")
    os.utime(path, (repo.now, repo.now))


UNDER_WAY: dict[str, Callable[[Repo], object]] = {
    "a merge": lambda repo: conflict(repo, "merge", "other"),
    "a cherry-pick": lambda repo: conflict(repo, "cherry-pick", "other"),
    "a revert": revert,
    "a rebase": lambda repo: conflict(repo, "rebase", "other"),
    "a bisect": lambda repo: repo.git("bisect", "start"),
    "git am": patch,
    "index.lock": lambda repo: (repo.top / ".git/index.lock").touch(),
    "message": editing,
}


@pytest.mark.parametrize("what", UNDER_WAY)
def test_nothing_is_done_while_somebody_is_in_the_middle_of_something(repo: Repo, what: str) -> None:
    UNDER_WAY[what](repo)
    repo.done("Write the parser")
    head, staged = repo.head, repo.staged
    found = repo.commit()
    assert what in found.waits
    assert (repo.head, repo.staged, found.commit) == (head, staged, "")


def test_a_message_that_was_given_up_stops_nothing_for_long(repo: Repo) -> None:
    editing(repo)
    repo.done("Write the parser")
    repo.now += 901
    assert repo.commit().commit


def test_a_detached_head_gets_no_commit(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    assert repo.commit() == Outcome()
    repo.done("Write the parser")
    head = repo.head
    assert "detached" in repo.commit().waits
    assert repo.head == head


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_branch_without_commits_gets_its_first(tmp_path: Path, kind: str) -> None:
    subprocess.run(["git", "init", "-q", f"--object-format={kind}", "-b", "main"], cwd=tmp_path, check=True)
    repo = Repo(tmp_path, "sub", init=False)
    task = repo.done("Write the parser")
    found = repo.commit()
    assert found.files == (f"tasks/{task}-write-the-parser.md",)
    assert found.left == (("plan.md", NEW_PLAN),)
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD").split() == [f"sub/.project/tasks/{found.files[0][6:]}"]
    assert repo.git("log", "--format=%s").splitlines() == ["coleo: 1 task done"]
    (repo.top / "code.py").write_text("mine\n")
    repo.git("add", "code.py")
    repo.done("Write its tests")
    assert repo.commit().commit
    assert repo.git("diff", "--cached", "--name-only") == "code.py\n"


def test_in_a_worktree_its_own_branch_and_index_count(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    main = repo.head, repo.staged
    side = Repo(tmp_path / "side", init=False)
    side.done("Write the parser")
    assert len(side.commit().files) == 2
    assert side.git("rev-parse", "side").strip() == side.head
    assert (repo.head, repo.staged) == main
    assert side.status == "?? .coleo/\n"
    assert [*repo.leftovers(), *side.leftovers()] == []


def test_in_a_submodule_the_outer_repository_stays_as_it_is(repo: Repo, tmp_path: Path) -> None:
    outer = Repo(tmp_path / "outer", "own")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.top), "inner")
    outer.commit_all()
    before = outer.head, outer.staged
    inner = Repo(tmp_path / "outer/inner", init=False)
    inner.done("Write the parser")
    assert len(inner.commit().files) == 2
    assert (outer.head, outer.staged) == before
    assert inner.head != repo.head


# What is not there.


def test_outside_of_a_repository_and_without_git_nothing_breaks(tmp_path: Path, repo: Repo) -> None:
    alone = Repo(tmp_path / "alone")
    shutil.rmtree(alone.top / ".git")
    assert gitwork.commit(alone.layout, TaskSet(), 0.0) == Outcome()
    repo.done("Write the parser")
    empty = tmp_path / "empty"
    empty.mkdir()
    found = gitwork.commit(repo.layout, repo.tasks(), repo.now, environ={**os.environ, "PATH": str(empty)})
    assert found == Outcome(problem="there is no git in PATH")


def test_without_a_user_nothing_is_committed(repo: Repo) -> None:
    repo.git("config", "--unset", "user.email")
    repo.done("Write the parser")
    head, staged = repo.head, repo.staged
    assert "user.email" in repo.commit().problem
    assert (repo.head, repo.staged) == (head, staged)


def test_variables_of_a_hook_lead_nowhere_else(repo: Repo, tmp_path: Path) -> None:
    repo.done("Write the parser")
    elsewhere = {"GIT_DIR": str(tmp_path), "GIT_INDEX_FILE": str(tmp_path / "i"), "GIT_WORK_TREE": "/"}
    found = gitwork.commit(repo.layout, repo.tasks(), repo.now, environ={**os.environ, **elsewhere}, deadline_s=60)
    assert found.commit == repo.head
    assert not (tmp_path / "i").exists()


def test_a_git_that_hangs_is_ended_with_its_children(repo: Repo, tmp_path: Path) -> None:
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "git").write_text("#!/bin/sh\nsleep 600 &\nsleep 600\n")
    (fake / "git").chmod(0o755)
    environ = {**os.environ, "PATH": f"{fake}{os.pathsep}{os.environ['PATH']}"}
    found = gitwork.commit(repo.layout, TaskSet(), repo.now, deadline_s=0.2, environ=environ)
    assert "more than 0.2 s" in found.waits


def test_the_rest_of_a_repository_is_not_looked_at(repo: Repo) -> None:
    """Neither its files (a filter would run for each that has to be compared) nor its trees (one is taken away)."""
    far = repo.top / "far/away"
    far.mkdir(parents=True)
    (far / "file.txt").write_text("x\n")
    repo.commit_all()
    mark = repo.top / "looked at"
    repo.git("config", "filter.trap.clean", f"touch '{mark}'; cat")
    (repo.top / ".git/info").mkdir(exist_ok=True)
    (repo.top / ".git/info/attributes").write_text("far/** filter=trap\n")
    os.utime(far / "file.txt", (1, 1))
    tree = repo.git("rev-parse", "HEAD:far").strip()
    os.unlink(repo.top / ".git/objects" / tree[:2] / tree[2:])
    repo.done("Write the parser")
    assert len(repo.commit().files) == 2
    assert not mark.exists()
    assert tree in repo.git("ls-tree", "HEAD")


def test_line_ends_are_converted_as_git_add_converts_them(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.write("plan.md", "")
    Path(repo.layout.plan).write_bytes(b"- [ ] One\r\n- [ ] Two\r\n")
    repo.commit_all()
    repo.tick("One")
    assert repo.commit().files == ("plan.md",)
    assert repo.shown("plan.md") == "- [x] One\n- [ ] Two\n"
    assert repo.status == "?? .coleo/\n"


# Races.


def test_a_person_who_commits_meanwhile_comes_first(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo.top / "code.py").write_text("two\n")
    repo.done("Write the parser")
    meanwhile(monkeypatch, "commit-tree", lambda: repo.git("commit", "-q", "-m", "theirs", "code.py"))
    assert len(repo.commit().files) == 2
    assert repo.git("log", "--format=%s").splitlines() == ["coleo: 1 task done", "theirs", "a person's"]
    assert repo.git("show", "HEAD:code.py") == "two\n"
    assert repo.status == "?? .coleo/\n"


def test_a_person_who_stages_meanwhile_keeps_what_is_staged(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo.top / "code.py").write_text("two\n")
    repo.done("Write the parser")
    meanwhile(monkeypatch, "--refresh", lambda: repo.git("add", "code.py"))
    assert len(repo.commit().files) == 2
    assert repo.git("diff", "--cached", "--name-only") == "code.py\n"


def test_a_person_who_stages_the_same_file_meanwhile_keeps_it(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    task = repo.done("Write the parser")
    meanwhile(monkeypatch, "commit-tree", lambda: repo.git("add", ".project/plan.md"))
    found = repo.commit()
    assert found.files == (f"tasks/{task}-write-the-parser.md",)
    assert found.left == (("plan.md", STAGED),)
    assert repo.git("diff", "--cached", "--name-only") == ".project/plan.md\n"


def test_a_commit_between_index_and_head_takes_ours_in_and_no_more_is_staged(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window that is left: the content is right, and nothing is taken back by anybody's commit."""
    repo.done("Write the parser")
    meanwhile(monkeypatch, "update-ref", lambda: repo.git("commit", "-q", "--allow-empty", "-m", "theirs"))
    assert repo.commit() == Outcome()
    assert "[x] Write the parser" in repo.shown("plan.md")
    assert repo.status == "?? .coleo/\n"


def test_a_head_that_cannot_be_moved_leaves_the_index_as_it_was(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.done("Write the parser")
    lock = repo.top / ".git/refs/heads/main.lock"
    head, staged = repo.head, repo.staged
    with monkeypatch.context() as patched:
        meanwhile(patched, "update-ref", lock.touch, times=9)
        assert "main.lock" in repo.commit().waits
    lock.unlink()
    assert (repo.head, repo.staged, repo.leftovers()) == (head, staged, [])
    assert repo.commit().commit


def test_a_person_who_hides_a_file_meanwhile_keeps_it_hidden(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    task = repo.done("Write the parser")
    hide = ("update-index", "--skip-worktree", ".project/plan.md")
    meanwhile(monkeypatch, "commit-tree", lambda: repo.git(*hide))
    assert repo.commit().files == (f"tasks/{task}-write-the-parser.md",)
    assert repo.git("ls-files", "-v", ".project/plan.md") == "S .project/plan.md\n"


@pytest.mark.parametrize("error", [GitError("killed"), TimedOut()])
def test_a_head_that_moved_though_git_did_not_say_so_is_seen(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Ended by the deadline in its last moment: the index must not go back then."""
    ask = Git.__call__

    def call(self: Git, *words: str, **rest: object) -> bytes:
        said = ask(self, *words, **rest)  # type: ignore[arg-type]
        if "update-ref" in words:
            raise error
        return said

    repo.done("Write the parser")
    monkeypatch.setattr(Git, "__call__", call)
    assert repo.commit().commit == ""
    assert "[x]" in repo.shown("plan.md")
    assert repo.status == "?? .coleo/\n"


def test_others_who_commit_all_the_time_are_waited_for(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.done("Write the parser")
    meanwhile(monkeypatch, "commit-tree", lambda: repo.git("commit", "-q", "--allow-empty", "-m", "x"), times=9)
    assert "all the time" in repo.commit().waits
    assert "[x]" not in repo.shown("plan.md")


def test_a_disk_without_hard_links_is_good_enough(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_paths: str) -> None:
        raise PermissionError(1, "no links here")

    repo.done("Write the parser")
    with monkeypatch.context() as patched:
        patched.setattr(os, "link", refuse)
        assert repo.commit().commit
    assert repo.status == "?? .coleo/\n"
    assert repo.leftovers() == []


# Kills.


def killed_at(repo: Repo, monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
    """Commit in a process that ends, with no last word, where it would call `owner.name` on the index or HEAD."""
    child = os.fork()
    if child == 0:
        real = getattr(owner, name)

        def end(*words: object, **rest: object) -> object:
            if "update-ref" in words or any(str(word).endswith("index.lock") for word in words):
                os._exit(9)
            return real(*words, **rest)

        setattr(owner, name, end)
        repo.commit()
        os._exit(0)
    _pid, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9


def test_a_kill_between_index_and_head_leaves_the_right_content_staged(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.done("Write the parser")
    head = repo.head
    killed_at(repo, monkeypatch, Git, "__call__")
    assert repo.head == head
    assert repo.git("diff", "--cached", "--name-only").startswith(".project/plan.md")
    assert repo.git("diff", "--name-only") == ""
    repo.git("commit", "-q", "-m", "theirs")
    assert "[x] Write the parser" in repo.shown("plan.md")
    assert repo.commit() == Outcome()
    assert repo.leftovers() == []


def test_a_kill_that_holds_the_lock_of_the_index_is_mended_by_the_next_commit(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.done("Write the parser")
    killed_at(repo, monkeypatch, os, "rename")
    assert "index.lock" in repo.leftovers()
    assert repo.commit().commit == repo.head
    assert repo.status == "?? .coleo/\n"
    assert repo.leftovers() == []
