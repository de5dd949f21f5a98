"""Which documents the answer rests on by its own account, and whether it can know of them (verified citations)."""

import re
from collections.abc import Collection, Iterable

from zkchat.chat.ledger import Ledger
from zkchat.chat.linked import linked
from zkchat.errors import StorageError, VaultError
from zkchat.model.context import RequestContext
from zkchat.model.message import ChatMessage
from zkchat.model.reference import DocumentReference
from zkchat.vault.library import Library
from zkchat.vault.links.names import name_key
from zkchat.vault.notes import wikilink
from zkchat.vault.search.terms import UNSPACED_SCRIPTS

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(f"[{UNSPACED_SCRIPTS}]")
_QUOTE = "[\"'“”„‘’«»*_`]"


def given_before(messages: Iterable[ChatMessage]) -> frozenset[str]:
    """The documents that earlier messages brought up: an answer may come back to them."""
    references = (reference for message in messages for reference in message.references)
    return frozenset(each.relative_path for each in references if each.relative_path and not each.unverified)


def given_with(context: RequestContext) -> frozenset[str]:
    """The documents that stood in a request, whatever brought them there."""
    return frozenset(item.name.partition("#")[0] for item in context.items)


def cite(ledger: Ledger, answer: str, library: Library, before: Collection[str] = ()) -> None:
    """Mark what the answer links to or names. A link to what is neither in the ledger nor given `before` is unverified.

    Where the index does not answer, nothing is marked: the answer is there all the same.
    """
    given = {row.relative_path for row in ledger.references if row.relative_path}.union(before)
    try:
        for link in linked(library, answer, sorted(given)):
            reference, is_known = _meant(link, ledger, before)
            update = {"reference_type": "search", "via": "answer", "unverified": not is_known}
            ledger.cite(reference.model_copy(update=update))
        said = Said(wikilink.without_links(answer))
        for row in ledger.references:
            path = row.relative_path
            if path and not row.cited and said.names_one_of(path, library.names(path)):
                ledger.cite(row)
    except (StorageError, VaultError):
        return


def _meant(link: DocumentReference, ledger: Ledger, before: Collection[str]) -> tuple[DocumentReference, bool]:
    """What the answer links to, and whether the model was given it: of several that fit, that one is meant."""
    others = link.candidates if link.status == "ambiguous" else ()
    for path in (link.relative_path, *others):
        possible = link.model_copy(update={"relative_path": path})
        if path in before or ledger.holds(possible):
            return possible, True
    return link, False


class Said:
    """A text, to be asked for names."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._key = name_key(text)
        self._words = f" {' '.join(_WORD.findall(self._key))} "

    def names(self, name: str) -> bool:
        """A single word is a name only in quotes, or as a file: all who speak of sleep say "sleep"."""
        name = name_key(name)
        if _UNSPACED.search(name):
            return name in self._key
        words = _WORD.findall(name)
        if len(words) > 1:
            return f" {' '.join(words)} " in self._words
        word = re.escape(name)
        return bool(words) and re.search(rf"{_QUOTE}{word}{_QUOTE}|\b{word}\.md\b", self._key) is not None

    def names_one_of(self, path: str, names: Iterable[str]) -> bool:
        return path in self._text or any(map(self.names, names))
