"""Where everything lies: one resolver for all paths of a project (DESIGN.md section 4).

Paths are strings. A name that becomes part of a path is checked here first, so no other room builds paths from names.
"""

from __future__ import annotations

import os

from coleo.model.errors import BadInput
from coleo.model.names import RESERVED_SEATS, SEAT, check_message, check_seat, check_task
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_JUNK_ENDINGS = ("~", ".swp", ".swo", ".swx", ".tmp", ".part", ".bak~", ".orig", ".rej")


def is_junk(name: str) -> bool:
    """Whether a file name is an editor's or a writer's own affair: skipped before it is even looked at (c08, c10)."""
    if not name or name[0] in ".#" or name == "4913":
        return True
    return name.endswith(_JUNK_ENDINGS)


def make_private(path: str) -> None:
    """Make a folder and its missing parents, each 0700 whatever the umask (case h06)."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        make_private(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    os.chmod(path, 0o700)


class SeatPaths(Record):
    """The files of one seat. `dir` is ``.project/seats/<seat>``."""

    dir: str
    transcript: str

    def _in(self, *parts: str) -> str:
        return os.path.join(self.dir, *parts)

    @property
    def seat_md(self) -> str:
        """Front matter: the seat's configuration. Body: who sits here."""
        return self._in("seat.md")

    @property
    def state_md(self) -> str:
        """Where this seat's work stands."""
        return self._in("STATE.md")

    @property
    def inbox(self) -> str:
        """Messages that wait."""
        return self._in("inbox")

    @property
    def inflight(self) -> str:
        """Messages that were taken and have no receipt yet."""
        return self._in("inflight")

    @property
    def processed(self) -> str:
        """Messages that the agent has."""
        return self._in("processed")

    @property
    def dead(self) -> str:
        """Messages that could not be delivered."""
        return self._in("dead")

    @property
    def quarantine(self) -> str:
        """Files that are no messages."""
        return self._in("quarantine")

    @property
    def env(self) -> str:
        """This seat's secrets."""
        return self._in(".env")

    @property
    def skills(self) -> str:
        """Folders with a SKILL.md."""
        return self._in("skills")

    @property
    def local(self) -> str:
        """The operator's contract, ``local/*.md``."""
        return self._in("local")

    @property
    def memory(self) -> str:
        """Daily memory, ``memory/YYYY-MM-DD.md``."""
        return self._in("memory")

    @property
    def record(self) -> str:
        """Reputation and lineage."""
        return self._in("record.json")

    @property
    def crons(self) -> str:
        """The seat's schedule."""
        return self._in("crons.json")


class Layout(Record):
    """One project. root: the real path of the folder that holds ``.project/``."""

    root: str

    def _project(self, *parts: str) -> str:
        return os.path.join(self.root, ".project", *parts)

    def _coleo(self, *parts: str) -> str:
        return os.path.join(self.root, ".coleo", *parts)

    @property
    def project(self) -> str:
        """What people read, edit and commit."""
        return self._project()

    @property
    def plan(self) -> str:
        """What is to be done."""
        return self._project("plan.md")

    @property
    def inbox(self) -> str:
        """Where thoughts are dropped."""
        return self._project("inbox.md")

    @property
    def tasks(self) -> str:
        """Files of touched tasks."""
        return self._project("tasks")

    @property
    def proposals(self) -> str:
        """Proposals and their votes."""
        return self._project("proposals")

    @property
    def approvals(self) -> str:
        """Questions to a person."""
        return self._project("approvals")

    @property
    def archive(self) -> str:
        """Every byte that inbox.md ever held."""
        return self._project("archive")

    @property
    def seats(self) -> str:
        """One folder per seat."""
        return self._project("seats")

    @property
    def coleo(self) -> str:
        """Settings, log, and the machine's own."""
        return self._coleo()

    @property
    def config(self) -> str:
        """This project's settings."""
        return self._coleo("config.toml")

    @property
    def secrets_env(self) -> str:
        """All seats' secrets."""
        return self._coleo("secrets.env")

    @property
    def activity(self) -> str:
        """The activity log, one file a day."""
        return self._coleo("activity")

    @property
    def run(self) -> str:
        """The machine's own: may be deleted at any time."""
        return self._coleo("run")

    @property
    def locks(self) -> str:
        """Lock files; never unlinked."""
        return self._coleo("run", "locks")

    @property
    def claims(self) -> str:
        """Who holds which task."""
        return self._coleo("run", "claims")

    @property
    def arms(self) -> str:
        """What is recorded of each arm."""
        return self._coleo("run", "arms")

    @property
    def heartbeats(self) -> str:
        """Heartbeats of models and of the daemon."""
        return self._coleo("run", "heartbeats")

    @property
    def reports(self) -> str:
        """Bug reports."""
        return self._coleo("run", "reports")

    @property
    def cache(self) -> str:
        """What can be made again from files."""
        return self._coleo("run", "cache")

    @property
    def prompts(self) -> str:
        """Long texts to which a prompt points, a folder per seat."""
        return self._coleo("run", "prompts")

    @property
    def journal(self) -> str:
        """Changes of people's files that are under way."""
        return self._coleo("run", "journal")

    @property
    def key(self) -> str:
        """The key that signs messages, when there is one."""
        return self._coleo("run", "signing.key")

    @property
    def brain_socket(self) -> str:
        """The doorbell."""
        return self._coleo("run", "brain.sock")

    def seat(self, name: str) -> SeatPaths:
        """The files of a seat. BadInput for what is no seat name."""
        check_seat(name)
        return SeatPaths(self._project("seats", name), self._coleo("run", "transcripts", f"{name}.jsonl"))

    def lock(self, name: str) -> str:
        """A lock file. name: such as ``brain``, ``task-<id>``, ``mail-<seat>``."""
        return self._coleo("run", "locks", f"{check_message(name)}.lock")

    def claim(self, task_id: str) -> str:
        """The claim on a task."""
        return self._coleo("run", "claims", f"{check_task(task_id)}.json")

    def arm(self, seat: str) -> str:
        """The record of a seat's arm."""
        return self._coleo("run", "arms", f"{check_seat(seat)}.json")

    def heartbeat(self, seat: str) -> str:
        """The heartbeats of a seat."""
        return self._coleo("run", "heartbeats", f"{check_seat(seat)}.json")

    def host_socket(self, seat: str) -> str:
        """Where a seat's host listens."""
        return self._coleo("run", "hosts", f"{check_seat(seat)}.sock")

    def host_spec(self, seat: str) -> str:
        """What a seat's host is to run."""
        return self._coleo("run", "hosts", f"{check_seat(seat)}.json")

    def seats_present(self) -> list[str]:
        """The seats that are laid out: folders with a valid name and a seat.md, sorted."""
        try:
            names = os.listdir(self.seats)
        except OSError:
            return []
        valid = [name for name in names if SEAT.fullmatch(name) and name not in RESERVED_SEATS]
        return sorted(name for name in valid if os.path.isfile(self._project("seats", name, "seat.md")))


def find(start: str | None = None, environ: Mapping[str, str] = os.environ) -> Layout:
    """The project that `start` (default: the current folder) lies in; ``COLEO_PROJECT`` comes first.

    The nearest ``.project`` above the real path wins, so a nested project is its own and a symlink leads to the same
    project as its target (case b12). BadInput when there is none.
    """
    named = environ.get("COLEO_PROJECT", "")
    if named and start is None:
        root = os.path.realpath(named)
        if os.path.isdir(os.path.join(root, ".project")):
            return Layout(root)
        raise BadInput("COLEO_PROJECT names no project", found=named, wanted="a folder that holds .project/")
    begin = os.path.realpath(start if start is not None else os.getcwd())
    here = begin
    while True:
        if os.path.isdir(os.path.join(here, ".project")):
            return Layout(here)
        above = os.path.dirname(here)
        if above == here:
            raise BadInput(
                "no project here",
                found=begin,
                wanted="a folder with .project/ in it or above it",
                todo="make one with: coleo init",
            )
        here = above


def user_config(environ: Mapping[str, str] = os.environ) -> str:
    """The user's own settings file."""
    return os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".coleo", "config.toml")
