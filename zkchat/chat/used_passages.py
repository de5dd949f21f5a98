"""The passage of each note that an answer uses: what its reference names, quotes and opens."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from zkchat.answers import max_characters, plain, rarest_idf, weights_of
from zkchat.chat.quotations import MIN_LETTERS
from zkchat.chat.references import ReferenceList
from zkchat.core import DocumentReference, LineRange, StorageError, VaultError, is_note, lazy_pattern
from zkchat.index import Library, begins_unspaced, blocks_of, query_terms, terms, words
from zkchat.notes import Block, excerpt, find_lines, frontmatter_of, sentences, with_line_feeds

MIN_WEIGHT: Final = 2.0
"""What an answer and a passage must have in common; a word of one note weighs 1."""
NUMBER_WEIGHT: Final = 2.0
MIN_SHARE: Final = 0.5
"""Or the share of a sentence of the answer."""
PAIR_WEIGHT: Final = 0.5
"""What two letters weigh where no spaces are written, against a word."""
MAX_SENTENCES: Final = 200
"""Sentences of an answer that are compared."""
MAX_CHARACTERS: Final = 100_000
"""Characters of a note that are looked at."""
_NUMBER: Final = lazy_pattern(r"\d+")


class _Place(NamedTuple):
    """A passage of a note that the model was given."""

    text: str
    reference: DocumentReference
    """What it would be the reference of."""
    block: Block | None = None


def refer_to_used(references: ReferenceList, answer: str, question: str, library: Library) -> None:
    """Let the reference of each note be to the passage that the answer uses; where it uses none, it stays as it is."""
    given = [row for row in references.as_tuple() if references.given(row)]
    if not given:
        return
    with suppress(StorageError):  # the index does not answer: the answer is there all the same
        usage = _Usage(answer, question, library)
        for row in given:
            with suppress(VaultError):  # it is gone
                places = [*_places(library, row, references.given(row))]
                if (number := usage.find([each.text for each in places])) is not None:
                    _, reference, block = places[number]
                    if block:
                        best = usage.find([each.text for each in block.sentences])
                        text = excerpt(block, () if best is None else (best,), max_characters(block.text))
                        reference = replace(reference, snippet=text)
                    references.set(reference)


def sources_of(answer: str, question: str, passages: Sequence[str], library: Library) -> list[int]:
    """The numbers of the passages that the sentences of an answer use, each once, in their order in the answer."""
    with suppress(StorageError):
        found = (_Usage(each, question, library).find(passages) for each in islice(sentences(answer), MAX_SENTENCES))
        return [*dict.fromkeys(number for number in found if number is not None)]
    return []


def _places(library: Library, row: DocumentReference, given: Sequence[DocumentReference]) -> Iterator[_Place]:
    """The passages that the model was given of a note, in the order in which they were found.

    Evidence is one as it is, and so is what a search found in a canvas or a PDF; all else is cut into its blocks.
    """
    path = row.relative_path
    if path is None or not row.anchor_found:
        return
    for part in given:
        if part.via == "evidence":
            yield _Place(part.snippet, _at(row, part, part.anchor, part.lines))
        elif is_note(path):
            text = with_line_feeds(library.section(path))
            first, last = _lines_of(library, path, text, part)
            start = frontmatter_of(text).end
            above = text.count("\n", 0, start) + 1
            for block in blocks_of(text[start : start + MAX_CHARACTERS]):
                line = above + block.first_line
                lines = LineRange(first=line, last=line + block.text.count("\n"))
                if lines.first <= last and first <= lines.last:
                    heading = next((each for each in block.heading_path[-1:] if each != row.title), "")
                    yield _Place(block.text, _at(row, part, heading, lines), block)
        elif part.lines:
            text = "\n".join(library.read(path).split("\n")[part.lines.first - 1 : part.lines.last])
            yield _Place(text, _at(row, part, part.anchor, part.lines))


def _lines_of(library: Library, path: str, text: str, part: DocumentReference) -> tuple[int, int]:
    """Where a part of a note stands in it; one that was given as a whole is all of it."""
    if part.lines:
        return part.lines.first, part.lines.last
    end = text.count("\n") + 1
    is_section = part.anchor and part.hits == 1  # else it is only the first of several
    return find_lines(text, 1, end, library.section(path, part.anchor)) if is_section else (1, end)


def _at(row: DocumentReference, part: DocumentReference, anchor: str, lines: LineRange | None) -> DocumentReference:
    """The reference of a note as one to this place in it."""
    link = row.wikilink if row.reference_type == "direct" else part.wikilink
    return replace(row, wikilink=link, anchor=anchor, lines=lines, snippet=part.snippet, date=part.date or row.date)


class _Usage:
    """An answer, to be asked which of several passages it uses."""

    def __init__(self, answer: str, question: str, library: Library) -> None:
        self._words = _spaced(answer)
        said = [plain(each) for each in islice(sentences(answer), MAX_SENTENCES)]
        self._said = [frozenset([*query_terms(each), *_NUMBER.findall(each)]) for each in said]
        self._asked = frozenset(query_terms(question))
        known = self._asked.union(*self._said)
        weights = weights_of(known, library.idf(known), rarest_idf(library))
        self._weights = {
            key: NUMBER_WEIGHT
            if _NUMBER.fullmatch(key)
            else weights[key] * (PAIR_WEIGHT if begins_unspaced(key) else 1.0)
            for key in known
        }

    def find(self, passages: Sequence[str]) -> int | None:
        """The number of the passage that is used; None where none is.

        That is the first that the answer quotes word for word. Else it has most in common with the first sentence of
        the answer that is surely from one, else with any; between those that have as much in common the words of the
        question decide, then their order.
        """
        quoted = [
            (start, -len(spoken), number)
            for number, spoken in enumerate(map(_spaced, passages))
            if len(spoken) > MIN_LETTERS and (start := self._words.find(spoken)) >= 0
        ]
        return min(quoted)[2] if quoted else self._find_alike(passages)

    def _find_alike(self, passages: Sequence[str]) -> int | None:
        held = [frozenset([*terms(text), *_NUMBER.findall(text)]) for text in map(plain, passages)]
        asked = [self._weight(self._asked & keys) for keys in held]
        best: tuple[float, int] | None = None
        for said in self._said if held else ():
            weights = [self._weight(said & keys) for keys in held]
            number = max(range(len(held)), key=lambda each: (weights[each], asked[each], -each))
            weight, share = weights[number], weights[number] / (self._weight(said) or 1.0)
            if weight >= MIN_WEIGHT and share >= MIN_SHARE:
                return number
            if (weight >= MIN_WEIGHT or share >= MIN_SHARE) and (best is None or weight > best[0]):
                best = weight, number
        return best[1] if best else None

    def _weight(self, keys: frozenset[str]) -> float:
        return sum(map(self._weights.__getitem__, keys))


def _spaced(text: str) -> str:
    """The words of a text between spaces, to be looked for in those of another."""
    return f" {' '.join(words(text))} "
