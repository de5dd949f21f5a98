"""Which documents go into a message: whole, by their sentences, or only by name (SPEC 2.3). Pure."""

from collections.abc import Callable, Sequence
from html import escape

from zkchat.model.message import FilePart
from zkchat.model.prompt import ModelInfo
from zkchat.model.reference import DocumentReference
from zkchat.ports import Tokenizer

LARGEST_SHARE = 0.20
"""A document is included if it takes less than this share of what is left for messages; so are all embeds together."""


SMALL_WINDOW = 8192
"""Tokens up to which a model counts as small: it seldom thinks of searching, and has little room for what it finds."""


def wants_evidence(info: ModelInfo, window: int) -> bool:
    """Whether zkchat looks up by itself what the vault says: for a model without tools, or one known to be small."""
    is_small = info.context_limit is not None and min(info.context_limit, window) <= SMALL_WINDOW
    return not info.calls_tools or info.needs_evidence or is_small


def no_embeds(_reference: DocumentReference, _text: str) -> tuple[DocumentReference, ...]:
    """For whoever wants the linked documents and nothing else."""
    return ()


def include(
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
    shelf = _Shelf(text_of, tokenizer)
    for reference in references:
        left -= shelf.put(reference, LARGEST_SHARE * left)
    room = LARGEST_SHARE * left
    for reference, text in tuple(shelf.taken):
        for embed in embeds_of(reference, text):
            if not shelf.holds(embed):
                room -= shelf.put(embed, room)
    return [_part(reference, text) for reference, text in shelf.taken], list(shelf.rows.values())


class _Shelf:
    """Documents that were looked at, and the texts of those that fitted."""

    def __init__(self, text_of: Callable[[DocumentReference], str], tokenizer: Tokenizer) -> None:
        self._text_of = text_of
        self._tokenizer = tokenizer
        self._seen: set[str] = set()
        self._whole: set[str | None] = set()
        self.taken: list[tuple[DocumentReference, str]] = []
        self.rows: dict[str, DocumentReference] = {}
        """One for each document, by path; broken links by what they say."""

    def holds(self, reference: DocumentReference) -> bool:
        """Whether this place was looked at already, or stands in a document that was taken in whole."""
        return _name(reference) in self._seen or reference.relative_path in self._whole

    def put(self, reference: DocumentReference, room: float) -> int:
        """Take the document in if it needs less than `room`; the tokens it takes."""
        is_new = reference.relative_path is not None and not self.holds(reference)
        text = self._text_of(reference) if is_new else ""
        tokens = self._tokenizer.count(text)
        fits = bool(text.strip()) and tokens < room
        if fits:
            self.taken.append((reference, text))
            if not _anchor(reference):
                self._whole.add(reference.relative_path)
        self._seen.add(_name(reference))
        key, row = reference.relative_path or reference.wikilink, reference.model_copy(update={"included": fits})
        self.rows[key] = self.rows[key].merged_with(row) if key in self.rows else row
        return tokens if fits else 0


def wrapped(path: str, text: str) -> str:
    """What a note says, marked as data. A note cannot close its own wrapping and pass for something else."""
    body = text.replace("</document", "<\u200b/document")
    return f'<document path="{escape(path)}">\n{body}\n</document>'


def _part(reference: DocumentReference, text: str) -> FilePart:
    return FilePart(name=_name(reference), media_type="text/markdown", text=text)


def _anchor(reference: DocumentReference) -> str:
    return reference.anchor if reference.anchor_found else ""


def _name(reference: DocumentReference) -> str:
    anchor = _anchor(reference)
    return f"{reference.relative_path}#{anchor}" if anchor else f"{reference.relative_path}"
