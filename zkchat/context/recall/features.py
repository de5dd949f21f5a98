"""What beside its words says whether a message answers a question, and the order of messages by all of it.

A message moves up if its meaning is near, its speaker is named, the message before it asks and fits, or it names a time
where one is asked for; one that only asks moves down. The weights were chosen on public conversations. Only the order
changes: what share of a question a message answers to stays what its words say. Needs NumPy: import this module where
it is used.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zkchat.context.recall.ranking import Numbers, Scores, term_hash
from zkchat.lexicon.time_words import (
    ASKING_FOR_TIME,
    ENDS_AS_QUESTION,
    TIME_WORDS,
    UNSPACED_ASKING_FOR_TIME,
    UNSPACED_TIME_WORDS,
)
from zkchat.model.patterns import lazy_pattern
from zkchat.model.session import MessageRow
from zkchat.vault.search.similarity import Vector, unpacked
from zkchat.vault.search.terms import MAX_QUERY_CHARACTERS, terms, words

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
