"""What `coleo check` looks at, one area after the other. Each area's own module judges; here it is only collected."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from coleo.files import atomic, desired, envfile, plan, project, schemas, seatfile, settings, taskfile
from coleo.files.layout import Layout
from coleo.harness import load as harnesses
from coleo.model.errors import ColeoError
from coleo.model.problem import ERROR, WARNING, Problem
from coleo.model.record import Record
from coleo.model.seat import SeatConfig


class Finding(Record):
    """One thing that is wrong. area: settings, seat, plan, tasks, secrets, schedules, harness, permissions, run.

    severity: ``error`` or ``warning``. unsafe: coleo will not work with it (exit 4).
    """

    area: str
    message: str
    file: str = ""
    line: int | None = None
    key: str = ""
    found: str | None = None
    wanted: str | None = None
    todo: str | None = None
    severity: str = ERROR
    unsafe: bool = False

    @property
    def text(self) -> str:
        """For a person: where, what, found, wanted, to do."""
        where = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        key = f"{self.key}: " if self.key else ""
        rows = [f"{self.severity}: {where}{key}{self.message}"]
        for name, value in (("found:  ", self.found), ("wanted: ", self.wanted), ("to do:  ", self.todo)):
            if value:
                rows.append(f"  {name}{value}")
        return "\n".join(rows)


def everything(layout: Layout, now: float, environ: Mapping[str, str] = os.environ) -> list[Finding]:
    """All that is wrong in a project, errors first, in the order of the areas. Changes nothing."""
    found = [
        *_permissions(layout),
        *_settings(layout, environ),
        *_harness_files(layout, environ),
        *_seats(layout, environ),
        *_secrets(layout),
        *_schedules(layout),
        *_plan(layout, now),
        *_tasks(layout),
        *_run(layout),
    ]
    return sorted(found, key=lambda one: one.severity != ERROR)


def of_problem(area: str, problem: Problem, *, unsafe: bool = False) -> Finding:
    """A problem of a file as a finding."""
    meant = f" (did you mean {problem.suggest}?)" if problem.suggest else ""
    message = "not right" + meant if problem.wanted else problem.found + meant
    found = problem.found if problem.wanted else None
    return Finding(
        area, message, problem.file, problem.line, problem.key, found, problem.wanted or None,
        severity=problem.severity, unsafe=unsafe,
    )  # fmt: skip


def of_error(area: str, error: ColeoError, *, severity: str = ERROR) -> Finding:
    """An error as a finding."""
    return Finding(
        area, error.message, error.file or "", error.line, "", error.found, error.wanted, error.todo, severity
    )  # fmt: skip


def _permissions(layout: Layout) -> Iterator[Finding]:
    for problem in project.check_permissions(layout):
        yield of_problem("permissions", problem, unsafe=problem.severity == ERROR)


def _settings(layout: Layout, environ: Mapping[str, str]) -> Iterator[Finding]:
    loaded = settings.load(layout, environ=environ)
    for problem in loaded.problems:
        yield of_problem("settings", problem)
    leader = loaded.settings.orchestrator
    if leader and leader not in layout.seats_present():
        yield Finding(
            "settings", "no such seat", loaded.sources.get("orchestrator", ""), key="orchestrator", found=leader,
            wanted="a seat of this project", severity=WARNING,
        )  # fmt: skip


def _harness_files(layout: Layout, environ: Mapping[str, str]) -> Iterator[Finding]:
    for path in harnesses.names(layout, environ).values():
        for error in harnesses.read(path)[1]:
            yield of_error("harness", error)


def _seats(layout: Layout, environ: Mapping[str, str]) -> Iterator[Finding]:
    for name in layout.seats_present():
        look = seatfile.look(layout, name)
        for problem in look.problems:
            yield of_problem("seat", problem)
        if look.config.enabled and not any(problem.severity == ERROR for problem in look.problems):
            yield from _program(layout, look.config, environ)


def _program(layout: Layout, config: SeatConfig, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the harness exists and this machine has its program."""
    paths = layout.seat(config.seat)
    try:
        harness = harnesses.load(config.harness, layout, environ)
        known = harnesses.values(
            project=layout.root,
            seat=config.seat,
            seat_dir=paths.dir,
            transcript=paths.transcript,
            run=layout.run,
            model=config.model,
        )
        words = harnesses.argv((*(config.command or harness.argv), *config.args), known)
        harnesses.program(words, environ, seatfile.working_directory(layout, config), harness.name)
    except ColeoError as error:
        where = error if error.file else _located(error, paths.seat_md)
        yield of_error("seat", where)


def _located(error: ColeoError, path: str) -> ColeoError:
    error.file = path
    return error


def _secrets(layout: Layout) -> Iterator[Finding]:
    for path in (layout.secrets_env, *(layout.seat(name).env for name in layout.seats_present())):
        try:
            read = envfile.read(path)
        except OSError as error:
            yield Finding("secrets", error.strerror or str(error), path, wanted="a file that can be read")
            continue
        for line, why in read.problems:
            yield Finding("secrets", why, path, line, wanted="NAME=value")


def _schedules(layout: Layout) -> Iterator[Finding]:
    for name in layout.seats_present():
        path = layout.seat(name).crons
        try:
            data = atomic.read(path)
            found = None if data is None else json.loads(data.decode("utf-8-sig"))
        except OSError as error:
            yield Finding("schedules", error.strerror or str(error), path, wanted="a file that can be read")
            continue
        except json.JSONDecodeError as error:
            yield Finding("schedules", f"no JSON: {error.msg}", path, error.lineno, wanted="JSON; it is left as it is")
            continue
        except (ValueError, RecursionError) as error:
            yield Finding("schedules", f"no JSON: {error}", path, wanted="JSON in UTF-8; it is left as it is")
            continue
        if data is not None and not (isinstance(found, dict) and isinstance(found.get("crons"), list)):
            yield Finding("schedules", "not a table of crons", path, wanted='{"updated_at": ..., "crons": [...]}')
        elif isinstance(found, dict):
            yield from _crons(path, found)


def _crons(path: str, found: dict[str, Any]) -> Iterator[Finding]:
    """What is wrong with single schedules, and names that stand twice (the first counts)."""
    try:
        schemas.CronsFile.model_validate(found)
    except ValidationError as error:
        for item in error.errors():
            where = ".".join(str(part) for part in item["loc"])
            yield Finding("schedules", f"{where}: {item['msg']}", path, found=repr(item["input"])[:200])
    names = [entry.get("name") for entry in found["crons"] if isinstance(entry, dict)]
    for name in sorted({str(name) for name in names if names.count(name) > 1}):
        yield Finding("schedules", "a name that stands twice; the first counts", path, found=name)


def _plan(layout: Layout, now: float) -> Iterator[Finding]:
    # A line counts once its file has been still for a while; what is to be checked is what will count then.
    tasks = plan.read(layout, None, now + 86_400, None, taskfile.bindings(layout)).taskset
    for warning in tasks.warnings:
        text = warning.text[:200] or None
        yield Finding("plan", warning.why, _in_project(layout, warning.file), warning.line, found=text,
                      severity=WARNING)  # fmt: skip
    known = tasks.by_id()
    for task in tasks.tasks:
        for ref in task.after:
            if ref not in known:
                yield Finding(
                    "plan", "it waits for a task that is not there", _in_project(layout, task.file), task.line,
                    found=ref[:200], wanted="the id or the whole title of a task", severity=WARNING,
                )  # fmt: skip


def _in_project(layout: Layout, file: str) -> str:
    return os.path.join(os.path.relpath(layout.project, layout.root), file)


def _tasks(layout: Layout) -> Iterator[Finding]:
    for error in taskfile.read_all(layout)[1]:
        yield of_error("tasks", error)


def _run(layout: Layout) -> Iterator[Finding]:
    wishes = desired.read(layout)
    if wishes.problem:
        yield Finding("run", wishes.problem, severity=WARNING, todo="remove it; say again what is to be paused")
