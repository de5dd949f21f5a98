"""The order of messages: by their words and those of the messages around them, and by what else they say.

BM25F in its simple form, with the parameters that found most on public conversations: what a message says, who said
it and when count whole, and what the two messages on each side say counts 0.3. Of those that are found, one moves up
if its meaning is near, its speaker is named, the message before it asks and fits, or it names a time where one is
asked for; one that only asks moves down. The weights were chosen on public conversations. Only the order changes:
what share of a question a message answers to stays what its words say. Needs NumPy: import this module where it is
used.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Literal, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from zkchat.core import MessageRow, lazy_pattern
from zkchat.index import MAX_QUERY_CHARACTERS, UNSPACED_SCRIPTS, Vector, idf, ranges, terms, unpacked, words
from zkchat.language import ASKING_FOR_TIME, ENDS_AS_QUESTION, TIME_WORDS, UNSPACED_ASKING_FOR_TIME, UNSPACED_TIME_WORDS

Numbers = NDArray[np.int64]
TermNumbers = NDArray[np.uint32]
Scores = NDArray[np.float32]

K1 = 0.9
"""Of BM25: how soon more occurrences of a term stop to count."""
B = 0.4
"""Of BM25: how much a long message counts less."""
NEAR_WEIGHT = 0.3
"""Of a word of the messages around a message, beside a word of its own."""
UNSEEN_WEIGHT = 0.3
"""Of a word that was never said: whoever asks uses other words, or asks about something else."""
UNSEEN_PAIR_WEIGHT = UNSEEN_WEIGHT / 2
"""Of two letters that never stood together where no spaces are written: every other pair lies across two words."""
NEIGHBOURS = 2
"""Messages on each side that count as near."""
_STEPS = (*range(-NEIGHBOURS, 0), *range(1, NEIGHBOURS + 1))

_MAX_CELLS = 1 << 17
"""Terms times messages whose frequencies are computed at once: few enough to stay in the processor's cache."""
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_UNSPACED = lazy_pattern(f"[{UNSPACED_SCRIPTS}]")
_WORD = np.dtype("<u4")
_NO_WORDS: TermNumbers = np.zeros(0, dtype=_WORD)
_NO_NUMBERS: Numbers = np.zeros(0, dtype=np.int64)
COSINE_WEIGHT = 0.45
"""Of nearness in meaning, beside the score by words."""
ANSWER_WEIGHT = 0.3
"""Of the score of the message before, if that one asks."""
SPEAKER_WEIGHT = 0.2
"""Where the question names the speaker."""
ASKING_WEIGHT = 0.12
"""Against messages that ask."""
TIME_WEIGHT = 0.12
"""Of a message that names a time, where the question asks for one."""
SITTING_WEIGHT = 0.1
"""Of the best score in the same sitting."""
LENGTH_WEIGHT = 0.04
"""Of the logarithm of how many words a message has, up to `MAX_WORDS`."""
MAX_WORDS = 100
SITTING_SECONDS = 4 * 3600
"""Two messages that are further apart belong to different sittings."""
_END_CHARACTERS = 24
_DIGIT = lazy_pattern(r"\d")

_FEATURES = np.dtype([("at", "<i8"), ("speaker", "<u4", (2,)), ("asks", "?"), ("names_time", "?"), ("words", "<u2")])

_features_of = attrgetter("features")
_vector_of = attrgetter("vector")


def term_hash(term: str) -> int:
    """Terms are stored as 32-bit hashes. On a collision a message scores a little too much."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def pack_terms(found: Iterable[str]) -> bytes:
    """The terms of a text, as they are stored."""
    return np.array([term_hash(term) for term in found], dtype=_WORD).tobytes()


class MessageWords(NamedTuple):
    """The words of messages that follow each other: all of them in one row, and how many belong to each message."""

    terms: TermNumbers = _NO_WORDS
    """For each message what it says, then who said it and when."""
    said: Numbers = _NO_NUMBERS
    """How many words each message says."""
    lengths: Numbers = _NO_NUMBERS
    """How many it has in all."""

    @classmethod
    def unpacked(cls, messages: Iterable[tuple[bytes, bytes]]) -> Self:
        """From the packed terms of texts and of their labels."""
        pairs = list(messages)
        width = _WORD.itemsize
        return cls(
            terms=np.frombuffer(b"".join(part for pair in pairs for part in pair), dtype=_WORD),
            said=np.array([len(text) // width for text, _ in pairs], dtype=np.int64),
            lengths=np.array([(len(text) + len(labels)) // width for text, labels in pairs], dtype=np.int64),
        )

    @classmethod
    def joined(cls, several: Iterable[Self]) -> Self:
        """One after the other."""
        rows = list(several) or [cls()]
        return cls(
            terms=np.concatenate([words.terms for words in rows]),
            said=np.concatenate([words.said for words in rows]),
            lengths=np.concatenate([words.lengths for words in rows]),
        )


SESSION_GAP = MessageWords(said=np.zeros(NEIGHBOURS, dtype=np.int64), lengths=np.zeros(NEIGHBOURS, dtype=np.int64))
"""Between two conversations, so that the end of one is not near the beginning of the next."""


class _Postings:
    """Where each term stands: the words of messages ordered by the lower half of their numbers.

    That takes a fifth of the time: of 50,000 messages 0.2 seconds, for which the user waits.
    """

    def __init__(self, words: MessageWords) -> None:
        order = np.argsort(words.terms.astype(np.uint16), kind="stable")
        ends_of_said = np.cumsum(words.lengths) - words.lengths + words.said
        self._terms = words.terms[order]
        self._halves = self._terms.astype(np.uint16)
        self._owners = np.repeat(np.arange(len(words.lengths)), words.lengths)[order]
        self._is_said = (np.arange(len(words.terms)) < np.repeat(ends_of_said, words.lengths))[order]

    def occurrences(self, terms: TermNumbers) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
        """For every time that one of the terms stands in a message: which, the message's place, and if it is said."""
        halves = terms.astype(np.uint16)
        starts, ends = (np.searchsorted(self._halves, halves, side) for side in _SIDES)
        found = ranges(starts, ends - starts)
        numbers = np.repeat(np.arange(len(terms)), ends - starts)
        here = self._terms[found] == terms[numbers]
        found = found[here]
        return numbers[here], self._owners[found], self._is_said[found]


class MessageRanking:
    """The messages of one conversation, or of several with `SESSION_GAP` between them, by their place."""

    def __init__(self, words: MessageWords) -> None:
        self.words = words
        self._postings = _Postings(words)
        own = words.lengths
        lengths = own + NEAR_WEIGHT * _sum_of_neighbours(words.said)
        self._count = int(np.count_nonzero(own))
        mean = max(float(lengths[own > 0].sum()) / max(self._count, 1), 1.0)
        self._length_norm = (K1 * (1 - B + B * lengths / mean)).astype(np.float32)
        """K1, scaled by the length of each message: the term frequency that earns half of a term's weight."""

    def scores(self, asked: Mapping[str, int], question: int | None = None) -> Scores:
        """For every message what share of the question it answers to; the asked terms come with their frequencies.

        About 1 where everything that was asked for stands once, whatever the question and the conversation. Where the
        question is a message itself, `question` is its place: words that stand nowhere else were never said.
        """
        size = len(self._length_norm)
        scores = np.zeros(size, dtype=np.float32)
        mass = 0.0
        terms = [*asked]
        step = max(_MAX_CELLS // max(size, 1), 1)
        for some in (terms[start : start + step] for start in range(0, len(terms), step)):
            frequencies, counts = self._frequencies(np.array([*map(term_hash, some)], dtype=_WORD), question)
            weights = [asked[term] * idf(self._count, count) for term, count in zip(some, counts, strict=True)]
            mass += sum(
                weight if count else _unseen_weight(term) * weight
                for term, count, weight in zip(some, counts, weights, strict=True)
            )
            parts = frequencies / (frequencies + self._length_norm)
            scores += np.einsum("tm,t->m", parts, np.array(weights, dtype=np.float32))
        return scores * ((1 + K1) / mass) if mass else scores

    def _frequencies(self, terms: TermNumbers, question: int | None) -> tuple[Scores, list[int]]:
        """How often each term stands in each message and, weighted, around it; and in how many messages it stands."""
        numbers, places, is_said = self._postings.occurrences(terms)
        if question is not None:
            others = places != question
            numbers, places, is_said = numbers[others], places[others], is_said[others]
        width = len(self._length_norm) + 2 * NEIGHBOURS  # what is near the first and the last message needs no check
        cells = numbers * width + places + NEIGHBOURS
        is_new = np.diff(cells, prepend=-1) != 0
        near = [cells[is_said] + step for step in _STEPS]
        weights = np.repeat((1.0, NEAR_WEIGHT), (len(cells), sum(map(len, near))))
        frequencies = np.bincount(np.concatenate((cells, *near)), weights, minlength=len(terms) * width)
        counts: list[int] = np.bincount(numbers[is_new], minlength=len(terms)).tolist()
        return frequencies.reshape(-1, width)[:, NEIGHBOURS:-NEIGHBOURS].astype(np.float32), counts


def _unseen_weight(term: str) -> float:
    return UNSEEN_PAIR_WEIGHT if _UNSPACED.match(term) else UNSEEN_WEIGHT


def top_rows(scores: Scores, limit: int, may_be: Callable[[int], bool]) -> list[int]:
    """The places with the highest scores above 0, best first, the later one first of two that are equal.

    Only as many are asked whether they may be among them as it takes.
    """
    places = np.flatnonzero(scores > 0)
    count = 2 * limit
    while True:
        found = [*islice(filter(may_be, _highest(scores, places, count)), limit)]
        if len(found) >= limit or count >= len(places):
            return found
        count *= 4


def _highest(scores: Scores, places: Numbers, count: int) -> list[int]:
    if count < len(places):
        values = scores[places]
        places = places[values >= np.partition(values, -count)[-count]]
    found: list[int] = places[np.lexsort((-places, -scores[places]))].tolist()
    return found


def _sum_of_neighbours(values: Numbers) -> Numbers:
    """For each place the sum of the values at the places near it."""
    total = np.zeros(len(values) + 2 * NEIGHBOURS, dtype=np.int64)
    for step in _STEPS:
        total[NEIGHBOURS + step : NEIGHBOURS + step + len(values)] += values
    return total[NEIGHBOURS : NEIGHBOURS + len(values)]


def pack_features(text: str, found: Sequence[str], speaker: str, at: datetime) -> bytes:
    """The features of a message with these terms, as they are stored."""
    names = [term_hash(term) for term in terms(speaker)] or [0]
    asks = bool(ENDS_AS_QUESTION.search(text.rstrip()[-_END_CHARACTERS:]))
    row = (
        int(at.timestamp()),
        (names[0], names[-1]),
        asks,
        _names_time(text, found),
        min(max(len(found), 1), MAX_WORDS),
    )
    return np.array(row, dtype=_FEATURES).tobytes()


def _names_time(text: str, found: Iterable[str]) -> bool:
    return (
        not _time_terms().isdisjoint(found)
        or bool(_DIGIT.search(text))
        or (not text.isascii() and any(each in text for each in UNSPACED_TIME_WORDS))
    )


@cache
def _time_terms() -> frozenset[str]:
    return frozenset(terms(TIME_WORDS))


@cache
def _words_asking_for_time() -> frozenset[str]:
    return frozenset(words(ASKING_FOR_TIME))


def asks_for_time(question: str) -> bool:
    asked = question[:MAX_QUERY_CHARACTERS]
    return not _words_asking_for_time().isdisjoint(words(asked)) or (
        not asked.isascii() and any(each in asked for each in UNSPACED_ASKING_FOR_TIME)
    )


class AskedFeatures(NamedTuple):
    """What a question asks for beside its words."""

    terms: NDArray[np.uint32]
    vector: Vector | None
    asks_for_time: bool

    @classmethod
    def of(cls, question: str, asked: Iterable[str], vector: Vector | None) -> "AskedFeatures":
        hashes = np.array([term_hash(term) for term in {*asked}], dtype=np.uint32)
        return cls(hashes, vector, asks_for_time(question))


GAP = MessageRow("", "", 0, 0, b"", b"", bytes(_FEATURES.itemsize), b"")
"""Between two conversations."""


def reordered(places: Sequence[int], scores: Scores, rows: Sequence[MessageRow], asked: AskedFeatures) -> list[int]:
    """These places, best first, and of equals those that came first; scores and rows are those of all places."""
    if len(places) < 2:
        return [*places]
    here = np.array(places)
    both = itemgetter(*places, *(here - 1).tolist())(rows)
    own, before = np.frombuffer(b"".join(map(_features_of, both)), dtype=_FEATURES).reshape(2, -1)
    follows_question = (here > 0) & before["asks"] & (own["at"] - before["at"] <= SITTING_SECONDS)
    answers = np.flatnonzero(follows_question)
    compared = np.concatenate((here, here[answers] - 1))
    vectors = [*map(_vector_of, both[: len(here)]), *(both[len(here) + place].vector for place in answers.tolist())]
    fits = scores[compared] + COSINE_WEIGHT * _cosines(vectors, asked.vector)
    total = fits[: len(here)]
    total[answers] += ANSWER_WEIGHT * fits[len(here) :]
    total += LENGTH_WEIGHT * np.log(own["words"]) - ASKING_WEIGHT * own["asks"]
    if own["speaker"].any():
        total += SPEAKER_WEIGHT * (own["speaker"][:, :, None] == asked.terms).any(axis=(1, 2))
    if asked.asks_for_time:
        total += TIME_WEIGHT * own["names_time"]
    total += SITTING_WEIGHT * _best_of_sitting(here, own["at"], total)
    ordered: list[int] = here[np.argsort(-total, kind="stable")].tolist()
    return ordered


def _cosines(vectors: Sequence[bytes], asked: Vector | None) -> Scores:
    """0 where nothing is known of the message or of the question."""
    if asked is None:
        return np.zeros(len(vectors), dtype=np.float32)
    size, unknown = len(asked), bytes(len(asked))
    if {*map(len, vectors)} != {size}:
        vectors = [vector if len(vector) == size else unknown for vector in vectors]
    rows = unpacked(b"".join(vectors), size)
    squares = np.vecdot(rows, rows)
    cosines: Scores = np.vecdot(rows, asked) / np.sqrt(np.maximum(squares, 1))
    return cosines


def _best_of_sitting(places: Numbers, at: Numbers, scores: Scores) -> Scores:
    """For each place the best score in its sitting, which ends where nothing was said, or found, for hours."""
    order = np.argsort(places)
    in_order = at[order]
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = np.abs(in_order[1:] - in_order[:-1]) > SITTING_SECONDS
    best = np.maximum.reduceat(scores[order], np.flatnonzero(begins))
    of_each = np.empty_like(scores)
    of_each[order] = best[np.cumsum(begins) - 1]
    return of_each
