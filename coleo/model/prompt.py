"""The one form in which words reach an agent: a header of coleo's, the words quoted, a footer of coleo's.

Header and footer hold the id of the prompt and a random nonce; every line of the words begins with ``> ``, so no
text can end its frame or begin one of its own (DESIGN.md section 6, case h08). A header never begins with
``/ ! # @``, which open menus or run commands in agents (case a13), and the last line is a plain one: no text of
others stands where a completion or a backslash would take the Enter.
"""

from __future__ import annotations

from coleo.model.instant import iso
from coleo.model.record import Record
from coleo.model.text import sanitise

#: UTF-8 bytes of a block; above, the text goes to a file of the seat and one line points to it.
PASTE_LIMIT = 8192


class Prompt(Record):
    """Words for an agent. id, nonce, kind, sender as `frame` explains them.

    source: where the words come from, such as ``plan.md:12``. name: of a cron. chat: a Telegram chat id. at: when
    a cron fired.
    """

    id: str
    text: str
    kind: str = "message"
    sender: str = "brain"
    source: str = ""
    name: str = ""
    chat: str = ""
    at: float = 0.0


def quote(text: str) -> str:
    """`text` made safe for a terminal, each line behind ``> ``."""
    return "\n".join(f"> {line}" if line else ">" for line in sanitise(text).split("\n"))


def frame(prompt: Prompt, nonce: str) -> str:
    """One prompt in its frame. nonce: random, at least 8 hex digits, new for each block.

    kind: ``message`` (of another seat, answered by its id), ``telegram``, ``urgent``, ``cron`` and ``cron_fired``,
    ``human`` (a person at the command line); anything else is coleo's own: nudges, assignments, notices.
    """
    tag = f"[msg_id: {one_line(prompt.id)}] [{nonce}]"
    sender = one_line(prompt.sender)
    lines = [_header(prompt, sender, tag)]
    if prompt.source:
        lines.append(f"(from {one_line(prompt.source)})")
    if prompt.kind in ("cron", "cron_fired"):
        rest = sanitise(prompt.text).partition("\n")[2]
        lines += [quote(rest)] if rest else []
    else:
        lines.append(quote(prompt.text))
    if prompt.kind == "message":
        lines.append(f"Reply using: coleo bus send-message {sender} normal '<your reply>' {one_line(prompt.id)}")
    lines.append(f"=== END {tag} ===")
    return "\n".join(lines)


def _header(prompt: Prompt, sender: str, tag: str) -> str:
    match prompt.kind:
        case "message":
            return f"=== AGENT MESSAGE from {sender} {tag} ==="
        case "telegram":
            return f"=== TELEGRAM from [USER: {sender}] (chat_id:{one_line(prompt.chat)}) {tag} ==="
        case "urgent":
            return f"=== URGENT SIGNAL {tag} ==="
        case "cron_fired":
            first = sanitise(prompt.text).partition("\n")[0]
            return f"[CRON FIRED {iso(prompt.at)}] {one_line(prompt.name)}: {first} {tag}"
        case "cron":
            first = sanitise(prompt.text).partition("\n")[0]
            return f"[CRON: {one_line(prompt.name)}] {first} {tag}"
        case "human":
            return f"=== MESSAGE from [USER: {sender}] {tag} ==="
        case _:
            return f"=== COLEO {one_line(prompt.kind).upper()} {tag} ==="


def block(prompts: list[Prompt], nonce: str) -> str:
    """Several prompts that go out as one paste: their frames one below the other, one nonce for all."""
    return "\n\n".join(frame(prompt, nonce) for prompt in prompts)


def fits(text: str) -> bool:
    """Whether a block may be pasted as it is."""
    return len(text.encode("utf-8", "replace")) <= PASTE_LIMIT


def pointer(prompts: list[Prompt], nonce: str, path: str) -> str:
    """One line that stands for a block whose text is in the file `path`: for long texts and for line readers."""
    ids = ", ".join(one_line(prompt.id) for prompt in prompts)
    what = "a prompt" if len(prompts) == 1 else f"{len(prompts)} prompts"
    return f"=== COLEO [msg_id: {ids}] [{nonce}] {what} for you: read the file {one_line(path)} and act on it ==="


def one_line(text: str) -> str:
    """`text` without line breaks and control characters, for a place inside a line of coleo's own."""
    return " ".join(sanitise(text).split())
