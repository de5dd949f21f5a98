"""What a user said of themselves that may be worth keeping: sentences to be proposed, and never kept unasked. Pure."""

from collections.abc import Iterable
from typing import Final

from zkchat.chat.memory import compare_fact
from zkchat.core import Fact
from zkchat.index import words
from zkchat.language import DECISIONS, FIRST_PERSON, PREFERENCES, REQUEST, UNSPACED_STATEMENTS
from zkchat.notes import sentences

MAX_POINTS: Final = 3
"""Proposed at one time: more would be a nuisance."""
_MIN_CHARS, _MAX_CHARS = 12, 200
"""Characters of a sentence that can stand by itself."""
_OWN: Final = frozenset(words(FIRST_PERSON))
_DECIDED: Final = frozenset(words(DECISIONS))
_PREFERRED: Final = frozenset(words(PREFERENCES))


def learning_points(said: Iterable[str], known: Iterable[Fact] = ()) -> list[str]:
    """The sentences that say most about the user, in the order of saying: a decision, a preference, a figure."""
    facts = [*known]
    found = dict.fromkeys(" ".join(sentence.split()) for text in said for sentence in sentences(text))
    weights = {sentence: weight for sentence in found if (weight := _weight(sentence))}
    new = [sentence for sentence in weights if compare_fact(sentence, facts).same is None]
    best = sorted(new, key=lambda sentence: -weights[sentence])[:MAX_POINTS]
    return [sentence for sentence in new if sentence in best]


def _weight(sentence: str) -> int:
    """How much a sentence says about its speaker; nothing for one that says nothing, or asks."""
    if not _MIN_CHARS <= len(sentence) <= _MAX_CHARS or REQUEST.search(sentence) or "```" in sentence:
        return 0
    used = {*words(sentence)}
    signs = sum(sign in sentence for sign in UNSPACED_STATEMENTS)
    is_own = bool(used & _OWN) or signs > 0
    weight = 2 * len(used & _DECIDED) + 2 * len(used & _PREFERRED) + any(map(str.isdigit, sentence)) + max(0, signs - 1)
    return weight if is_own else 0
