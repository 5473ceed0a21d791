"""Laying a project down, and seats in it, from the templates. Nothing that exists is ever written over.

In a checkout the templates are ``project-template/`` and ``seats-template/``; inside a wheel they are in
``coleo/templates/``. Names in there have no leading dot, so that everybody sees them and no tool obeys them:
``project`` is laid as ``.project``, ``coleo`` as ``.coleo``, ``gitignore`` as ``.gitignore``. ``{{seat}}`` in a seat's
files stands for its name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import coleo
from coleo.files import atomic, checked, schemas
from coleo.files.layout import Layout, make_private
from coleo.files.permissions import check_permissions, require_safe
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.names import check_seat

__all__ = ["DEFAULT_SEATS", "check_permissions", "init", "require_safe", "seat_add", "seat_templates"]

#: What `init` lays down when a project has no seat: name and template.
DEFAULT_SEATS = {"shell": "shell"}

#: Laid down for every seat, whatever its template: a seat keeps its files when its harness changes.
_COMMON = "_common"


def init(path: str, *, seats: Mapping[str, str] | None = None) -> list[str]:
    """Make `path` a project: plan, inbox, settings, ignore rules, schemas, seats. Safe to run again at any time.

    seats: name to template; not given: one shell seat, if there is no seat yet. What was laid down, as paths below
    `path`; [] when everything was there. BadInput for a name or a template that is none (then nothing is laid down),
    CannotBeDone where nothing can be written.
    """
    layout = Layout(os.path.realpath(path))
    wanted = dict(seats or {})
    if seats is None and not layout.seats_present():
        wanted = dict(DEFAULT_SEATS)
    for name, template in wanted.items():
        check_seat(name)
        _template(template)
    try:
        _folders(layout)
        laid = _lay(os.path.join(_folder_of("project"), "project"), layout.project, {})
        laid += _lay(os.path.join(_folder_of("project"), "coleo"), layout.coleo, {})
        laid += schemas.lay(layout)
        for name, template in wanted.items():
            laid += _lay_seat(layout, name, template)
    except OSError as error:
        raise CannotBeDone(
            "the project cannot be laid down", file=error.filename or layout.root, found=error.strerror
        ) from error
    return [os.path.relpath(one, layout.root) for one in laid]


def seat_add(layout: Layout, name: str, template: str) -> list[str]:
    """Lay down a seat; what was laid, as paths below the project. BadInput for a bad name or an unknown template,
    CannotBeDone for a seat that is there already. A folder without a seat.md is completed.
    """
    check_seat(name)
    _template(template)
    if os.path.lexists(layout.seat(name).seat_md):
        raise CannotBeDone("this seat is there already", file=layout.seat(name).seat_md, todo="take another name")
    try:
        return [os.path.relpath(one, layout.root) for one in _lay_seat(layout, name, template)]
    except OSError as error:
        raise CannotBeDone(
            "the seat cannot be laid down", file=error.filename or layout.seats, found=error.strerror
        ) from error


def seat_templates() -> list[str]:
    """The names that `seat_add` takes."""
    return sorted(name for name in os.listdir(_folder_of("seats")) if not name.startswith(("_", ".")))


def _template(name: str) -> str:
    known = seat_templates()
    if name not in known:
        near = checked.nearest(name, known)
        raise BadInput(
            "no such template" + (f" (did you mean {near}?)" if near else ""), found=name, wanted=", ".join(known)
        )
    return os.path.join(_folder_of("seats"), name)


def _folder_of(kind: str) -> str:
    """Where the templates lie: inside the installed package, or beside it in a checkout."""
    package = os.path.dirname(os.path.abspath(coleo.__file__))
    installed = os.path.join(package, "templates", kind)
    if os.path.isdir(installed):
        return installed
    return os.path.join(os.path.dirname(package), f"{kind}-template")


def _folders(layout: Layout) -> None:
    os.makedirs(layout.root, exist_ok=True)
    for folder in (layout.project, layout.tasks, layout.seats):
        _open_folder(folder)
    make_private(layout.coleo)
    make_private(layout.run)


def _lay_seat(layout: Layout, name: str, template: str) -> list[str]:
    """The files of a seat; seat.md comes last, for it is what makes the folder a seat."""
    folder = layout.seat(name).dir
    words = {"{{seat}}": name}
    own = _template(template)
    laid = _lay(own, folder, words, without=frozenset({"seat.md"}))
    laid += _lay(os.path.join(_folder_of("seats"), _COMMON), folder, words)
    return laid + _lay(own, folder, words)


def _lay(template: str, target: str, words: Mapping[str, str], without: frozenset[str] = frozenset()) -> list[str]:
    """Copy what is missing in `target`; the paths that were made."""
    laid = []
    for inside in _files(template):
        if inside in without:
            continue
        folder, name = os.path.split(os.path.join(target, inside))
        path = os.path.join(folder, ".gitignore" if name == "gitignore" else name)
        if os.path.lexists(path):
            continue
        with open(os.path.join(template, inside), "rb") as file:
            data = file.read()
        for word, meaning in words.items():
            data = data.replace(word.encode(), meaning.encode())
        _open_folder(folder)
        if atomic.create(path, data, mode=_mode_in(folder)):
            laid.append(path)
    return laid


def _files(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            yield os.path.relpath(os.path.join(here, name), folder)


def _open_folder(path: str) -> None:
    """A folder of people's: as open as their umask wants it, but never writable for everybody."""
    if not os.path.isdir(path):
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        os.mkdir(path, 0o755)


def _mode_in(folder: str) -> int:
    """The mode of a new file: what its folder lets others do, without writing (0600 in a private folder, case h06)."""
    others = os.stat(folder).st_mode
    return 0o600 | (0o044 if others & 0o005 else 0o040 if others & 0o050 else 0)
