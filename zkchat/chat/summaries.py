"""What a document is about, in its own words (SPEC 2.5): the first paragraph that says something, or its beginning."""

import re
from collections.abc import Iterable, Iterator, Sequence

from zkchat.errors import VaultError
from zkchat.model.reference import DocumentReference
from zkchat.vault import wikilink
from zkchat.vault.library import Library
from zkchat.vault.markdown import blank, flatten, plain
from zkchat.vault.parse import prose_of
from zkchat.vault.sentences import sentences
from zkchat.vault.terms import terms

MOST = 20
"""References that get a summary: nobody reads more of them, and for each a note is read."""
LONGEST = 200
"""Characters of a summary."""
BEGINNING = 6000
"""Characters of a note that are looked at, so that a long one takes no longer than others."""
LEAST_WORDS = 3
"""A paragraph of fewer words, links aside, says nothing by itself."""

_COMMENT = re.compile(r"%%.*?(?:%%|\Z)", re.DOTALL)
_PARAGRAPH = re.compile(r"(?:^.*\S.*(?:\n|\Z))+", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}\s.*\n?|^(?:.*\n)+? {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)", re.MULTILINE)
_NO_PROSE = re.compile(r"^\s*(?:[-*+]\s|\d{1,9}[.)]\s|[|>])", re.MULTILINE)
"""Where a list, a table or a quotation begins."""
_TAG = re.compile(r"#\S+")
_BLOCK_ID = re.compile(r"\s\^[\w-]+\s*$")


def summarised(library: Library, references: Sequence[DocumentReference]) -> tuple[DocumentReference, ...]:
    """The references, the first of them with summaries of their documents, or of the sections they lead to."""
    first = (
        reference if reference.summary else reference.model_copy(update={"summary": _summary(library, reference)})
        for reference in references[:MOST]
    )
    return (*first, *references[MOST:])


def _summary(library: Library, reference: DocumentReference) -> str:
    path, anchor = reference.relative_path, reference.anchor if reference.anchor_found else ""
    if path is None:
        return ""
    try:
        return summary_of(library.section(path, anchor) if anchor else library.read(path))
    except VaultError:
        return ""


def summary_of(text: str) -> str:
    """At most `LONGEST` characters on one line, without marks and links; empty where nothing is said."""
    head = flatten(text[:BEGINNING])
    said = prose_of(head)
    comments = [match.span() for match in _COMMENT.finditer(said)]
    head, said = blank(head, comments), blank(said, comments)
    for start, end in _paragraphs(said):
        if _says_something(said[start:end]):
            return _shortened(head[start:end])
    return _of_lists(head[len(said) - len(said.lstrip()) :])


def _paragraphs(said: str) -> Iterator[tuple[int, int]]:
    """Where prose stands: paragraphs without headings above them, and without the lists that follow them."""
    for match in _PARAGRAPH.finditer(said):
        start, end = match.span()
        while heading := _HEADING.match(said, start, end):
            start = heading.end()
        other = _NO_PROSE.search(said, start, end)
        yield start, other.start() if other else end


def _of_lists(body: str) -> str:
    """The first items that say something, where there is no other text. The cells of a table say little alone."""
    items = (item for item in sentences(body) if not item.startswith("|"))
    return _first(_as_read(item) for item in items if _says_something(prose_of(item)))


def _says_something(said: str) -> bool:
    return len(terms(_TAG.sub(" ", said).replace("\0", " "))) >= LEAST_WORDS


def _shortened(paragraph: str) -> str:
    whole = _as_read(paragraph)
    return whole if len(whole) <= LONGEST else _first(map(_as_read, sentences(paragraph)))


def _first(pieces: Iterable[str]) -> str:
    """As many of them as there is room for; the first of them in any case, cut if need be."""
    summary = ""
    for piece in filter(None, pieces):
        if summary and len(summary) + 1 + len(piece) > LONGEST:
            break
        summary = f"{summary} {piece}".strip()
    return summary if len(summary) <= LONGEST else summary[: LONGEST - 1].rsplit(" ", 1)[0].rstrip() + "…"


def _as_read(markdown: str) -> str:
    """On one line, as somebody would read it out."""
    markdown = markdown.replace("\0", "")
    pieces: list[str] = []
    position = 0
    for link in wikilink.scan(markdown):
        if link.syntax == "wikilink":
            shown = "" if link.embed else link.display or link.target or link.anchor
            pieces += (markdown[position : link.start], shown)
            position = link.end
    return plain(_BLOCK_ID.sub("", "".join([*pieces, markdown[position:]])))
