"""From a link in a plan to the sub-plan that it names, if coleo may read that (DESIGN.md section 4).

Sub-plans are ``.md`` files below ``.project/``, not coleo's own folders, not the inbox. What leads elsewhere is an
ordinary link and nothing to warn of; a symlink that leads out is.
"""

from __future__ import annotations

import os
import posixpath

from coleo.files.layout import Layout, is_junk

OWN_FOLDERS = frozenset({"tasks", "archive", "seats", "proposals", "approvals"})
OUTSIDE = "a link that leads out of the project's folder is not followed"


def sub_plan(layout: Layout, file: str, link: str) -> str | None:
    """The path, relative to ``.project``, of the sub-plan that `link` in `file` names; None for other links."""
    name = posixpath.normpath(posixpath.join(posixpath.dirname(file), link))
    parts = name.split("/")
    if parts[0] in (*OWN_FOLDERS, "..", "", ".") or name == os.path.basename(layout.inbox):
        return None
    return None if any(is_junk(part) for part in parts) else name


def leads_outside(layout: Layout, name: str) -> bool:
    """Whether symlinks take a sub-plan out of ``.project`` or into coleo's own folders."""
    base = os.path.realpath(layout.project)
    real = os.path.realpath(os.path.join(layout.project, name))
    if not real.startswith(base + os.sep):
        return True
    return real[len(base) + 1 :].split(os.sep)[0] in OWN_FOLDERS


def line_of(data: bytes, link: str) -> int | None:
    """The line in which a link stands, for a warning; None when it is written in another way there."""
    at = data.find(link.encode("utf-8", "replace"))
    if at < 0:
        return None
    before = data[:at]
    return before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n") + 1
