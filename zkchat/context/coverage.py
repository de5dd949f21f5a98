"""Choosing sentences within a budget: each time the one that adds most that was not said yet, for what it costs."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import log
from math import pow as power
from typing import NamedTuple

from zkchat.lexicon.small_talk import GREETINGS
from zkchat.lexicon.statements import DECISIONS, FIRST_PERSON, UNSPACED_STATEMENTS
from zkchat.lexicon.stop_words import STOP_WORDS
from zkchat.vault.search.terms import query_words, stem, words

_WORTH = (1.0, 0.15)
"""Of a word: said for the first time, for the second. After that it adds nothing."""
_THRIFT = 0.7
"""Below 1, for a long sentence brings along what belongs together, and pays for its line once."""
_FOCUS = 4.0
"""How much more a word counts that was asked for."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DECIDED, _OWN, _GREETING = (frozenset(listed.split()) for listed in (DECISIONS, FIRST_PERSON, GREETINGS))
_STOP_WORDS = frozenset(word for listed in STOP_WORDS.values() for word in words(listed))
_QUESTION = ("?", "？", "؟", "\u037e")


class Candidate(NamedTuple):
    terms: frozenset[str]
    worth: float
    cost: int


def candidate(sentence: str, cost: int, *, weight: float = 1.0) -> Candidate:
    return Candidate(content(sentence), weight * worth(sentence), max(cost, 1))


def content(text: str) -> frozenset[str]:
    """The terms that tell something; of a text of stop words, none."""
    asked = query_words(text)
    return frozenset() if _STOP_WORDS.issuperset(asked) else frozenset(map(stem, asked))


def worth(sentence: str) -> float:
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


def rarities(candidates: Iterable[Candidate], focus: Collection[str] = ()) -> dict[str, float]:
    """How much each term tells: the more the fewer sentences have it, and the more if it was asked for."""
    found = list(candidates)
    holding = Counter(term for each in found for term in each.terms)
    return {term: log(1 + len(found) / count) * (_FOCUS if term in focus else 1.0) for term, count in holding.items()}


def chosen(
    candidates: Sequence[Candidate],
    telling: Mapping[str, float],
    fits: Callable[[int], bool],
    *,
    before: Iterable[frozenset[str]] = (),
) -> list[int]:
    """The candidates that are taken, by number and in the order of choice. Each is offered to `fits` at most once.

    `before` are the terms of each text that stands there already.
    """
    said = Counter(term for each in before for term in each)

    def gain(number: int) -> float:
        new: float = sum(
            telling[term] * _WORTH[said[term]] for term in candidates[number].terms if said[term] < len(_WORTH)
        )
        return new * candidates[number].worth / power(candidates[number].cost, _THRIFT)

    taken: list[int] = []
    waiting = [(-gain(number), number) for number in range(len(candidates))]
    heapify(waiting)
    while waiting:
        _, number = heappop(waiting)
        value = gain(number)
        if waiting and value < -waiting[0][0]:  # less is new in it by now than when it was looked at last
            heappush(waiting, (-value, number))
        elif value > 0 and fits(number):
            taken.append(number)
            said.update(candidates[number].terms)
    return taken
