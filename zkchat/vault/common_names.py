"""Names of notes that are ordinary words: where a text has them, it rarely means the note."""

from collections.abc import Callable, Iterable
from functools import cache
from math import exp
from typing import Final

from zkchat.lexicon.words import of_all
from zkchat.vault.notes.wikilink import name_key
from zkchat.vault.search.terms import stem, words

MAX_SHARE: Final = 0.004
"""Of the sections of a vault that may hold a word which is a name; chosen by `benchmarks.links.mentions`."""
_MIN_SECTIONS: Final = 15
"""Sections that hold a word before it counts as common, however small the vault is."""

Frequencies = Callable[[Iterable[str]], dict[str, float]]
"""The inverse document frequency of each term that occurs."""


class CommonNames:
    """Tells by lists of words, and by how often the vault itself has a word."""

    def __init__(self, idf: Frequencies, sections: int, max_share: float = MAX_SHARE) -> None:
        self._idf = idf
        self._sections = sections
        self._limit = max(_MIN_SECTIONS, max_share * sections)

    def among(self, names: Iterable[str]) -> set[str]:
        """Those of the names, given by their keys, that are common."""
        single = {}
        common = set()
        for name in names:
            found = name.split()
            if all(word in _listed() for word in found):
                common.add(name)
            elif len(found) == 1 and len(words(name)) == 1:
                single[name] = stem(words(name)[0])
        rarity = self._idf(set(single.values()))
        return common | {name for name, term in single.items() if self._count(rarity.get(term)) > self._limit}

    def _count(self, idf: float | None) -> float:
        """The sections that contain a term, by its inverse document frequency."""
        if idf is None:
            return 0
        rest = exp(idf) - 1
        return (self._sections + 0.5 - 0.5 * rest) / (1 + rest)


@cache
def _listed() -> frozenset[str]:
    listed = of_all("common_titles") + of_all("time_words", spaced=True) + of_all("stop_words")
    return frozenset(name_key(word) for word in listed.split())
