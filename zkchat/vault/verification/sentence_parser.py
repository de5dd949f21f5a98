"""Parse a sentence into what must be the same in another that says the same: content, numbers, names, negation."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from msgspec import Struct

from zkchat.lexicon.words import by_code, languages
from zkchat.vault.search.terms import words
from zkchat.vault.verification.tokens import (
    Token,
    listed,
    number_words,
    plain,
    stop_words,
    tokens_of,
    with_number_words,
)

NEGATION: Final = "not"
"""Stands for every negator."""
CONDITION: Final = "if"
"""Stands for every word that sets a condition."""


class Operator(NamedTuple):
    """A word that changes what is said of another: a negator, a condition, "only", "at least", "before"."""

    word: str
    place: int
    target: int
    """The place of the content token that it stands with; negative where there is none."""


class ParsedSentence(Struct, frozen=True):
    tokens: tuple[Token, ...]
    content: tuple[int, ...]
    """The places of the tokens that say what it is about: no stop words, no operators."""
    order: Mapping[int, int]
    """By place of a content token its number among them."""
    operators: tuple[Operator, ...]
    names: frozenset[int]
    """The places of content tokens that are names as far as their capitals tell."""
    marks_case: bool
    """Whether the language tells by the forms of words who does what to whom, whatever their order."""
    roles: Mapping[int, str]
    """By place of a content token the preposition or operator before it, articles left aside; empty for none."""
    single_units: frozenset[int]
    """The places of units of time after a word for one: that of "year" in "a year"."""
    beginnings: frozenset[str]
    """The first letters of its content: what shares none of them is no form of its words."""

    @property
    def numbers(self) -> list[int]:
        return [place for place in self.content if self.tokens[place].kind == "number"]


class _Lexicon(Struct, frozen=True):
    stop_words: frozenset[str]
    operators: Mapping[str, str]
    """The words that change what is said, each with what stands for it."""
    numbers: Mapping[str, float]
    ones: frozenset[str]
    """Articles that count one before a unit."""
    units_of_time: frozenset[str]
    has_capital_nouns: bool
    marks_case: bool
    unspaced_operators: tuple[tuple[re.Pattern[str], str], ...]
    without_negation: re.Pattern[str] | None
    function_letters: frozenset[str]
    prepositions: frozenset[str]
    """None where they are not known."""


def parse_sentence(text: str, language: str) -> ParsedSentence:
    """Parse a sentence of a language, which may be unknown (empty)."""
    lexicon = _lexicon(language)
    prose = plain(text)
    tokens = with_number_words(tokens_of(prose), lexicon.numbers)
    content = tuple(
        place
        for place, token in enumerate(tokens)
        if _is_content(token, lexicon) or _is_unit(token, tokens[place - 1 : place])
    )
    order = {place: number for number, place in enumerate(content)}
    operators = (
        Operator(word, place, _target(tokens, order, place)) for word, place in _operators(prose, tokens, lexicon)
    )
    return ParsedSentence(
        tokens=tokens,
        content=content,
        order=order,
        operators=tuple(operators),
        names=frozenset(each for each in content if tokens[each].is_capitalised and not lexicon.has_capital_nouns),
        marks_case=lexicon.marks_case,
        roles={place: _role(tokens, order, place, lexicon) for place in content},
        single_units=frozenset(
            each for each in content if each and _is_single(tokens[each - 1], tokens[each], lexicon)
        ),
        beginnings=frozenset(beginning(tokens[each]) for each in content),
    )


def beginning(token: Token) -> str:
    """What two tokens share that are the same, or forms of one word."""
    return (
        token.word[:4]
        if token.kind == "word" and len(token.word) > 4
        else token.key[:4]
        if token.kind == "word"
        else token.kind
    )


def _is_content(token: Token, lexicon: _Lexicon) -> bool:
    match token.kind:
        case "word":
            if len(token.word) == 1:
                return token.is_capitalised and token.word != "i"
            return token.word not in lexicon.stop_words and token.word not in lexicon.operators
        case "letter":
            return token.word not in lexicon.function_letters
        case "number" | "sign":
            return True


def _is_unit(token: Token, before: tuple[Token, ...]) -> bool:
    """Whether a single letter, such as that of grams, stands after a number."""
    return token.kind == "word" and len(token.word) == 1 and any(each.kind == "number" for each in before)


def _is_single(before: Token, token: Token, lexicon: _Lexicon) -> bool:
    return before.word in lexicon.ones and token.word in lexicon.units_of_time


def _operators(prose: str, tokens: tuple[Token, ...], lexicon: _Lexicon) -> Iterator[tuple[str, int]]:
    for place, token in enumerate(tokens):
        word = lexicon.operators.get(token.word) if token.kind == "word" else None
        if word == CONDITION and place and tokens[place - 1].word in listed("no_conditions"):
            continue
        if word:
            yield word, place
    starts = {token.start: place for place, token in enumerate(tokens)} if lexicon.unspaced_operators else {}
    for pattern, word in lexicon.unspaced_operators:
        said = prose
        if word == NEGATION and lexicon.without_negation:
            said = lexicon.without_negation.sub(lambda match: " " * len(match[0]), prose)
        for match in pattern.finditer(said):
            if match.start() in starts:
                yield word, starts[match.start()]


def _target(tokens: tuple[Token, ...], content: Mapping[int, int], place: int) -> int:
    """The next content token of the clause, else the one before."""
    clause = tokens[place].clause
    for places in (range(place + 1, len(tokens)), range(place - 1, -1, -1)):
        for each in places:
            if tokens[each].clause != clause:
                break
            if each in content:
                return each
    return -1


def _role(tokens: tuple[Token, ...], content: Mapping[int, int], place: int, lexicon: _Lexicon) -> str:
    before = place - 1
    while before >= 0 and lexicon.prepositions and tokens[before].word in listed("articles"):
        before -= 1
    if before < 0 or before in content:
        return ""
    word = tokens[before].word
    is_role = not lexicon.prepositions or word in lexicon.prepositions or word in lexicon.operators
    return word if is_role else ""


@cache
def _lexicon(language: str) -> _Lexicon:
    negators = _listed(language, "negators", "second_negators", "more_negators")
    conditions = _listed(language, "conditions")
    limits = _listed(language, "unclear", "relations") | listed("bounds") | listed("shares")
    operators = (
        {each: each for each in limits} | dict.fromkeys(conditions, CONDITION) | dict.fromkeys(negators, NEGATION)
    )
    ignored = stop_words(language) | _listed(language, "modals") | listed("approximations")
    known = languages().get(language, {})
    is_spaced = known.get("is_spaced", True)
    unspaced = {
        NEGATION: known.get("negators", known.get("more_negators")),
        CONDITION: known.get("conditions"),
    }
    without = known.get("no_negation")
    return _Lexicon(
        stop_words=frozenset(ignored - operators.keys()),
        operators=operators,
        numbers=number_words(language),
        ones=frozenset(words(known.get("ones", ""))),
        units_of_time=frozenset(words(known.get("units_of_time", ""))),
        has_capital_nouns=known.get("has_capital_nouns", False),
        marks_case=known.get("marks_case", False),
        unspaced_operators=tuple(
            (re.compile(pattern), word) for word, pattern in unspaced.items() if pattern and not is_spaced
        ),
        without_negation=re.compile(without) if without else None,
        prepositions=frozenset(_listed(language, "prepositions") if "prepositions" in known else ()),
        function_letters=frozenset(known.get("function_letters", "")),
    )


def _listed(language: str, *keys: str) -> frozenset[str]:
    """Of a language that is not known, the words of all of them: what may deny is not overlooked."""
    found = (by_code(key, spaced=True) for key in keys)
    texts = [text for by_language in found for code, text in by_language.items() if language in {"", code}]
    return frozenset(part for each in texts for part in words(each) if len(part) > 1 or not part.isascii())
