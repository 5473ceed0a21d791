"""What people want: settings, seats, and the wishes of the command line, read again when their files changed.

A bad edit changes nothing: the last good settings (or the last good seat.md) stay, and the problem is said once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Any

from coleo.brain.facts import Rules
from coleo.files import desired, envfile, seatfile
from coleo.files import settings as settings_file
from coleo.files.layout import Layout
from coleo.files.settings import Settings
from coleo.harness import load as harnesses
from coleo.model.errors import ColeoError
from coleo.model.harness import Harness
from coleo.model.record import Record
from coleo.model.seat import SeatConfig


class SeatWish(Record):
    """One seat as its files want it. problem: why no arm can be started; key: changes when the files do."""

    config: SeatConfig
    harness: Harness | None
    problem: str
    key: str


class Wishes:
    """Settings, wishes and seats of one project. complain: one warning per key, ever."""

    def __init__(
        self,
        layout: Layout,
        overrides: Mapping[str, str],
        complain: Callable[[str, str], None],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._layout = layout
        self._overrides = overrides
        self._complain = complain
        self._environ = environ
        self.settings: Settings = Settings()
        self.desired = desired.Desired()
        self.seats: dict[str, SeatWish] = {}
        self._stamps: dict[str, tuple[tuple[int, int], ...]] = {}

    def start(self) -> None:
        """The first read. Raises BadInput with all problems of the settings."""
        loaded = settings_file.load(self._layout, self._overrides, self._environ)
        loaded.raise_if_bad()
        self.settings = loaded.settings
        self.desired = desired.read(self._layout)
        self._read_seats(set(), fully=True)

    def read(self, areas: set[str], *, fully: bool) -> None:
        """Look again at what may have changed."""
        if fully or "settings" in areas:
            self._read_settings()
        if fully or "requests" in areas:
            wishes = desired.read(self._layout)
            if wishes.problem:
                self._complain(f"desired {wishes.problem}", wishes.problem)
            else:
                self.desired = wishes
        self._read_seats({area.partition("/")[2] for area in areas if area.startswith("seat/")}, fully=fully)

    def _read_settings(self) -> None:
        if not self._changed("settings", [self._layout.config, self._layout.secrets_env]):
            return
        loaded = settings_file.load(self._layout, self._overrides, self._environ)
        try:
            loaded.raise_if_bad()
        except ColeoError as error:
            self._complain(f"settings {error}", f"the settings are wrong, the last good ones stay in force: {error}")
            return
        self.settings = loaded.settings

    def _read_seats(self, names: set[str], *, fully: bool) -> None:
        present = self._layout.seats_present() if fully or names else sorted(self.seats)
        for gone in set(self.seats) - set(present):
            self._gone(gone)
        for name in present:
            if name in self.seats and not fully and name not in names:
                continue
            paths = self._layout.seat(name)
            if self._changed(f"seat {name}", [paths.seat_md, paths.env, *self._harness_files(name)]):
                self.seats[name] = self._seat(name)

    def _gone(self, name: str) -> None:
        """A folder that vanished (a branch switch, a sweep) ends no arm; it only starts none."""
        text = f"the folder of seat {name} is gone; its arm, if one runs, is left alone"
        self.seats[name] = self.seats[name].replace(problem=text)
        self._stamps.pop(f"seat {name}", None)
        self._complain(f"gone {name}", text)

    def _harness_files(self, name: str) -> list[str]:
        wish = self.seats.get(name)
        return [os.path.join(self._layout.coleo, "harness", f"{wish.config.harness}.toml")] if wish else []

    def _changed(self, what: str, paths: list[str]) -> bool:
        stamp = tuple(_stamp(path) for path in paths)
        before, self._stamps[what] = self._stamps.get(what), stamp
        return before != stamp

    def _seat(self, name: str) -> SeatWish:
        """One seat; what is wrong with its files is its `problem`, and the last good configuration stays."""
        last = self.seats.get(name)
        key = self._key(name)
        try:
            config = seatfile.read(self._layout, name)
        except ColeoError as error:
            self._complain(f"seat {name} {key}", str(error))
            config = last.config if last else SeatConfig(name)
            return SeatWish(config, last.harness if last else None, str(error), key)
        try:
            harness = harnesses.load(config.harness, self._layout, self._environ)
        except ColeoError as error:
            self._complain(f"seat {name} {key}", f"seat {name}: {error}")
            return SeatWish(config, None, str(error), key)
        return SeatWish(config, harness, "", key)

    def _key(self, name: str) -> str:
        paths = self._layout.seat(name)
        found = hashlib.sha256()
        for path in (paths.seat_md, paths.env, *self._harness_files(name)):
            try:
                with open(path, "rb") as file:
                    found.update(file.read())
            except OSError:
                found.update(b"\0")
        return found.hexdigest()[:16]

    def rules(self) -> Rules:
        """The numbers for the brain."""
        brain = self.settings.brain
        return Rules(
            max_arms=brain.max_arms,
            grace_s=brain.arm_grace_period_minutes * 60.0,
            acknowledge_s=brain.claim_ack_minutes * 60.0,
            max_attempts=brain.max_attempts,
        )

    def placeholders(self, seat: str) -> dict[str, str]:
        """What ``{...}`` stands for in the harness of a seat."""
        paths = self._layout.seat(seat)
        return harnesses.values(
            project=self._layout.root,
            seat=seat,
            seat_dir=paths.dir,
            transcript=paths.transcript,
            run=self._layout.run,
            model=self.seats[seat].config.model or "",
        )

    def spec(self, seat: str, generation: int) -> dict[str, Any]:
        """What the host of this seat is to run, as fields of `HostSpec`. Raises ColeoError for what cannot be run."""
        wish = self.seats[seat]
        config, harness = wish.config, wish.harness
        if harness is None:
            raise ColeoError(wish.problem or "the seat has no harness")
        known = self.placeholders(seat)
        words = tuple(config.command) or harness.argv
        arguments = harnesses.argv((*words, *config.args), known)
        cwd = os.path.join(self._layout.root, config.working_directory or ".")
        environment = self._environment(seat, generation, config, harness, known)
        program = harnesses.program(arguments, environment, cwd, harness.name)
        return {
            "seat": seat,
            "generation": generation,
            "argv": (program, *arguments[1:]),
            "cwd": os.path.realpath(cwd),
            "env": tuple(sorted(environment.items())),
            "socket": self._layout.host_socket(seat),
            "harness": harness,
            "transcript": known["transcript"],
            "log": os.path.join(self._layout.run, "hosts", f"{seat}.log"),
        }

    def _environment(
        self, seat: str, generation: int, config: SeatConfig, harness: Harness, known: Mapping[str, str]
    ) -> dict[str, str]:
        paths = self._layout.seat(seat)
        extra = {name: harnesses.fill(value, known) for name, value in harness.env}
        zone = config.timezone or self.settings.timezone
        if zone:
            extra["TZ"] = zone
        extra |= {
            "COLEO_PROJECT": self._layout.root,
            "COLEO_SEAT": seat,
            "COLEO_SEAT_DIR": paths.dir,
            "COLEO_GENERATION": str(generation),
        }
        if self.settings.orchestrator:
            extra["COLEO_ORCHESTRATOR"] = self.settings.orchestrator
        found = envfile.arm_environment(
            self._environ,
            pass_env=config.pass_env,
            secrets=envfile.read(self._layout.secrets_env).values,
            seat_env=envfile.read(paths.env).values,
            extra=extra,
        )
        return {**found, "PATH": _with_coleo(found.get("PATH", os.defpath))}


def _with_coleo(path: str) -> str:
    """`path`, with the folder of the command ``coleo`` behind it when agents would not find it otherwise."""
    own = os.path.dirname(sys.executable)
    if shutil.which("coleo", path=path) is not None or not os.path.exists(os.path.join(own, "coleo")):
        return path
    return f"{path}{os.pathsep}{own}" if path else own


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_ino)
