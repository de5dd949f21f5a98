"""Parse a sentence into what can be compared with another: its terms, polarity, quantities, dates and names."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Final, Literal

from msgspec import Struct

from zkchat.answers.verification.sentence_parser import (
    MAX_DIGITS,
    Token,
    listed,
    number_values,
    number_words,
    numeral_value,
    plain,
    stop_words,
    tokens_of,
    with_number_words,
)
from zkchat.core import lazy_pattern
from zkchat.index import words
from zkchat.language import any_of, by_code, languages, of_all

LANGUAGES: Final = frozenset(by_code("negators"))
"""Whose claims can be parsed."""

MAX_CHARS: Final = 1_000
"""Characters of a sentence, a title or a question that are parsed."""

Polarity = Literal["affirmed", "denied", "unclear"]

_PARTICLE: Final = lazy_pattern(rf"^(?:{any_of('answer_particles')})\s*[,，、.!。:]\s*", re.IGNORECASE)
_CLAUSE_END: Final = lazy_pattern(r"[;:()–—。；：（）]|[,，、](?!\d)|\s-\s")
_QUOTED: Final = lazy_pattern(r"\[\[([^\[\]|#]+)[^\[\]]*\]\]|[\"“„«「『《]([^\"“”„«»「」『』《》]{1,60})[\"”“»」』》]")
_THOUSANDS: Final = lazy_pattern(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)")
"""1 080 euros."""
_UNSPACED_NUMBER: Final = (
    r"(\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?![\d])|\d+(?:[.,:]\d+)?|[一二两三四五六七八九十百]{1,6})\s?"
)
_UNSPACED_QUANTITY: Final = lazy_pattern(
    rf"(?:{_UNSPACED_NUMBER}(?:[-–~〜～到至]|から)\s?)?{_UNSPACED_NUMBER}"
    rf"({'|'.join(sorted(of_all('units').split(), key=len, reverse=True))})"
)
_UNSPACED_WEEKDAY: Final = lazy_pattern(r"(?:星期|礼拜|周)([一二三四五六日天])|([月火水木金土日])曜")
_LATIN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9.+#-]*[A-Za-z0-9+#]")
_UNSPACED_WORD: Final = lazy_pattern(r"[\u3400-\u9fff々]|[\u30a0-\u30ff]{2,}|[A-Za-z]+")
_YEARS: Final = range(1500, 2101)
_DAYS: Final = range(1, 32)
_CURRENCIES: Final = frozenset("$€£¥")
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


def parse_claim(sentence: str, language: str) -> Claim:
    """Parse a sentence of a language of `LANGUAGES`; of one without end, only its beginning."""
    text = _PARTICLE.sub("", sentence.strip()[:MAX_CHARS])
    is_spaced = languages()[language].get("is_spaced", True)
    return _parse_spaced(text, language) if is_spaced else _parse_unspaced(text, language)


def content_terms(text: str, language: str) -> frozenset[str]:
    """The terms of a text that its claims may share."""
    return parse_claim(text, language).terms


# Languages with spaces between words.


def _parse_spaced(text: str, language: str) -> Claim:
    joined = _THOUSANDS.sub(lambda match: match[0].replace(" ", ""), plain(text))
    tokens = with_number_words(tokens_of(joined), number_words(language))
    months, weekdays = (_positions(tokens, key, language) for key in ("months", "weekdays"))
    quantities = frozenset(
        Quantity(token.values, unit, frozenset(each.key for each in tokens[place:] if each.kind == "word"))
        for place, token in enumerate(tokens)
        if token.values and (unit := _unit(tokens, place, {*months}, language))
    )
    skipped = {tokens[place].word for place in (*months, *weekdays)} | {each.unit for each in quantities}
    by_clause = groupby(tokens, key=lambda token: token.clause)
    clauses = _telling(_clause([*group], skipped, language) for _, group in by_clause)
    found = {token.word for token in tokens}
    terms = frozenset[str]().union(*(clause.terms for clause in clauses))
    return Claim(
        terms=terms,
        clauses=clauses,
        first=next((token.key for token in tokens if token.key in terms), ""),
        quantities=quantities,
        is_bounded=not listed("bounds").isdisjoint(found),
        is_approximate=not listed("approximations").isdisjoint(found),
        months=frozenset(months.values()),
        weekdays=frozenset(weekdays.values()),
        names=tuple(name for name in _names(text, tokens, {*months, *weekdays}, language) if name.words),
    )


def _telling(clauses: Iterator[Clause]) -> tuple[Clause, ...]:
    return tuple(clause for clause in clauses if clause.terms or clause.polarity != "affirmed")


def _clause(tokens: Sequence[Token], skipped: set[str], language: str) -> Clause:
    spoken = [token.word for token in tokens if token.kind == "word"]
    content = (
        token.key
        for token in tokens
        if token.kind == "word" and token.word not in _ignored(language) and skipped.isdisjoint({token.word, token.key})
    )
    negators = sum(word in listed("negators", language) for word in spoken)
    count = negators or int(not listed("second_negators", language).isdisjoint(spoken))
    is_unclear = count > 1 or not listed("unclear", language).isdisjoint(spoken)
    return Clause(
        terms=frozenset(term for term in content if len(term) > 1),
        relations=listed("relations", language).intersection(spoken),
        polarity="unclear" if is_unclear else "denied" if count else "affirmed",
    )


def _unit(tokens: Sequence[Token], place: int, dated: set[int], language: str) -> str:
    """The unit of the number at a place; empty where it has none."""
    number = tokens[place].word
    if ":" in number:
        return "time"
    may_be_date = number.isdecimal() and (int(number) in _DAYS or int(number) in _YEARS)  # not 1.050 after "ab August"
    if may_be_date and (place - 1 in dated or place + 1 in dated):
        return "day of the month"
    if place and tokens[place - 1].word in _CURRENCIES:
        return tokens[place - 1].word
    if number.isdecimal() and int(number) in _YEARS:
        return "year"
    following = tokens[place + 1 : place + 3]
    if following and following[0].word in listed("range_words"):  # the first number of "7 to 10 days"
        following, place = following[1:], place + 1
    if following and following[0].values:
        return _unit(tokens, place + 1, dated, language)
    return following[0].key if following and following[0].word not in _ignored(language) else ""


def _positions(tokens: Sequence[Token], key: str, language: str) -> dict[int, int]:
    """Months or days of the week by the places of their tokens."""
    found: dict[int, int] = {}
    for place, token in enumerate(tokens):
        if language in {"en", "de", "nl"} and not token.is_capitalised:
            continue
        for number, name in enumerate(by_code(key).get(language, "").split(), start=1):
            parts = words(name)
            said = [each.word for each in tokens[place : place + len(parts)]]
            is_named = len(said) == len(parts) and all(map(str.startswith, said, parts))
            if is_named and len(token.word) - len(parts[0]) <= 2:
                found[place] = number
    return found


def _names(text: str, tokens: Sequence[Token], skipped: set[int], language: str) -> Iterator[Name]:
    for match in _QUOTED.finditer(text):
        yield Name(frozenset(words(match[1] or match[2])), next(iter(words(text[: match.start()])[-1:]), ""))
    runs: list[list[int]] = []
    for place, token in enumerate(tokens):
        if not token.is_capitalised or place in skipped:
            continue
        before = tokens[place - 1]
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        elif before.kind == "word" and (language != "de" or before.word in _GERMAN_NAME_PREPOSITIONS):
            runs.append([place])
    for run in runs:
        yield Name(frozenset(tokens[place].word for place in run), tokens[run[0] - 1].word)


# Languages without spaces between words.


def _parse_unspaced(text: str, language: str) -> Claim:
    weekdays = frozenset(_weekday(match) for match in _UNSPACED_WEEKDAY.finditer(text))
    without_days = _UNSPACED_WEEKDAY.sub(" ", text)
    quantities = frozenset(_unspaced_quantities(without_days))
    prose = _UNSPACED_QUANTITY.sub(" ", without_days)
    clauses = _telling(_unspaced_clause(piece, language) for piece in _CLAUSE_END.split(prose))
    return Claim(
        terms=frozenset().union(*(clause.terms for clause in clauses)),
        clauses=clauses,
        quantities=frozenset(each for each in quantities if each.unit != "月"),
        is_bounded=any(word in text for word in of_all("bounds", spaced=False).split()),
        is_approximate=any(word in text for word in of_all("approximations", spaced=False).split()),
        months=frozenset(int(value) for each in quantities if each.unit == "月" for value in each.values),
        weekdays=weekdays,
        names=tuple(name for name in _unspaced_names(text) if name.words),
    )


def _weekday(match: re.Match[str]) -> int:
    return "一二三四五六日".find(match[1].replace("天", "日")) + 1 if match[1] else "月火水木金土日".find(match[2]) + 1


def _unspaced_clause(text: str, language: str) -> Clause:
    known = languages()[language]
    prose = re.sub(known["no_negation"], "", text)
    count = len(re.findall(known["negators"], prose))
    is_unclear = count > 1 or any(word in text for word in known["unclear"].split()) or prose != text
    found = (word.lower() for word in _UNSPACED_WORD.findall(re.sub(known["negators"], "", prose)))
    return Clause(
        terms=frozenset(word for word in found if word not in known["function_letters"]),
        relations=frozenset(letter for letter in "前後后上下" if letter in text),
        polarity="unclear" if is_unclear else "denied" if count else "affirmed",
    )


def _unspaced_quantities(text: str) -> Iterator[Quantity]:
    for match in _UNSPACED_QUANTITY.finditer(text):
        for written in (match[1], match[2]):
            if written and len(written) <= MAX_DIGITS:
                is_spelled = not written[0].isdecimal()
                values = numeral_value(written) if is_spelled else number_values(written.replace(":", "."))
                yield Quantity(values, match[3])


def _unspaced_names(text: str) -> Iterator[Name]:
    for match in (*_QUOTED.finditer(text), *_LATIN_NAME.finditer(text)):
        named = match[0] if match.re is _LATIN_NAME else match[1] or match[2]
        yield Name(frozenset(words(named)), text[: match.start()].rstrip()[-1:])


@cache
def _ignored(language: str) -> frozenset[str]:
    """Words that say nothing of what a claim is about."""
    keys = ("negators", "second_negators", "unclear", "modals", "relations")
    return stop_words(language).union(*(listed(key, language) for key in keys))
