"""What people say to a model without asking for anything that stands in notes: thanks, go on, shorter please."""

from functools import cache

from zkchat.lexicon.small_talk import ABOUT_THE_ANSWER, GREETINGS
from zkchat.lexicon.stop_words import STOP_WORDS
from zkchat.vault.search.terms import query_terms, query_words, stem, words


def telling_terms(text: str) -> frozenset[str]:
    """The terms that tell what a message is about; none where it is smalltalk."""
    small, unspoken = _small_words(), _stop_words()
    return frozenset(term for word in query_words(text) if word not in unspoken and (term := stem(word)) not in small)


@cache
def _small_words() -> frozenset[str]:
    return frozenset(query_terms(GREETINGS + ABOUT_THE_ANSWER))


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(word for listed in STOP_WORDS.values() for word in words(listed))
