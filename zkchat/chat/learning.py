"""What a user said of themselves that may be worth keeping: sentences to be proposed, and never kept unasked. Pure."""

import re
from collections.abc import Iterable
from typing import Final

from zkchat.context.cues import DECIDED, OWN, TOLD_WITHOUT_SPACES
from zkchat.memory.statements import placing
from zkchat.model.memory import Fact
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.search.terms import words

MOST: Final = 3
"""Proposed at one time: more would be a nuisance."""
_SHORTEST, _LONGEST = 12, 200
"""Characters of a sentence that can stand by itself."""
_OWN: Final = frozenset(words(OWN))
_DECIDED: Final = frozenset(words(DECIDED))
_TELLING: Final = """
    like love hate enjoy use live work called name favourite favorite birthday allergic vegetarian
    mag liebe hasse nutze wohne arbeite heiße geburtstag bevorzuge
    aime déteste habite travaille appelle utilise gusta odio vivo trabajo llamo uso
"""
_PREFERRED: Final = frozenset(words(_TELLING))
_WISH: Final = re.compile(
    r"[?？]|\b(?:(?:can|could|would|will) you|tell me|show me|help me|give me|let me|wonder\w*|please"
    r"|(?:want|need|like|love) (?:you|to (?:know|see|find|read|hear|understand|ask|learn))"
    r"|kannst du|könntest du|sag mir|zeig mir|hilf mir|gib mir|bitte|peux-tu|dis-moi|montre-moi|puedes|dime)\b",
    re.IGNORECASE,
)
"""What somebody wants to be told says nothing about them."""


def learning_points(said: Iterable[str], known: Iterable[Fact] = ()) -> list[str]:
    """The sentences that say most about the user, in the order of saying: a decision, a preference, a figure."""
    facts = [*known]
    found = dict.fromkeys(" ".join(sentence.split()) for text in said for sentence in sentences(text))
    weights = {sentence: weight for sentence in found if (weight := _weight(sentence))}
    new = [sentence for sentence in weights if placing(sentence, facts).same is None]
    best = sorted(new, key=lambda sentence: -weights[sentence])[:MOST]
    return [sentence for sentence in new if sentence in best]


def _weight(sentence: str) -> int:
    """How much a sentence says about its speaker; nothing for one that says nothing, or asks."""
    if not _SHORTEST <= len(sentence) <= _LONGEST or _WISH.search(sentence) or "```" in sentence:
        return 0
    used = {*words(sentence)}
    signs = sum(sign in sentence for sign in TOLD_WITHOUT_SPACES)
    is_own = bool(used & _OWN) or signs > 0
    weight = 2 * len(used & _DECIDED) + 2 * len(used & _PREFERRED) + any(map(str.isdigit, sentence)) + max(0, signs - 1)
    return weight if is_own else 0
