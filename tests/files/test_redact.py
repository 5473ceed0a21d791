"""Secrets are masked, and words that merely look technical are not (case g10)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coleo.files.redact import MASK, is_secret_name, redact, redact_value, secret_values

#: Made up, in the shape of the real ones; put together here so that no scanner takes them for real.
SHAPES = [
    "sk-" + "ant-api03-" + "Ab1" * 12,
    "sk-proj-" + "x9Y" * 12,
    "ghp_" + "A1b2" * 9,
    "gho_" + "A1b2" * 9,
    "github_pat_" + "11ABC_" * 6,
    "glpat-" + "aB3-" * 6,
    "xoxb-" + "123456789012-" * 2 + "abc",
    "xapp-1-" + "A0B1" * 5,
    "AKIA" + "ABCDEFGH23456789",
    "AIza" + "SyA-" * 9,
    "hf_" + "abCD" * 8,
    "npm_" + "aB3d" * 9,
    "pypi-" + "AgEIcHlw" * 6,
    "sk_live_" + "aB3d" * 6,
    "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".abc-DEF_123",
    "123456789:AA" + "Fh_-3" * 7,
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk=\nAAAA\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\ncut off in the midd",
]


@pytest.mark.parametrize("secret", SHAPES)
def test_known_shapes_are_masked_wherever_they_stand(secret: str) -> None:
    """At the ends, in quotes, after a name, in the middle of a sentence."""
    for text in (secret, f"use {secret} please", f'"{secret}"', f"({secret})", f"x={secret}"):
        assert secret not in redact(text)
        assert MASK in redact(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2", "hunter2"),
        ("DB_PASSWORD: 'two words'", "two words"),
        ('{"apiKey": "abc12345"}', "abc12345"),
        ("export GITHUB_TOKEN=abcd", "abcd"),
        ("curl -H 'Authorization: Basic dXNlcjpwYXNz'", "dXNlcjpwYXNz"),
        ("Authorization: token 0a1b2c3d4e", "0a1b2c3d4e"),
        ("Proxy-Authorization: Digest abc", "Digest abc"),
        ("BEARER abcdefgh.ijkl", "abcdefgh.ijkl"),
        ("git clone https://bob:hunter2@host/x.git", "hunter2"),
        ("postgres://u:p%40ss@db/x", "p%40ss"),
        ("redis://:geheim@db", "geheim"),
        ("claude --api-key abcdefgh1 run", "abcdefgh1"),
        ("tool --db-password hunter2hunter2", "hunter2hunter2"),
        ("token: 123456", "123456"),
    ],
)
def test_what_is_named_a_secret_is_masked(text: str, secret: str) -> None:
    """Names say it where shapes do not."""
    masked = redact(text)
    assert secret not in masked
    assert MASK in masked


@pytest.mark.parametrize(
    "text",
    [
        "the sk- prefix and the word token are fine, task-1234 too",
        "Fix token: expired sessions are not renewed",
        "password reset page",
        "secret santa list",
        "max_tokens=200000, tokens: 12345",
        "key=brain.max_arms",
        "TOKEN=$GITHUB_TOKEN",
        "https://example.org/a:b@c",
        "https://user@example.org/",
        "a basic test",
        "basic auth",
        "commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
        "t-k3v9qz done, m-7h2k9x sent",
        "ratio 12:30, see 2001:db8::1",
        "class TokenBucket: pass",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    """A log that masks half of everything tells nothing."""
    assert redact(text) == text


def test_values_that_are_known_are_masked_inside_of_longer_text() -> None:
    """The longer first, or the rest of it would stay."""
    assert redact("xx-alpha-beta-yy alpha", ["alpha", "alpha-beta"]) == f"xx-{MASK}-yy {MASK}"
    assert redact("nothing", ["", "absent"]) == "nothing"


def test_values_by_the_name_of_their_key() -> None:
    """In nested objects, and in a command line after the option."""
    value = {
        "env": {"ANTHROPIC_API_KEY": "plain", "botToken": "x", "tokens": "12", "key": "brain.max_arms", "PATH": "/bin"},
        "argv": ["claude", "--api-key", "plain", "--model", "opus"],
        "n": 5,
        "password": None,
        "token": 5,
    }
    assert redact_value(value) == {
        "env": {"ANTHROPIC_API_KEY": MASK, "botToken": MASK, "tokens": "12", "key": "brain.max_arms", "PATH": "/bin"},
        "argv": ["claude", "--api-key", MASK, "--model", "opus"],
        "n": 5,
        "password": None,
        "token": 5,
    }
    assert redact_value(("a", 1), ["a"]) == [MASK, 1]
    assert redact_value(1.5) == 1.5


def test_names() -> None:
    """Words and their plurals, camel case and all."""
    secret = [
        "TOKEN",
        "botToken",
        "api_key",
        "APIKEY",
        "x-api-key",
        "DB_PASSWORD",
        "signing_key",
        "Authorization",
        "pwd",
    ]
    plain = ["tokens", "max_tokens", "key", "monkey", "secretary", "author", "keyboard", "password_hint_shown_at"]
    assert [name for name in secret if not is_secret_name(name)] == []
    assert [name for name in plain if is_secret_name(name)] == []


def test_which_values_of_a_secret_file_are_masked_everywhere() -> None:
    """Short ones only when their name says so: "on" and "1" are in every sentence. PATH is no secret (case h03)."""
    found = secret_values(
        {"A": "12345678", "B": "1234567", "PIN_TOKEN": "1234", "T_TOKEN": "12", "PATH": "/opt/bin:/x"}
    )
    assert found == {"12345678", "1234"}


@settings(deadline=None)
@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    """And masking twice is masking once."""
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "piece",
    [
        "a-",
        "1_",
        "token",
        "://",
        "a.",
        "eyJ-",
        "--",
        "secret=",
        "key ",
        "x:y@",
        "basic ",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_no_text_makes_it_slow(piece: str) -> None:
    """Quadratic patterns would let an agent stop all who write to the log: this would run into the time limit."""
    redact(piece * (200_000 // len(piece)))
