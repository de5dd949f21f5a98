"""The time that a Chinese or Japanese question asks for."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from zkchat.lexicon import time_questions as lexicon
from zkchat.model.dates import Calendar
from zkchat.vault.dates.expression import Expression
from zkchat.vault.dates.question_time import QUOTED, MissingDay, Order, TimeInQuestion, Words, hull, overlaps, without
from zkchat.vault.dates.unspaced import UnspacedGrammar

_MAX_NAME_CHARACTERS: Final = 6
"""Characters on either side of a time that may be part of a name with it."""


class UnspacedQuestion:
    def __init__(self, text: str, calendar: Calendar, is_name: Callable[[str], bool]) -> None:
        self._text = text
        self._is_name = is_name
        self._calendar = calendar
        self._grammar = UnspacedGrammar(text, calendar)
        self._quoted = [found.span() for found in QUOTED.finditer(text)]
        self._said = self._words()

    def time(self) -> TimeInQuestion | None:
        found = [*self._periods()]
        period = hull([expression.period for expression, _ in found])
        if found and period is None:
            return None
        spans = [(start, expression.end) for expression, start in found]
        order, order_spans = self._order(spans)
        if period is None and order is None:
            return None
        spans = sorted([*spans, *order_spans])
        rest = without(self._text, spans)
        return TimeInQuestion(
            period=period,
            words=" … ".join(self._text[start:end] for start, end in spans),
            rest=rest,
            topic=self._topic(rest),
            order=order,
            asks_when=self._said.when and order is not None,
            is_about_changes=self._said.changes,
            is_certain=self._said.own,
        )

    def missing_day(self) -> MissingDay | None:
        """The day that it asks for, where there is none: 2月30日."""
        for at in range(len(self._text)):
            end = self._grammar.missing_day(at) if self._said.oriented or self._said.personal else None
            if end is not None and not overlaps((at, end), self._quoted):
                return MissingDay(self._text[at:end], self._topic(without(self._text, [(at, end)])))
        return None

    @staticmethod
    def _topic(rest: str) -> str:
        return " ".join(re.sub(lexicon.UNSPACED_ACTIVITY, " ", rest).split())

    def _periods(self) -> Iterator[tuple[Expression, int]]:
        at = 0
        while at < len(self._text):
            found = self._grammar.expression(at)
            if found is None:
                at += 1
                continue
            if self._narrows(found, at):
                yield found, at
            at = found.end

    def _narrows(self, found: Expression, start: int) -> bool:
        said, text = self._said, self._text
        if overlaps((start, found.end), self._quoted) or self._is_part_of_name(start, found.end):
            return False
        is_topic = bool(
            re.search(rf"(?:{lexicon.UNSPACED_ABOUT_BEFORE})$", text[:start])
            or re.match(lexicon.UNSPACED_ABOUT_AFTER, text[found.end - 1 :])
            or re.match(lexicon.UNSPACED_ABOUT_AFTER, text[found.end :])
        )
        if start and text[start - 1] in {"每", "毎"}:
            return False
        if found.strength == "relative":
            is_past = found.period.end is not None and found.period.end <= self._calendar.today
            is_past |= found.is_named and found.period.first is not None
            return is_past or ((said.oriented or said.personal) and not said.usually)
        return said.oriented and not (is_topic or said.usually or text[found.end : found.end + 1] == "天")

    def _is_part_of_name(self, start: int, end: int) -> bool:
        text = self._text
        return any(
            stop - first > end - start and self._is_name(text[first:stop])
            for first in range(max(0, start - _MAX_NAME_CHARACTERS), start + 1)
            for stop in range(end, min(len(text), end + _MAX_NAME_CHARACTERS) + 1)
        )

    def _order(self, spans: Sequence[tuple[int, int]]) -> tuple[Order | None, list[tuple[int, int]]]:
        orders: tuple[tuple[Order, str], ...] = (
            ("newest", lexicon.UNSPACED_NEWEST),
            ("oldest", lexicon.UNSPACED_FIRST),
        )
        for order, phrase in orders:
            said = re.search(phrase, self._text)
            if said and not overlaps(said.span(), spans) and self._said.oriented:
                return order, [said.span()]
        return None, []

    def _words(self) -> Words:
        text = self._text

        def has(pattern: str) -> bool:
            return bool(re.search(pattern, text))

        return Words(
            past=has(lexicon.UNSPACED_PAST),
            present=False,
            modal=False,
            personal=has(lexicon.UNSPACED_FIRST_PERSON),
            event=has(lexicon.UNSPACED_EVENTS),
            changes=has(lexicon.UNSPACED_CHANGES),
            usually=has(lexicon.UNSPACED_USUALLY),
            when=has(lexicon.UNSPACED_WHEN),
        )
