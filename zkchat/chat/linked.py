"""The links of a text, looked up in the vault, as references."""

from typing import assert_never

from zkchat.chat.ledger import Ledger
from zkchat.model.note import Ambiguous, External, Link, Missing, Resolved
from zkchat.model.reference import DocumentReference
from zkchat.vault import wikilink
from zkchat.vault.library import Library


def linked(library: Library, text: str) -> tuple[DocumentReference, ...]:
    """One reference for each note that the text links to, in order; links to the web are none of ours."""
    found = (_reference(library, link) for link in wikilink.scan(text))
    return Ledger(reference for reference in found if reference).references


def _reference(library: Library, link: Link) -> DocumentReference | None:
    found = library.resolve(link)
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
        case Missing(suggestions=suggestions):
            return DocumentReference(wikilink=link.text, status="missing", candidates=suggestions)
        case External():
            return None
        case _:
            assert_never(found)
