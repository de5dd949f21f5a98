"""How keys and passwords look in text: what is neither remembered nor exported."""

import re
from typing import Final

KEY: Final = re.compile(
    r"""
      -----BEGIN[ A-Z]{0,30}PRIVATE[ ]KEY.*?(?:-----END[ A-Z]{0,30}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----|\Z)
    | \b(?:sk|pk|rk)[-_](?=[\w-]{0,80}(?:\d|[a-z][A-Z]))[\w-]{15,}
    | \bgh[opsur]_[A-Za-z0-9]{15,} | \bgithub_pat_\w{15,} | \bglpat-[\w-]{15,}
    | \bxox[abeprs]-[\w-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16,}
    | \bAIza[\w-]{15,}
    | \b(?:hf|gsk|r8|npm|tvly|xai)[-_](?=[A-Za-z0-9]{0,80}(?:\d|[a-z][A-Z]))[A-Za-z0-9]{15,}
    | \beyJ[\w-]{10,4000}+\.eyJ[\w-]{10,}+\.[\w-]+
    """,
    re.VERBOSE | re.DOTALL,
)
"""What is a key by its shape. A digit or mixed case tells the short prefixes from words such as sk-learn."""
KEY_MARKS: Final = (
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "_pat_", "glpat-", "xox"),
    *("AKIA", "ASIA", "AIza", "hf-", "hf_", "r8-", "r8_", "npm-", "npm_", "tvly", "xai", "eyJ", "PRIVATE KEY"),
)
"""Each of which is much faster to look for than the pattern, which matches nothing that has none of them."""
NAMED_KEY: Final = re.compile(
    r"""
    ( (?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|passphrase)[\w-]{0,20}["']?\s{0,3}[:=]\s{0,3}["']?
    | \bbearer[ ]{1,3} )
    (?=[^\s"',;]{0,80}\d)(?=[^\s"',;]{0,80}[a-z])
    [^\s"',;]{8,}
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What is called a key or a password, after its name, where it is of letters and digits; a secret told in words is
none."""
NAMED_KEY_MARKS: Final = ("key", "secret", "token", "pass", "bearer")
"""The same for the folded text of what has a name."""


_USERINFO: Final = re.compile(r"(?<=://)[^/?#\s\"']{1,500}@")


def without_password(text: str) -> str:
    """A text without the names and passwords that stand in its addresses: `http://me:secret@host`."""
    return _USERINFO.sub("…@", text)
