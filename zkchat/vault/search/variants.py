"""Variants of a term: other terms with most of its beginning, such as inflected forms and compounds.

The stemmer knows the endings of few languages. English is left alone: there it does better than a shared beginning.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from math import ceil

from zkchat.vault.search.terms import is_english, is_inflected

VARIANT_WEIGHT = 0.5
"""Of an occurrence of a variant, beside one of the term itself."""
MAX_VARIANTS = 4
_MIN_LETTERS = 6
"""Of a term with variants. Of a shorter one the beginning says too little, in Vietnamese most of all."""
_MIN_SHARED = 0.6
"""Of the longer of two terms, the share that both begin with."""
_MAX_TERMS = 24
"""Of a question whose variants are looked for."""


def variant_prefixes(question: str, asked: Iterable[str]) -> dict[str, str]:
    """For each term that may have variants what these begin with; nothing for a question in English."""
    long = [term for term in asked if len(term) >= _MIN_LETTERS and is_inflected(term)]
    return {} if not long or is_english(question) else {term: _prefix(term) for term in long[:_MAX_TERMS]}


def rank_variants(term: str, known: Iterable[str]) -> Sequence[str]:
    """The variants among known terms, those that share most with the term first."""
    prefix = _prefix(term)
    shares = {other: _shared(term, other) for other in known if other.startswith(prefix) and other != term}
    variants = [other for other, share in shares.items() if share >= _MIN_SHARED]
    return sorted(variants, key=lambda each: (-shares[each], each))


def _prefix(term: str) -> str:
    return term[: ceil(_MIN_SHARED * len(term))]


def _shared(term: str, other: str) -> float:
    """The share of the longer term that both begin with."""
    same = takewhile(lambda letters: letters[0] == letters[1], zip(term, other, strict=False))
    return sum(1 for _ in same) / max(len(term), len(other))
