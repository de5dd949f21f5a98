"""Parse a sentence into what can be compared with another: its terms, polarity, quantities, dates and names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, Literal

from msgspec import Struct

from zkchat.lexicon.languages import STOP_WORDS_BY_CODE
from zkchat.lexicon.negation import (
    ANSWER_PARTICLE,
    MODALS,
    NEGATORS,
    RELATIONS,
    SECOND_NEGATORS,
    UNCLEAR,
    UNSPACED_FUNCTION_LETTERS,
    UNSPACED_NEGATORS,
    UNSPACED_WITHOUT_NEGATION,
)
from zkchat.lexicon.quantities import (
    APPROXIMATIONS,
    BOUNDS,
    MONTHS,
    NUMBER_WORDS,
    UNSPACED_UNITS,
    UNSPACED_WEEKDAYS,
    WEEKDAYS,
)
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.search.terms import stem, words

LANGUAGES: Final = frozenset({*NEGATORS, *UNSPACED_NEGATORS})
"""Whose claims can be parsed."""

MAX_CHARS: Final = 1_000
"""Characters of a sentence, a title or a question that are parsed."""

Polarity = Literal["affirmed", "denied", "unclear"]

_PARTICLE: Final = lazy_pattern(ANSWER_PARTICLE, re.IGNORECASE)
_CONTRACTION: Final = lazy_pattern(r"\b(\w+)n['’]t\b", re.IGNORECASE)
_CONTRACTED: Final = {"ca": "can", "wo": "will"}
_CLAUSE_END: Final = lazy_pattern(r"[;:()–—。；：（）]|[,，、](?!\d)|\s-\s")
_QUOTED: Final = lazy_pattern(r"\[\[([^\[\]|#]+)[^\[\]]*\]\]|[\"“„«「『《]([^\"“”„«»「」『』《》]{1,60})[\"”“»」』》]")
_NUMBER: Final = r"\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?![\d])|\d+(?:[.,:]\d+)?"
_TOKEN: Final = lazy_pattern(rf"(?P<number>{_NUMBER})|(?P<sign>[%°$€£¥])|(?P<word>[^\W\d_]+(?:[-'’.][^\W\d_]+)*)")
_UNSPACED_NUMBER: Final = rf"({_NUMBER}|[一二两三四五六七八九十百]{{1,6}})\s?"
_UNSPACED_QUANTITY: Final = lazy_pattern(
    rf"(?:{_UNSPACED_NUMBER}(?:[-–~〜～到至]|から)\s?)?{_UNSPACED_NUMBER}({'|'.join(UNSPACED_UNITS.split())})"
)
_UNSPACED_DIGITS: Final = {letter: value for value, letter in enumerate("一二三四五六七八九", start=1)} | {"两": 2}
_LATIN_NAME: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9.+#-]*[A-Za-z0-9+#]")
_UNSPACED_WORD: Final = lazy_pattern(r"[\u3400-\u9fff々]|[\u30a0-\u30ff]{2,}|[A-Za-z]+")
_MAX_DIGITS: Final = 15
"""A longer number is an id."""
_YEARS: Final = range(1500, 2101)
_DAYS: Final = range(1, 32)
_CURRENCIES: Final = frozenset("$€£¥")
_RANGE_WORDS: Final = frozenset({"to", "bis", "a", "al", "до", "tot", "ate"})
_GERMAN_NAME_PREPOSITIONS: Final = frozenset({"von", "bei", "durch"})


class Quantity(Struct, frozen=True):
    values: frozenset[float]
    """More than one where it depends on the country how the number is read."""
    unit: str
    after: frozenset[str] = frozenset()
    """The terms that stand after it."""


class Name(Struct, frozen=True):
    words: frozenset[str]
    """In lower case."""
    after: str
    """The word before it."""


class Clause(Struct, frozen=True):
    terms: frozenset[str]
    relations: frozenset[str]
    """Words such as "before": claims that differ in one of them are about different things."""
    polarity: Polarity


class Claim(Struct, frozen=True):
    """What a sentence says."""

    terms: frozenset[str]
    """Without stop words, numbers, dates and what only denies."""
    clauses: tuple[Clause, ...]
    first: str = ""
    """The first of its terms."""
    quantities: frozenset[Quantity] = frozenset()
    is_bounded: bool = False
    """Whether its numbers are bounds."""
    is_approximate: bool = False
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    names: tuple[Name, ...] = ()

    @property
    def units(self) -> frozenset[str]:
        """The units of its quantities, and "month" or "weekday" where it names one."""
        dates = {"month": self.months, "weekday": self.weekdays}
        return frozenset({each.unit for each in self.quantities} | {name for name, days in dates.items() if days})

    @property
    def is_affirmed(self) -> bool:
        return all(clause.polarity == "affirmed" for clause in self.clauses)


class _Token(Struct, frozen=True):
    kind: str
    text: str
    word: str
    """Lower case, without accents."""
    is_capitalised: bool = False


def parse_claim(sentence: str, language: str) -> Claim:
    """Parse a sentence of a language of `LANGUAGES`; of one without end, only its beginning."""
    text = _PARTICLE.sub("", sentence.strip()[:MAX_CHARS])
    return _parse_unspaced(text, language) if language in UNSPACED_NEGATORS else _parse_spaced(text, language)


def content_terms(text: str, language: str) -> frozenset[str]:
    """The terms of a text that its claims may share."""
    return parse_claim(text, language).terms


# Languages with spaces between words.


def _parse_spaced(text: str, language: str) -> Claim:
    text = _CONTRACTION.sub(lambda match: f"{_CONTRACTED.get(match[1].lower(), match[1])} not", text)
    tokens = [*_tokens(text)]
    months, weekdays = _positions(tokens, MONTHS, language), _positions(tokens, WEEKDAYS, language)
    quantities = frozenset(_quantities(tokens, months.keys(), language))
    units = {each.unit for each in quantities}
    skipped = {tokens[place].word for place in (*months, *weekdays)} | units
    clauses = tuple(
        clause
        for piece in _CLAUSE_END.split(text)
        if (clause := _clause([*_tokens(piece)], skipped, language)).terms or clause.polarity != "affirmed"
    )
    found = {token.word for token in tokens}
    terms = frozenset[str]().union(*(clause.terms for clause in clauses))
    spoken = (stem(part) for token in tokens for part in _parts(token.word))
    return Claim(
        terms=terms,
        clauses=clauses,
        first=next((term for term in spoken if term in terms), ""),
        quantities=quantities,
        is_bounded=not _listed(BOUNDS).isdisjoint(found),
        is_approximate=not _listed(APPROXIMATIONS).isdisjoint(found),
        months=frozenset(months.values()),
        weekdays=frozenset(weekdays.values()),
        names=tuple(name for name in _names(text, tokens, {*months, *weekdays}, language) if name.words),
    )


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "word"
        yield _Token(kind, match[0], _normal(match[0]), match[0][0].isupper())


def _clause(tokens: list[_Token], skipped: set[str], language: str) -> Clause:
    numbers, ignored = _number_words(language), _ignored(language)
    spoken = [part for token in tokens if token.kind == "word" for part in _parts(token.word)]
    content = [
        stem(word)
        for word in spoken
        if word not in ignored and word not in numbers and word not in skipped and stem(word) not in skipped
    ]
    return Clause(
        terms=frozenset(term for term in content if len(term) > 1),
        relations=_relations(language).intersection(spoken),
        polarity=_polarity(spoken, language),
    )


def _parts(word: str) -> list[str]:
    """The words that an apostrophe or a hyphen joins."""
    return [part for part in re.split(r"[-'’.]", word) if part]


def _polarity(spoken: list[str], language: str) -> Polarity:
    negators = sum(word in _by_language(NEGATORS, language) for word in spoken)
    seconds = sum(word in _by_language(SECOND_NEGATORS, language) for word in spoken)
    count = negators or min(seconds, 1)
    if count > 1 or not _by_language(UNCLEAR, language).isdisjoint(spoken):
        return "unclear"
    return "denied" if count else "affirmed"


def _quantities(tokens: list[_Token], months: Iterable[int], language: str) -> Iterator[Quantity]:
    numbers, dated = _number_words(language), {*months}
    for place, token in enumerate(tokens):
        if (values := _values_of(token, numbers)) and (unit := _unit(tokens, place, dated, language)):
            after = frozenset(stem(part) for each in tokens[place:] for part in _parts(each.word))
            yield Quantity(values, unit, after)


def _unit(tokens: list[_Token], place: int, dated: set[int], language: str) -> str:
    """The unit of the number at a place; empty where it has none."""
    token = tokens[place]
    if ":" in token.text:
        return "time"
    if (place - 1 in dated or place + 1 in dated) and _may_be_in_a_date(token.text):
        return "day of the month"
    if place and tokens[place - 1].text in _CURRENCIES:
        return tokens[place - 1].text
    if token.text.isdecimal() and int(token.text) in _YEARS:
        return "year"
    return _unit_after(tokens, place, dated, language)


def _may_be_in_a_date(number: str) -> bool:
    """Whether a number beside a month may be its day or year: 1.050 after "ab August" is neither."""
    return number.isdecimal() and (int(number) in _DAYS or int(number) in _YEARS)


def _unit_after(tokens: list[_Token], place: int, dated: set[int], language: str) -> str:
    following = tokens[place + 1 : place + 3]
    if following and following[0].word in _RANGE_WORDS:  # the first number of "7 to 10 days"
        following, place = following[1:], place + 1
    if following and _values_of(following[0], _number_words(language)):
        return _unit(tokens, place + 1, dated, language)
    if not following or following[0].word in _ignored(language):
        return ""
    return following[0].text if following[0].kind == "sign" else stem(following[0].word)


def _values_of(token: _Token, numbers: Mapping[str, float]) -> frozenset[float]:
    if token.kind == "number" and len(token.text) <= _MAX_DIGITS:
        return number_values(token.text.replace(":", "."))
    return frozenset({numbers[token.word]}) if token.kind == "word" and token.word in numbers else frozenset()


def number_values(written: str) -> frozenset[float]:
    """What a number may mean: 1.250 is 1250 in some countries and 1.25 in others."""
    plain = re.sub(r"[\u00a0\u202f ]", "", written)
    readings = {plain.replace(",", "."), re.sub(r"[.,]", "", plain)} if re.search(r"[.,]\d{3}$", plain) else set()
    return frozenset(float(reading) for reading in readings or {plain.replace(",", ".")} if reading.count(".") < 2)


def _positions(tokens: list[_Token], listed: Mapping[str, str], language: str) -> dict[int, int]:
    """Months or days of the week by the places of their tokens."""
    found: dict[int, int] = {}
    for place, token in enumerate(tokens):
        if token.kind != "word" or (language in {"en", "de", "nl"} and not (token.is_capitalised and place)):
            continue
        for number, name in enumerate(listed.get(language, "").split(), start=1):
            if token.word.startswith(_normal(name)) and len(token.word) - len(name) <= 2:
                found[place] = number
    return found


def _names(text: str, tokens: list[_Token], skipped: set[int], language: str) -> Iterator[Name]:
    for match in _QUOTED.finditer(text):
        before = [*_tokens(text[: match.start()])]
        named = match[1] or match[2]
        yield Name(frozenset(words(named)), before[-1].word if before else "")
    run: list[str] = []
    after = ""
    for place, token in enumerate(tokens):
        is_name = bool(place) and token.kind == "word" and token.is_capitalised and place not in skipped
        if is_name and not run:
            after = tokens[place - 1].word
            is_name = tokens[place - 1].kind == "word" and (language != "de" or after in _GERMAN_NAME_PREPOSITIONS)
        if is_name:
            run.append(token.word)
        elif run:
            yield Name(frozenset(run), after)
            run = []
    if run:
        yield Name(frozenset(run), after)


# Languages without spaces between words.


def _parse_unspaced(text: str, language: str) -> Claim:
    weekdays = frozenset(_weekday(match) for match in re.finditer(UNSPACED_WEEKDAYS, text))
    without_days = re.sub(UNSPACED_WEEKDAYS, " ", text)
    quantities = frozenset(_unspaced_quantities(without_days))
    prose = _UNSPACED_QUANTITY.sub(" ", without_days)
    clauses = tuple(
        clause
        for piece in _CLAUSE_END.split(prose)
        if (clause := _unspaced_clause(piece, language)).terms or clause.polarity != "affirmed"
    )
    return Claim(
        terms=frozenset().union(*(clause.terms for clause in clauses)),
        clauses=clauses,
        quantities=frozenset(each for each in quantities if each.unit != "月"),
        is_bounded=any(word in text for word in BOUNDS.split() if not word.isascii()),
        is_approximate=any(word in text for word in APPROXIMATIONS.split() if not word.isascii()),
        months=frozenset(int(value) for each in quantities if each.unit == "月" for value in each.values),
        weekdays=weekdays,
        names=tuple(name for name in _unspaced_names(text) if name.words),
    )


def _weekday(match: re.Match[str]) -> int:
    return "一二三四五六日".find(match[1].replace("天", "日")) + 1 if match[1] else "月火水木金土日".find(match[2]) + 1


def _unspaced_clause(text: str, language: str) -> Clause:
    prose = re.sub(UNSPACED_WITHOUT_NEGATION[language], "", text)
    count = len(re.findall(UNSPACED_NEGATORS[language], prose))
    is_unclear = count > 1 or any(word in text for word in UNCLEAR[language].split()) or prose != text
    rest = re.sub(UNSPACED_NEGATORS[language], "", prose)
    function_letters = UNSPACED_FUNCTION_LETTERS[language]
    found = (word.lower() for word in _UNSPACED_WORD.findall(rest))
    return Clause(
        terms=frozenset(word for word in found if word not in function_letters),
        relations=frozenset(letter for letter in "前後后上下" if letter in text),
        polarity="unclear" if is_unclear else "denied" if count else "affirmed",
    )


def _unspaced_quantities(text: str) -> Iterator[Quantity]:
    for match in _UNSPACED_QUANTITY.finditer(text):
        for written in (match[1], match[2]):
            if written and len(written) <= _MAX_DIGITS:
                is_spelled = not written[0].isdecimal()
                value = str(_unspaced_number(written)) if is_spelled else written.replace(":", ".")
                yield Quantity(number_values(value), match[3])


def _unspaced_number(written: str) -> int:
    tens, has_tens, ones = written.rpartition("十")
    if not has_tens:
        return _UNSPACED_DIGITS.get(written, 100)
    return 10 * (_UNSPACED_DIGITS.get(tens, 1)) + _UNSPACED_DIGITS.get(ones, 0)


def _unspaced_names(text: str) -> Iterator[Name]:
    for match in _QUOTED.finditer(text):
        yield Name(frozenset(words(match[1] or match[2])), text[: match.start()].rstrip()[-1:])
    for match in _LATIN_NAME.finditer(text):
        yield Name(frozenset({match[0].lower()}), text[: match.start()].rstrip()[-1:])


# Word lists.


def _normal(word: str) -> str:
    """In lower case, without accents."""
    return "".join(words(word)) if word.isalpha() else "-".join(words(word))


@cache
def _listed(listed: str) -> frozenset[str]:
    return frozenset(words(listed))


@cache
def _by_language_cached(listed: str) -> frozenset[str]:
    return frozenset(_normal(word) for word in listed.split())


def _by_language(lists: Mapping[str, str], language: str) -> frozenset[str]:
    return _by_language_cached(lists.get(language, ""))


def _relations(language: str) -> frozenset[str]:
    return _by_language(RELATIONS, language)


@cache
def _ignored(language: str) -> frozenset[str]:
    """Words that say nothing of what a claim is about."""
    stop_words = frozenset(part for word in STOP_WORDS_BY_CODE.get(language, ()) for part in words(word))
    lists = (_by_language(each, language) for each in (NEGATORS, SECOND_NEGATORS, UNCLEAR, MODALS, RELATIONS))
    return stop_words.union(*lists)


@cache
def _number_words(language: str) -> Mapping[str, float]:
    pairs = (pair.split(":") for pair in NUMBER_WORDS.get(language, "").split())
    return {_normal(word): float(value) for word, value in pairs}
