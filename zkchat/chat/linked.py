"""The links of a text, looked up in the vault, as references."""

from collections.abc import Sequence
from typing import Final, assert_never

from zkchat.chat.ledger import Ledger
from zkchat.errors import StorageError, VaultError
from zkchat.model.note import Ambiguous, External, Link, Missing, Resolved
from zkchat.model.reference import DocumentReference
from zkchat.vault.library import Library
from zkchat.vault.links.resolver import is_note
from zkchat.vault.notes import wikilink
from zkchat.vault.notes.parse import parse_note

WITHHELD: Final = "withheld"
"""How a note was found that may not be sent to the model at hand: no more of it is known than the link."""


MOST_EMBEDS: Final = 50
"""Of one document; nobody reads more of them as a part of it."""


def links_in(library: Library, text: str, quoted: Sequence[str] = ()) -> tuple[DocumentReference, ...]:
    """A reference for each link of the text, in order; links to the web are none of ours.

    One that stands word for word in a note that may be `quoted` leads where it leads from there.
    """
    links = wikilink.scan(text)
    sources = library.sources_of({link.text for link in links}, quoted) if links and quoted else {}
    by_text = {link.text: link for link in links}
    found = {text: _reference(library, link, sources.get(text)) for text, link in by_text.items()}
    return tuple(reference for link in links if (reference := found[link.text]))


def linked(library: Library, text: str, quoted: Sequence[str] = ()) -> tuple[DocumentReference, ...]:
    """One reference for each note that the text links to, in order."""
    return Ledger(links_in(library, text, quoted)).references


def embedded(library: Library, reference: DocumentReference, text: str) -> tuple[DocumentReference, ...]:
    """The notes, sections and blocks that the text of this document shows as part of itself (`![[…]]`), in order.

    None where the index does not answer: the document itself is there all the same.
    """
    source = reference.relative_path
    assert source is not None
    links = parse_note(source, text).links if "![" in text else ()
    shown = [link for link in links if link.embed and not link.in_comment and not link.in_frontmatter]
    try:
        found = [_reference(library, link, source) for link in shown[:MOST_EMBEDS]]
    except (StorageError, VaultError):
        return ()
    return tuple(
        embed.model_copy(update={"via": "embed"})
        for embed in found
        if embed and embed.relative_path and is_note(embed.relative_path)
    )


def _reference(library: Library, link: Link, source: str | None = None) -> DocumentReference | None:
    found = library.resolve(link, source)
    match found:
        case Resolved() | Ambiguous():
            others = found.others if isinstance(found, Ambiguous) else ()
            return DocumentReference(
                wikilink=link.text,
                relative_path=found.path,
                status="ambiguous" if others else "resolved",
                via=found.via,
                title=library.title(found.path),
                anchor=link.anchor,
                anchor_found=found.anchor_found,
                candidates=others,
            )
        case Missing() if library.withheld(link, source):
            return DocumentReference(wikilink=link.text, status="missing", via=WITHHELD)
        case Missing(suggestions=suggestions):
            return DocumentReference(wikilink=link.text, status="missing", candidates=suggestions)
        case External():
            return None
        case _:
            assert_never(found)
