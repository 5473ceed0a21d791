"""git changes plan.md under coleo's hands: checkout, merge and stash lose no word that a person wrote or committed.

What git takes back on purpose (the words of another branch, ticks that were stashed) is not a loss: words come back
with the branch, ticks can be set again. Each test's rounds count towards the two hundred of `test_editors.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.plan import SharedPlan, needs
from tests.waiting import eventually

pytestmark = pytest.mark.timeout(300)


def repository(folder: Path) -> SharedPlan:
    """A committed plan on the branch `main`."""
    needs("git")
    plan = SharedPlan(folder, pace_ms=120)
    plan.run("git", "init", "-q", "-b", "main")
    plan.run("git", "config", "gc.auto", "0")
    plan.run("git", "config", "maintenance.auto", "false")
    commit(plan)
    return plan


def commit(plan: SharedPlan) -> None:
    """Commits what is there, ticks too; nothing to commit is fine."""
    plan.run("git", "add", ".project/plan.md")
    plan.run("git", "commit", "-q", "--allow-empty", "-m", "words and ticks")


def persist(plan: SharedPlan, *argv: str) -> None:
    """Runs a git command that refuses while a fresh tick is not committed; a person commits it and tries again."""

    def tried() -> bool:
        done = plan.run("git", *argv, check=False)
        if done.returncode == 0:
            return True
        assert "would be overwritten" in done.stderr + done.stdout, f"{argv}: {done.stdout}{done.stderr}"
        commit(plan)
        return False

    eventually(tried, 60, what=f"git {argv}")


def write(plan: SharedPlan, word: str) -> None:
    """A person's line, appended."""
    plan.run("sh", "-c", 'printf "%s\\n" "$0" >>.project/plan.md', word)


def test_merge_of_branches(tmp_path: Path) -> None:
    """20 rounds: a line is written on a branch, and merged while boxes flip on both sides."""
    with repository(tmp_path) as plan:
        for round in range(20):
            word = plan.word("git")
            persist(plan, "checkout", "-q", "-b", f"branch-{round}")
            write(plan, word)
            plan.until_flipped()
            commit(plan)
            persist(plan, "checkout", "-q", "main")
            plan.until_flipped()
            assert not plan.holds(word), "git brought another branch's words along"
            plan.check()
            persist(plan, "merge", "-q", "--no-edit", f"branch-{round}")
            plan.add(word)


def test_stash_and_pop(tmp_path: Path) -> None:
    """15 rounds: words and ticks go to the stash, boxes flip in what is left, and the words come back."""
    with repository(tmp_path) as plan:
        for _ in range(15):
            word = plan.word("git")
            write(plan, word)
            plan.run("git", "stash", "-q")
            plan.until_flipped()

            def popped() -> bool:
                done = plan.run("git", "stash", "pop", "-q", check=False)
                if done.returncode == 0:
                    return True
                assert "would be overwritten" in done.stderr, done.stderr
                plan.run("git", "checkout", "-q", "--", ".project/plan.md")
                return False

            eventually(popped, 60, what="git stash pop")
            plan.add(word)
            commit(plan)
