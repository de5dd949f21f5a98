"""Whom a question names: `Ann` in "last meeting with Ann"."""

import re
from itertools import islice
from typing import Final

from zkchat.lexicon.company import ARTICLES, COMPANY, CONJUNCTIONS, UNSPACED_COMPANY
from zkchat.vault.search.question_terms import asking_words
from zkchat.vault.search.terms import MAX_QUERY_CHARACTERS, words

_WORD: Final = re.compile(r"[^\W_]+")
_COMPANY: Final = frozenset(" ".join(COMPANY.values()).split())
_JOINING: Final = frozenset(words(f"{ARTICLES} {CONJUNCTIONS}"))
"""Articles, and what stands between two names."""
_UNSPACED: Final = tuple(map(re.compile, UNSPACED_COMPANY))
_MAX_WORDS: Final = 4
"""Words of names that are looked for."""


def company_in(question: str) -> tuple[str, ...]:
    """The names after the first "with" of a question, word by word; none where nobody is named.

    After a word in lower case no further one counts: "with the landlord last year".
    """
    text = question[:MAX_QUERY_CHARACTERS]
    for pattern in _UNSPACED:
        if found := pattern.search(text):
            return (found["name"],)
    spelled = _WORD.findall(text)
    plain = [_plain(word) for word in spelled]
    start = next((place for place, word in enumerate(plain) if word in _COMPANY), len(plain))
    asking = asking_words(plain)
    names: list[str] = []
    for word, key in islice(zip(spelled, plain, strict=True), start + 1, None):
        if key in _JOINING and not word[0].isupper():
            continue
        is_lower = word[0].islower()
        if len(names) == _MAX_WORDS or (key in asking and is_lower) or (names and is_lower):
            break
        names.append(word)
        if is_lower:
            break
    return tuple(names)


def _plain(word: str) -> str:
    return next(iter(words(word)), "")
