"""Verify a text: which of its statements the notes support, word for word or nearly, and where.

Passages are cut into the sentences, list items and table rows that a statement is compared with. A quotation may differ
in case, spaces, line breaks, Markdown and quotation marks.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.answers.verification.claims import LANGUAGES
from zkchat.answers.verification.comparison import Comparison, Source, compare, weights_of
from zkchat.answers.verification.sentence_parser import CONDITION, Token, listed, parse_sentence, plain, tokenize
from zkchat.core import (
    NOTE_SUFFIXES,
    CheckedStatement,
    LineRange,
    Passage,
    SourcePlace,
    VaultError,
    Verification,
    anchor_of,
    lazy_pattern,
)
from zkchat.index import Library, idf, query_words
from zkchat.index import words as terms_words
from zkchat.language import any_of, of_all, phrases
from zkchat.notes import (
    Block,
    Lines,
    blocks,
    detect_language,
    find_lines,
    frontmatter_of,
    guess_language,
    sentence_spans,
    sentences,
    with_line_feeds,
)

MAX_CHARACTERS: Final = 200_000
"""Characters of a text that are looked at."""
MAX_STATEMENTS: Final = 300
_NO_STATEMENT_ENDS: Final = ("?", "？", ":", "：", "؟", "…:")
_NO_PROSE: Final = ("```", "~~~", "|", "#", "<!--", "%%", "[^")
_SOURCE: Final = lazy_pattern(r"[—–-]{1,3}\s?!?\[\[")
"""A line below a quotation that says where it is from begins so."""
_EMPHASIZED: Final = lazy_pattern(r"(\*\*|__)[^*_]+\1:?")
"""A line that is a heading in all but name."""
_CLOSING: Final = " \t\n\"'”’»)]*_」』）"
_QUOTE_MARKS: Final = "> \t\n"
_LINE_ENDS: Final = dict.fromkeys(map(ord, "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
"""What else ends a line."""


class Statement(NamedTuple):
    text: str
    start: int
    end: int
    line: int


class ExtractedStatements(NamedTuple):
    """The statements of a text, and whether all of it was looked at."""

    statements: tuple[Statement, ...]
    is_complete: bool


def extract_statements(text: str) -> ExtractedStatements:
    """Find the statements of a text: of one without end, those of its beginning."""
    flat = with_line_feeds(text[:MAX_CHARACTERS]).translate(_LINE_ENDS)
    found = tuple(islice(_statements(flat), MAX_STATEMENTS + 1))
    is_complete = len(found) <= MAX_STATEMENTS and len(text) <= MAX_CHARACTERS
    return ExtractedStatements(found[:MAX_STATEMENTS], is_complete)


def _statements(flat: str) -> Iterator[Statement]:
    lines = Lines(flat)
    place = frontmatter_of(flat).end
    for sentence in sentences(flat[place:]):
        text = sentence.lstrip(_QUOTE_MARKS)
        start = flat.index(sentence, place) + len(sentence) - len(text)
        place = start + len(text)
        if _states_something(text):
            yield Statement(text, start, place, lines.at(start))


def _states_something(sentence: str) -> bool:
    text = sentence.strip()
    if text.startswith(_NO_PROSE) or _EMPHASIZED.fullmatch(text) or _SOURCE.match(text):
        return False
    bare = text.rstrip(_CLOSING)
    if bare.endswith(_NO_STATEMENT_ENDS) or not re.search(r"\w", bare):
        return False
    beginning = text[:2_000]
    spoken = terms_words(beginning)
    unspaced = tuple(of_all("greetings", spaced=False).split())
    if len(spoken) <= 6 and (
        " ".join(spoken) in _small_talk() or spoken[0] in listed("greetings") or bare.startswith(unspaced)
    ):
        return False
    # There is more than stop words and words about the text itself; one such word is enough in "He was no hermit."
    content = {*query_words(beginning)}
    has_topic = any(len(word) > 2 or not word.isascii() for word in content - listed("asides"))
    return has_topic and len(content) + (len(spoken) >= 4) >= 2


@cache
def _small_talk() -> frozenset[str]:
    return frozenset(" ".join(terms_words(phrase)) for phrase in phrases(of_all("small_talk")))


MAX_PLACES: Final = 3
"""Places that are named of each statement."""
MIN_NEAREST_COVERAGE: Final = 0.7
"""The share of an unsupported statement that a sentence must hold to be named as the nearest."""
MAX_STATEMENT_CHARACTERS: Final = 2_000
"""Characters of a statement that is looked for; none of a longer one is a sentence."""
_SEARCHED_PASSAGES: Final = 10
_MAX_QUERY: Final = 600
"""Characters of a statement that are searched for."""
_NO_QUERY: Final = str.maketrans(dict.fromkeys('":#-*_`[]()|<>', " "))
"""What means something in a query."""
_SUFFIX: Final = "|".join(map(re.escape, NOTE_SUFFIXES))
_NOTE: Final = rf"(?:!?\[\[[^\[\]\n]{{1,300}}\]\]|[^()\[\]\n,;]{{1,200}}(?:{_SUFFIX})(?::\d{{1,9}}(?:[-–]\d{{1,9}})?)?)"
_NOTES: Final = rf"(?:{any_of('whose_notes')})\s+(?:{any_of('notes')})"
_CITATION: Final = lazy_pattern(
    rf"\s{{0,3}}(?:[(\[（]\s*(?:(?:{any_of('see')}):?\s*)?{_NOTE}(?:[,;]\s*{_NOTE}){{0,9}}\s*[)\]）]|\s[—–-]{{1,3}}\s{{0,3}}!?\[\[[^\[\]\n]{{1,300}}\]\])(?=\s{{0,3}}[.!。]?\s{{0,3}}$)",
    re.IGNORECASE,
)
"""What stands at the end of a sentence and says where it is from."""
_NUMBERED: Final = lazy_pattern(r"\s{0,3}\[\d{1,3}\](?=[\s.,;:!。]|$)")
_LEAD: Final = lazy_pattern(
    rf"^\s*(?:(?:{any_of('attributions')})\s+(?:{_NOTES}|!?\[\[[^\[\]\n]{{1,300}}\]\])\s*[,:]?\s+"
    rf"|(?:{_NOTES}|!?\[\[[^\[\]\n]{{1,300}}\]\])\s+(?:{any_of('sayings')})\s*(?:(?:{any_of('that')})\b|[:,])\s*)",
    re.IGNORECASE,
)
"""What stands at the beginning and says so."""


def verify(library: Library, text: str, without: Collection[str] = ()) -> Verification:
    """Verify each statement of a text against the notes that this library may show, but for those `without`."""
    extracted = extract_statements(text)
    language = detect_language(text) or ""
    verifier = _Verifier(library, language, frozenset(without))
    return Verification(
        statements=tuple(verifier.check(each) for each in extracted.statements), is_complete=extracted.is_complete
    )


class _Unit(Struct, eq=False):
    """A sentence of a passage."""

    passage: Passage
    text: str
    """As it is written."""
    start: int
    end: int
    """Where it stands in the text of its block."""
    block: Block
    frame: tuple[Token, ...]
    """The tokens of what stands above it."""
    tokens: tuple[Token, ...]
    _sources: dict[tuple[str, bool], list[Source]] = field(default_factory=dict[tuple[str, bool], list[Source]])

    @property
    def heading_path(self) -> tuple[str, ...]:
        return self.block.heading_path or self.passage.heading_path

    def sources(self, language: str, *, divided: bool) -> list[Source]:
        """The sentence, or, `divided`, its parts between semicolons, each under those before it."""
        key = language, divided
        if key not in self._sources:
            parts = [part for part in re.split(r"[;；]", self.text) if part.strip()] if divided else [self.text]
            frames = [tokenize(" ".join(parts[:number])) for number in range(len(parts))]
            self._sources[key] = [
                Source(parse_sentence(part, language), (*self.frame, *before))
                for part, before in zip(parts, frames, strict=True)
            ]
        return self._sources[key]


def _units_of(library: Library, passage: Passage) -> Iterator[_Unit]:
    names = tokenize("; ".join((*library.names(passage.path), *passage.heading_path)))
    for block in blocks(passage.text):
        above = (*names, *tokenize("; ".join(block.heading_path)))
        for sentence in block.sentences:
            parent = () if sentence.parent is None else tokenize(block.sentences[sentence.parent].text)
            span = sentence.start, sentence.end
            is_one = block.kind in {"code", "table"}  # of a listing, or of a row of a table
            for start, end in [span] if is_one else sentence_spans(block.text, *span):
                text = block.text[start:end]
                yield _Unit(passage, text, start, end, block, (*above, *parent), tokenize(text))


class _Hit(NamedTuple):
    unit: _Unit
    quote: str
    score: float


def _without_source(statement: str) -> str:
    """A statement without what only says where it is from."""
    return _LEAD.sub("", _NUMBERED.sub("", _CITATION.sub("", statement)))


def _find_quote(said: Sequence[tuple[str, ...]], units: Sequence[_Unit], language: str) -> _Hit | None:
    """Where one of the forms stands in consecutive sentences of a passage."""
    row = " " + " ".join(token.word for unit in units for token in unit.tokens) + " "
    for words in said:
        sought, place = f" {' '.join(words)} ", -1
        while (place := row.find(sought, place + 1)) >= 0:
            first = row.count(" ", 0, place)
            if found := _quote(units, first, first + len(words), language):
                return found
    return None


def _quote(units: Sequence[_Unit], first: int, last: int, language: str) -> _Hit | None:
    """The sentences that hold the words with these numbers, unless what is left out of them changes what is said."""
    before = 0
    touched: list[_Unit] = []
    for unit in units:
        after = before + len(unit.tokens)
        if before < last and first < after:
            touched.append(unit)
            kept = range(max(first - before, 0), min(last - before, len(unit.tokens)))
            if len(kept) < len(unit.tokens) and not _may_be_cut(unit, kept, language):
                return None
        before = after
    start, end = touched[0], touched[-1]
    return _Hit(start, start.block.text[start.start : end.end] if start.block is end.block else start.text, 1.0)


def _may_be_cut(unit: _Unit, kept: range, language: str) -> bool:
    """Whether the rest of a sentence can be left out: it neither denies what is kept nor sets a condition."""
    (source,) = unit.sources(language, divided=False)
    return len(kept) >= 4 and not any(  # a shorter part of a sentence is no quote
        each.place not in kept and (each.target in kept or each.target < 0 or each.word == CONDITION)
        for each in source.sentence.operators
    )


class _Verifier(Struct, frozen=True):
    library: Library
    language: str
    """Of the whole text, for sentences that are too short to tell."""
    without: frozenset[str]
    _known: dict[tuple[str, int], list[_Unit]] = field(default_factory=dict[tuple[str, int], list[_Unit]])
    """The units of passages, each read once."""

    def check(self, statement: Statement) -> CheckedStatement:
        checked = CheckedStatement(
            text=statement.text, start=statement.start, end=statement.end, line=statement.line, verdict="unsupported"
        )
        if len(statement.text) > MAX_STATEMENT_CHARACTERS:
            return checked
        nearest = " ".join(_without_source(statement.text)[:_MAX_QUERY].translate(_NO_QUERY).split())
        passages = self._search(nearest, _SEARCHED_PASSAGES)
        if places := self._places([*self._quoted(statement, passages)]):
            return replace(checked, verdict="quoted", places=places)
        if len(passages) == _SEARCHED_PASSAGES and len(statement.text) <= _MAX_QUERY:
            # Many others have its words as well: those that hold it word for word.
            whole = _without_source(plain(statement.text)).replace('"', " ")
            if places := self._places([*self._quoted(statement, self._search(f'"{whole}"', MAX_PLACES))]):
                return replace(checked, verdict="quoted", places=places)
        compared = sorted(self._compared(statement, passages), key=lambda pair: -pair[0].score)
        if places := self._places([hit for hit, result in compared if result.supports]):
            return replace(checked, verdict="supported", places=places)
        for hit, result in compared:
            if result.difference and (places := self._places([hit])):
                return replace(checked, verdict="contradicted", places=places, difference=result.difference)
        near = self._places([hit for hit, _ in compared if hit.score >= MIN_NEAREST_COVERAGE])
        return replace(checked, nearest=near[0] if near else None)

    def _search(self, query: str, limit: int) -> list[Passage]:
        found = self.library.search(query, limit=limit + len(self.without), words_only=True)
        return [each for each in found if each.path not in self.without][:limit]

    def _units(self, passage: Passage) -> list[_Unit]:
        place = passage.path, passage.first_line
        if place not in self._known:
            self._known[place] = [*islice(_units_of(self.library, passage), 120)]
        return self._known[place]

    def _quoted(self, statement: Statement, passages: Sequence[Passage]) -> Iterator[_Hit]:
        forms = (statement.text, _without_source(statement.text))
        rows = dict.fromkeys(tuple(token.word for token in tokenize(form)) for form in forms)
        said = [words for words in rows if len(words) >= 2]
        language = self._language(statement, passages)
        for passage in passages:
            if found := _find_quote(said, self._units(passage), language):
                yield found

    def _compared(self, statement: Statement, passages: Sequence[Passage]) -> Iterator[tuple[_Hit, Comparison]]:
        language = self._language(statement, passages)
        said = parse_sentence(_without_source(statement.text), language)
        keys = {said.tokens[place].key for place in said.content}
        weights = weights_of(keys, self.library.idf(keys), idf(max(1, self.library.note_count()), 1))
        is_divided = ";" not in statement.text and "；" not in statement.text
        for passage in passages:
            for unit in self._units(passage):
                for source in unit.sources(language, divided=is_divided):
                    result = compare(said, source, weights)
                    if result.score:
                        yield _Hit(unit, unit.text, result.score), result

    def _language(self, statement: Statement, passages: Sequence[Passage]) -> str:
        """That of the statement; if it is too short to tell, that of it and the best passage, or of the whole text."""
        if found := detect_language(statement.text):
            return found
        near = "\n".join([statement.text, *(passage.text for passage in passages[:1])])
        return detect_language(near) or self.language or guess_language(near, LANGUAGES) or ""

    def _places(self, hits: Sequence[_Hit]) -> tuple[SourcePlace, ...]:
        found: list[SourcePlace] = []
        for hit in hits:
            with suppress(VaultError):  # it is gone since it was indexed, or may not be shown any more
                found.append(self._place(hit))
            if len(found) == MAX_PLACES:
                break
        return tuple(found)

    def _place(self, hit: _Hit) -> SourcePlace:
        passage, unit = hit.unit.passage, hit.unit
        heading = anchor_of(passage.path, unit.heading_path)
        text = self.library.read(passage.path)
        first, last = find_lines(text, passage.first_line, passage.last_line, hit.quote)
        return SourcePlace(
            path=passage.path,
            title=passage.title,
            wikilink=self.library.link_into(passage.path, unit.heading_path),
            heading="" if heading == passage.title else heading,
            lines=LineRange(first=first, last=last),
            quote=hit.quote,
            score=min(1.0, hit.score),
        )
