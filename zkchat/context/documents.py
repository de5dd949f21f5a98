"""Which linked documents go into a message whole, and which the model is only pointed to (SPEC 2.3). Pure."""

from collections.abc import Callable, Sequence
from html import escape

from zkchat.model.message import FilePart
from zkchat.model.reference import DocumentReference
from zkchat.ports import Tokenizer

LARGEST_SHARE = 0.20
"""A document is included if it takes less than this share of what is left for messages."""


def include(
    references: Sequence[DocumentReference],
    text_of: Callable[[DocumentReference], str],
    tokenizer: Tokenizer,
    left: int,
) -> tuple[list[FilePart], list[DocumentReference]]:
    """The documents that fit, in the order of the links, and the references with those marked as included."""
    parts: list[FilePart] = []
    marked: list[DocumentReference] = []
    for reference in references:
        text = text_of(reference) if reference.relative_path else ""
        tokens = tokenizer.count(text)
        fits = bool(text.strip()) and tokens < LARGEST_SHARE * left
        if fits:
            parts.append(FilePart(name=_name(reference), media_type="text/markdown", text=text))
            left -= tokens
        marked.append(reference.model_copy(update={"included": fits}))
    return parts, marked


def wrapped(path: str, text: str) -> str:
    """What a note says, marked as data. A note cannot close its own wrapping and pass for something else."""
    body = text.replace("</document", "<\u200b/document")
    return f'<document path="{escape(path)}">\n{body}\n</document>'


def _name(reference: DocumentReference) -> str:
    anchored = reference.anchor and reference.anchor_found
    return f"{reference.relative_path}#{reference.anchor}" if anchored else f"{reference.relative_path}"
