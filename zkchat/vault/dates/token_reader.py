"""Access to the tokens of a text by their meanings, for the grammar over them."""

from collections.abc import Sequence
from typing import Final

from zkchat.vault.dates.calendar_ranges import MAX_YEAR, MIN_YEAR
from zkchat.vault.dates.tokens import Token

_MAX_AGO: Final = 9999
_MAX_DAY: Final = 31


class TokenReader:
    """Places beyond the last token have no meaning."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens

    def _with_modifier(self, at: int, meaning: str) -> tuple[int, int | None, int] | None:
        """A name with `last`, `this` or `next` before or after it: its number, how many on, where it ends."""
        before = self._shift(at)
        place = at if before is None else at + 1
        number = self._value(place, meaning)
        if number is None:
            return None
        after = self._shift_after(place + 1) if before is None else None
        return number, after if after is not None else before, place + 1 + (after is not None)

    def _has(self, at: int, *meanings: str) -> bool:
        return 0 <= at < len(self._tokens) and not self._tokens[at].meanings.keys().isdisjoint(meanings)

    def _text(self, at: int) -> str:
        return self._tokens[at].text if at < len(self._tokens) else ""

    def _value(self, at: int, meaning: str) -> int | None:
        return self._tokens[at].value(meaning) if self._has(at, meaning) else None

    def _name(self, at: int, meaning: str) -> str:
        return self._tokens[at].meanings[meaning] if self._has(at, meaning) else ""

    def _articles(self, at: int) -> int:
        """The first token from there that is no article."""
        while self._has(at, "article") and not self._has(at, "ago_before"):
            at += 1
        return at

    def _is_year(self, at: int) -> bool:
        number = self._value(at, "number")
        return number is not None and len(self._text(at)) == 4 and MIN_YEAR <= number <= MAX_YEAR

    def _day_number(self, at: int) -> int | None:
        number = self._value(at, "ordinal_day")
        number = self._value(at, "number") if number is None else number
        number = self._value(at, "ordinal") if number is None else number
        return number if number is not None and 1 <= number <= _MAX_DAY else None

    def _count(self, at: int, *, allow_one: bool = True) -> int | None:
        number = self._value(at, "number")
        if number is None and allow_one:
            number = self._value(at, "one")
        return number if number and number <= _MAX_AGO else None

    def _shift(self, at: int) -> int | None:
        """How many units on a word before a name says."""
        for meaning, shift in (("last", -1), ("this", 0), ("next", 1), ("two_ago", -2)):
            if self._has(at, meaning):
                return shift
        return None

    def _shift_after(self, at: int) -> int | None:
        """How many units on a word after a name says."""
        for meaning, shift in (("after_last", -1), ("after_next", 1), ("after_two_ago", -2), ("before_last", -2)):
            if self._has(at, meaning):
                return shift
        return None
