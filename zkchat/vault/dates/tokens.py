"""Tokens of a text that may name a time: numbers, dates by their form, and what words mean in one language."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from zkchat.lexicon.calendar_words import CALENDAR_WORDS
from zkchat.lexicon.quantities import MONTHS, NUMBER_WORDS, ONES, WEEKDAYS
from zkchat.model.patterns import lazy_pattern

_LITERALS: Final = (
    ("date", lazy_pattern(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\w-])")),
    ("iso_week", lazy_pattern(r"(\d{4})-?w(\d{1,2})(?!\w)")),
    ("quarter", lazy_pattern(r"(?:(\d{4})[- ]?)q([1-4])(?!\w)|q([1-4])(?:[- /](\d{4}))?(?!\w)")),
    ("year_month", lazy_pattern(r"(\d{4})-(\d{2})(?![\w-])")),
    ("dotted", lazy_pattern(r"(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4}))?(?!\w)")),
    ("slashed", lazy_pattern(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4})(?![\w-])")),
    ("duration", lazy_pattern(r"(\d{1,4})\s?([dw])(?!\w)")),
    ("ordinal_day", lazy_pattern(r"(\d{1,2})(?:st|nd|rd|th|er|\.(?=[\s?!]|$)|º|ª)(?!\w)")),
    ("number", lazy_pattern(r"\d{1,4}(?![\w.,:%]*\d)(?![\w%°€$£])")),
)
_WORD: Final = lazy_pattern(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\w+|\S")
_SPACE: Final = lazy_pattern(r"[\s,]+")


class Token(Struct, frozen=True):
    start: int
    end: int
    text: str
    """In lower case and without accents."""
    meanings: Mapping[str, str]
    """What it may mean, with its value; nothing for words that say nothing of time."""

    def value(self, meaning: str) -> int | None:
        found = self.meanings.get(meaning)
        return int(found) if found is not None else None


def tokens_of(text: str, language: str) -> list[Token]:
    """The words and signs of a text, without spaces and commas."""
    folded = fold(text)
    phrases = _phrases_of(language)
    tokens: list[Token] = []
    at = 0
    while at < len(folded):
        if space := _SPACE.match(folded, at):
            at = space.end()
            continue
        token = _literal(folded, at) or _phrase(folded, at, phrases) or _word(folded, at)
        tokens.append(token)
        at = token.end
    return tokens


def _literal(folded: str, at: int) -> Token | None:
    if not folded[at].isdigit() and folded[at] != "q":
        return None
    if at and (folded[at - 1].isalnum() or folded[at - 1] in "/.#"):
        return None
    if at > 1 and folded[at - 1] == "-" and not folded[at - 2].isdigit():
        return None
    for meaning, pattern in _LITERALS:
        if found := pattern.match(folded, at):
            return Token(at, found.end(), found[0], {meaning: _value(meaning, found)})
    return None


def _value(meaning: str, found: re.Match[str]) -> str:
    if meaning in {"date", "slashed"}:
        return f"{found[1]}/{found[3]}/{found[4]}"
    return "/".join(each or "" for each in found.groups()) or found[0]


def _phrase(folded: str, at: int, phrases: "_Phrases") -> Token | None:
    if at and folded[at].isalnum() and folded[at - 1].isalnum():
        return None
    for length in phrases.lengths.get(folded[at], ()):
        end = at + length
        meanings = phrases.meanings.get(folded[at:end])
        if meanings and not _is_inside_word(folded, end):
            return Token(at, end, folded[at:end], meanings)
    return None


def _is_inside_word(folded: str, end: int) -> bool:
    """Whether a word goes on there; after an apostrophe or a hyphen that ends the phrase another begins."""
    if end >= len(folded) or folded[end - 1] in "'-–—":
        return False
    after = folded[end]
    return after.isalnum() or (after == "-" and folded[end + 1 : end + 2].isalpha())


def _word(folded: str, at: int) -> Token:
    found = _WORD.match(folded, at)
    end = found.end() if found else at + 1
    return Token(at, end, folded[at:end], {})


class _Phrases(Struct, frozen=True):
    meanings: Mapping[str, Mapping[str, str]]
    lengths: Mapping[str, Sequence[int]]
    """By the first letter, those of the phrases, the longest first."""


@cache
def _phrases_of(language: str) -> _Phrases:
    meanings: dict[str, dict[str, str]] = {}
    for meaning, phrases in CALENDAR_WORDS[language].items():
        kind, _, value = meaning.partition(":")
        for phrase in phrases.replace("\n", "|").split("|"):
            if key := phrase.strip():
                meanings.setdefault(key, {})[kind] = value
    weeks = CALENDAR_WORDS[language].get("week_after_month", "")
    for number, name in enumerate(MONTHS[language].split(), start=1):
        meanings.setdefault(fold(name), {})["month"] = str(number)
        if weeks:
            meanings[f"{fold(name)}{weeks}"] = {"week_of_month": str(number)}
    for number, name in enumerate(WEEKDAYS[language].split()):
        meanings.setdefault(fold(name), {})["weekday"] = str(number)
    for pair in NUMBER_WORDS[language].split():
        word, value = pair.split(":")
        meanings.setdefault(fold(word), {})["number"] = value
    for word in ONES[language].split():
        meanings.setdefault(fold(word), {})["one"] = "1"
    lengths: dict[str, set[int]] = {}
    for key in meanings:
        lengths.setdefault(key[0], set()).add(len(key))
    return _Phrases(meanings, {letter: sorted(found, reverse=True) for letter, found in lengths.items()})


def fold(text: str) -> str:
    """The text in lower case and without Latin accents, letter for letter."""
    return "".join(map(_folded, text))


@cache
def _folded(letter: str) -> str:
    if letter == "’":
        return "'"
    plain = unicodedata.normalize("NFD", letter.lower())
    return plain[0] if plain[1:].strip("\u0300\u0301\u0302\u0303\u0308\u0327") == "" else letter
