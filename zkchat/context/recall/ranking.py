"""BM25 ranking of the messages of a conversation, by their words and those of the messages around them.

BM25F in its simple form, with the parameters that found most on public conversations: what a message says, who said it
and when count whole, and what the two messages on each side say counts 0.3. Needs NumPy: import this module where it is
used.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from zkchat.vault.search.terms import UNSPACED_SCRIPTS, idf, terms

Numbers = NDArray[np.int64]
TermNumbers = NDArray[np.uint32]
Scores = NDArray[np.float64]

K1 = 0.9
B = 0.4
NEAR_WEIGHT = 0.3
UNSEEN_WEIGHT = 0.3
"""Of a word that was never said: whoever asks uses other words, or asks about something else."""
UNSEEN_PAIR_WEIGHT = UNSEEN_WEIGHT / 2
"""Of two letters that never stood together where no spaces are written: every other pair lies across two words."""
NEIGHBOURS = 2
"""Messages on each side that count as near."""

MAX_RECENT = 512
"""Messages that are kept apart from the rest, so that the rest need not be put in order again for each new one."""
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_UNSPACED = re.compile(f"[{UNSPACED_SCRIPTS}]")
_WORD = np.dtype("<u4")
_NO_WORDS: TermNumbers = np.zeros(0, dtype=_WORD)
_NO_NUMBERS: Numbers = np.zeros(0, dtype=np.int64)


def term_hash(term: str) -> int:
    """Terms are stored as 32-bit hashes. On a collision a message scores a little too much."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def pack_terms(text: str) -> bytes:
    """The terms of a text, as they are stored."""
    return np.array([term_hash(term) for term in terms(text)], dtype=_WORD).tobytes()


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


_NOTHING = MessageWords()
SESSION_GAP = MessageWords(said=np.zeros(NEIGHBOURS, dtype=np.int64), lengths=np.zeros(NEIGHBOURS, dtype=np.int64))
"""Between two conversations, so that the end of one is not near the beginning of the next."""


class _Postings:
    """Where each term stands: the words of messages ordered by the lower half of their numbers, which is quick."""

    def __init__(self, words: MessageWords, first: int) -> None:
        order = np.argsort(words.terms.astype(np.uint16), kind="stable")
        ends_of_said = np.cumsum(words.lengths) - words.lengths + words.said
        self._terms = words.terms[order]
        self._halves = self._terms.astype(np.uint16)
        self._owners = np.repeat(np.arange(first, first + len(words.lengths)), words.lengths)[order]
        self._is_said = (np.arange(len(words.terms)) < np.repeat(ends_of_said, words.lengths))[order]

    def occurrences(self, term: int) -> tuple[Numbers, NDArray[np.bool_]]:
        """The place of the message, for every time that the term stands in one, and whether it is said there."""
        half = np.uint16(term & 0xFFFF)
        start, end = (int(np.searchsorted(self._halves, half, side)) for side in _SIDES)
        here = self._terms[start:end] == term
        return self._owners[start:end][here], self._is_said[start:end][here]


class MessageRanking:
    """The messages of one conversation, or of several with `SESSION_GAP` between them, by their place."""

    def __init__(self, words: MessageWords, recent: MessageWords = _NOTHING, postings: _Postings | None = None) -> None:
        self._words = words
        self._recent = recent
        self._postings = postings or _Postings(words, 0)
        self._recent_postings = _Postings(recent, len(words.lengths))
        own, said = (np.concatenate(pair) for pair in ((words.lengths, recent.lengths), (words.said, recent.said)))
        lengths = own + NEAR_WEIGHT * _sum_of_neighbours(said.astype(np.float64))
        self._count = int(np.count_nonzero(own))
        mean = max(float(lengths[own > 0].sum()) / max(self._count, 1), 1.0)
        self._length_norm = K1 * (1 - B + B * lengths / mean)
        """K1, scaled by the length of each message: the term frequency that earns half of a term's weight."""

    @property
    def words(self) -> MessageWords:
        return MessageWords.joined([self._words, self._recent])

    def extended(self, words: MessageWords) -> "MessageRanking":
        """The same with more messages at the end. What adding a few costs does not depend on how many there are."""
        recent = MessageWords.joined([self._recent, words])
        if len(recent.lengths) > MAX_RECENT:
            return MessageRanking(MessageWords.joined([self._words, recent]))
        return MessageRanking(self._words, recent, self._postings)

    def scores(self, asked: Mapping[str, int], question: int | None = None) -> Scores:
        """For every message what share of the question it answers to; the asked terms come with their frequencies.

        About 1 where everything that was asked for stands once, whatever the question and the conversation. Where the
        question is a message itself, `question` is its place: words that stand nowhere else were never said.
        """
        scores = np.zeros(len(self._length_norm))
        mass = 0.0
        for term, times in asked.items():  # in the question's order, so that sums come out the same every time
            frequencies, count = self._frequencies(term_hash(term), question)
            weight = times * idf(self._count, count)
            mass += weight if count else _unseen_weight(term) * weight
            if count:
                scores += weight * frequencies / (frequencies + self._length_norm)
        return scores * ((1 + K1) / mass) if mass else scores

    def _frequencies(self, term: int, question: int | None) -> tuple[Scores, int]:
        """How often a term stands in each message and, weighted, around it; and in how many messages it stands."""
        found = [postings.occurrences(term) for postings in (self._postings, self._recent_postings)]
        places, is_said = (np.concatenate(parts) for parts in zip(*found, strict=True))
        if question is not None:
            is_said = is_said[places != question]
            places = places[places != question]
        own = self._counted(places)
        return own + NEAR_WEIGHT * _sum_of_neighbours(self._counted(places[is_said])), int(np.count_nonzero(own))

    def _counted(self, places: Numbers) -> Scores:
        return np.bincount(places, minlength=len(self._length_norm)).astype(np.float64)


def _unseen_weight(term: str) -> float:
    return UNSEEN_PAIR_WEIGHT if _UNSPACED.match(term) else UNSEEN_WEIGHT


def top_rows(scores: Scores, limit: int, may_be: Callable[[int], bool]) -> list[int]:
    """The places with the highest scores above 0, best first, the later one first of two that are equal.

    Only as many are asked whether they may be among them as it takes.
    """
    places = np.flatnonzero(scores > 0)
    count = limit
    while True:
        found = [place for place in _highest(scores, places, count) if may_be(place)]
        if len(found) >= limit or count >= len(places):
            return found[:limit]
        count *= 4


def _highest(scores: Scores, places: Numbers, count: int) -> list[int]:
    if count < len(places):
        places = places[scores[places] >= np.partition(scores[places], -count)[-count]]
    found: list[int] = places[np.lexsort((-places, -scores[places]))].tolist()
    return found


def _sum_of_neighbours(values: Scores) -> Scores:
    """For each place the sum of the values at the places near it."""
    total = np.zeros(len(values) + 2 * NEIGHBOURS)
    for step in (*range(NEIGHBOURS), *range(NEIGHBOURS + 1, 2 * NEIGHBOURS + 1)):
        total[step : step + len(values)] += values
    return total[NEIGHBOURS : NEIGHBOURS + len(values)]
