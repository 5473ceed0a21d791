"""Cases of the files room: state files, the activity log, secrets, editors' litter, forged pids.

f07 g01 g03 g05 g10 g13 h03 h09 c08; those about settings and permissions are in test_files_settings.py.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from coleo.files import activity, arms, atomic, envfile, history, inplace, locks, mail, process
from coleo.files.layout import Layout, is_junk, make_private
from coleo.files.redact import redact_value
from coleo.model.arm import Arm, ArmState, ProcessId
from tests.files.project import NOW, lay, log

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).resolve().parent.parent.parent


def expected(case_id: str) -> Any:
    return json.loads((DATA / case_id / "expected.json").read_bytes())


def day_file(layout: Layout, data: bytes = b"") -> Path:
    """The activity file of NOW's day, with these bytes."""
    os.makedirs(layout.activity, mode=0o700)
    path = Path(activity.path_of(layout, NOW))
    path.write_bytes(data)
    return path


# f07: disk full, power cut.


@contextmanager
def file_size_limit(bytes_: int) -> Iterator[None]:
    """Every write beyond so many bytes of a file fails, as on a full disk; the first takes what fits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_f07_a_full_disk_leaves_the_old_state_and_no_temp_file(tmp_path: Path) -> None:
    """The kernel itself takes half of a write and then refuses: state, people's file, message and log."""
    layout = lay(tmp_path, "ada", plan="# Plan\n- [ ] one\n")
    make_private(layout.arms)
    old = Arm("ada", ArmState.IDLE, 1.0)
    arms.write(layout, old)
    plan = Path(layout.plan).read_bytes()
    with file_size_limit(2000):
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            arms.write(layout, old.replace(evidence="x" * 5000))
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            inplace.append(layout.plan, plan, b"- [ ] two\n" * 300, layout.journal)
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            mail.send(layout, "ada", "human", "y" * 5000, now=NOW)
        assert activity.append(layout, "notice", now=NOW, text="z" * 5000) is False
        # What fits still works: the loop goes on.
        inplace.set_byte(layout.plan, plan, plan.index(b"[ ]") + 1, ord("x"))
        assert activity.append(layout, "notice", now=NOW, text="short") is True
    assert arms.read(layout, "ada") == old
    assert Path(layout.plan).read_bytes() == plan.replace(b"[ ]", b"[x]")
    assert mail.scan(layout, "ada", NOW).messages == ()
    assert [entry["text"] for entry in log(layout, "notice")] == ["short"]
    assert inplace.recover(layout.journal) == []
    litter = [path for path in tmp_path.rglob("*") if path.name.endswith((".tmp", ".change", ".kept"))]
    assert litter == []


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="mounting takes root")
def test_f07_a_full_file_system(tmp_path: Path) -> None:
    """A tmpfs of 2 MiB, filled to the last block."""
    root = tmp_path / "disk"
    root.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(root)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no mounting here: {mounted.stderr.decode().strip()}")
    try:
        layout = lay(root, "ada", plan="# Plan\n- [ ] one\n")
        atomic.write_json(layout.seat("ada").crons, {"crons": []})
        assert activity.append(layout, "notice", now=NOW, text="before")
        plan = Path(layout.plan).read_bytes()
        with open(root / "filler", "wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
            while filler.write(b"\0" * 4096):
                pass
        with pytest.raises(OSError, match="No space"):
            atomic.write_json(layout.seat("ada").crons, {"crons": ["x" * 9000]})
        with pytest.raises(OSError, match="No space"):
            mail.send(layout, "ada", "human", "y" * 9000, now=NOW)
        with pytest.raises(OSError, match="No space"):
            inplace.append(layout.plan, plan, b"- [ ] two\n" * 3000, layout.journal)
        assert activity.append(layout, "notice", now=NOW, text="z" * 9000) is False
        inplace.set_byte(layout.plan, plan, plan.index(b"[ ]") + 1, ord("x"))
        assert atomic.read_json(layout.seat("ada").crons) == {"crons": []}
        assert Path(layout.plan).read_bytes() == plan.replace(b"[ ]", b"[x]")
        assert [path for path in root.rglob("*") if path.name.endswith((".tmp", ".change"))] == []
        os.unlink(root / "filler")
        assert activity.append(layout, "notice", now=NOW, text="after")
        assert [entry["text"] for entry in log(layout, "notice")] == ["before", "after"]
    finally:
        subprocess.run(["umount", str(root)], check=True)


def test_f07_writes_that_take_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """os.write that returns half of what it was given: nothing is cut at a page."""
    write, pwrite = os.write, os.pwrite
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, bytes(data)[: (len(data) + 1) // 2]))
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: pwrite(fd, bytes(data)[: (len(data) + 1) // 2], at))
    layout = lay(tmp_path, "ada", plan="# Plan\n")
    value = {"crons": [{"name": f"n{number}"} for number in range(900)]}
    atomic.write_json(layout.seat("ada").crons, value)
    assert atomic.read_json(layout.seat("ada").crons) == value
    inplace.append(layout.plan, b"# Plan\n", b"a" * 9000, layout.journal)
    inplace.replace(layout.plan, b"# Plan\n" + b"a" * 9000, b"b" * 5000, layout.journal)
    assert Path(layout.plan).read_bytes() == b"b" * 5000
    assert activity.append(layout, "notice", now=NOW, text="z" * 5000)
    assert log(layout)[0]["text"] == "z" * 5000


# g01, g13: torn and bad lines.


def test_g01_a_torn_tail_is_closed_before_the_next_line(tmp_path: Path) -> None:
    """Byte for byte what the case wants, and the reader skips exactly the torn line."""
    layout = lay(tmp_path)
    path = day_file(layout, (DATA / "g01" / "activity.jsonl").read_bytes())
    line = (DATA / "g01" / "append.json").read_bytes().rstrip(b"\n") + b"\n"
    activity._write(layout, line, str(path))
    assert path.read_bytes() == (DATA / "g01" / "activity.after.jsonl").read_bytes()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == expected("g01")["after_sha256"]
    skipped = history.Skipped()
    assert [entry["n"] for entry in history.tail(layout, 9, skipped=skipped)] == expected("g01")["readable"]
    assert skipped.lines == expected("g01")["skipped_lines"]


def test_g13_bad_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    """In both directions of reading."""
    layout = lay(tmp_path)
    path = day_file(layout, (DATA / "g13" / "activity.jsonl").read_bytes())
    want = expected("g13")
    back, forth = history.Skipped(), history.Skipped()
    assert [entry["n"] for entry in history.tail(layout, 99, skipped=back)] == want["readable"]
    assert [entry["n"] for entry in history.read(str(path), forth)] == want["readable"]
    for skipped in (back, forth):
        assert (skipped.lines, skipped.blank) == (want["skipped_lines"], want["blank_lines"])


# g03: many writers.


APPENDER = """
import sys
from coleo.files import activity
from coleo.files.layout import Layout
layout, me = Layout(sys.argv[1]), sys.argv[2]
for number in range(200):
    assert activity.append(layout, "notice", now=1764496800.0, seat=me, n=number, text=me * 16384)
"""


def test_g03_eight_writers_and_a_reader(tmp_path: Path) -> None:
    """1600 lines of 16 KiB, each from one writer and in its order; who reads meanwhile sees whole lines only."""
    layout = lay(tmp_path)
    names = "abcdefgh"
    writers = [
        subprocess.Popen([sys.executable, "-c", APPENDER, layout.root, name], cwd=ROOT, env=_quick()) for name in names
    ]
    while any(writer.poll() is None for writer in writers):
        skipped = history.Skipped()
        for entry in history.tail(layout, 50, skipped=skipped):
            assert entry["text"] == str(entry["seat"]) * 16384
        assert skipped.lines <= 1, "at most the line that is being written"
    assert [writer.returncode for writer in writers] == [0] * 8
    entries = list(history.read(activity.path_of(layout, NOW)))
    assert len(entries) == 1600
    for name in names:
        assert [entry["n"] for entry in entries if entry["seat"] == name] == list(range(200))


def _quick() -> dict[str, str]:
    """The environment, with byte code that may be kept: eight interpreters need not compile the same files."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


# g05: long lines.


def test_g05_the_writer_cuts_strings_and_says_how_long_they_were(tmp_path: Path) -> None:
    """12 MB become 16 KiB."""
    layout = lay(tmp_path)
    assert activity.append(layout, "notice", now=NOW, text="x" * 12_000_000)
    path = Path(activity.path_of(layout, NOW))
    assert path.stat().st_size < 64 * 1024
    assert str(log(layout)[0]["text"]).endswith("[cut: 12000000 bytes]")


TAIL = """
import json, sys
from coleo.files import history
from coleo.files.layout import Layout
skipped = history.Skipped()
found = history.tail(Layout(sys.argv[1]), 20, skipped=skipped)
peak = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
print(json.dumps({"n": [entry["n"] for entry in found], "skipped": skipped.lines, "kib": peak}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measured with /proc")
def test_g05_the_end_of_a_gigabyte(tmp_path: Path) -> None:
    """1 GB, 20 normal lines, then 12 MB without a line feed: 20 entries in less than 50 MB of memory."""
    layout = lay(tmp_path)
    path = day_file(layout)
    with path.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + b"".join(b'{"n": %d}\n' % n for n in range(20)) + b'{"n": "' + b"x" * 12_000_000)
    done = subprocess.run([sys.executable, "-c", TAIL, layout.root], cwd=ROOT, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found["n"] == list(range(20))
    assert found["skipped"] == 1
    assert found["kib"] < 50 * 1024


# g10: secrets.


def test_g10_no_secret_reaches_the_log(tmp_path: Path) -> None:
    """Through the redaction alone, and through the log as it is written."""
    want = expected("g10")
    lines = (DATA / "g10" / "events.jsonl").read_text().splitlines()
    layout = lay(tmp_path)
    for number, line in enumerate(lines, 1):
        masked = redact_value(json.loads(line))
        if number in want["unchanged_lines"]:
            assert masked == json.loads(line)
        activity.append(layout, "log_event", now=NOW, **json.loads(line))
        activity.append(layout, "notice", now=NOW, text=line)
    written = Path(activity.path_of(layout, NOW)).read_text()
    assert [secret for secret in want["must_not_appear"] if secret in written] == []
    assert len(log(layout)) == 2 * len(lines)


def test_g10_values_of_the_seats_environment_are_masked_wherever_they_occur(tmp_path: Path) -> None:
    """Also inside longer text, and without any shape that a pattern would know."""
    layout = lay(tmp_path, "ada")
    Path(layout.seat("ada").env).write_text("export DATABASE='correct horse'\n")
    activity.append(layout, "notice", now=NOW, text="it said (correct horse).", deep=[{"a": "xcorrect horsex"}])
    assert "correct horse" not in Path(activity.path_of(layout, NOW)).read_text()


# h03: the environment of an arm.


def test_h03_the_environment_of_an_arm_is_an_allow_list(tmp_path: Path) -> None:
    """Computed as listed; `pass_env` is the way to let more in."""
    layout = lay(tmp_path, "ada")
    parent = json.loads((DATA / "h03" / "parent_env.json").read_bytes())
    secrets = envfile.parse((DATA / "h03" / "seat_a_secrets.txt").read_bytes()).values
    want = expected("h03")
    found = envfile.arm_environment(parent, layout, "ada", seat_env=secrets)
    assert {name: found.get(name) for name in want["child_env_has"]} == want["child_env_has"]
    assert [name for name in want["child_env_lacks"] if name in found] == []
    ours = {"COLEO_PROJECT", "COLEO_SEAT", "COLEO_SEAT_DIR"}
    assert set(found) == {*want["child_env_has"], *ours}
    more = envfile.arm_environment(parent, layout, "ada", pass_env=["GH_TOKEN", "COLEO_SIGNING_KEY"], seat_env=secrets)
    assert set(more) - set(found) == {"GH_TOKEN"}


# h09: forged pids.


def test_h09_no_number_from_a_file_is_signalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither as a pid alone nor in the record of an arm; and never our own process."""
    sent: list[object] = []
    monkeypatch.setattr(os, "kill", lambda *args: sent.append(args))
    monkeypatch.setattr(signal, "pidfd_send_signal", lambda *args: sent.append(args))
    pids = [*json.loads((DATA / "h09" / "pids.json").read_bytes()), os.getpid()]
    assert [pid for pid in pids if process.valid_pid(pid) is not None] == expected("h09")["accepted"]
    layout = lay(tmp_path, "ada")
    make_private(layout.arms)
    for pid in pids:
        assert not process.send(ProcessId(pid, 1, process.boot_id()), signal.SIGKILL)
        record = {"seat": "ada", "state": "idle", "host": {"pid": pid, "start": 1, "boot": process.boot_id()}}
        atomic.write_json(layout.arm("ada"), record)
        found = arms.read(layout, "ada")
        assert found is not None
        assert found.host is None
    assert len(sent) == expected("h09")["signals_sent"]


def test_h09_a_pid_that_is_somebody_elses_is_not_signalled(tmp_path: Path) -> None:
    """A state file that names a living process with another start time, or from before a reboot."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        real = process.identity(stranger.pid)
        assert real is not None
        for forged in (real.replace(start=real.start - 5), real.replace(boot="0" * 36)):
            assert not process.send(forged, signal.SIGKILL)
        assert stranger.poll() is None
        # The label in a lock file decides nothing either.
        path = str(tmp_path / "brain.lock")
        Path(path).write_text(json.dumps({"pid": stranger.pid, "start": real.start, "boot": real.boot, "note": ""}))
        assert locks.holder(path) is None
        stranger.kill()


# c08: an editor's lock.


def test_c08_a_dangling_lock_changes_no_scan(tmp_path: Path) -> None:
    """Emacs lays `.#name -> user@host.pid:boot`: in .project, among the seats, in an inbox, in the log's folder."""
    layout = lay(tmp_path, "ada", plan="- [ ] one\n")
    mail.send(layout, "ada", "human", "hello", now=NOW)
    activity.append(layout, "notice", now=NOW)

    def scans() -> tuple[object, ...]:
        messages = [message.text for message in mail.scan(layout, "ada", NOW).messages]
        names = [name for name in sorted(os.listdir(layout.project)) if not is_junk(name)]
        return layout.seats_present(), messages, names, len(history.days(layout)), len(envfile.known_secrets(layout))

    before = scans()
    target = "user@host.123:456"
    for folder in (layout.project, layout.seats, layout.seat("ada").dir, layout.seat("ada").inbox, layout.activity):
        os.symlink(target, os.path.join(folder, ".#plan.md"))
    os.symlink(target, os.path.join(layout.seats, "bob"))
    os.makedirs(os.path.join(layout.seats, "eve"))
    os.symlink(target, os.path.join(layout.seats, "eve", "seat.md"))
    assert scans() == before
