"""The order of messages: by their words and those of the messages around them, and by what else they say.

BM25F in its simple form, with the parameters that found most on public conversations: what a message says, who said
it and when count whole, and what the two messages on each side say counts 0.3. Of those that are found, one moves up
if its meaning is near, its speaker is named, the message before it asks and fits, or it names a time where one is
asked for; one that only asks moves down. The weights were chosen on public conversations. Only the order changes:
what share of a question a message answers to stays what its words say. Needs NumPy: import this module where it is
used.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from zkchat.chat.context.unit_ranking import listed_terms, listed_words
from zkchat.core import MessageRow, lazy_pattern
from zkchat.index import MAX_QUERY_CHARACTERS, UNSPACED_SCRIPTS, Vector, idf, terms, unpacked, words
from zkchat.language import ASKING_FOR_TIME, ENDS_AS_QUESTION, TIME_WORDS, UNSPACED_ASKING_FOR_TIME, UNSPACED_TIME_WORDS

Numbers = NDArray[np.int64]
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

_UNSPACED = lazy_pattern(f"[{UNSPACED_SCRIPTS}]")
_WORD = np.dtype("<u4")
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
_DIGIT = lazy_pattern(r"\d")

_FEATURES = np.dtype([("at", "<i8"), ("speaker", "<u4", (2,)), ("asks", "?"), ("names_time", "?"), ("words", "<u2")])

GAP = MessageRow("", "", 0, 0, b"", b"", bytes(_FEATURES.itemsize), b"")
"""Between two conversations stand as many as there are neighbours: the end of one is not near the next."""


def term_hash(term: str) -> int:
    """Terms are stored as 32-bit hashes. On a collision a message scores a little too much."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def pack_terms(found: Iterable[str]) -> bytes:
    """The terms of a text, as they are stored."""
    return np.array([term_hash(term) for term in found], dtype=_WORD).tobytes()


class MessageRanking:
    """The messages of one conversation, or of several with gaps between them, by their place."""

    def __init__(self, rows: Sequence[MessageRow]) -> None:
        self.rows = rows
        said = np.array([len(row.said) // _WORD.itemsize for row in rows], dtype=np.int64)
        own = said + np.array([len(row.labels) // _WORD.itemsize for row in rows], dtype=np.int64)
        every = np.frombuffer(b"".join(part for row in rows for part in (row.said, row.labels)), dtype=_WORD)
        order = np.argsort(every)
        self._terms = every[order]
        self._owners = np.repeat(np.arange(len(rows)), own)[order]
        self._is_said = (np.arange(len(every)) < np.repeat(np.cumsum(own) - own + said, own))[order]
        beside = np.zeros(len(rows) + 2 * NEIGHBOURS)
        for step in _STEPS:
            beside[NEIGHBOURS + step : NEIGHBOURS + step + len(rows)] += said
        lengths = own + NEAR_WEIGHT * beside[NEIGHBOURS : NEIGHBOURS + len(rows)]
        self._count = int(np.count_nonzero(own))
        mean = max(float(lengths[own > 0].sum()) / max(self._count, 1), 1.0)
        self._length_norm = K1 * (1 - B + B * lengths / mean)
        """K1, scaled by the length of each message: the term frequency that earns half of a term's weight."""

    def scores(self, asked: Mapping[str, int], question: int | None = None) -> Scores:
        """For every message what share of the question it answers to; the asked terms come with their frequencies.

        About 1 where everything that was asked for stands once, whatever the question and the conversation. Where the
        question is a message itself, `question` is its place: words that stand nowhere else were never said.
        """
        scores = np.zeros(len(self.rows))
        mass = 0.0
        for term, times in asked.items():
            number = np.uint32(term_hash(term))
            found = slice(*(int(np.searchsorted(self._terms, number, side)) for side in ("left", "right")))
            places, is_said = self._owners[found], self._is_said[found]
            others = places != (-1 if question is None else question)
            places, is_said = places[others], is_said[others]
            count = len(np.unique(places))
            weight = times * idf(self._count, count)
            if not count:
                mass += weight * (UNSEEN_PAIR_WEIGHT if _UNSPACED.match(term) else UNSEEN_WEIGHT)
                continue
            mass += weight
            near = [places[is_said] + step for step in _STEPS]
            weights = np.repeat((1.0, NEAR_WEIGHT), (len(places), sum(map(len, near))))
            # What is near the first and the last message needs no check.
            every = np.concatenate((places, *near)) + NEIGHBOURS
            frequencies = np.bincount(every, weights, len(scores) + 2 * NEIGHBOURS)[NEIGHBOURS:-NEIGHBOURS]
            scores += weight * frequencies / (frequencies + self._length_norm)
        return (scores * ((1 + K1) / mass) if mass else scores).astype(np.float32)


def pack_features(text: str, found: Sequence[str], speaker: str, at: datetime) -> bytes:
    """The features of a message with these terms, as they are stored."""
    names = [term_hash(term) for term in terms(speaker)] or [0]
    asks = bool(ENDS_AS_QUESTION.search(text.rstrip()[-24:]))
    names_time = (
        not listed_terms(TIME_WORDS).isdisjoint(found)
        or bool(_DIGIT.search(text))
        or (not text.isascii() and any(each in text for each in UNSPACED_TIME_WORDS))
    )
    row = (int(at.timestamp()), (names[0], names[-1]), asks, names_time, min(max(len(found), 1), MAX_WORDS))
    return np.array(row, dtype=_FEATURES).tobytes()


def asks_for_time(question: str) -> bool:
    asked = question[:MAX_QUERY_CHARACTERS]
    return not listed_words(ASKING_FOR_TIME).isdisjoint(words(asked)) or (
        not asked.isascii() and any(each in asked for each in UNSPACED_ASKING_FOR_TIME)
    )


def reordered(
    places: Sequence[int],
    scores: Scores,
    rows: Sequence[MessageRow],
    question: str,
    asked: Iterable[str],
    vector: Vector | None,
) -> list[int]:
    """These places, best first, and of equals those that came first; scores and rows are those of all places."""
    if not places:
        return []
    here = np.array(places)
    own, before = (
        np.frombuffer(b"".join(rows[place].features for place in each), dtype=_FEATURES)
        for each in (places, (here - 1).tolist())
    )
    follows_question = (here > 0) & before["asks"] & (own["at"] - before["at"] <= SITTING_SECONDS)
    answers = np.flatnonzero(follows_question)
    compared = np.concatenate((here, here[answers] - 1))
    fits = scores[compared] + COSINE_WEIGHT * _cosines([rows[place].vector for place in compared], vector)
    total = fits[: len(here)]
    total[answers] += ANSWER_WEIGHT * fits[len(here) :]
    total += LENGTH_WEIGHT * np.log(own["words"]) - ASKING_WEIGHT * own["asks"]
    if own["speaker"].any():
        named = np.array([term_hash(term) for term in asked], dtype=np.uint32)
        total += SPEAKER_WEIGHT * (own["speaker"][:, :, None] == named).any(axis=(1, 2))
    if asks_for_time(question):
        total += TIME_WEIGHT * own["names_time"]
    total += SITTING_WEIGHT * _best_of_sitting(here, own["at"], total)
    ordered: list[int] = here[np.argsort(-total, kind="stable")].tolist()
    return ordered


def _cosines(vectors: Sequence[bytes], asked: Vector | None) -> Scores:
    """0 where nothing is known of the message or of the question."""
    if asked is None:
        return np.zeros(len(vectors), dtype=np.float32)
    size = len(asked)
    rows = unpacked(b"".join(vector if len(vector) == size else bytes(size) for vector in vectors), size)
    cosines: Scores = np.vecdot(rows, asked) / np.sqrt(np.maximum(np.vecdot(rows, rows), 1))
    return cosines


def _best_of_sitting(places: Numbers, at: Numbers, scores: Scores) -> Scores:
    """For each place the best score in its sitting, which ends where nothing was said, or found, for hours."""
    order = np.argsort(places)
    begins = np.abs(np.diff(at[order], prepend=at[order[0]] - SITTING_SECONDS - 1)) > SITTING_SECONDS
    best = np.maximum.reduceat(scores[order], np.flatnonzero(begins))
    of_each = np.empty_like(scores)
    of_each[order] = best[np.cumsum(begins) - 1]
    return of_each
