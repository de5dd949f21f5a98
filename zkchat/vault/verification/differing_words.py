"""Whether two sentences give different words for the same: another colour, or another word in the same sentence."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from zkchat.lexicon.changed_states import UPDATE_WORDS
from zkchat.lexicon.negation import NEGATORS
from zkchat.lexicon.prepositions import ARTICLES
from zkchat.lexicon.stated_values import (
    COLOUR_NOUNS,
    COLOURS,
    PLACE_WORDS,
    STATE_VERBS,
    UNSPACED_COLOUR_NOUNS,
    UNSPACED_COLOURS,
)
from zkchat.vault.search.terms import stem, words

UNSPACED: Final = frozenset({"zh", "ja"})
"""Languages without spaces between words."""


def colours(text: str, language: str) -> frozenset[str]:
    """The terms of the colours that a text names."""
    if language in UNSPACED:
        return frozenset(match[0][0] for match in re.finditer(UNSPACED_COLOURS, text))
    return frozenset(stem(word) for word in words(text) if word in _listed(COLOURS))


def asks_for_colour(asked: frozenset[str], language: str) -> frozenset[str]:
    """The terms of a question that ask for a colour."""
    if language in UNSPACED:
        return asked.intersection(UNSPACED_COLOUR_NOUNS.split())
    return asked & _stems(COLOUR_NOUNS)


def differ_in_one_word(mine: str, theirs: str, language: str) -> bool:
    """Whether two sentences that tell a state are the same but for one word, after a preposition: "in the shed" and
    "in the cellar", not "in the shed" and "in the shed on the left"."""
    ours, others = (_skeleton(text) for text in (mine, theirs))
    if len(ours) != len(others) or not _tell_a_state(ours, language):
        return False
    places = [place for place, pair in enumerate(zip(ours, others, strict=True)) if pair[0] != pair[1]]
    if len(places) != 1 or places[0] == 0:
        return False
    place = places[0]
    return ours[place - 1] in _listed(PLACE_WORDS.get(language, "")) and _are_other_words(ours[place], others[place])


def _skeleton(text: str) -> list[str]:
    """The words of a sentence without articles and those that say when it holds."""
    left_out = _listed(ARTICLES) | _listed(UPDATE_WORDS)
    return [word for word in words(text) if word not in left_out]


def _tell_a_state(spoken: Sequence[str], language: str) -> bool:
    denying = _listed(NEGATORS.get(language, ""))
    return not _listed(STATE_VERBS).isdisjoint(spoken) and denying.isdisjoint(spoken)


def _are_other_words(one: str, another: str) -> bool:
    """Whether they are no two forms of one word, and no numbers."""
    return one.isalpha() and another.isalpha() and min(len(one), len(another)) > 2 and one[:3] != another[:3]


@cache
def _listed(listed: str) -> frozenset[str]:
    return frozenset(words(listed))


@cache
def _stems(listed: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(listed))
