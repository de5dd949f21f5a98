"""Budgeted maximum coverage: select texts greedily, each time the one that adds most new terms for its cost."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from heapq import heapify, heappop, heappush
from math import log
from math import pow as power
from typing import NamedTuple

from zkchat.lexicon.small_talk import GREETINGS
from zkchat.lexicon.statements import DECISIONS, FIRST_PERSON, UNSPACED_STATEMENTS
from zkchat.lexicon.stop_words import STOP_WORDS
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.search.terms import query_words, stem, words

GAIN_BY_OCCURRENCE = (1.0, 0.15)
"""Of a term: for its first occurrence, for its second. After that it adds nothing."""
COST_EXPONENT = 0.7
"""Below 1, because a long sentence brings along what belongs together, and pays for its line once."""
FOCUS_WEIGHT = 4.0
"""How much more a term counts that was asked for."""
_WORD = lazy_pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DECIDED, _OWN, _GREETING = (frozenset(listed.split()) for listed in (DECISIONS, FIRST_PERSON, GREETINGS))
_QUESTION = ("?", "？", "؟", "\u037e")


class CoverageItem(NamedTuple):
    """A text that can be selected."""

    terms: frozenset[str]
    weight: float
    cost: int


def coverage_item(sentence: str, cost: int, *, weight: float = 1.0) -> CoverageItem:
    return CoverageItem(content_terms(sentence), weight * sentence_weight(sentence), max(cost, 1))


def content_terms(text: str) -> frozenset[str]:
    """The terms of a text; none if it is made of stop words alone."""
    asked = query_words(text)
    return frozenset() if _stop_words().issuperset(asked) else frozenset(map(stem, asked))


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(word for listed in STOP_WORDS.values() for word in words(listed))


def sentence_weight(sentence: str) -> float:
    """How much a sentence is likely to matter, by its kind: facts and decisions more, questions and greetings less."""
    written = _WORD.findall(sentence)
    lowered = [word.lower() for word in written]
    value = 1.0
    if "[[" in sentence or any(len(word) > 1 and word[0].isupper() for word in written[1:]):  # a name
        value *= 1.3
    if any(character.isdigit() for character in sentence):
        value *= 1.3
    if not _DECIDED.isdisjoint(lowered):
        value *= 1.2
    if not _OWN.isdisjoint(lowered) or any(sign in sentence for sign in UNSPACED_STATEMENTS):
        value *= 1.2
    if is_question(sentence):
        value *= 0.5
    if len(lowered) <= 6 and not _GREETING.isdisjoint(lowered):
        value *= 0.4
    return value


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’»)]*_」』 ").endswith(_QUESTION)


def idf_weights(items: Iterable[CoverageItem], focus: Collection[str] = ()) -> dict[str, float]:
    """The inverse document frequency of each term among the items, higher for terms in `focus`."""
    found = list(items)
    holding = Counter(term for each in found for term in each.terms)
    return {
        term: log(1 + len(found) / count) * (FOCUS_WEIGHT if term in focus else 1.0) for term, count in holding.items()
    }


def select_greedily(
    items: Sequence[CoverageItem],
    weights: Mapping[str, float],
    fits: Callable[[int], bool],
    *,
    covered: Iterable[frozenset[str]] = (),
) -> list[int]:
    """The selected items, by number and in the order of selection. Each is offered to `fits` at most once.

    `covered` are the terms of each text that is there already.
    """
    counts = Counter(term for each in covered for term in each)

    def gain(number: int) -> float:
        new: float = sum(
            weights[term] * GAIN_BY_OCCURRENCE[counts[term]]
            for term in items[number].terms
            if counts[term] < len(GAIN_BY_OCCURRENCE)
        )
        return new * items[number].weight / power(items[number].cost, COST_EXPONENT)

    taken: list[int] = []
    waiting = [(-gain(number), number) for number in range(len(items))]
    heapify(waiting)
    while waiting:
        _, number = heappop(waiting)
        value = gain(number)
        if waiting and value < -waiting[0][0]:  # lazy evaluation: its gain is lower now than when it was queued
            heappush(waiting, (-value, number))
        elif value > 0 and fits(number):
            taken.append(number)
            counts.update(items[number].terms)
    return taken
