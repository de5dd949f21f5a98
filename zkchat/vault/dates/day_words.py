"""Names of months and weekdays in the languages of the lexicon, in full or abbreviated."""

import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Final

from zkchat.lexicon.quantities import MONTHS, WEEKDAYS

_FEWEST_LETTERS: Final = 3
"""Of an abbreviated month."""
_FEWEST_OF_WEEKDAY: Final = 2
_OTHER_MONTHS: Final = {"janner": 1, "feber": 2, "setiembre": 9}
UNSPACED_WEEKDAY: Final = r"(?:[(（]?(?:星期|礼拜|周)?[一二三四五六日天月火水木金土](?:曜日?)?[)）]?)"


def folded(text: str) -> str:
    """In lower case and without accents."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFD", text.casefold())
    return unicodedata.normalize("NFC", "".join(each for each in apart if not "\u0300" <= each <= "\u036f"))


@cache
def month_number(word: str) -> int | None:
    """The month that a folded word names, in any of the languages; None for `jui`, which may be June or July."""
    if len(word) < _FEWEST_LETTERS:
        return None
    if word in _OTHER_MONTHS:
        return _OTHER_MONTHS[word]
    found = {month for month, name in _named(MONTHS.values()) if name.startswith(word) or word.startswith(name)}
    return found.pop() + 1 if len(found) == 1 else None


@cache
def is_weekday(word: str) -> bool:
    """Whether a folded word names a day of the week."""
    return len(word) >= _FEWEST_OF_WEEKDAY and any(
        name.startswith(word) or word.startswith(name) for _, name in _named(WEEKDAYS.values())
    )


@cache
def _named(lists: Iterable[str]) -> list[tuple[int, str]]:
    return [(number, folded(name)) for names in lists for number, name in enumerate(names.split())]
