"""``seat.md``: the front matter is a seat's configuration, the body says who sits there (DESIGN.md section 10).

Reading goes through python-frontmatter behind a guard: where the front matter begins and ends is ours to say
(`coleo.files.front`), for the package loses it after a BOM and takes a horizontal rule for its beginning; what it
means is YAML 1.2, with a key that comes twice refused. Changing one key leaves every other byte as it is
(`coleo.files.yamledit`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, model_validator

from coleo.files import atomic, checked, front, inplace, yamledit
from coleo.files.checked import Strict, Zone
from coleo.files.layout import Layout
from coleo.model.errors import BadInput, CannotBeDone
from coleo.model.problem import WARNING, Problem, raise_if_any
from coleo.model.record import Record
from coleo.model.seat import McpServer, SeatConfig

#: No character of anybody is larger; a file of megabytes is a mistake.
LIMIT = 1 << 20

_HINTS = {
    "dangerously_skip_permissions": "skip_permissions",
    "startup_delay": "startup_delay_s",
    "name": "nothing: a seat's name is that of its folder",
    "seat": "nothing: a seat's name is that of its folder",
}


def _variable(name: str) -> str:
    if not (name.isascii() and name.replace("_", "a").isalnum()) or name[0].isdigit():
        raise ValueError("the name of a variable")
    if name.startswith("COLEO_"):
        raise ValueError("a variable that is not coleo's own: COLEO_* is set by coleo")
    return name


def _harness(name: str) -> str:
    if not name.replace("-", "a").replace("_", "a").isalnum() or not name.isascii() or name != name.lower():
        raise ValueError("the name of a harness, such as shell or claude")
    return name


class McpFile(Strict):
    """One server under ``mcp``."""

    command: list[str] = Field(default_factory=list)
    """The program that is the server, and its arguments."""
    url: str = ""
    """Where a server that runs already is reached."""
    env: dict[str, str] = Field(default_factory=dict)
    """Variables for the program. No secrets: those belong into the seat's .env."""

    @model_validator(mode="after")
    def _one_way(self) -> McpFile:
        if bool(self.command) == bool(self.url):
            raise ValueError("either command or url")
        return self


class SeatFile(Strict):
    """The front matter of seat.md. Every key may be left out."""

    enabled: bool = True
    """Whether an agent is started in this seat."""
    harness: Annotated[str, AfterValidator(_harness)] = "shell"
    """The agent program: the name of a harness file."""
    model: str = ""
    """The model that the agent is asked to use; empty for its own default."""
    account: str = ""
    """The account that pays. Seats that share one are parked together when its quota is used up."""
    working_directory: str = ""
    """Where the agent starts, relative to the project's root; empty for the root."""
    worktree: bool = False
    """Whether the agent works in a git worktree of its own."""
    command: list[str] = Field(default_factory=list)
    """A command line that replaces the harness's own."""
    args: list[str] = Field(default_factory=list)
    """Arguments that are added to the command line."""
    startup_delay_s: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    """Seconds to wait before the agent is started."""
    timezone: Zone = ""
    """Time zone of the seat's schedules, also given to the agent as TZ; empty for the project's."""
    max_session_seconds: Annotated[int, Field(ge=60, le=31_536_000)] = 255_600
    """How long one conversation may last before a fresh one is begun."""
    skip_permissions: bool = True
    """Whether the agent works without asking for permission. coleo's guards run either way."""
    auto_trust: bool = False
    """Whether coleo may confirm the agent's question whether it trusts this folder."""
    pass_env: list[Annotated[str, AfterValidator(_variable)]] = Field(default_factory=list)
    """Names of environment variables that the agent gets besides the usual ones."""
    mcp: dict[str, McpFile] = Field(default_factory=dict)
    """Servers of the Model Context Protocol for the agent."""
    ctx_warning_threshold: Annotated[int, Field(ge=1, le=100)] = 30
    """Per cent of the context window at which the agent is warned."""
    ctx_handoff_threshold: Annotated[int, Field(ge=1, le=100)] = 60
    """Per cent of the context window at which it hands over to a fresh conversation."""
    max_crashes: Annotated[int, Field(ge=1, le=100)] = 5
    """Early deaths in a row until the seat is parked."""
    verify: str = ""
    """A shell command that must succeed before a task of this seat counts as done."""
    trust: Literal["people", "agents"] = "people"
    """Whose tasks the shell harness runs: those that people wrote, or agents' too."""
    personality: str = ""
    """How the one who sits here works, in some sentences."""
    convictions: list[str] = Field(default_factory=list)
    """What the one who sits here believes."""
    telegram: bool = False
    """Whether the seat is reached by Telegram (BOT_TOKEN, CHAT_ID, ALLOWED_USER in its .env)."""


class SeatRead(Record):
    """A seat's file. config: with what is right in it; problems: everything that is wrong; body: the Markdown."""

    config: SeatConfig
    problems: tuple[Problem, ...] = ()
    body: str = ""


def read(layout: Layout, seat: str) -> SeatConfig:
    """The configuration of a seat. BadInput with all errors of its file at once."""
    found = look(layout, seat)
    raise_if_any(found.problems, f"the seat.md of {seat}")
    return found.config


def look(layout: Layout, seat: str) -> SeatRead:
    """The seat's file with all its problems, warnings too. BadInput only for what is no seat name."""
    path = layout.seat(seat).seat_md
    try:
        data = atomic.read(path, limit=LIMIT + 1)
    except OSError as error:
        return SeatRead(SeatConfig(seat), (Problem(path, None, "", error.strerror or "", "a file that can be read"),))
    if data is None:
        return SeatRead(SeatConfig(seat), (Problem(path, None, "", "no file", "a seat.md"),))
    read = parse(data, path, seat)
    return read.replace(problems=(*read.problems, *_folder(layout, read.config, path)))


def parse(data: bytes, path: str, seat: str) -> SeatRead:
    """`look` for bytes; never raises."""
    if len(data) > LIMIT:
        return SeatRead(SeatConfig(seat), (Problem(path, None, "", "more than 1 MiB", "a seat.md"),))
    try:
        data.decode("utf-8")
        parts = front.split(data)
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        return SeatRead(SeatConfig(seat), (Problem(path, at, "", f"byte {data[error.start]:#04x}", "text in UTF-8"),))
    except front.BadFront as error:
        return SeatRead(SeatConfig(seat), (Problem(path, error.line, "", error.reason, "a line --- that closes it"),))
    if parts is None:
        return SeatRead(SeatConfig(seat), body=data.decode("utf-8-sig"))
    body = parts.body.decode("utf-8")
    block = parts.block.decode("utf-8").replace("\r\n", "\n")
    try:
        table, lines = yamledit.load(block)
    except yamledit.BadYaml as error:
        return SeatRead(SeatConfig(seat), (Problem(path, error.line + 1, "", error.reason, "YAML"),), body)

    def line(where: checked.Path) -> int | None:
        at = yamledit.line_of(lines, where)
        return None if at is None else at + 1

    given = {name: value for name, value in table.items() if value is not None}
    right, problems = checked.read_table(SeatFile, given, path, line, hints=_HINTS)
    config = _config(seat, right)
    if config.ctx_warning_threshold >= config.ctx_handoff_threshold:
        problems.append(
            Problem(
                path,
                line(("ctx_warning_threshold",)) or line(("ctx_handoff_threshold",)),
                "ctx_warning_threshold",
                f"integer {config.ctx_warning_threshold}",
                f"less than ctx_handoff_threshold ({config.ctx_handoff_threshold})",
            )
        )
    return SeatRead(config, tuple(problems), body)


def _config(seat: str, right: Mapping[str, Any]) -> SeatConfig:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in right.items()}
    values["mcp"] = tuple(
        McpServer(name, tuple(one.get("command", ())), one.get("url", ""), tuple(one.get("env", {}).items()))
        for name, one in right.get("mcp", {}).items()
    )
    return SeatConfig(seat, **values)


def working_directory(layout: Layout, config: SeatConfig) -> str:
    """Where the agent of a seat starts: relative paths begin at the project's root."""
    return os.path.realpath(os.path.join(layout.root, config.working_directory or "."))


def _folder(layout: Layout, config: SeatConfig, path: str) -> list[Problem]:
    if os.path.isdir(working_directory(layout, config)):
        return []
    wanted = "a folder that is there, relative to the project's root"
    return [Problem(path, None, "working_directory", checked.found(config.working_directory), wanted, WARNING)]


def set_key(layout: Layout, seat: str, key: str, value: Any) -> None:
    """Change one key of a seat's front matter (None: take it out); every other byte of the file stays.

    value: of the key's type, or text as on a command line (``true``, ``30``, ``[a, b]``). BadInput for an unknown
    key, a wrong value, or front matter that is broken already; CannotBeDone while somebody keeps the file open.
    """
    path = layout.seat(seat).seat_md
    if key not in SeatFile.model_fields:
        near = _HINTS.get(key) or checked.nearest(key, list(SeatFile.model_fields))
        raise BadInput("no such key in seat.md", found=key, wanted=near or ", ".join(SeatFile.model_fields))
    wanted = None if value is None else _value(key, value)

    def change(data: bytes) -> None:
        before = parse(data, path, seat)
        raise_if_any([one for one in before.problems if not one.key], f"the seat.md of {seat}")
        new = _changed(data, key, wanted)
        known = {(one.key, one.wanted) for one in before.problems}
        worse = [one for one in parse(new, path, seat).problems if (one.key, one.wanted) not in known]
        raise_if_any(worse, f"the seat.md of {seat}")
        inplace.replace(path, data, new, layout.journal)

    try:
        inplace.retrying(change, path)
    except FileNotFoundError:
        raise BadInput("no such seat", found=seat, wanted=", ".join(layout.seats_present()) or "a seat") from None
    except (inplace.Busy, inplace.Changed):
        raise CannotBeDone(
            "somebody is writing to this file", file=path, todo="save and close it, then again"
        ) from None


def _changed(data: bytes, key: str, value: Any) -> bytes:
    parts = front.split(data)
    end = "\r\n" if b"\r\n" in data[:4096] else "\n"
    if parts is None:
        bom = front.BOM if data.startswith(front.BOM) else b""
        block = yamledit.change("", {key: value}, end).encode()
        rule = b"---" + end.encode()
        return bom + rule + block + rule + data[len(bom) :]
    block = yamledit.change(parts.block.decode("utf-8"), {key: value}, end).encode()
    return parts.head + block + parts.tail


def _value(key: str, value: Any) -> Any:
    """A value as it is to stand in the file; BadInput when the key does not take it."""
    model: type[BaseModel] = SeatFile
    if isinstance(value, str):
        kind = checked.adapter(model, key).json_schema().get("type")
        try:
            if kind not in ("array", "object"):
                return checked.parse_text(model, key, value)
            value = yamledit.load_value(value)
        except ValueError as error:
            raise BadInput(f"{key} does not take this", found=checked.found(value), wanted=str(error)) from None
        if kind == "array" and not isinstance(value, list):
            value = [str(value)]
    if isinstance(value, tuple):
        value = list(value)
    _right, problems = checked.read_table(SeatFile, {key: value}, "seat.md", lambda _path: None)
    if problems:
        one = problems[0]
        raise BadInput(f"{key} does not take this", found=one.found, wanted=one.wanted)
    return value
