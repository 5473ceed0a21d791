"""Ends an operation at each of its file-system calls in turn, recovers, and looks at what is left.

Run with the preload library in LD_PRELOAD: ``python -m tests.crash.driver LIBRARY SCENARIO MODES FOLDER``.
Imports happen once; each point is two forks, so that a minute is enough for hundreds. The results, one for each
mode, are a JSON list on stdout.

Modes are those of the library, and ``again``: the recovery after a crash is itself ended, at a call that moves with
the point, before the last recovery.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from coleo.model.errors import ColeoError
from tests.crash.library import Library, Mode
from tests.crash.scenario import Outcome, Scenario

#: An operation with more calls than this does not end.
MOST_POINTS = 3000

#: Exit codes of the forks; a process that the library ended has 77.
FINISHED, RAISED, FAULTY = 0, 3, 4


@dataclass
class Fault:
    """Point n of the scenario: the call at which it was ended, and what was wrong afterwards."""

    n: int
    call: str
    error: str


@dataclass
class Result:
    """What a run over all points found."""

    scenario: str
    mode: str
    points: int = 0
    faults: list[Fault] = field(default_factory=list)


def run(library: Library, scenario: Scenario, mode: str, folder: str) -> Result:
    """All points of one scenario: N = 1, 2, 3 … until the operation ends before its N-th call."""
    result = Result(scenario.name, mode)
    root = os.path.join(os.path.realpath(folder), "project")
    how = Mode.BEFORE if mode == "again" else Mode[mode.upper()]
    for n in range(1, MOST_POINTS):
        shutil.rmtree(root, ignore_errors=True)
        os.mkdir(root, 0o700)
        code, call, error = forked(lambda report, n=n: _act(library, scenario, root, n, how, report))  # type: ignore[misc]
        if code == FAULTY:
            result.faults.append(Fault(n, call, error))
        if call and mode == "again":
            forked(lambda report, n=n: _recover(library, scenario, root, 1 + n % 17, report))  # type: ignore[misc]
        outcome = Outcome(code == FINISHED, bool(call) and how in (Mode.FAIL, Mode.FULL))
        code, _, wrong = forked(lambda _report, outcome=outcome: _check(scenario, root, outcome))  # type: ignore[misc]
        if code != FINISHED:
            result.faults.append(Fault(n, call, wrong))
        if not call:
            return result
        result.points += 1
    raise AssertionError(f"{scenario.name}: no end after {MOST_POINTS} calls")


def forked(work: Callable[[int], None]) -> tuple[int, str, str]:
    """Runs `work(fd)` in a child, which keeps nothing open: (exit code, the call that was reached, traceback)."""
    report, child_report = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(report)
        code = FAULTY
        try:
            work(child_report)
            code = FINISHED
        except (OSError, ColeoError) as raised:
            code = RAISED
            os.write(child_report, f"!{type(raised).__name__}: {raised}\n".encode())
        except BaseException:
            os.write(child_report, b"!" + traceback.format_exc(limit=-4).encode()[:4000])
        finally:
            os._exit(code)
    os.close(child_report)
    data = b""
    while part := os.read(report, 65536):
        data += part
    os.close(report)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    call, _, error = data.decode(errors="replace").partition("!")
    return code, call.strip(), error.strip()


def _act(library: Library, scenario: Scenario, root: str, n: int, how: Mode, report: int) -> None:
    scenario.prepare(root)
    library.arm(root, n, how, report)
    try:
        scenario.act(root)
    finally:
        library.disarm()


def _recover(library: Library, scenario: Scenario, root: str, n: int, report: int) -> None:
    library.arm(root, n, Mode.BEFORE, report)
    scenario.recover(root)


def _check(scenario: Scenario, root: str, outcome: Outcome) -> None:
    try:
        scenario.recover(root)
        scenario.check(root, outcome)
    except (OSError, ColeoError) as error:
        raise AssertionError(f"after the crash: {type(error).__name__}: {error}") from error


def find(name: str) -> Scenario:
    """``module:name`` of a scenario in tests/crash/."""
    module, _, key = name.partition(":")
    scenarios: dict[str, Scenario] = importlib.import_module(f"tests.crash.{module}").SCENARIOS
    return scenarios[key]


def main() -> None:
    """See the module; exit code 0 whenever there are results."""
    path, name, modes, folder = sys.argv[1:5]
    library, scenario = Library(path), find(name)
    print(json.dumps([asdict(run(library, scenario, mode, folder)) for mode in modes.split(",")]))


if __name__ == "__main__":
    main()
