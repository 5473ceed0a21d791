"""Real editors save plan.md while coleo flips boxes in it: no keystroke is lost, no tick is lost for good.

Two hundred rounds in all, spread over the tests of this folder. In each round one line is written and saved; for
editors in a terminal the buffer is stale by then. After each round all lines of all rounds are looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.editors.keyboard import Keyboard
from tests.editors.plan import SharedPlan, needs

pytestmark = pytest.mark.timeout(300)


def saved(plan: SharedPlan, keyboard: Keyboard, word: str, answers: Mapping[str, str]) -> None:
    """Waits until the word is in the file, and answers what the editor asks about a file that changed meanwhile."""
    keyboard.until(lambda: plan.holds(word), answers)
    plan.add(word)


@pytest.mark.parametrize("backup", ["no", "yes"], ids=["by_rename", "in_place"])
def test_vim_in_a_terminal(tmp_path: Path, backup: str) -> None:
    """20 rounds each: vim writes a new file and renames (backupcopy=no), or truncates and writes (yes)."""
    vim = needs("vim")
    with SharedPlan(tmp_path) as plan:
        argv = [vim, "-u", "NONE", "-N", "-i", "NONE", "--cmd", f"set encoding=utf-8 backupcopy={backup}"]
        with Keyboard([*argv, str(plan.path)], str(plan.root), plan.environ) as keyboard:
            keyboard.until_shown("Plan")
            for _ in range(20):
                plan.until_flipped()
                word = plan.word("vim")
                keyboard.type(f"Go{word}\x1b:w\r")
                saved(plan, keyboard, word, {"(y/n)?": "y"})
            keyboard.type(":q\r")
            keyboard.until_ended()


def test_vim_in_a_script(tmp_path: Path) -> None:
    """20 rounds: a vim that is started, edits and ends within milliseconds; every second from a script of keys."""
    vim = needs("vim")
    with SharedPlan(tmp_path) as plan:
        keys = tmp_path / "keys"
        for round in range(20):
            plan.until_flipped()
            word = plan.word("vim")
            argv = [vim, "-u", "NONE", "-N", "-i", "NONE", "-n", "--cmd", "set encoding=utf-8"]
            if round % 2:
                silent = [*argv, "--cmd", "set backupcopy=no", "-es", "-c", f"call append('$', '{word}')", "-c", "wq!"]
                while not plan.holds(word):
                    # Silent vim gives up, with code 0, when the file changes between its read and its write.
                    before = plan.path.stat().st_ino
                    plan.run(*silent, str(plan.path))
                    assert plan.holds(word) or plan.path.stat().st_ino == before, "vim wrote, and its words are gone"
            else:
                keys.write_text(f"Go{word}\x1b:wq!\r")
                with Keyboard([*argv, "-s", str(keys), str(plan.path)], str(plan.root), plan.environ) as keyboard:
                    keyboard.until_ended({"(y/n)?": "y"})  # asked even for :wq!
            plan.add(word)


@pytest.mark.parametrize("stale", ["y", "r"], ids=["edits_the_stale_buffer", "reads_again"])
def test_emacs_in_a_terminal(tmp_path: Path, stale: str) -> None:
    """15 rounds each: emacs asks when the file has changed, and both answers keep every word."""
    emacs = needs("emacs")
    with SharedPlan(tmp_path, pace_ms=60 if stale == "r" else 2) as plan:
        argv = [emacs, "-Q", "-nw", "--eval", "(prefer-coding-system 'utf-8)", str(plan.path)]
        with Keyboard(argv, str(plan.root), plan.environ) as keyboard:
            keyboard.until_shown("plan.md")
            for _ in range(15):
                plan.until_flipped()
                word = plan.word("emacs")
                # The first letter sets off the question when the file has changed, so it is one that can be told apart.
                keyboard.type("\x1b>~")
                while keyboard.until_shown("really edit", "~") != "~":
                    keyboard.type(stale)
                    keyboard.until_shown("File reverted" if stale == "r" else "~")
                    if stale == "r":
                        keyboard.type("\x1b>~")
                        keyboard.until_gone("File reverted")
                keyboard.type(f"\x7f{word}\r\x18\x13")
                saved(plan, keyboard, word, {"(yes or no)": "yes\r"})
            keyboard.type("\x18\x03")
            keyboard.until_ended()


def test_emacs_in_a_script(tmp_path: Path) -> None:
    """10 rounds of `emacs --batch`, which gives up when the file changed under it: then nothing may be written."""
    emacs = needs("emacs")
    with SharedPlan(tmp_path, pace_ms=150) as plan:
        for _ in range(10):
            plan.until_flipped()
            word = plan.word("emacs")
            edit = f'(progn (goto-char (point-max)) (insert "{word}\\n") (save-buffer))'

            def edited(edit: str = edit) -> bool:
                return plan.run(emacs, "-Q", "--batch", str(plan.path), "--eval", edit, check=False).returncode == 0

            while not edited():
                assert not plan.holds(word), "emacs says that it failed, and the word is there"
            plan.add(word)


def test_nano_in_a_terminal(tmp_path: Path) -> None:
    """35 rounds: nano truncates and writes in place."""
    nano = needs("nano")
    with (
        SharedPlan(tmp_path) as plan,
        Keyboard([nano, "-I", str(plan.path)], str(plan.root), plan.environ) as keyboard,
    ):
        keyboard.until_shown("plan.md")
        for _ in range(35):
            plan.until_flipped()
            word = plan.word("nano")
            keyboard.type(f"\x1b/{word}\r\x0f\r")
            saved(plan, keyboard, word, {"continue saving": "y"})
        keyboard.type("\x18")
        keyboard.until_ended()


def test_sed_and_shell(tmp_path: Path) -> None:
    """30 rounds: `sed -i` (a new file renamed over the plan) and `>>`, in turn."""
    sed = needs("sed")
    with SharedPlan(tmp_path) as plan:
        for round in range(30):
            plan.until_flipped()
            word = plan.word("sed")
            if round % 2:
                plan.run(sed, "-i", f"$a{word}", str(plan.path))
            else:
                plan.run("sh", "-c", 'printf "%s\\n" "$0" >>"$1"', word, str(plan.path))
            plan.add(word)
