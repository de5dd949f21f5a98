"""Tokenize a sentence for comparison: words, numbers with their values, signs, letters of scripts without spaces."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, Literal

from msgspec import Struct

from zkchat.lexicon.words import by_code, of_all
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.search.terms import UNSPACED_SCRIPTS, stem, words

TokenKind = Literal["word", "number", "sign", "letter"]

_LINK: Final = lazy_pattern(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]\n]*)\]\]|!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_NO_TEXT: Final = lazy_pattern(r"\[\^[^\[\]\n]{1,100}\]|</?[a-zA-Z][^<>\n]{0,200}>|<!--.{0,1000}?-->")
_CONTRACTION: Final = lazy_pattern(r"\b([^\W\d_]+)n['’]t\b", re.IGNORECASE)
_CONTRACTED: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_MARKS: Final = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff"
"""Signs that are written over, under or after the letters of a word."""
_NUMERALS: Final = "〇零一二两三四五六七八九十百千万"
_DIGITS: Final = {letter: value for value, letter in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_POWERS: Final = {"十": 10, "百": 100, "千": 1_000}
_MAX_DIGITS: Final = 15
"""A longer number is an id."""
_CLAUSE_END: Final = lazy_pattern(r"[;:,()–—。；：，、（）]|\s-\s")
_SPACED = f"(?:(?![{UNSPACED_SCRIPTS}])[^\\W\\d_]|[{_MARKS}])"
_TOKEN = lazy_pattern(
    rf"(?P<number>(?:(?<![\w.,-])[-−])?(?:\d{{1,3}}(?:[.,\u00a0\u202f]\d{{3}})+(?!\d)|\d+(?:[.,:]\d+)?))"
    rf"|(?P<numeral>[{_NUMERALS}]+)|(?P<sign>[%°$€£¥％℃])|(?P<letter>[{UNSPACED_SCRIPTS}])|(?P<word>{_SPACED}+)"
)


class Token(Struct, frozen=True):
    kind: TokenKind
    word: str
    """In lower case, without accents."""
    key: str
    """The term of a word; of anything else, what is written."""
    clause: int
    """The number of the clause that it stands in."""
    start: int
    """Where it begins in the plain text of the sentence."""
    values: frozenset[float] = frozenset()
    """Of a number: more than one where it depends on the country how it is read."""
    is_capitalised: bool = False
    """Whether a capital begins it that does not begin the sentence as well."""


def tokenize(sentence: str) -> tuple[Token, ...]:
    """The tokens of a sentence in order, without Markdown."""
    return tokens_of(plain(sentence))


def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a plain text."""
    found: list[Token] = []
    clause, end = 0, 0
    for match in _TOKEN.finditer(text):
        if found and _CLAUSE_END.search(text, end, match.start()):
            clause += 1
        end = match.end()
        found.extend(_tokens(match, clause, is_first=not found))
    return tuple(found)


def plain(text: str) -> str:
    """A text without Markdown's links, footnotes and tags, contractions written out.

    Other marks are between words and count for nothing.
    """
    shown = _NO_TEXT.sub(" ", _LINK.sub(lambda match: match[1] or match[2] or "", text))
    return _CONTRACTION.sub(lambda match: f"{_CONTRACTED.get(match[1].lower(), match[1])} not", shown)


def with_number_words(tokens: tuple[Token, ...], numbers: Mapping[str, float]) -> tuple[Token, ...]:
    """The tokens, with values for numbers in words."""
    return tuple(
        Token("number", each.word, each.word, each.clause, each.start, frozenset({numbers[each.word]}))
        if each.kind == "word" and each.word in numbers
        else each
        for each in tokens
    )


def _tokens(match: re.Match[str], clause: int, *, is_first: bool) -> Iterator[Token]:
    text, start = match[0], match.start()
    match match.lastgroup:
        case "number":
            digits = text.replace("−", "-")
            values = number_values(digits.replace(":", ".")) if len(text) <= _MAX_DIGITS else frozenset[float]()
            yield Token("number", digits, digits, clause, start, values)
        case "numeral":
            yield Token("number", text, text, clause, start, numeral_value(text))
        case "sign" | "letter" as kind:
            yield Token("sign" if kind == "sign" else "letter", text, text, clause, start)
        case _:
            for word in words(text):
                yield Token("word", word, stem(word), clause, start, is_capitalised=text[0].isupper() and not is_first)


def numeral_value(written: str) -> frozenset[float]:
    """The value of a Chinese numeral, also of one that is written digit by digit, as years are."""
    total, part, digit = 0, 0, -1
    for letter in written[:_MAX_DIGITS]:
        if letter in _DIGITS:
            digit = 10 * max(digit, 0) + _DIGITS[letter]
        elif letter in _POWERS:
            part += (1 if digit < 0 else digit) * _POWERS[letter]
            digit = -1
        else:  # 万
            total, part, digit = (part + max(digit, 0)) * 10_000, 0, -1
    return frozenset({float(total + part + max(digit, 0))})


def number_values(written: str) -> frozenset[float]:
    """What a number may mean: 1.250 is 1250 in some countries and 1.25 in others."""
    plain = re.sub(r"[\u00a0\u202f ]", "", written)
    readings = {plain.replace(",", "."), re.sub(r"[.,]", "", plain)} if re.search(r"[.,]\d{3}$", plain) else set()
    return frozenset(float(reading) for reading in readings or {plain.replace(",", ".")} if reading.count(".") < 2)


@cache
def number_words(language: str) -> Mapping[str, float]:
    """Numbers in words with their values, of all languages where it is not known which."""
    listed = by_code("number_words").get(language, "") if language else of_all("number_words")
    pairs = (pair.split(":") for pair in listed.split())
    return {"".join(words(word)): float(value) for word, value in pairs}


@cache
def listed(key: str, language: str = "") -> frozenset[str]:
    """The words of a list, of one language or of all that have spaces."""
    return frozenset(words(by_code(key).get(language, "") if language else of_all(key, spaced=True)))


def stop_words(language: str) -> frozenset[str]:
    return listed("stop_words", language) | listed("other_stop_words", language) if language else frozenset()
