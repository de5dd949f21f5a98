"""The addresses of notes: `note:///Garden/Compost%20heap.md`."""

from typing import Final
from urllib.parse import quote, unquote

SCHEME: Final = "note:///"
_UNESCAPED: Final = "/-._~!$&'()*+,;=:@"
"""What may stand in the path of a URI as it is."""


def uri_of(path: str) -> str:
    """The address of a file of the vault."""
    return SCHEME + quote(path, safe=_UNESCAPED, errors="replace")


def path_in(uri: str) -> str | None:
    """The path that an address names; None where it is no address of a note."""
    return unquote(uri[len(SCHEME) :]) if uri.startswith(SCHEME) else None
