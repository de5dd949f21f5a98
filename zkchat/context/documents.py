"""The documents that a message links to: which of them go into the request with it, and how much of each. Pure."""

from collections.abc import Callable, Sequence

from zkchat.model.message import DocumentReference, FilePart
from zkchat.ports import Tokenizer

MAX_DOCUMENT_SHARE = 0.20
"""A document is included if it takes less than this share of what is left for messages; so are all embeds together."""


def no_embeds(_reference: DocumentReference, _text: str) -> tuple[DocumentReference, ...]:
    """Includes the linked documents only."""
    return ()


def include_documents(
    references: Sequence[DocumentReference],
    text_of: Callable[[DocumentReference], str],
    tokenizer: Tokenizer,
    left: int,
    embeds_of: Callable[[DocumentReference, str], Sequence[DocumentReference]] = no_embeds,
) -> tuple[list[FilePart], list[DocumentReference]]:
    """The documents that fit, in the order of the links, and one reference for each, marked where it is included.

    Several sections of a document may be asked for, each by a reference of its own. What an included document embeds
    (`embeds_of` it and its text) comes after all that was linked, each once; the embeds of embeds stay out.
    """
    intake = _DocumentIntake(text_of, tokenizer)
    for reference in references:
        left -= intake.include(reference, MAX_DOCUMENT_SHARE * left)
    for_embeds = MAX_DOCUMENT_SHARE * left
    for reference, text in tuple(intake.included):
        for embed in embeds_of(reference, text):
            if not intake.covers(embed):
                for_embeds -= intake.include(embed, for_embeds)
    return [_part(reference, text) for reference, text in intake.included], list(intake.rows.values())


class _DocumentIntake:
    """The documents considered so far, and the texts of those that fit."""

    def __init__(self, text_of: Callable[[DocumentReference], str], tokenizer: Tokenizer) -> None:
        self._text_of = text_of
        self._tokenizer = tokenizer
        self._seen: set[str] = set()
        self._whole: set[str | None] = set()
        self.included: list[tuple[DocumentReference, str]] = []
        self.rows: dict[str, DocumentReference] = {}
        """One for each document, by path; broken links by what they say."""

    def covers(self, reference: DocumentReference) -> bool:
        """Whether this document or section was considered already, or is part of a document that is included."""
        return _name(reference) in self._seen or reference.relative_path in self._whole

    def include(self, reference: DocumentReference, budget: float) -> int:
        """Include the document if it takes less than `budget`; returns the tokens it takes."""
        is_new = reference.relative_path is not None and not self.covers(reference)
        text = self._text_of(reference) if is_new else ""
        tokens = self._tokenizer.count(text)
        fits = bool(text.strip()) and tokens < budget
        if fits:
            self.included.append((reference, text))
            if not _anchor(reference):
                self._whole.add(reference.relative_path)
        self._seen.add(_name(reference))
        key, row = reference.relative_path or reference.wikilink, reference.model_copy(update={"included": fits})
        self.rows[key] = self.rows[key].merged_with(row) if key in self.rows else row
        return tokens if fits else 0


def _part(reference: DocumentReference, text: str) -> FilePart:
    return FilePart(name=_name(reference), media_type="text/markdown", text=text)


def _anchor(reference: DocumentReference) -> str:
    return reference.anchor if reference.anchor_found else ""


def _name(reference: DocumentReference) -> str:
    anchor = _anchor(reference)
    return f"{reference.relative_path}#{anchor}" if anchor else f"{reference.relative_path}"
