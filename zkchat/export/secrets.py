"""Keys and passwords in text: noticed by their shape, or because they are known, and never passed on."""

import re
from collections.abc import Iterable
from typing import Final

REDACTED: Final = "[redacted]"
_SHORTEST_KEY: Final = 8
_SHORTEST_FIND: Final = len("token=") + _SHORTEST_KEY

_SHAPES: Final = re.compile(
    r"""
      -----BEGIN[ A-Z]{0,30}PRIVATE[ ]KEY-----.*?(?:-----END[ A-Z]{0,30}PRIVATE[ ]KEY-----|\Z)
    | \b(?:sk|pk|rk)[-_](?=[\w-]{0,80}\d)[\w-]{16,}
    | \bgh[opsur]_[A-Za-z0-9]{20,} | \bgithub_pat_\w{20,} | \bglpat-[\w-]{16,}
    | \bxox[abeprs]-[\w-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[\w-]{30,}
    | \b(?:hf|gsk|r8|npm|tvly|xai)[-_](?=[A-Za-z0-9]{0,80}\d)[A-Za-z0-9]{20,}
    | \beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMED: Final = re.compile(
    r"""
    ( (?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|passphrase)[\w-]{0,20}["']?\s{0,3}[:=]\s{0,3}["']?
    | \bbearer[ ]{1,3} )
    (?=[^\s"',;]{0,80}\d)(?=[^\s"',;]{0,80}[a-z])
    [^\s"',;]{8,}
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What is called a key or a password, where it is of letters and digits; a secret told in words is none."""


def redacted(text: str, keys: Iterable[str] = ()) -> str:
    """The text without what looks like a key, and without the keys that are known.

    A known one that is as short as a word is passed over: it would take words with it.
    """
    for key in keys:
        text = text.replace(key, REDACTED) if len(key) >= _SHORTEST_KEY else text
    return text if len(text) < _SHORTEST_FIND else _NAMED.sub(rf"\1{REDACTED}", _SHAPES.sub(REDACTED, text))


def holds_secret(text: str, keys: Iterable[str] = ()) -> bool:
    return redacted(text, keys) != text
