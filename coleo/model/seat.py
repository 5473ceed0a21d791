"""What a person has set for one seat: the front matter of its ``seat.md``, checked (DESIGN.md section 10)."""

from __future__ import annotations

from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Who may put work before a seat that runs what it reads: people only, or agents too.
TRUST = ("people", "agents")


class McpServer(Record):
    """A server of the Model Context Protocol that the agent gets from its start. Either `command` or `url`."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: tuple[tuple[str, str], ...] = ()


class SeatConfig(Record):
    """The settings of one seat; every field but `seat` has the default that a missing key stands for.

    harness: the agent program. model, account: passed to it; seats of one account share its quota. working_directory:
    where the agent starts, as it is written: relative to the project's root, or absolute. command: replaces the
    harness's command line; args: come after it. skip_permissions: the agent does not ask before it uses a tool.
    auto_trust: coleo may confirm the agent's question whether it trusts the folder. pass_env: names of variables
    that are let through. ctx_*: per cent of the context window. max_crashes: deaths in a row until the seat is
    parked. verify: what must pass before a task counts as done. trust: who may put work before a seat that runs
    what it reads (``people``, ``agents``).
    """

    seat: str
    enabled: bool = True
    harness: str = "shell"
    model: str = ""
    account: str = ""
    working_directory: str = ""
    worktree: bool = False
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    startup_delay_s: float = 0.0
    timezone: str = ""
    max_session_seconds: int = 255_600
    skip_permissions: bool = True
    auto_trust: bool = False
    pass_env: tuple[str, ...] = ()
    mcp: tuple[McpServer, ...] = ()
    ctx_warning_threshold: int = 30
    ctx_handoff_threshold: int = 60
    max_crashes: int = 5
    verify: str = ""
    trust: str = "people"
    personality: str = ""
    convictions: tuple[str, ...] = ()
    telegram: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``: the fields by name, servers as tables of their own."""
        return {**super().as_dict(), "mcp": [server.as_dict() for server in self.mcp]}
