"""What a question is about: its words without those that only ask, and which kind of answer it wants."""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import pairwise
from typing import Final

from zkchat.lexicon.answer_types import (
    DEGREES,
    FOR_A_LIST,
    FOR_A_NUMBER,
    FOR_A_TIME,
    HOW_TO,
    UNSPACED_FOR_A_LIST,
    UNSPACED_FOR_A_NUMBER,
    UNSPACED_FOR_A_TIME,
)
from zkchat.lexicon.languages import CODES
from zkchat.lexicon.question_words import CONNECTIVES, INTERROGATIVES, REQUESTS, UNSPACED, UNSPACED_CONNECTIVES
from zkchat.lexicon.small_talk import ABOUT_THE_ANSWER, GREETINGS, PHRASES, UNSPACED_GREETINGS
from zkchat.lexicon.stop_words import STOP_WORDS
from zkchat.model.embeddings import as_open_as
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.language import detect_language
from zkchat.vault.search.terms import (
    MAX_QUERY_CHARACTERS,
    begins_unspaced,
    phrase_text,
    query_terms,
    query_words,
    stem,
    term_spans,
    terms,
    words,
    written_words,
)

_PARTICLES: Final = frozenset("和与跟的了是在有我你吗呢及の和がはをにでともへやか")
"""Letters that say nothing where they stand alone."""
_MAX_NAME_WORDS: Final = 80
"""Words of a name, or its letters and pairs of them: whoever sends more asks for no note by its name."""
_MAX_WORDS_AROUND: Final = 12
"""Words that only ask, before or after a name, which may be part of it."""
_UNSPACED_GREETING: Final = lazy_pattern(rf"\s*(?:{'|'.join(UNSPACED_GREETINGS.split())})[^?？]{{0,10}}$")
_MAX_SMALL_TALK: Final = 100
"""Characters of a message that may be nothing but greetings and thanks."""
_MIN_COMPOUND: Final = 6
"""Letters of two words that may be one, with the space between them."""
_MIN_HITS: Final = 2
"""Words of a language that tell that a question is in it: one may be a word of another, or a name."""


def _folded(listed: str) -> frozenset[str]:
    return frozenset(words(listed))


def _longest_first(listed: Iterable[str]) -> list[str]:
    return sorted(listed, key=len, reverse=True)


def _spelled(text: str) -> str:
    """The words of a text between single spaces, however they are accented and punctuated."""
    return " ".join(word if begins_unspaced(word) else " ".join(words(word)) for word in written_words(text))


_ASKING: Final = {
    each: _folded(" ".join(listed.get(each, "") for listed in (STOP_WORDS, INTERROGATIVES, REQUESTS)))
    for each in sorted(STOP_WORDS.keys() | INTERROGATIVES.keys() | REQUESTS.keys())
}
"""By language, its stop words and question words."""
_ANY_ASKING: Final = frozenset(stem(word) for listed in _ASKING.values() for word in listed).union(
    query_terms(UNSPACED)
)
"""As terms, in any language."""
_OWN_SCRIPTS: Final = frozenset(word for listed in _ASKING.values() for word in listed if word[0] > "\u024f")
"""The question words that are in no Latin script: there they are no words of other languages."""
_REQUESTS: Final = _folded(" ".join(REQUESTS.values()))
_UNSPACED_ASKING: Final = lazy_pattern("|".join(_longest_first(UNSPACED.split())))
_DEGREES: Final = _folded(DEGREES)
_FOR_A_NUMBER: Final = _folded(FOR_A_NUMBER)
_FOR_A_TIME: Final = _folded(FOR_A_TIME)
_FOR_A_LIST: Final = _folded(FOR_A_LIST)
_HOW_TO: Final = [phrase_text(each) for line in HOW_TO.split("\n") for each in line.split("|") if each.strip()]
_CONNECTIVE: Final = lazy_pattern(
    rf"(?<!\S)(?:{'|'.join(CONNECTIVES.split())})\.?(?!\S)|[{UNSPACED_CONNECTIVES}]|[,，、/&]", re.IGNORECASE
)
_SPELLED_PHRASES: Final = "|".join(_longest_first(map(_spelled, filter(str.strip, re.split(r"[\n|]", PHRASES)))))
_PHRASES: Final = lazy_pattern(rf"(?<!\S)(?:{_SPELLED_PHRASES})(?!\S)")
"""Of small talk."""
_PHRASE_TERMS: Final = frozenset(terms(PHRASES))
_SMALL_TALK: Final = frozenset(query_terms(GREETINGS + ABOUT_THE_ANSWER)).union("0123456789")
_STOP_WORDS: Final = _folded(" ".join(STOP_WORDS.values()))


def topic_of(question: str) -> str:
    """The question without the words that only ask, in the order they were written; empty where it says no topic."""
    text = _UNSPACED_ASKING.sub(" ", question[:MAX_QUERY_CHARACTERS])
    found = written_words(text)
    keys = [words(word) for word in found]
    asking = asking_words([key for listed in keys for key in listed])
    telling = []
    for word, its_keys, before in zip(found, keys, [[], *keys], strict=False):
        is_degree = before and before[0] in _DEGREES and its_keys[0] in _FOR_A_NUMBER
        if not (is_degree or word in _PARTICLES or all(key in asking for key in its_keys)):
            telling.append(word)
    return as_open_as(question, " ".join(telling))


def asking_words(asked: Sequence[str]) -> frozenset[str]:
    """The stop words and question words of the language that these words seem to be in, and of scripts of their own."""
    (likeliest, hits), *_ = _likeliest_languages(asked)
    language = likeliest if hits >= _MIN_HITS else "english"
    first = {word for word in asked[:1] if word in _REQUESTS}
    return _ASKING[language] | first | _OWN_SCRIPTS


def language_of(question: str) -> str | None:
    """The language of a question by its code, also where only its question words tell; None if it is unclear."""
    (likeliest, hits), (_, others), *_ = _likeliest_languages(words(question[:MAX_QUERY_CHARACTERS]))
    by_asking = CODES.get(likeliest) if hits >= _MIN_HITS and hits > others else None
    return detect_language(question) or by_asking


def _likeliest_languages(asked: Sequence[str]) -> list[tuple[str, int]]:
    """Each language with how many of the words ask in it, the likeliest first."""
    counted = Counter(asked)
    hits = Counter({name: sum(counted[word] for word in counted.keys() & known) for name, known in _ASKING.items()})
    return hits.most_common()


def names_in(question: str) -> list[str]:
    """What a question may be about as a whole, as it is written there, the longest first.

    The words at its ends that only ask may be part of a name: "What is in How to take notes?"
    """
    if len(question) > MAX_QUERY_CHARACTERS:
        return []
    found = [*term_spans(question)]
    telling = [place for place, (_, _, term) in enumerate(found) if term not in _ANY_ASKING]
    if not telling or telling[-1] - telling[0] > _MAX_NAME_WORDS:
        return []
    starts = [start for start, _, _ in found[max(0, telling[0] - _MAX_WORDS_AROUND) : telling[0] + 1]]
    ends = [end for _, end, _ in found[telling[-1] : telling[-1] + _MAX_WORDS_AROUND]]
    return sorted([question[start:end] for start in starts for end in ends], key=len, reverse=True)


def parts_of(question: str) -> list[str]:
    """The parts of a question that tell something, cut where it joins things: "tea vs. coffee"."""
    parts = _CONNECTIVE.split(question[:MAX_QUERY_CHARACTERS])
    return [part for part in parts if any(term not in _ANY_ASKING for _, _, term in term_spans(part))]


def with_compounds(question: str, known_of: Callable[[Iterable[str]], Container[str]]) -> str:
    """The question with two words written as one where the notes know that one: "back up" as "backup".

    `known_of` tells which terms they know.
    """
    compounds = {
        (start, end): term
        for (start, first_end, first), (second_start, end, second) in pairwise(term_spans(question))
        if question[first_end:second_start] == " "
        and end - start > _MIN_COMPOUND
        and first not in _ANY_ASKING
        and (term := stem((question[start:first_end] + question[second_start:end]).lower())) not in {first, second}
    }
    known = known_of(compounds.values()) if compounds else ()
    written, done = "", 0
    for (start, end), term in compounds.items():
        if start >= done and term in known:
            written, done = written + question[done:start] + question[start:end].replace(" ", ""), end
    return written + question[done:]


def wants_number(question: str) -> bool:
    """Whether it asks how many, how much or how long."""
    return _holds_one_of(question, _FOR_A_NUMBER, UNSPACED_FOR_A_NUMBER)


def wants_time(question: str) -> bool:
    """Whether it asks when."""
    return _holds_one_of(question, _FOR_A_TIME, UNSPACED_FOR_A_TIME)


def wants_list(question: str) -> bool:
    """Whether it asks for steps, or for the items of a list."""
    asked = phrase_text(question)
    return any(phrase in asked for phrase in _HOW_TO) or _holds_one_of(question, _FOR_A_LIST, UNSPACED_FOR_A_LIST)


def topic_terms(text: str) -> frozenset[str]:
    """The terms that say what a message is about; none where it is small talk."""
    if _UNSPACED_GREETING.match(text):
        return frozenset()
    telling = _telling_terms(text)
    # What is in no phrase is left whichever phrases are taken out: most questions need not be compared with all.
    if len(text) <= _MAX_SMALL_TALK and telling <= _PHRASE_TERMS:
        return telling if _telling_terms(_PHRASES.sub(" ", _spelled(text))) else frozenset()
    return telling


def _telling_terms(text: str) -> frozenset[str]:
    telling = (stem(word) for word in query_words(text) if word not in _STOP_WORDS)
    return frozenset(term for term in telling if term not in _SMALL_TALK)


def _holds_one_of(question: str, spaced: frozenset[str], unspaced: str) -> bool:
    return not spaced.isdisjoint(words(question)) or any(word in question for word in unspaced.split())
