"""The addresses of files of the vault: `note:///Garden/Compost%20heap.md#Layers`."""

from typing import Final, NamedTuple
from urllib.parse import quote, unquote

SCHEME: Final = "note:///"
TEMPLATE: Final = f"{SCHEME}{{+path}}"
_UNESCAPED: Final = "/-._~!$&'()*+,;=:@"
"""What may stand in the path of a URI as it is."""


class Place(NamedTuple):
    """What an address names."""

    path: str
    heading: str = ""


def uri_of(path: str, heading: str = "") -> str:
    """The address of a file of the vault, or of what stands under a heading of a note."""
    fragment = f"#{_quoted(heading)}" if heading else ""
    return f"{SCHEME}{_quoted(path)}{fragment}"


def path_in(uri: str) -> str | None:
    """The path that an address names; None where it is no address of a note."""
    places = places_in(uri)
    return places[0].path if places else None


def places_in(uri: str) -> list[Place]:
    """What an address may name, the likeliest first; nothing where it is no address of a file of the vault.

    Clients that fill in the template leave a `#` of a path as it is.
    """
    if uri[: len(SCHEME)].casefold() != SCHEME:
        return []
    whole = uri[len(SCHEME) :]
    path, sign, heading = whole.partition("#")
    try:
        places = [Place(_unquoted(path), _unquoted(heading))]
        return [*places, Place(_unquoted(whole))] if sign else places
    except UnicodeDecodeError:
        return []


def _quoted(text: str) -> str:
    return quote(text, safe=_UNESCAPED, errors="replace")


def _unquoted(text: str) -> str:
    return unquote(text, errors="strict")
