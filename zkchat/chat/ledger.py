"""Which documents informed the answer: one row for each, however often and on whatever way it came up."""

from collections.abc import Iterable

from zkchat.model.reference import DocumentReference


class Ledger:
    def __init__(self, references: Iterable[DocumentReference] = ()) -> None:
        self._rows: dict[str, DocumentReference] = {}
        for reference in references:
            self.add(reference)

    def add(self, reference: DocumentReference) -> None:
        key = _key(reference)
        known = self._rows.get(key)
        self._rows[key] = known.merged_with(reference) if known else reference

    def holds(self, reference: DocumentReference) -> bool:
        return _key(reference) in self._rows

    def cite(self, reference: DocumentReference) -> None:
        """The answer names this document: marked where it is known, added where the model brought it up by itself."""
        self.add(reference.model_copy(update={"cited": True, "hits": 0}))

    @property
    def references(self) -> tuple[DocumentReference, ...]:
        return tuple(self._rows.values())


def _key(reference: DocumentReference) -> str:
    return reference.relative_path or f"missing {reference.wikilink.casefold()}"
