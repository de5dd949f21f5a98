"""Parse a sentence into what must be the same in another that says the same: content, numbers, names, negation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from zkchat.lexicon.languages import STOP_WORDS_BY_CODE
from zkchat.lexicon.negation import (
    MODALS,
    MORE_NEGATORS,
    MORE_UNSPACED_NEGATORS,
    NEGATORS,
    RELATIONS,
    SECOND_NEGATORS,
    UNCLEAR,
    UNSPACED_FUNCTION_LETTERS,
    UNSPACED_NEGATORS,
    UNSPACED_WITHOUT_NEGATION,
)
from zkchat.lexicon.quantities import APPROXIMATIONS, BOUNDS, NUMBER_WORDS
from zkchat.vault.search.terms import words
from zkchat.vault.verification.tokens import Token, plain, tokenize, with_number_words

NEGATION: Final = "not"
"""Stands for every negator."""


class Operator(NamedTuple):
    """A word that changes what is said of another: a negator, "only", "at least", "before"."""

    word: str
    target: int
    """The place of the content token that it stands with; negative where there is none."""


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    text: str
    tokens: tuple[Token, ...]
    content: tuple[int, ...]
    """The places of the tokens that say what it is about: no stop words, no operators."""
    operators: tuple[Operator, ...]
    names: frozenset[int]
    """The places of content tokens that are names as far as their capitals tell."""

    @property
    def numbers(self) -> list[int]:
        return [place for place in self.content if self.tokens[place].kind == "number"]


@dataclass(frozen=True, slots=True)
class _Lexicon:
    stop_words: frozenset[str]
    negators: frozenset[str]
    limits: frozenset[str]
    numbers: Mapping[str, float]
    has_capital_nouns: bool
    unspaced_negators: re.Pattern[str] | None
    without_negation: re.Pattern[str] | None
    function_letters: frozenset[str]


def parse_sentence(text: str, language: str) -> ParsedSentence:
    """Parse a sentence of a language, which may be unknown (empty)."""
    lexicon = _lexicon(language)
    tokens = with_number_words(tokenize(text), lexicon.numbers)
    content = tuple(place for place, token in enumerate(tokens) if _is_content(token, lexicon))
    places = frozenset(content)
    operators = [
        Operator(NEGATION if token.word in lexicon.negators else token.word, _target(tokens, places, place))
        for place, token in enumerate(tokens)
        if token.kind == "word" and (token.word in lexicon.negators or token.word in lexicon.limits)
    ]
    operators += [Operator(NEGATION, -1)] * _count_unspaced_negators(text, lexicon)
    names = frozenset(place for place in content if tokens[place].is_capitalised and not lexicon.has_capital_nouns)
    return ParsedSentence(text, tokens, content, tuple(operators), names)


def _is_content(token: Token, lexicon: _Lexicon) -> bool:
    match token.kind:
        case "word":
            listed = token.word in lexicon.stop_words or token.word in lexicon.negators or token.word in lexicon.limits
            return not listed and (len(token.word) > 1 or token.is_capitalised)
        case "letter":
            return token.word not in lexicon.function_letters
        case "number" | "sign":
            return True


def _target(tokens: tuple[Token, ...], content: frozenset[int], place: int) -> int:
    """The next content token of the clause, else the one before."""
    clause = tokens[place].clause
    after = range(place + 1, len(tokens))
    before = range(place - 1, -1, -1)
    for places in (after, before):
        for each in places:
            if tokens[each].clause != clause:
                break
            if each in content:
                return each
    return -1


def _count_unspaced_negators(text: str, lexicon: _Lexicon) -> int:
    if lexicon.unspaced_negators is None:
        return 0
    prose = plain(text)
    if lexicon.without_negation is not None:
        prose = lexicon.without_negation.sub(" ", prose)
    return len(lexicon.unspaced_negators.findall(prose))


@cache
def _lexicon(language: str) -> _Lexicon:
    known = [language] if language in STOP_WORDS_BY_CODE else []
    negators = _listed(NEGATORS, language) | _listed(SECOND_NEGATORS, language) | _listed(MORE_NEGATORS, language)
    limits = _listed(UNCLEAR, language) | _listed(RELATIONS, language) | frozenset(words(BOUNDS))
    if language in UNSPACED_NEGATORS:
        limits = frozenset()
    stop_words = frozenset(part for code in known for word in STOP_WORDS_BY_CODE[code] for part in words(word))
    pattern = UNSPACED_NEGATORS.get(language) or MORE_UNSPACED_NEGATORS.get(language)
    without = UNSPACED_WITHOUT_NEGATION.get(language)
    pairs = (pair.split(":") for pair in NUMBER_WORDS.get(language, "").split())
    return _Lexicon(
        stop_words=(stop_words | _listed(MODALS, language) | frozenset(words(APPROXIMATIONS))) - negators - limits,
        negators=negators,
        limits=limits - negators,
        numbers={"".join(words(word)): float(value) for word, value in pairs},
        has_capital_nouns=language == "de",
        unspaced_negators=re.compile(pattern) if pattern else None,
        without_negation=re.compile(without) if without else None,
        function_letters=frozenset(UNSPACED_FUNCTION_LETTERS.get(language, "")),
    )


def _listed(lists: Mapping[str, str], language: str) -> frozenset[str]:
    """Of a language that is not known, the words of all of them: what may deny is not overlooked."""
    listed = [lists.get(language, "")] if language else [*lists.values()]
    return frozenset(part for each in listed for part in words(each))
