"""Verify a text: which of its statements the notes support, word for word or nearly, and where."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zkchat.errors import VaultError
from zkchat.model.note import Passage, anchor_of
from zkchat.model.references import LineRange
from zkchat.model.verification import CheckedStatement, SourcePlace, Verdict, Verification
from zkchat.vault.library import Library
from zkchat.vault.notes.language import detect_language, guess_language
from zkchat.vault.notes.markdown import find_lines
from zkchat.vault.search.terms import idf
from zkchat.vault.verification.claims import LANGUAGES
from zkchat.vault.verification.comparison import Comparison, compare, weights_of
from zkchat.vault.verification.passages import Unit, UnitReader
from zkchat.vault.verification.quotes import find_quote, forms, without_source
from zkchat.vault.verification.sentence_parser import ParsedSentence, parse_sentence
from zkchat.vault.verification.statements import Statement, extract_statements
from zkchat.vault.verification.tokens import plain

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


def verify(library: Library, text: str, without: Collection[str] = ()) -> Verification:
    """Verify each statement of a text against the notes that this library may show, but for those `without`."""
    extracted = extract_statements(text)
    language = detect_language(text) or ""
    verifier = _Verifier(library, language, frozenset(without), UnitReader(library))
    return Verification(
        statements=tuple(verifier.check(each) for each in extracted.statements), is_complete=extracted.is_complete
    )


class _Hit(NamedTuple):
    unit: Unit
    quote: str
    score: float


class _Verifier(Struct, frozen=True):
    library: Library
    language: str
    """Of the whole text, for sentences that are too short to tell."""
    without: frozenset[str]
    reader: UnitReader

    def check(self, statement: Statement) -> CheckedStatement:
        if len(statement.text) > MAX_STATEMENT_CHARACTERS:
            return _checked(statement, "unsupported", ())
        passages = self._passages(without_source(statement.text))
        if places := self._places([*self._quoted(statement, passages)]):
            return _checked(statement, "quoted", places)
        elsewhere = self._passages_with(statement.text, passages)
        if places := self._places([*self._quoted(statement, elsewhere)]):
            return _checked(statement, "quoted", places)
        compared = [*self._compared(statement, passages)]
        supporting = [hit for hit, result in compared if result.supports]
        if places := self._places(sorted(supporting, key=lambda hit: -hit.score)):
            return _checked(statement, "supported", places)
        compared.sort(key=lambda pair: -pair[0].score)
        for hit, result in compared:
            if result.difference and (places := self._places([hit])):
                return replace(_checked(statement, "contradicted", places), difference=result.difference)
        near = self._places([hit for hit, _ in compared if hit.score >= MIN_NEAREST_COVERAGE])
        return replace(_checked(statement, "unsupported", ()), nearest=next(iter(near), None))

    def _passages(self, statement: str) -> list[Passage]:
        """Those that are nearest to a statement."""
        return self._search(" ".join(statement[:_MAX_QUERY].translate(_NO_QUERY).split()), _SEARCHED_PASSAGES)

    def _passages_with(self, statement: str, known: Sequence[Passage]) -> list[Passage]:
        """Those that hold a statement word for word, where many others have its words as well."""
        if len(known) < _SEARCHED_PASSAGES or len(statement) > _MAX_QUERY:
            return []
        return self._search(f'"{without_source(plain(statement)).replace(chr(34), " ")}"', MAX_PLACES)

    def _search(self, query: str, limit: int) -> list[Passage]:
        found = self.library.search(query, limit=limit + len(self.without), words_only=True)
        return [each for each in found if each.path not in self.without][:limit]

    def _quoted(self, statement: Statement, passages: Sequence[Passage]) -> Iterator[_Hit]:
        said = forms(statement.text)
        language = self._language(statement, passages)
        for passage in passages:
            units = self.reader.units(passage)
            if found := find_quote(said, units, language):
                yield _Hit(found.first, found.text, 1.0)

    def _compared(self, statement: Statement, passages: Sequence[Passage]) -> Iterator[tuple[_Hit, Comparison]]:
        language = self._language(statement, passages)
        said = parse_sentence(without_source(statement.text), language)
        weights = self._weights(said)
        is_divided = ";" not in statement.text and "；" not in statement.text
        for passage in passages:
            for unit in self.reader.units(passage):
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

    def _weights(self, said: ParsedSentence) -> dict[str, float]:
        keys = {said.tokens[place].key for place in said.content}
        return weights_of(keys, self.library.idf(keys), idf(max(1, self.library.note_count()), 1))

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


def _checked(statement: Statement, verdict: Verdict, places: tuple[SourcePlace, ...]) -> CheckedStatement:
    return CheckedStatement(
        text=statement.text,
        start=statement.start,
        end=statement.end,
        line=statement.line,
        verdict=verdict,
        places=places,
    )
