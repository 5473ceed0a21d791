"""Rules on titles: the marks at their end, and when two titles mean the same (DESIGN.md section 4)."""

from __future__ import annotations

import re
import unicodedata

from coleo.model.names import TASK
from coleo.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

SHOWN_LENGTH = 200
SIMILAR_SHARE = 0.75

_COMMENT = re.compile(r"<!--.*?-->")
_MARK = re.compile(
    r"(?:^|\s)(?:@(?P<seat>\S+)|!(?P<priority>high|low)|\^(?P<id>\S+)"
    r"|after:(?:\"(?P<quoted>[^\"]+)\"|“(?P<curly>[^“”]+)”|(?P<ref>[^\s\"“]\S*)))\s*$"
)
_TAIL = 400
_WORD = re.compile(r"\w*\d(?:[.,:/-]?\w*\d)+\w*|\w+(?:'\w+)*[+#]*")
_ARTICLES = frozenset({"a", "an", "the"})


class Marks(Record):
    """A title without the marks at its end, and what they said. after: ids and titles, in the order written."""

    title: str
    seat: str | None = None
    priority: str = "normal"
    after: tuple[str, ...] = ()
    fixed_id: str | None = None


def split_marks(raw: str, seats: Container[str]) -> Marks:
    """Take ``@seat``, ``!high``, ``!low``, ``after:id``, ``after:"title"`` and ``^id`` off the end of a title.

    Reading goes from the end and stops at the first word that is no mark: words inside a title are never removed.
    ``@name`` counts only for a seat that exists. A title is never emptied: ``- [ ] !high`` is called ``!high``.
    HTML comments are no part of a title. Of marks that say two things the last one counts.
    """
    title = raw.strip()
    if "<!--" in title:
        title = _COMMENT.sub("", title).strip()
    seat: str | None = None
    priority: str | None = None
    fixed_id: str | None = None
    after: list[str] = []
    while True:
        tail = title[-_TAIL:]
        found = _MARK.search(tail) if "@" in tail or "!" in tail or "^" in tail or ":" in tail else None
        if not found:
            break
        rest = title[: len(title) - len(tail) + found.start()].rstrip()
        if not rest:
            break
        if found["seat"] is not None:
            if found["seat"] not in seats:
                break
            seat = seat or found["seat"]
        elif found["priority"] is not None:
            priority = priority or found["priority"]
        elif found["id"] is not None:
            if not TASK.fullmatch(found["id"]):
                break
            fixed_id = fixed_id or found["id"]
        else:
            after.insert(0, found["quoted"] or found["curly"] or found["ref"])
        title = rest
    return Marks(title, seat, priority or "normal", tuple(after), fixed_id)


def shown(title: str) -> str:
    """`title` cut to 200 characters for lists (case d22). Control characters are left to `text.show`."""
    return title if len(title) <= SHOWN_LENGTH else title[: SHOWN_LENGTH - 1] + "…"


def significant_words(title: str) -> frozenset[str]:
    """The words that make a title: NFC, case folded, without punctuation and articles. Numbers and negations stay.

    ``1.2`` and ``2026-12-01`` are one word, so are ``don't``, ``C++`` and ``C#``.
    A title of articles or punctuation only stands for itself, so that ``???`` and ``!!!`` are not the same.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).casefold()).replace("’", "'")
    words = frozenset(_WORD.findall(folded))
    return words - _ARTICLES or words or frozenset({folded.strip()})


def is_duplicate(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two titles say the same: the same significant words, in any order."""
    return one == other


def is_similar(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two titles are merely alike: three quarters of the words of the longer one are shared."""
    return len(one & other) >= SIMILAR_SHARE * max(len(one), len(other))
