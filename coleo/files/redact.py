"""Secrets are taken out of everything that is written for others to read (case g10).

Three nets, each for what the others miss: the values of the known secret files, wherever they occur; names that say
"token" or "password"; and the shapes that well-known tokens have. Words that merely look technical stay.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

MASK = "[redacted]"

_SECRET_NAME = (
    r"(?:api|access|private|secret|signing|session|auth)[-_]?key|token|secret|passw(?:or)?d|passphrase|pwd|credentials?"
)
#: The words before it, as in ANTHROPIC_API_KEY; bounded, so that no text makes the search slow.
_WORDS = r"(?:[a-z0-9]{1,32}[-_]){0,6}"
_NAME = rf"(?i)(?:^|[^a-z])(?:{_SECRET_NAME}|authorization|cookie)$|(?i:apikey)$"
_OPTION = rf"(?i)--?{_WORDS}(?:{_SECRET_NAME})"

_SHAPES = (
    r"(?s:-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z))"
    r"|\bsk-[A-Za-z0-9][A-Za-z0-9_-]{14,}|\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|\bgh[a-z]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_.-]{16,}"
    r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{40,}"
    r"|\beyJ[A-Za-z0-9_-]{6,2000}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"
    r"|\b\d{8,10}:AA[A-Za-z0-9_-]{30,}"
)
_SHAPE_MARKS = (
    "private key-", "sk-", "sk_", "rk_", "gh", "github_pat_", "glpat-", "xox", "xapp-", "akia", "asia", "aiza", "hf_",
    "npm_", "pypi-", "eyj", ":aa",
)  # fmt: skip
_NAME_MARKS = ("key", "token", "secret", "pass", "pwd", "credential")

#: (marks, pattern): a pattern is compiled and tried only for a text in which, in lower case, one of its marks occurs.
#: Compiling all of them would cost more than everything else that a hook does.
_NETS: tuple[tuple[tuple[str, ...], str], ...] = (
    (_SHAPE_MARKS, rf"()(?:{_SHAPES})"),
    (("bearer", "basic"), r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}"),
    (("authorization",), r"(?i)\b(authorization\s*:\s*)(?!bearer\s|basic\s)[^\s\"']+(?: [^\s\"',]+)?"),
    (("://",), r"(?i)\b([a-z][a-z0-9+.-]{0,20}://[^\s/:@\"']*:)[^\s/@\"']+(?=@)"),
    (_NAME_MARKS, rf"(?i)((?:^|\s)--?{_WORDS}(?:{_SECRET_NAME})[ \t]+)[^\s-][^\s]{{7,}}"),
)
_ASSIGNED = (
    rf"(?i)(?<![a-z])({_WORDS}(?:{_SECRET_NAME})[\"']?\s*(?:=|:)\s*)"
    r"(\"[^\"\n]+\"|'[^'\n]+'|[^\s\"',;&]+)"
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with every secret replaced by a mask. secrets: values that are to be masked wherever they occur."""
    for value in sorted(secrets, key=len, reverse=True):
        if value and value in text:
            text = text.replace(value, MASK)
    folded = text.lower()
    for marks, pattern in _NETS:
        if any(mark in folded for mark in marks):
            text = re.sub(pattern, rf"\1{MASK}", text)
    if any(mark in folded for mark in _NAME_MARKS):
        text = re.sub(_ASSIGNED, _assigned, text)
    return text


def _assigned(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    quoted = value[0] in "\"'"
    inner = value[1:-1] if quoted else value
    # In prose ("token: expired") a plain word follows the colon; a secret has a digit or is an assignment.
    plain = ":" in name.rstrip()[-1:] and not quoted and not any(c.isdigit() for c in inner)
    if MASK in value or len(inner) < 4 or plain or inner.startswith("$"):
        return found[0]  # "$NAME" only refers to a secret
    return f"{name}{value[0]}{MASK}{value[0]}" if quoted else f"{name}{MASK}"


def redact_value(obj: Any, secrets: Iterable[str] = ()) -> Any:
    """`redact` for every string in a JSON value; strings under a name such as ``api_key`` are masked whole.

    In a list, the element after an option such as ``--api-key`` is masked too.
    """
    return _value(obj, tuple(secrets))


def _value(obj: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(obj, str):
        return redact(obj, secrets)
    if isinstance(obj, dict):
        return {redact(str(name), secrets): _named(str(name), value, secrets) for name, value in obj.items()}
    if isinstance(obj, list | tuple):
        return _list(obj, secrets)
    return obj


def _list(items: Iterable[Any], secrets: tuple[str, ...]) -> list[Any]:
    found: list[Any] = []
    after_option = False
    for item in items:
        found.append(MASK if after_option and isinstance(item, str) else _value(item, secrets))
        after_option = isinstance(item, str) and item[:1] == "-" and re.fullmatch(_OPTION, item) is not None
    return found


def _named(name: str, value: Any, secrets: tuple[str, ...]) -> Any:
    return MASK if isinstance(value, str) and value and is_secret_name(name) else _value(value, secrets)


def is_secret_name(name: str) -> bool:
    """Whether what is called so is a secret: ``ANTHROPIC_API_KEY``, ``botToken``, ``db-password``; not ``tokens``."""
    if not any(mark in name.lower() for mark in (*_NAME_MARKS, "authorization", "cookie")):
        return False
    return re.search(_NAME, re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name)) is not None


#: Variables that secret files may hold and that are no secrets (case h03 sets PATH in one).
_PLAIN = frozenset({"PATH", "HOME", "LANG", "TERM", "TZ", "USER", "SHELL", "TMPDIR", "CHAT_ID", "ALLOWED_USER"})


def secret_values(environment: Mapping[str, str]) -> set[str]:
    """The values of a secret file that are to be masked. Short ones of names that say nothing would mask words."""
    return {
        value
        for name, value in environment.items()
        if len(value) >= (4 if is_secret_name(name) else 8) and name not in _PLAIN and not name.startswith("LC_")
    }
