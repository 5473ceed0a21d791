"""`coleo init` and `coleo seat add`: what is laid down, that nothing is written over, that the wheel can do it too."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pydantic
import pytest

from coleo.files import atomic, front, markdown, project, seatfile, settings
from coleo.files.layout import Layout
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.seat import SeatConfig

ROOT = Path(__file__).resolve().parents[2]
SEAT_FILES = {"seat.md", "AGENTS.md", "STATE.md", "GOALS.md", "GUARDRAILS.md", "HEARTBEAT.md", "MEMORY.md"}


def layout_of(path: Path) -> Layout:
    """The layout of a project at `path`."""
    return Layout(os.path.realpath(path))


def contents(path: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {str(one.relative_to(path)): one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file()}


def test_init_lays_a_project_with_one_shell_seat(tmp_path: Path) -> None:
    """Everything that `coleo up` needs, in a folder that need not be there yet."""
    root = tmp_path / "new" / "shop"
    laid = project.init(str(root))
    assert set(laid) == set(contents(root))
    assert {".project/plan.md", ".project/inbox.md", ".project/.gitignore"} <= set(laid)
    assert {".coleo/config.toml", ".coleo/.gitignore", ".coleo/schemas/config.schema.json"} <= set(laid)
    layout = layout_of(root)
    assert layout.seats_present() == ["shell"]
    assert seatfile.look(layout, "shell").problems == ()
    assert seatfile.read(layout, "shell") == SeatConfig("shell", harness="shell")
    loaded = settings.load(layout, {}, {"HOME": str(tmp_path)})
    assert (loaded.settings, loaded.problems) == (settings.Settings(), [])


def test_a_fresh_plan_and_inbox_hold_no_task(tmp_path: Path) -> None:
    """The examples in the plan are explanations; an empty inbox has nothing to be archived."""
    project.init(str(tmp_path))
    layout = layout_of(tmp_path)
    assert markdown.parse(Path(layout.plan).read_bytes()) == ([], [])
    assert Path(layout.inbox).read_bytes() == b""


def test_init_again_lays_nothing_and_changes_nothing(tmp_path: Path) -> None:
    """Safe at any time, also after people have changed and removed things."""
    project.init(str(tmp_path))
    layout = layout_of(tmp_path)
    Path(layout.plan).write_text("- [ ] mine\n")
    Path(layout.config).write_text("broken [\n")
    os.rename(layout.seat("shell").dir, layout.seat("ada").dir)
    os.unlink(os.path.join(layout.seat("ada").dir, "GOALS.md"))
    before = contents(tmp_path)
    assert project.init(str(tmp_path)) == []
    assert contents(tmp_path) == before


def test_init_completes_what_is_missing(tmp_path: Path) -> None:
    """A project of which somebody committed only a part, or whose making was interrupted."""
    (tmp_path / ".project").mkdir()
    (tmp_path / ".project" / "plan.md").write_text("# Ours\n")
    (tmp_path / ".project" / "inbox.md").symlink_to("nowhere.md")
    laid = project.init(str(tmp_path))
    assert ".project/plan.md" not in laid and ".project/inbox.md" not in laid
    assert ".coleo/config.toml" in laid
    assert (tmp_path / ".project" / "plan.md").read_text() == "# Ours\n"


def test_a_folder_that_is_half_a_seat_is_no_seat_until_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """seat.md is laid last: a kill in the middle leaves nothing that a brain would start."""
    layout = layout_of(tmp_path)
    project.init(str(tmp_path), seats={})
    create = atomic.create
    laid: list[tuple[str, list[str]]] = []

    def watched(path: str, data: bytes, *, mode: int) -> bool:
        laid.append((os.path.basename(path), layout.seats_present()))
        return create(path, data, mode=mode)

    monkeypatch.setattr(atomic, "create", watched)
    project.seat_add(layout, "ada", "worker")
    assert laid[-1] == ("seat.md", [])
    assert {name for name, _seats in laid} == SEAT_FILES


@pytest.mark.parametrize("template", project.seat_templates())
def test_every_template_makes_a_whole_seat(tmp_path: Path, template: str) -> None:
    """All files that an agent is told of, its own name in them, settings without a fault, heads that fit a briefing."""
    layout = layout_of(tmp_path)
    project.init(str(tmp_path), seats={"ada": template})
    folder = Path(layout.seat("ada").dir)
    assert {path.name for path in folder.iterdir()} == SEAT_FILES
    assert seatfile.look(layout, "ada").problems == ()
    assert front.read((folder / "seat.md").read_bytes())[1].strip().startswith("# ada")
    for path in folder.iterdir():
        text = path.read_text()
        assert "{{" not in text and text.endswith("\n")
        assert all(len(line) <= 120 for line in text.split("\n"))
    for name in ("GOALS.md", "GUARDRAILS.md"):
        text = (folder / name).read_text()
        assert len(text) <= 4096 and text.count("\n") <= 40


def test_agents_are_told_commands_that_exist(tmp_path: Path) -> None:
    """Every `coleo bus …` in the templates is a verb, and the ones that make up the work are all there."""
    from coleo.bus.verbs import VERBS

    project.init(str(tmp_path), seats={name: name for name in project.seat_templates()})
    named: set[str] = set()
    for path in (tmp_path / ".project" / "seats").rglob("*.md"):
        named |= {part.split()[0].strip("`.,:…") for part in path.read_text().split("coleo bus ")[1:]}
    assert named - {""} <= set(VERBS)
    assert {
        "get-full-briefing",
        "claim-task",
        "acknowledge-task",
        "task-progress",
        "complete-task",
        "fail-task",
    } <= named
    assert {"send-message", "check-inbox", "ack-inbox", "update-heartbeat", "create-task"} <= named


def test_bad_names_lay_nothing(tmp_path: Path) -> None:
    """A name that is a path, a template that is none: refused before the first file is made."""
    root = tmp_path / "p"
    for seats in ({"../ada": "worker"}, {"human": "worker"}, {"ada": "workr"}):
        with pytest.raises(BadInput):
            project.init(str(root), seats=seats)
        assert not root.exists()
    with pytest.raises(BadInput, match="did you mean worker"):
        project.init(str(root), seats={"ada": "workr"})
    with pytest.raises(BadInput):
        project.init(str(root), seats={"ada": "_common"})


def test_a_seat_that_is_there_is_not_laid_again(tmp_path: Path) -> None:
    """CannotBeDone; but a folder that holds only mail becomes a seat, and keeps its mail."""
    project.init(str(tmp_path))
    layout = layout_of(tmp_path)
    with pytest.raises(CannotBeDone, match="there already"):
        project.seat_add(layout, "shell", "worker")
    mail = Path(layout.seat("ada").inbox)
    mail.mkdir(parents=True)
    (mail / "3-1-from-human-a.json").write_text("{}")
    laid = project.seat_add(layout, "ada", "analyst")
    assert set(laid) == {f".project/seats/ada/{name}" for name in SEAT_FILES}
    assert (mail / "3-1-from-human-a.json").read_text() == "{}"


def test_a_place_where_nothing_can_be_written_is_said_so(tmp_path: Path) -> None:
    """A file in the way."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotBeDone):
        project.init(str(tmp_path / "file" / "p"))
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / ".project").write_text("")
    with pytest.raises(CannotBeDone):
        project.init(str(tmp_path / "p"))


def test_git_ignores_the_machines_own_and_nothing_of_peoples(tmp_path: Path) -> None:
    """DESIGN.md section 4: mail, secrets, activity and run stay here; everything else is committed."""
    project.init(str(tmp_path))
    layout = layout_of(tmp_path)
    seat = layout.seat("shell")
    never = [
        *(
            os.path.join(box, "m.json")
            for box in (seat.inbox, seat.inflight, seat.processed, seat.dead, seat.quarantine)
        ),
        seat.env,
        seat.crons + ".bak",
        layout.secrets_env,
        os.path.join(layout.activity, "2026-12-01.jsonl"),
        layout.arm("shell"),
        os.path.join(layout.project, ".plan.md.0123.tmp"),
    ]
    always = [
        layout.plan,
        layout.inbox,
        layout.config,
        os.path.join(layout.tasks, "t-abc234-x.md"),
        os.path.join(layout.archive, "inbox-2026-12-01.md"),
        os.path.join(layout.proposals, "p.md"),
        os.path.join(layout.approvals, "a.md"),
        seat.seat_md,
        seat.state_md,
        seat.crons,
        seat.record,
        os.path.join(seat.local, "rules.md"),
        os.path.join(seat.memory, "2026-12-01.md"),
        os.path.join(layout.coleo, "harness", "mine.toml"),
    ]
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    asked = "\n".join([*never, *always])
    found = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"], cwd=tmp_path, input=asked, capture_output=True, text=True
    )
    assert found.stdout.split("\n")[:-1] == never


def test_init_from_an_installed_wheel_outside_of_the_checkout(tmp_path: Path) -> None:
    """The templates are inside the wheel, and what it lays down is what a checkout lays down. No network."""
    offline = {
        **os.environ,
        "PIP_NO_INDEX": "1",
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
    }
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(ROOT)],
        cwd=tmp_path,
        env=offline,
        check=True,
        capture_output=True,
    )
    (wheel,) = (tmp_path / "dist").iterdir()
    place = tmp_path / "venv"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    (site,) = place.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(f"{Path(pydantic.__file__).parents[1]}\n")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)],
        cwd=tmp_path,
        env=offline,
        check=True,
        capture_output=True,
    )

    alone = {name: value for name, value in offline.items() if name != "PYTHONPATH"}

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=tmp_path, env=alone, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = run(str(python), "-c", "import coleo; print(coleo.__file__)")
    assert where.startswith(str(place))
    run(str(place / "bin" / "coleo"), "init", "shop")
    run(str(place / "bin" / "coleo"), "--project", "shop", "seat", "add", "ada", "--template", "worker")
    project.init(str(tmp_path / "same"))
    project.seat_add(layout_of(tmp_path / "same"), "ada", "worker")
    ours = {name: data for name, data in contents(tmp_path / "same").items() if "/run/" not in name}
    theirs = contents(tmp_path / "shop")
    assert {name: theirs.get(name) for name in ours} == ours
