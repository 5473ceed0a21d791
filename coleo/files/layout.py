"""Where everything lies: the only module that knows the names of folders and files (DESIGN.md section 4).

A command works from any folder below the project, through symlinks, and inside a seat by ``COLEO_PROJECT``.
"""

from __future__ import annotations

import os
import stat

from coleo.model.errors import BadInput
from coleo.model.names import RESERVED_SEATS, SEAT, check_message, check_seat, check_task
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: The folder that makes a folder a project.
MARK = ".project"

#: Probe files of vim: 4913, then up by 123 until a name is free.
_VIM_PROBES = frozenset(str(4913 + 123 * n) for n in range(8))
_JUNK_ENDS = ("~", ".swp", ".swo", ".swx", ".tmp", ".part", ".orig", ".rej")


class SeatPaths(Record):
    """The files of one seat; `transcript` lies with the machine's own files."""

    dir: str
    transcript: str

    @property
    def seat_md(self) -> str:
        """Settings (front matter) and character (body)."""
        return self._at("seat.md")

    @property
    def state_md(self) -> str:
        """Where this seat's work stands; the arm writes it."""
        return self._at("STATE.md")

    @property
    def inbox(self) -> str:
        """Messages that wait."""
        return self._at("inbox")

    @property
    def inflight(self) -> str:
        """Messages that are claimed, with their lease inside."""
        return self._at("inflight")

    @property
    def processed(self) -> str:
        """Messages with a receipt."""
        return self._at("processed")

    @property
    def dead(self) -> str:
        """Messages that were tried too often."""
        return self._at("dead")

    @property
    def quarantine(self) -> str:
        """What cannot be read as a message, each with a ``.reason``."""
        return self._at("quarantine")

    @property
    def env(self) -> str:
        """The seat's own secrets (0600)."""
        return self._at(".env")

    @property
    def skills(self) -> str:
        """``<name>/SKILL.md`` each."""
        return self._at("skills")

    @property
    def local(self) -> str:
        """The operator's contract: ``*.md``."""
        return self._at("local")

    @property
    def memory(self) -> str:
        """``YYYY-MM-DD.md`` each."""
        return self._at("memory")

    @property
    def record(self) -> str:
        """Reputation and lineage."""
        return self._at("record.json")

    @property
    def crons(self) -> str:
        """The seat's schedule."""
        return self._at("crons.json")

    @property
    def mailboxes(self) -> tuple[str, ...]:
        """The five folders that hold messages; private to the user."""
        return (self.inbox, self.inflight, self.processed, self.dead, self.quarantine)

    def _at(self, name: str) -> str:
        return os.path.join(self.dir, name)


class Layout(Record):
    """All paths of one project. root: the real path of the folder that holds ``.project/``."""

    root: str

    @property
    def project(self) -> str:
        """``.project/``: what people read, edit and commit."""
        return os.path.join(self.root, MARK)

    @property
    def plan(self) -> str:
        """What is to be done."""
        return self._people("plan.md")

    @property
    def inbox(self) -> str:
        """Where a thought is dropped."""
        return self._people("inbox.md")

    @property
    def tasks(self) -> str:
        """``<id>-<slug>.md``: tasks that somebody has touched."""
        return self._people("tasks")

    @property
    def proposals(self) -> str:
        """Proposals with their votes."""
        return self._people("proposals")

    @property
    def approvals(self) -> str:
        """Questions to a person, and the answers."""
        return self._people("approvals")

    @property
    def archive(self) -> str:
        """``inbox-<utc date>.md``: every byte that the inbox ever held."""
        return self._people("archive")

    @property
    def seats(self) -> str:
        """One folder for each seat."""
        return self._people("seats")

    @property
    def coleo(self) -> str:
        """``.coleo/``: settings and the machine's own."""
        return os.path.join(self.root, ".coleo")

    @property
    def config(self) -> str:
        """The project's settings."""
        return self._own("config.toml")

    @property
    def secrets_env(self) -> str:
        """Secrets of all seats (0600)."""
        return self._own("secrets.env")

    @property
    def schemas(self) -> str:
        """JSON Schemas of the files that people edit."""
        return self._own("schemas")

    @property
    def activity(self) -> str:
        """``<utc date>.jsonl`` each."""
        return self._own("activity")

    @property
    def run(self) -> str:
        """Can be deleted at any time; everything in it is found or made again."""
        return self._own("run")

    @property
    def locks(self) -> str:
        """Kernel locks, one file for each; never unlinked."""
        return self._run("locks")

    @property
    def claims(self) -> str:
        """Who holds which task."""
        return self._run("claims")

    @property
    def arms(self) -> str:
        """What is recorded of each seat's arm."""
        return self._run("arms")

    @property
    def heartbeats(self) -> str:
        """Signs of life: the model's and the daemon's."""
        return self._run("heartbeats")

    @property
    def reports(self) -> str:
        """Bug reports."""
        return self._run("reports")

    @property
    def cache(self) -> str:
        """What can be computed again."""
        return self._run("cache")

    @property
    def prompts(self) -> str:
        """Long texts that a prompt points to."""
        return self._run("prompts")

    @property
    def hosts(self) -> str:
        """Sockets and specs of the hosts."""
        return self._run("hosts")

    @property
    def transcripts(self) -> str:
        """Transcripts of the arms whose harness writes one here."""
        return self._run("transcripts")

    @property
    def brain_socket(self) -> str:
        """The doorbell of the brain."""
        return self._run("brain.sock")

    @property
    def journal(self) -> str:
        """Edits of people's files that are under way (see `coleo.files.inplace`)."""
        return self._run("journal")

    @property
    def key(self) -> str:
        """The key that messages are signed with, where there is one."""
        return self._run("signing.key")

    def seat(self, name: str) -> SeatPaths:
        """The paths of a seat, whether it exists or not. BadInput for what is no seat name."""
        check_seat(name)
        return SeatPaths(os.path.join(self.seats, name), os.path.join(self.transcripts, f"{name}.jsonl"))

    def lock(self, name: str) -> str:
        """The lock file of this name, e.g. ``brain``, ``activity``, ``task-<id>``."""
        return os.path.join(self.locks, f"{check_message(name)}.lock")

    def claim(self, task_id: str) -> str:
        """The claim on a task. BadInput for what is no task id."""
        return os.path.join(self.claims, f"{check_task(task_id)}.json")

    def arm(self, seat: str) -> str:
        """The record of a seat's arm."""
        return os.path.join(self.arms, f"{check_seat(seat)}.json")

    def heartbeat(self, seat: str) -> str:
        """The heartbeats of a seat."""
        return os.path.join(self.heartbeats, f"{check_seat(seat)}.json")

    def host_socket(self, seat: str) -> str:
        """Where the host of a seat listens."""
        return os.path.join(self.hosts, f"{check_seat(seat)}.sock")

    def host_spec(self, seat: str) -> str:
        """What the host of a seat was told to run."""
        return os.path.join(self.hosts, f"{check_seat(seat)}.json")

    def seats_present(self) -> list[str]:
        """The seats that exist, sorted: folders with a seat's name that hold a ``seat.md`` (cases c08, c10)."""
        try:
            names = os.listdir(self.seats)
        except OSError:
            return []
        return sorted(
            name
            for name in names
            if SEAT.fullmatch(name)
            and name not in RESERVED_SEATS
            and os.path.isfile(os.path.join(self.seats, name, "seat.md"))
        )

    def _people(self, name: str) -> str:
        return os.path.join(self.root, MARK, name)

    def _own(self, name: str) -> str:
        return os.path.join(self.root, ".coleo", name)

    def _run(self, name: str) -> str:
        return os.path.join(self.root, ".coleo", "run", name)


def find(start: str | None = None, environ: Mapping[str, str] = os.environ) -> Layout:
    """The project that `start` lies in: the nearest folder from there upwards with a ``.project/`` in it.

    start: None for ``COLEO_PROJECT`` when it is set, else the current folder. The real path counts, so that a symlink
    leads to the project of its target, and a project inside of another is its own (case b12). Raises BadInput.
    """
    named = environ.get("COLEO_PROJECT")
    if named and start is None:
        root = os.path.realpath(named)
        if os.path.basename(root) == MARK:
            root = os.path.dirname(root)
        if not os.path.isdir(os.path.join(root, MARK)):
            raise BadInput(
                "COLEO_PROJECT names no project",
                found=named,
                wanted="the folder that holds .project/",
                todo="unset COLEO_PROJECT, or coleo init there",
            )
        return Layout(root)
    try:
        folder = os.path.realpath(os.getcwd() if start is None else start)
    except FileNotFoundError:
        raise BadInput("the current folder has been deleted", todo="cd to a folder that exists") from None
    below = folder
    while not os.path.isdir(os.path.join(folder, MARK)):
        above = os.path.dirname(folder)
        if above == folder:
            raise BadInput(
                "no project here", found=below, wanted="a folder with .project/ in it, or one below", todo="coleo init"
            )
        folder = above
    return Layout(folder)


def user_folder(environ: Mapping[str, str] = os.environ) -> str:
    """``~/.coleo``: what holds for all projects of a user."""
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(home, ".coleo")


def user_config(environ: Mapping[str, str] = os.environ) -> str:
    """``~/.coleo/config.toml``: the user's settings for all projects."""
    return os.path.join(user_folder(environ), "config.toml")


def is_junk(name: str) -> bool:
    """Names of editors, locks and half-written files, to be skipped before any stat (cases c08, c10)."""
    return name.startswith((".", "#")) or name.endswith(_JUNK_ENDS) or name in _VIM_PROBES


def make_private(path: str) -> None:
    """A folder that only its owner can enter, whatever the umask (case h06): made with all above it that is missing.

    One that others can enter is closed to them, if it is ours.
    """
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        found = os.stat(path)
        if not stat.S_ISDIR(found.st_mode):
            raise
        if found.st_mode & 0o077 and found.st_uid == os.geteuid():
            os.chmod(path, 0o700)
        return
    except FileNotFoundError:
        above = os.path.dirname(path)
        if above == path:
            raise
        make_private(above)
        make_private(path)
        return
    if os.stat(path).st_mode & 0o777 != 0o700:
        os.chmod(path, 0o700)
