"""The command ``coleo``: agents' commands take the short way, all others the command line for people.

What nobody can mend ends here: exit 70, with a report file.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run one command; the exit code. Never raises."""
    args = sys.argv[1:]
    if args[:1] == ["hook"]:
        from coleo.bus.hook import main as hook

        return hook(args[1:])
    try:
        if args[:1] == ["bus"]:
            from coleo.bus.entry import main as bus

            return bus(args[1:])
        from coleo.cli.main import main as people

        return people(args)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return bug(error, args)


def bug(error: BaseException, args: list[str]) -> int:
    """Report an error that is ours; the exit code."""
    import time

    from coleo import report

    path = report.write(error, args, now=time.time(), root=_root(), redact=_redact)
    where = f"a report is in {path}" if path else "no report could be written"
    print(f"coleo: this is a bug of coleo's: {type(error).__name__}: {error}\n  {where}", file=sys.stderr)
    return report.EXIT


def _root() -> str | None:
    try:
        from coleo.files.layout import find

        return find().root
    except Exception:  # no project, or the very thing that is broken
        return None


def _redact(text: str) -> str:
    from coleo.files.redact import redact

    return redact(text)


if __name__ == "__main__":
    sys.exit(main())
