"""Words that say the same as a word of a question."""

from functools import cache

from zkchat.lexicon.synonyms import SYNONYMS
from zkchat.model.embeddings import as_open_as
from zkchat.vault.search.terms import query_terms, stem, words

_MAX_ADDED = 24
"""Words that are added to a question."""


def synonyms_of(term: str) -> frozenset[str]:
    """As terms; a word may mean different things, in one language or in two."""
    return _groups().get(term, frozenset())


def with_synonyms(topic: str) -> str:
    """The topic of a question with what its words could be called instead; the same where nothing is known."""
    asked = query_terms(topic)
    added = dict.fromkeys(
        word for term in asked for word in sorted(_spelled().get(term, ())) if stem(word) not in asked
    )
    return as_open_as(topic, " ".join((topic, *[*added][:_MAX_ADDED])))


@cache
def _spelled() -> dict[str, frozenset[str]]:
    """By term, the words of its groups."""
    found: dict[str, set[str]] = {}
    for listed in SYNONYMS.values():
        for group in listed.replace("\n", "|").split("|"):
            members = words(group)
            for word in members:
                found.setdefault(stem(word), set()).update(members)
    return {term: frozenset(members) for term, members in found.items()}


@cache
def _groups() -> dict[str, frozenset[str]]:
    return {term: frozenset(map(stem, members)) - {term} for term, members in _spelled().items()}
