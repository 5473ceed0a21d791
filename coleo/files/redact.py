"""Secrets masked before anything is written to the log or a report (case g10).

Known shapes of keys and tokens, values of variables whose name says that they are secret, and the values that the
caller names. What merely looks alike (the word "token", ``task-1234``) stays.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

MASK = "[secret]"
SHORTEST = 6
"""Named secrets shorter than this are not masked inside other text: they would mask half of it."""

_SHAPES = re.compile(
    r"""
    (?P<known>
        \bsk-[A-Za-z0-9_-]{16,}
      | \b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}
      | \bglpat-[A-Za-z0-9_-]{16,}
      | \bxox[abeprs]-[A-Za-z0-9-]{10,}
      | \bAKIA[0-9A-Z]{16}\b
      | \bAIza[A-Za-z0-9_-]{30,}
      | \bnpm_[A-Za-z0-9]{30,}
      | \bhf_[A-Za-z0-9]{30,}
      | \b\d{8,10}:[A-Za-z0-9_-]{35}\b
      | \beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_.-]{5,}
      | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    )
  | (?P<bearer>\b(?i:bearer|basic)\s+)(?P<credential>[A-Za-z0-9+/_.=~-]{6,})
  | (?P<url>\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@]*:)(?P<password>[^\s/@]+)(?=@)
  | (?P<name>\b[A-Za-z0-9_-]*(?i:secret|token|password|passwd|api[_-]?key|private[_-]?key|access[_-]?key)[A-Za-z0-9_-]*
      ["']?\s*[=:]\s*["']?)(?P<value>[^\s"',;]{6,})
    """,
    re.VERBOSE | re.DOTALL,
)
_SECRET_NAME = re.compile(r"(?i)(?:secret|token|password|passwd|api_?key|private_?key|access_?key|credential)")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with every secret replaced by ``[secret]``. secrets: values to mask wherever they stand."""
    for secret in secrets:
        if len(secret) >= SHORTEST and secret in text:
            text = text.replace(secret, MASK)
    return _SHAPES.sub(_mask, text)


def _mask(found: re.Match[str]) -> str:
    if found["known"]:
        return MASK
    for before, hidden in (("bearer", "credential"), ("url", "password"), ("name", "value")):
        if found[hidden]:
            return f"{found[before]}{MASK}"
    return found[0]


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    return bool(_SECRET_NAME.search(name))


def redact_value(value: Any, secrets: Iterable[str] = ()) -> Any:
    """A JSON value with secrets masked in its strings, and whole where a key names a secret."""
    known = tuple(secrets)
    if isinstance(value, str):
        return redact(value, known)
    if isinstance(value, dict):
        return {
            name: MASK if isinstance(inner, str) and inner and is_secret_name(str(name)) else redact_value(inner, known)
            for name, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redact_value(inner, known) for inner in value]
    return value
