"""The lexer of questions: the longest phrases that mean something in a language, and what is known by its form.

A text is compared in lower case and without Latin accents, letter for letter.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from zkchat.lexicon.words import by_code, phrases

_LITERALS: Final = (
    ("date", re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\w-])")),
    ("iso_week", re.compile(r"(\d{4})-?w(\d{1,2})(?!\w)")),
    ("quarter", re.compile(r"(?:(\d{4})[- ]?)q([1-4])(?!\w)|q([1-4])(?:[- /](\d{4}))?(?!\w)")),
    ("year_month", re.compile(r"(\d{4})-(\d{2})(?![\w-])")),
    ("dotted", re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4}))?(?!\w)")),
    ("slashed", re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4})(?![\w-])")),
    ("duration", re.compile(r"(\d{1,4})\s?([dw])(?!\w)")),
    ("ordinal_day", re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|\.(?=[\s?!]|$)|º|ª)(?!\w)")),
    ("number", re.compile(r"\d{1,4}(?![\w.,:%]*\d)(?![\w%°€$£])")),
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\w+|\S")
_SPACE: Final = re.compile(r"[\s,]+")


class Token(Struct, frozen=True):
    start: int
    end: int
    text: str
    meanings: Mapping[str, str]
    """What it may mean, the most frequent first, each with its value; nothing for a word that is not known."""

    @property
    def meaning(self) -> str:
        return next(iter(self.meanings), "")

    def may_mean(self, meaning: str) -> bool:
        return meaning in self.meanings

    def value(self, meaning: str) -> int | None:
        found = self.meanings.get(meaning)
        return int(found) if found is not None else None


class Phrases:
    """The phrases of a language by what they mean."""

    def __init__(self, language: str, *tables: str) -> None:
        """Of these tables of its file, and its numbers in words."""
        self._meanings: dict[str, dict[str, str]] = {}
        self._lengths: dict[str, list[int]] = {}
        """By the first letter, those of the phrases, the longest first."""
        for table in tables:
            for meaning, listed in by_code(table)[language].items():
                kind, _, value = meaning.partition(":")
                for phrase in phrases(listed):
                    self.add(phrase, kind, value)
        for pair in by_code("number_words").get(language, "").split():
            word, value = pair.split(":")
            self.add(word, "number", value)

    def add(self, phrase: str, meaning: str, value: str = "") -> None:
        key = fold(phrase)
        self._meanings.setdefault(key, {})[meaning] = value
        lengths = self._lengths.setdefault(key[0], [])
        if len(key) not in lengths:
            lengths.append(len(key))
            lengths.sort(reverse=True)

    def longest(self, folded: str, at: int, is_inside_word: Callable[[str, int], bool]) -> Token | None:
        """The longest phrase that stands there and ends no word in its middle."""
        for length in self._lengths.get(folded[at], ()):
            end = at + length
            meanings = self._meanings.get(folded[at:end])
            if meanings and end <= len(folded) and not is_inside_word(folded, end):
                return Token(at, end, folded[at:end], meanings)
        return None


def tokens_of(text: str, language: str) -> list[Token]:
    """The words and signs of a text, without spaces and commas: numbers, dates, and what words say of time."""
    folded = fold(text)
    tokens: list[Token] = []
    at = 0
    while at < len(folded):
        if space := _SPACE.match(folded, at):
            at = space.end()
            continue
        token = _literal(folded, at) or _phrase(folded, at, language) or _word(folded, at)
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


def _phrase(folded: str, at: int, language: str) -> Token | None:
    if at and folded[at].isalnum() and folded[at - 1].isalnum():
        return None
    return _calendar_phrases(language).longest(folded, at, _is_inside_word)


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


@cache
def _calendar_phrases(language: str) -> Phrases:
    found = Phrases(language, "calendar")
    weeks = by_code("calendar")[language].get("week_after_month", "")
    for number, name in enumerate(by_code("months")[language].split(), start=1):
        found.add(name, "month", str(number))
        if weeks:
            found.add(f"{name}{weeks}", "week_of_month", str(number))
    for number, name in enumerate(by_code("weekdays")[language].split()):
        found.add(name, "weekday", str(number))
    for word in by_code("ones")[language].split():
        found.add(word, "one", "1")
    return found


def fold(text: str) -> str:
    """The text in lower case and without Latin accents, letter for letter."""
    return "".join(map(_folded, text))


@cache
def _folded(letter: str) -> str:
    if letter == "’":
        return "'"
    plain = unicodedata.normalize("NFD", letter.lower())
    return plain[0] if plain[1:].strip("\u0300\u0301\u0302\u0303\u0308\u0327") == "" else letter
