"""Summaries of documents: taken from their text, or found among those that a model wrote before."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from zkchat.errors import StorageError, VaultError
from zkchat.model.patterns import lazy_pattern
from zkchat.model.references import DocumentReference
from zkchat.model.text import shorten
from zkchat.vault.library import Library
from zkchat.vault.notes import wikilink
from zkchat.vault.notes.markdown import blank, flatten, plain
from zkchat.vault.notes.parse import prose_of
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.search.terms import terms

MAX_SUMMARIES = 20
"""References that get a summary: nobody reads more of them, and for each a note is read."""
MAX_SUMMARY_CHARS = 200
"""Characters of a summary."""
MAX_NOTE_CHARS = 6000
"""Characters of a note that are looked at, so that a long one takes no longer than others."""
MIN_WORDS = 3
"""A paragraph of fewer words, links aside, says nothing by itself."""

_COMMENT = lazy_pattern(r"%%.*?(?:%%|\Z)", re.DOTALL)
_PARAGRAPH = lazy_pattern(r"(?:^.*\S.*(?:\n|\Z))+", re.MULTILINE)
_HEADING = lazy_pattern(r"^ {0,3}#{1,6}\s.*\n?|^(?:.*\n)+? {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)", re.MULTILINE)
_NO_PROSE = lazy_pattern(r"^\s*(?:[-*+]\s|\d{1,9}[.)]\s|[|>])", re.MULTILINE)
"""Where a list, a table or a quotation begins."""
_TAG = lazy_pattern(r"#\S+")
_BLOCK_ID = lazy_pattern(r"\s\^[\w-]+\s*$")


class DocumentVersion(NamedTuple):
    """A document, or a section of one, for as long as its text is this one."""

    path: str
    anchor: str
    fingerprint: bytes


class Summary(NamedTuple):
    """At most `MAX_SUMMARY_CHARS` characters on one line, without marks and links; empty where nothing is said."""

    text: str
    is_truncated: bool = False
    """Whether it is the beginning of a longer paragraph, so that a sentence about the whole would say more."""


class SummaryCache(Protocol):
    """What models said of documents, kept for other sessions."""

    def find(self, path: str, anchor: str, fingerprint: bytes) -> str:
        """Empty where there is none for this text."""
        ...

    def keep(self, path: str, anchor: str, fingerprint: bytes, sentence: str) -> None: ...

    def described(self) -> list[tuple[str, bytes]]:
        """Path and fingerprint of every document that something is said of."""
        ...

    def forget(self, documents: Iterable[tuple[str, bytes]]) -> None: ...


class Summaries:
    """A document is read once, and again when the index has seen it change."""

    def __init__(self, library: Library, cache: SummaryCache | None = None) -> None:
        self._library = library
        self._cache = cache
        self._known: dict[DocumentVersion, Summary] = {}

    def add_to(self, references: Sequence[DocumentReference]) -> tuple[DocumentReference, ...]:
        """The references, the first of them with summaries of their documents, or of the sections they lead to."""
        first = references[:MAX_SUMMARIES]
        prints = self._fingerprints(first)
        described = (
            reference if reference.summary else replace(reference, summary=self._summary(reference, prints).text)
            for reference in first
        )
        return (*described, *references[MAX_SUMMARIES:])

    def truncated(self, references: Sequence[DocumentReference]) -> list[DocumentVersion]:
        """The versions among these whose summary is only the beginning of a longer paragraph."""
        prints = self._fingerprints(references)
        versions = (_version(reference, prints) for reference in references)
        known = dict.fromkeys(version for version in versions if version and version in self._known)
        return [version for version in known if self._known[version].is_truncated]

    def replace(self, version: DocumentVersion, sentence: str) -> None:
        """From now on this is the summary, in later sessions too."""
        self._known[version] = Summary(sentence)
        if self._cache:
            self._cache.keep(*version, sentence)

    def tidy(self) -> None:
        """Forget what was said of documents that are gone, or say something else now."""
        if self._cache:
            described = self._cache.described()
            now = self._library.whole.fingerprints({path for path, _ in described})
            if gone := [(path, print_) for path, print_ in described if now.get(path) != print_]:
                self._cache.forget(gone)

    def _fingerprints(self, references: Iterable[DocumentReference]) -> Mapping[str, bytes]:
        try:
            return self._library.fingerprints({each.relative_path for each in references if each.relative_path})
        except StorageError:
            return {}

    def _summary(self, reference: DocumentReference, prints: Mapping[str, bytes]) -> Summary:
        version = _version(reference, prints)
        if version is None:
            return self._read(reference)
        if version not in self._known:
            self._known[version] = self._kept(version) or self._read(reference)
        return self._known[version]

    def _kept(self, version: DocumentVersion) -> Summary | None:
        sentence = ""
        if self._cache:
            with suppress(StorageError):
                sentence = self._cache.find(*version)
        return Summary(sentence) if sentence else None

    def _read(self, reference: DocumentReference) -> Summary:
        path, anchor = reference.relative_path, _anchor(reference)
        if path is None:
            return Summary("")
        try:
            return summarize(self._library.section(path, anchor) if anchor else self._library.read(path))
        except (StorageError, VaultError):
            return Summary("")


def _anchor(reference: DocumentReference) -> str:
    return reference.anchor if reference.anchor_found else ""


def _version(reference: DocumentReference, prints: Mapping[str, bytes]) -> DocumentVersion | None:
    path = reference.relative_path
    return DocumentVersion(path, _anchor(reference), prints[path]) if path and path in prints else None


def summarize(text: str) -> Summary:
    """What a text says of itself."""
    head = flatten(text[:MAX_NOTE_CHARS])
    said = prose_of(head)
    comments = [match.span() for match in _COMMENT.finditer(said)]
    head, said = blank(head, comments), blank(said, comments)
    for start, end in _paragraphs(said):
        if _says_something(said[start:end]):
            return _shortened(head[start:end])
    return Summary(_of_lists(head[len(said) - len(said.lstrip()) :]))


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
    return _first(plain_line(item) for item in items if _says_something(prose_of(item)))


def _says_something(said: str) -> bool:
    return len(terms(_TAG.sub(" ", said).replace("\0", " "))) >= MIN_WORDS


def _shortened(paragraph: str) -> Summary:
    whole = plain_line(paragraph)
    is_truncated = len(whole) > MAX_SUMMARY_CHARS
    return Summary(_first(map(plain_line, sentences(paragraph))) if is_truncated else whole, is_truncated)


def _first(pieces: Iterable[str]) -> str:
    """As many of them as there is room for; the first of them in any case, cut if need be."""
    summary = ""
    for piece in filter(None, pieces):
        if summary and len(summary) + 1 + len(piece) > MAX_SUMMARY_CHARS:
            break
        summary = f"{summary} {piece}".strip()
    return shorten(summary, MAX_SUMMARY_CHARS, whole_words=True)


def plain_line(markdown: str) -> str:
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
