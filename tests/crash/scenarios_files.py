"""The files room's own writes: state files, and changes of people's files in place."""

from __future__ import annotations

import os
from collections.abc import Callable

from coleo.files import atomic, inplace, markdown, plan
from coleo.files.layout import Layout
from coleo.model.plan import Task
from tests.crash.scenario import Outcome, Scenario

OLD = b"# Words of a person\r\n\r\n- [ ] one\r\n" + "- [ ] zwei \u00e4\r\n".encode() * 40
NEW = OLD.replace(b"zwei", b"two") + b"- [ ] last\r\n"
ADDED = b"\n- [ ] an item\n\n  with words\n"


def _path(root: str) -> str:
    return os.path.join(root, "file.md")


def _journal(root: str) -> str:
    return os.path.join(root, "journal")


def _lay(root: str) -> None:
    with open(_path(root), "wb") as file:
        file.write(OLD)
    os.chmod(_path(root), 0o644)


def _recover(root: str) -> None:
    inplace.recover(_journal(root))


def _becomes(new: bytes) -> Callable[[str, Outcome], None]:
    """The file is the old one or `new`, and nothing else lies there but what starts like a temp file."""

    def check(root: str, outcome: Outcome) -> None:
        with open(_path(root), "rb") as file:
            found = file.read()
        assert found == new or (found == OLD and not outcome.finished), f"torn, lost or doubled: {found[-80:]!r}"
        assert os.stat(_path(root)).st_mode & 0o777 in (0o644, 0o600)
        others = set(os.listdir(root)) - {"file.md", "journal"}
        assert not outcome.finished or not others, f"left behind: {others}"
        assert all(name.startswith(".file.md.") for name in others), f"left behind: {others}"
        if os.path.isdir(_journal(root)):
            assert not os.listdir(_journal(root)), f"left in the journal: {os.listdir(_journal(root))}"

    return check


def _created(root: str, outcome: Outcome) -> None:
    path = os.path.join(root, "new")
    found = atomic.read(path)
    assert found == NEW or (found is None and not outcome.finished), f"torn: {found!r}"
    assert atomic.create(path, b"second") is (found is None), "an exclusive create counts what was never made"


def _create(root: str) -> None:
    assert atomic.create(os.path.join(root, "new"), NEW)


def _lay_plan(root: str) -> None:
    os.mkdir(os.path.join(root, ".project"))
    with open(Layout(root).plan, "wb") as file:
        file.write(OLD)


def _tick(root: str) -> None:
    assert plan.tick(Layout(root), Task("t-aaaaaa", "one"))


def _ticked(root: str, outcome: Outcome) -> None:
    with open(Layout(root).plan, "rb") as file:
        data = file.read()
    assert data == OLD.replace(b"[ ] one", b"[x] one") or (data == OLD and not outcome.finished), data[:60]
    assert len(markdown.parse(data)[0]) == 41
    _tick(root)


SCENARIOS = {
    "write": Scenario("write", _lay, lambda root: atomic.write(_path(root), NEW), _becomes(NEW)),
    "create": Scenario("create", _lay, _create, _created),
    "replace": Scenario(
        "replace", _lay, lambda root: inplace.replace(_path(root), OLD, NEW, _journal(root)), _becomes(NEW), _recover
    ),
    "append": Scenario(
        "append",
        _lay,
        lambda root: inplace.append(_path(root), OLD, ADDED, _journal(root)),
        _becomes(OLD + ADDED),
        _recover,
    ),
    "clear": Scenario("clear", _lay, lambda root: inplace.clear(_path(root), OLD), _becomes(b"")),
    "tick": Scenario("tick", _lay_plan, _tick, _ticked),
}
