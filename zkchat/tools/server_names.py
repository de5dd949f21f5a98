"""The names of the tools of MCP servers: as models are told them, and as people write them."""

from hashlib import sha256
from typing import Final

from zkchat.model.patterns import lazy_pattern

MAX_NAME: Final = 64
"""Characters that models' servers accept in the name of a tool."""
SEPARATOR: Final = "__"
_REFUSED: Final = lazy_pattern(r"[^A-Za-z0-9_-]")
_HASH_DIGITS: Final = 10
_HASHED: Final = lazy_pattern(rf"--[0-9a-f]{{{_HASH_DIGITS}}}(?:--|$)")
_KEPT: Final = (MAX_NAME - _HASH_DIGITS - 4) // 2
"""Characters that stay of each end of a name that is too long."""


def tool_name(server: str, tool: str) -> str:
    """`server__tool`, in the characters and the length that every model's server accepts.

    It depends on nothing but these two. A name that is cut, or that would say less than both, holds a hash of both, so
    that two tools have one name only where their hashes are the same.
    """
    joined = f"{server}{SEPARATOR}{tool}"
    is_plain = _REFUSED.search(joined) is None and _HASHED.search(joined) is None
    if is_plain and len(joined) <= MAX_NAME and joined.partition(SEPARATOR) == (server, SEPARATOR, tool):
        return joined
    digest = sha256(f"{len(server)} {server} {tool}".encode(errors="surrogatepass")).hexdigest()[:_HASH_DIGITS]
    safe = _REFUSED.sub("_", joined)
    if len(safe) + _HASH_DIGITS + 2 <= MAX_NAME:
        return f"{safe}--{digest}"
    return f"{safe[:_KEPT]}--{digest}--{safe[-_KEPT:]}"


def shown_name(server: str, tool: str) -> str:
    """As people write it in profiles and commands."""
    return f"{server}/{tool}"
