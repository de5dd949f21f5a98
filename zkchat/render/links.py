"""Where the wikilinks of a text lead, as far as drawing it needs to know."""

from collections.abc import Sequence
from typing import Final, Protocol
from urllib.parse import quote

from msgspec import Struct

from zkchat.core import DocumentReference


class LinkTarget(Struct, frozen=True):
    """What a wikilink leads to."""

    is_missing: bool = False
    address: str | None = None
    """What a click opens; None where that is not known to be safe."""
    shares_name: bool = False
    """Whether another note has the same name, so that the folder tells them apart."""


UNKNOWN: Final = LinkTarget()


class ClickableLinks(Protocol):
    """The addresses that a click opens, in the list of documents and in a text."""

    def clickable(self, reference: DocumentReference) -> str | None:
        """The address of a document that is safe to open by a click; None for all others."""

    def current(self, references: Sequence[DocumentReference]) -> Sequence[DocumentReference]:
        """The same documents as the vault is now: those that are gone are missing."""

    def target_of(self, written: str, source: str | None = None) -> LinkTarget:
        """What the wikilink leads to that is written so, in the note `source` or anywhere."""


class NoLinks:
    """For terminals where nothing can be clicked, and texts whose links are not looked up."""

    def clickable(self, _reference: DocumentReference) -> None:
        return None

    def current(self, references: Sequence[DocumentReference]) -> Sequence[DocumentReference]:
        return references

    def target_of(self, _written: str, _source: str | None = None) -> LinkTarget:
        return UNKNOWN


NO_LINKS: Final = NoLinks()


def percent_encoded(address: str) -> str:
    """Encode everything that could end or change the escape sequence of the link."""
    return quote(address, safe="%/:?#[]@!$&'()*+,;=~-._", errors="replace")
