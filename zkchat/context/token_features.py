"""What of a text, beside our own count, decides how many tokens another tokenizer makes of it.

A small vocabulary is mostly English: it spells out numbers digit by digit, foreign words in syllables, and other
scripts almost in bytes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from zkchat.lexicon.languages import STOP_WORDS_BY_CODE

Traits = Mapping[str, int]
"""How much there is of each trait; what there is nothing of is not named."""

MESSAGES: Final = "messages"
DIGITS: Final = "digits"
FOREIGN: Final = "foreign"
"""Characters of lines that are in another language than English, as far as their small words tell."""
_SCRIPTS = {
    "latin": "\u0080-\u024f",
    "greek and cyrillic": "\u0250-\u058f",
    "hebrew and arabic": "\u0590-\u08ff",
    "south asia": "\u0900-\u0dff",
    "south-east asia": "\u0e00-\u1fff",
    "symbols": "\u2000-\u2e7f",
    "east asia": "\u2e80-\uabff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff",
    "korean": "\uac00-\ud7ff",
    "emoji": "\U00010000-\U0001ffff",
}
SCRIPTS: Final = tuple(_SCRIPTS)
"""Bytes that letters of these take beyond one each."""

_LETTERS = {name: re.compile(f"[{letters}]+") for name, letters in _SCRIPTS.items()}
_DIGIT = re.compile("[0-9]")
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = STOP_WORDS_BY_CODE["en"]
_OF_OTHERS = frozenset().union(*STOP_WORDS_BY_CODE.values()) - _ENGLISH


def traits_of(text: str) -> Traits:
    """The traits of one message."""
    found = Counter({MESSAGES: 1, DIGITS: len(_DIGIT.findall(text))})
    found[FOREIGN] = sum(len(line) for line in text.splitlines() if _is_foreign(line))
    if not text.isascii():
        for name, letters in _LETTERS.items():
            found[name] = sum(len(run.encode("utf-8", "replace")) - len(run) for run in letters.findall(text))
    return +found


def all_in_all(each: Iterable[Traits]) -> dict[str, int]:
    """The traits of several messages together."""
    total: dict[str, int] = {}
    for traits in each:
        for trait, much in traits.items():
            total[trait] = total.get(trait, 0) + much
    return total


def _is_foreign(line: str) -> bool:
    words = _WORD.findall(line.lower())
    return sum(word in _OF_OTHERS for word in words) > sum(word in _ENGLISH for word in words)
