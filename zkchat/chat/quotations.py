"""What an answer takes from texts that the model was given: word for word, and the passage of each note that it uses.

What a quoted passage links to or names is what its note says, and not what the answer cites.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from zkchat.answers import max_characters, plain, rarest_idf, weights_of
from zkchat.chat.context.formatting import documents_in
from zkchat.core import (
    ChatMessage,
    DocumentReference,
    EvidencePart,
    FilePart,
    LineRange,
    Link,
    StorageError,
    TextPart,
    ToolResultPart,
    VaultError,
    is_note,
    lazy_pattern,
)
from zkchat.index import UNSPACED_RUN, Library, begins_unspaced, blocks_of, has_unspaced, query_terms, terms, words
from zkchat.notes import Block, excerpt, find_lines, frontmatter_of, name_key, sentences, with_line_feeds

if TYPE_CHECKING:
    from zkchat.chat.references import ReferenceList

MIN_LETTERS: Final = 10
"""Letters outside links, from which on the same words in the same order are no coincidence."""
MAX_GIVEN_CHARACTERS: Final = 100_000
"""Characters of what was given, the newest first, that an answer is compared with."""
_TOKEN: Final = lazy_pattern(r"\[\[[^\[\]\n]*\]\]|(?:[^\W_]|[\u0300-\u036f])+")
_BREAK: Final = lazy_pattern(r"[\n…\"“”„«»「」。！？：।॥]|[.!?:][^\w\s.!?:]*\s")
"""Where a sentence, a line or a quote begins or ends, and what follows may be from elsewhere."""
_BORDER: Final = "\0"
"""Stands between two texts: no passage reaches over it."""


class GivenText(NamedTuple):
    """What a note says, as it was handed to the model."""

    path: str
    text: str


class Quotation(NamedTuple):
    """A part of an answer, and the note that it is from."""

    start: int
    end: int
    path: str


class _Piece(NamedTuple):
    """A sentence or a line of an answer, from the end of the one before it."""

    start: int
    end: int
    words: str
    letters: int
    """Outside links."""


def given_texts(messages: Iterable[ChatMessage]) -> Iterator[GivenText]:
    """What notes say in the documents, the evidence and the tool results of messages."""
    for message in messages:
        for part in message.parts:
            match part:
                case TextPart():  # most parts of most messages: the quickest way past them
                    pass
                case FilePart(server=""):
                    yield GivenText(part.name, part.text)
                case EvidencePart():
                    yield from (GivenText(each.relative_path, each.text) for each in part.evidence)
                case ToolResultPart():
                    yield from (GivenText(*document) for document in documents_in(part.text))
                case _:
                    pass


def find_quotations(answer: str, links: Sequence[Link], given: Iterable[GivenText]) -> list[Quotation]:
    """The passages of the answer that stand in one of the texts, in order.

    Markup, case and line breaks may differ. A passage is long enough to be none by chance, or a whole text.
    """
    pieces = _pieces(answer, links)
    paths: list[str] = []
    texts: list[str] = []  # the words of each
    room = MAX_GIVEN_CHARACTERS
    for path, text in given if pieces else ():
        if room <= 0:
            break
        if known := name_key(" ".join(_TOKEN.findall(text[:room]))):
            paths.append(path)
            texts.append(f"{_BORDER} {known} ")
        room -= len(text)
    starts, haystack = [0, *accumulate(map(len, texts))], "".join(texts) + _BORDER
    found: list[Quotation] = []
    start = 0
    while paths and start < len(pieces):
        end, place, words = start, -1, ""
        while end < len(pieces):  # the longest run of pieces that stands in one text
            longer = haystack.find(f" {words}{pieces[end].words}")
            if longer < 0:
                break
            place, words, end = longer, words + pieces[end].words, end + 1
        run = pieces[start:end]
        is_whole = haystack[place - 1 : place] == haystack[place + 1 + len(words) :][:1] == _BORDER
        if run and (is_whole or sum(piece.letters for piece in run) >= MIN_LETTERS):
            found.append(Quotation(run[0].start, run[-1].end, paths[bisect_right(starts, place) - 1]))
        start = max(end, start + 1)
    return found


def links_outside(links: Sequence[Link], quotations: Sequence[Quotation]) -> list[Link]:
    """The links that stand in none of the passages."""
    return [link for link in links if not any(each.start <= link.start < each.end for each in quotations)]


def _pieces(answer: str, links: Sequence[Link]) -> list[_Piece]:
    tokens = [*_TOKEN.finditer(answer)]
    starts = [link.start for link in links]
    link_at: list[int | None] = []
    """For each token the number of the link that it is part of."""
    for token in tokens:
        number = bisect_right(starts, token.end() - 1) - 1
        link_at.append(number if number >= 0 and token.start() < links[number].end else None)
    breaks = [
        place
        for place, (token, following) in enumerate(pairwise(tokens), start=1)
        if not (link_at[place] is not None and link_at[place] == link_at[place - 1])
        and _BREAK.search(answer, token.end(), following.start())
    ]
    return [
        _Piece(
            start=tokens[first - 1].end() if first else 0,
            end=tokens[last - 1].end(),
            words="".join(f"{name_key(token[0])} " for token in tokens[first:last]),
            letters=sum(_letters(tokens[place][0]) for place in range(first, last) if link_at[place] is None),
        )
        for first, last in pairwise([0, *breaks[:1_999], len(tokens)] if tokens else ())
    ]


def _letters(word: str) -> int:
    """How many letters; one of a script without spaces, where a few make a sentence, counts three times."""
    unspaced = "".join(UNSPACED_RUN.findall(word)) if has_unspaced(word) else ""
    return len(word) + 2 * len(unspaced)


MIN_WEIGHT: Final = 2.0
"""What an answer and a passage must have in common; a word of one note weighs 1."""
MIN_SHARE: Final = 0.5
"""Or the share of a sentence of the answer."""
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


def refer_to_used(references: "ReferenceList", answer: str, question: str, library: Library) -> None:
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
        self._weights = {  # where no spaces are written, a key is two letters
            key: 2.0 if _NUMBER.fullmatch(key) else weights[key] * (0.5 if begins_unspaced(key) else 1.0)
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
