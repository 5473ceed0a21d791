"""The shape of the project, held by tests: rooms, imports, lengths, docstrings (DESIGN.md section 9, STYLE.md).

Imports that only a type checker sees (below ``if TYPE_CHECKING``) are not arrows: they run nothing.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = ROOT / "coleo"


def words(text: str) -> list[str]:
    """Names in one line instead of a line for each."""
    return text.split()


#: Room: the rooms that it may import. Everything may import `model`; nothing may import `cli`.
ARROWS: dict[str, set[str]] = {
    "model": set(),
    "brain": {"model"},
    "files": {"model"},
    "terminal": {"model"},
    "harness": {"model"},
    "bus": {"files", "model"},
    "channels": {"daemon", "files", "bus", "model"},
    "daemon": {"brain", "files", "terminal", "harness", "channels", "model"},
    "cli": {"bus", "daemon", "channels", "brain", "files", "terminal", "harness", "model"},
}

#: (module prefix, room that it may import besides): each with the reason that makes it no second arrow.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("coleo.files.plan", "brain"): "reading a plan ends in the pure comparison of brain/plansync",
    ("coleo.harness.shell", "bus"): "the shell worker is an agent: a program that calls the verbs as any agent does",
    ("coleo.harness.shell", "files"): "the same",
}

#: Modules outside of the rooms, and the rooms that they may import.
DOORS: dict[str, set[str]] = {
    "coleo.__main__": {"bus", "cli", "model", "files"},
    "coleo.report": {"model"},
    "coleo": set(),
}

#: Each costs more import time than the whole of a hook may take (measured, DESIGN.md section 8).
BANNED = frozenset(
    words(
        "logging typing inspect dataclasses pathlib tomllib socket datetime calendar tempfile "
        "shutil subprocess random secrets uuid asyncio"
    )
)


def modules(folder: Path = CODE) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "templates" not in path.relative_to(folder).parts)


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ARROWS else None


def imports(tree: ast.AST, module: str, *, deep: bool = True) -> Iterator[tuple[str, int]]:
    """(imported module, line) of everything that runs; `deep` also looks into functions."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.If(test=ast.Attribute(attr="TYPE_CHECKING")):
                for other in node.orelse:
                    yield from imports(ast.Module([other], []), module, deep=deep)
            case ast.Import():
                yield from ((alias.name, node.lineno) for alias in node.names)
            case ast.ImportFrom():
                base = node.module or ""
                if node.level:
                    base = ".".join([*module.split(".")[: -node.level], *([base] if base else [])])
                yield base, node.lineno
                if base.split(".")[0] == "coleo":
                    yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() if not deep:
                continue
            case _:
                yield from imports(node, module, deep=deep)


def fast() -> dict[str, Path]:
    """What agents' verbs and hooks load: the way in, all of `model` and `bus`, and what those import."""
    known = {dotted(path): path for path in modules()}
    found: dict[str, Path] = {}
    queue = [name for name in known if room_of(name) in ("model", "bus") or name == "coleo.__main__"]
    while queue:
        name = queue.pop()
        if name not in found:
            found[name] = known[name]
            queue += [n for n, _ in imports(ast.parse(known[name].read_text()), name, deep=False) if n in known]
    return dict(sorted(found.items()))


def test_imports_point_one_way() -> None:
    """cli -> bus -> files; cli, channels -> daemon -> the rest; brain, files, terminal, harness -> model only."""
    wrong = []
    for path in modules():
        module = dotted(path)
        room = room_of(module)
        allowed = DOORS[module] if room is None and module in DOORS else ARROWS.get(room or "", set())
        assert room is not None or module in DOORS, f"{module} is in no room: which one is it part of?"
        for name, line in imports(ast.parse(path.read_text()), module):
            target = room_of(name)
            if target is None or target == room or target in allowed:
                continue
            if not any(module.startswith(prefix) and target == other for prefix, other in EXCEPTIONS):
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {room or module} must not import {name}")
    assert not wrong, "\n".join(wrong)


def test_model_and_brain_read_no_clock_file_or_process() -> None:
    """Decisions are functions: facts and the time come in as arguments (DESIGN.md section 2, principle 3)."""
    outside = frozenset(
        words("os socket subprocess asyncio threading random secrets uuid signal select shutil tempfile")
    )
    wrong = []
    for path in modules(CODE / "brain"):
        for name, line in imports(ast.parse(path.read_text()), dotted(path)):
            if name.split(".")[0] in outside:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: imports {name}")
    for path in [*modules(CODE / "brain"), *modules(CODE / "model")]:
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="time"), attr="time" | "monotonic")):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: reads the clock")
                case ast.Call(func=ast.Name(id="open")):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: opens a file")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", fast())
def test_fast_modules_import_little(module: str) -> None:
    """At module level: the standard library without its slow parts, and modules of which the same is true."""
    wrong = []
    for name, line in imports(ast.parse(fast()[module].read_text()), module, deep=False):
        top = name.split(".")[0]
        if top != "coleo" and (top in BANNED or top not in sys.stdlib_module_names):
            wrong.append(f"line {line}: {name} is too slow to import here")
    assert not wrong, f"{module}: " + "; ".join(wrong)


def test_agents_verbs_load_nothing_slow() -> None:
    """What is in sys.modules after all of them are imported, compared with a Python that does nothing."""
    bare = loaded("pass")

    def slow(names: Iterable[str]) -> set[str]:
        extra = {module.split(".")[0] for module in loaded("import " + ", ".join(names)) - bare} - {"coleo"}
        return {module for module in extra if module in BANNED or module not in sys.stdlib_module_names}

    if slow(fast()):
        guilty = {name: sorted(found) for name in fast() if (found := slow([name]))}
        raise AssertionError(f"these load what is too slow: {guilty}")


def loaded(code: str) -> set[str]:
    """The names in sys.modules after `code` ran in a Python of its own."""
    command = [sys.executable, "-c", f"{code}\nimport sys\nprint(' '.join(sys.modules))"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split())


def test_modules_are_short() -> None:
    """A module of more than 400 lines is two ideas (STYLE.md)."""
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules()}
    assert not {name: lines for name, lines in long.items() if lines > 400}


def test_every_public_name_says_what_it_is_for() -> None:
    """Modules, classes, functions and methods; not `__init__` and other names with underscores."""
    wrong = []
    for path in modules():
        tree = ast.parse(path.read_text())
        if tree.body and not ast.get_docstring(tree):
            wrong.append(f"{path.relative_to(ROOT)}:1: the module")
        wrong += [f"{path.relative_to(ROOT)}:{line}: {name}" for name, line in undocumented(tree)]
    assert not wrong, "no docstring:\n" + "\n".join(wrong)


def undocumented(tree: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Public classes, functions and methods without a docstring: (name, line)."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node) and not any("overload" in ast.unparse(d) for d in node.decorator_list):
            yield prefix + node.name, node.lineno
        if isinstance(node, ast.ClassDef):
            yield from undocumented(node, f"{prefix}{node.name}.")


def test_nothing_is_left_for_later() -> None:
    """No marks of unfinished work in the code, and no line that coverage is told to overlook."""
    marks = ["TO" + "DO", "FIX" + "ME", "X" * 3, "NotImplemented" + "Error", "pragma: " + "no cover"]
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in modules()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if any(mark in line for mark in marks)
    ]
    assert not wrong, "\n".join(wrong)


def test_tests_wait_for_evidence_and_never_sleep() -> None:
    """`tests/waiting.py` polls; a sleep is either too short on a slow machine or too long on every other.

    A loop that looks for something between two short sleeps is such a poll.
    """
    wrong = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text())
        polls = [
            loop for loop in ast.walk(tree) if isinstance(loop, ast.While) and not isinstance(loop.test, ast.Constant)
        ]
        polled = {id(node) for loop in polls for node in ast.walk(loop)}
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="sleep"), args=[ast.Constant(value=0)]):
                    continue
                case ast.Call(func=ast.Attribute(value=ast.Name(id="time" | "asyncio"), attr="sleep")):
                    if id(node) not in polled:
                        wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert not wrong, "\n".join(wrong)


def test_no_file_names_a_machine() -> None:
    """Paths of one developer's machine and hosts of package registries are of no use to anybody else."""
    words = [word.encode() for word in ("/wor" + "k/main", "/wor" + "k/shared", "pypi" + ".org", "/root/" + ".pyenv")]
    wrong = []
    for path in tracked():
        data = path.read_bytes()
        wrong += [f"{path.relative_to(ROOT)}: {word.decode()}" for word in words if word in data]
    assert not wrong, "\n".join(wrong)


def tracked() -> list[Path]:
    """The files under version control; outside of a checkout, all but hidden folders."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0:
        found = [ROOT / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
        return [path for path in found if path.is_file()]
    return [p for p in ROOT.rglob("*") if p.is_file() and not any(q.startswith(".") for q in p.relative_to(ROOT).parts)]
