"""A bug of ours, as a file: already formatted as an issue, secrets masked, ready to be filed by a person.

Written by the entry points when something ends with an exception that is nobody's to mend (exit 70). It needs no
other room of coleo, because any of them may be what is broken.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

EXIT = 70
LOG_LINES = 20
_LOG_BYTES = 65536
_HIDDEN = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL")


def write(
    error: BaseException,
    args: Sequence[str],
    *,
    now: float,
    root: str | None = None,
    environ: Mapping[str, str] = os.environ,
    redact: Callable[[str], str] | None = None,
) -> str | None:
    """Write the report; its path, or None when no place for it was found.

    root: of the project; the report goes to its ``.coleo/run/reports``, else to the folder for temporary files.
    redact: masks known shapes of secrets; values of variables whose names say that they are secret are masked anyway.
    """
    text = compose(error, args, now=now, root=root, environ=environ)
    for name, value in environ.items():
        if len(value) >= 6 and any(word in name.upper() for word in _HIDDEN):
            text = text.replace(value, "[secret]")
    for value in _secrets(root):
        text = text.replace(value, "[secret]")
    if redact is not None:
        try:
            text = redact(text)
        except Exception:  # what is broken may be the masking itself: then nothing is written that it should see
            text = text.partition("## The last lines of the log")[0]
    return _save(text, now, root)


def compose(
    error: BaseException, args: Sequence[str], *, now: float, root: str | None, environ: Mapping[str, str]
) -> str:
    """The report before masking: Markdown, the title in the first line."""
    import platform
    import time
    import traceback

    from coleo import __version__

    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__)).strip()
    names = sorted(name for name in environ if name.startswith(("COLEO_", "OCTOPAI_")))
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" in {os.path.basename(last[0].filename)}:{last[0].lineno}" if last else ""
    rows = [
        f"# {type(error).__name__}{where}: {str(error).partition(chr(10))[0][:120]}",
        "",
        "coleo ended with an error that is its own. Please say here what you did and what you expected:",
        "",
        "",
        "## What ran",
        "",
        _block(" ".join(["coleo", *args])),
        "",
        f"- when: {at}",
        f"- coleo {__version__}, Python {platform.python_version()} ({sys.executable})",
        f"- {platform.platform()}, user id {os.getuid()}",
        f"- project: {root or 'none found'}",
        f"- variables set: {', '.join(names) or 'none'}",
        "",
        "## Where it ended",
        "",
        _block(trace),
        "",
        "## The last lines of the log",
        "",
        _block(_log(root, at[:10]) or "(none)"),
        "",
    ]
    return "\n".join(rows)


def _block(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


def _log(root: str | None, day: str) -> str:
    if root is None:
        return ""
    try:
        with open(os.path.join(root, ".coleo", "activity", f"{day}.jsonl"), "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _LOG_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return "\n".join(line[:500] for line in lines[-LOG_LINES:])


def _secrets(root: str | None) -> list[str]:
    """The values in the project's secret files, longest first."""
    if root is None:
        return []
    paths = [os.path.join(root, ".coleo", "secrets.env")]
    seats = os.path.join(root, ".project", "seats")
    try:
        paths += [os.path.join(seats, name, ".env") for name in os.listdir(seats)]
    except OSError:
        pass
    found = []
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                values = [line.partition("=")[2].strip().strip("\"'") for line in file if "=" in line]
        except OSError:
            continue
        found += [value for value in values if len(value) >= 6]
    return sorted(found, key=len, reverse=True)


def _save(text: str, now: float, root: str | None) -> str | None:
    import tempfile

    folders = [os.path.join(root, ".coleo", "run", "reports")] if root else []
    folders.append(os.path.join(tempfile.gettempdir(), f"coleo-reports-{os.getuid()}"))
    name = f"report-{int(now)}-{os.getpid()}.md"
    for folder in folders:
        path = os.path.join(folder, name)
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
        except OSError:
            continue
        return path
    return None
