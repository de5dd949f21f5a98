"""The time that a question asks for in a language with spaces.

Names of months, weekdays and years are in many questions that ask for no time. They count only where the question
tells of the past or speaks of notes or meetings, and where a preposition says that they are a time.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final

from zkchat.lexicon import time_questions as lexicon
from zkchat.lexicon.languages import STOP_WORDS_BY_CODE
from zkchat.lexicon.question_words import INTERROGATIVES
from zkchat.model.dates import Calendar
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.dates.expression import Expression
from zkchat.vault.dates.grammar import Grammar
from zkchat.vault.dates.question_time import (
    QUOTED,
    MissingDay,
    Order,
    PlacedPeriod,
    TimeInQuestion,
    Words,
    hull,
    listed,
    overlaps,
    pieces,
    without,
)
from zkchat.vault.dates.tokens import Token, fold, tokens_of

_MAX_NAME_TOKENS: Final = 3
"""Words beside a time that may be part of a name with it."""
_NAMES: Final = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "pt": "portuguese"}
_POSSESSIVE: Final = lazy_pattern(r"['’]s\b")


@cache
def stop_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, STOP_WORDS_BY_CODE[language])) | listed(lexicon.FIRST_PERSON[language])


@cache
def _interrogatives(language: str) -> frozenset[str]:
    return frozenset(map(fold, INTERROGATIVES[_NAMES[language]].split()))


@cache
def telling_words(language: str) -> frozenset[str]:
    """By which a language is recognized in a question about a time."""
    more = (lexicon.ABOUT, lexicon.PAST, lexicon.EVENTS)
    return stop_words(language).union(_interrogatives(language), *(listed(each[language]) for each in more))


class SpacedQuestion:
    def __init__(self, text: str, language: str, calendar: Calendar, is_name: Callable[[str], bool]) -> None:
        self._text = text
        self._folded = fold(text)
        self._language = language
        self._calendar = calendar
        self._is_name = is_name
        self._tokens = tokens_of(text, language)
        self._grammar = Grammar(self._tokens, language, calendar)
        self._quoted = [found.span() for found in QUOTED.finditer(text)]
        self._said = self._words()

    def time(self) -> TimeInQuestion | None:
        periods = [*self._periods()]
        period = hull([expression.period for expression, _, _ in periods])
        if periods and period is None:
            return None
        spans = [self._span(start, expression) for expression, start, _ in periods]
        order, order_spans = self._order(spans)
        if period is None and order is None:
            return None
        spans = sorted([*spans, *order_spans])
        rest = without(self._text, spans)
        return TimeInQuestion(
            period=period,
            words=" … ".join(self._text[start:end].strip() for start, end in spans),
            rest=rest,
            topic=self._topic(rest),
            order=order,
            asks_when=self._said.when and order is not None,
            is_about_changes=self._said.changes,
            is_certain=self._said.own,
        )

    def missing_day(self) -> MissingDay | None:
        """The day that it asks for, where there is none: 30 February."""
        for at, token in enumerate(self._tokens):
            end = self._grammar.missing_day(at) if self._said.oriented or self._said.personal else None
            if end is not None and not overlaps((token.start, self._tokens[end - 1].end), self._quoted):
                place = (token.start, self._tokens[end - 1].end)
                return MissingDay(self._text[slice(*place)], self._topic(without(self._text, [place])))
        return None

    def first_period(self) -> PlacedPeriod | None:
        """The first time that it names, whatever it is about."""
        for at in range(len(self._tokens)):
            if found := self._grammar.expression(at):
                return PlacedPeriod(found.period, *self._span(at, found))
        return None

    def _periods(self) -> Iterator[tuple[Expression, int, int]]:
        """The times that narrow, each with its first token and the one after it; a list has one preposition for all."""
        at = 0
        listed_at: tuple[int, ...] = ()
        while at < len(self._tokens):
            found = self._grammar.expression(at)
            if found is None:
                at += 1
                continue
            if self._narrows(found, at, is_listed=at in listed_at):
                yield found, at, found.end
                is_joined = found.end < len(self._tokens) and "and" in self._tokens[found.end].meanings
                listed_at = (found.end, found.end + is_joined)
            at = found.end

    def _narrows(self, found: Expression, at: int, *, is_listed: bool) -> bool:
        said, before = self._said, self._before(at)
        start, end = self._tokens[at].start, self._tokens[found.end - 1].end
        is_each = before is not None and before.text in listed(lexicon.EACH[self._language])
        if is_each or overlaps((start, end), self._quoted) or self._is_part_of_name(at, found.end):
            return False
        has_no_verb = not (said.present or said.modal)
        if found.strength == "relative":
            is_past = found.period.end is not None and found.period.end <= self._calendar.today
            if is_past or (found.is_named and found.period.first):
                return said.oriented or said.personal or has_no_verb
            is_general = said.usually or (said.modal and not said.past)
            return not is_general and (said.own or has_no_verb)
        if self._follows_about(at) or said.usually:
            return False
        if found.strength == "day":
            is_exact = found.of_year is None  # with a year it is hardly anything but a date
            return said.oriented or (said.personal and not said.modal) or (has_no_verb and is_exact)
        return self._weak_narrows(found, at, is_listed=is_listed)

    def _weak_narrows(self, found: Expression, at: int, *, is_listed: bool) -> bool:
        said = self._said
        asks_for_date = said.when and not said.past
        is_about = any(token.text in listed(lexicon.ABOUT[self._language]) for token in self._tokens[:at])
        if asks_for_date or not said.oriented or (is_about and not (said.past or said.changes)):
            return False
        if found.unit == "year" and not said.own:
            return False
        return (is_listed or found.is_named or self._has_preposition(at, found)) and self._ends_well(found)

    def _has_preposition(self, at: int, found: Expression) -> bool:
        """Whether a word before it says that it is a time; with a year, a note or a meeting before it does too."""
        place = at
        if "at" in self._tokens[at].meanings and found.end > at + 1:
            place = at + 1
        while place and "article" in self._tokens[place - 1].meanings and "at" not in self._tokens[place - 1].meanings:
            place -= 1
        before = self._tokens[place - 1] if place else None
        if before is None:
            return False
        events = listed(lexicon.EVENTS[self._language])
        if "at" not in before.meanings:
            return before.text in events
        if before.text == "of":  # "notes of March", and not "the history of March"
            return place > 1 and self._tokens[place - 2].text in events
        return True

    def _ends_well(self, found: Expression) -> bool:
        """Whether what follows is no noun that would make a name of it: "in March Madness"."""
        if found.end >= len(self._tokens):
            return True
        token, last = self._tokens[found.end], self._tokens[found.end - 1]
        is_joined = self._text[last.end : token.start].strip(" ") == "" and token.text[:1].isalnum()
        if not is_joined or token.meanings or token.text in listed(lexicon.PARTS_OF_DAY):
            return True
        if self._language == "de" and self._text[token.start].islower():  # nouns have a capital letter
            return True
        if found.unit == "number" and token.text in listed(lexicon.EVENTS[self._language]):  # "the 8th note"
            return False
        known = stop_words(self._language) | listed(lexicon.ACTIVITY[self._language])
        return token.text in known or bool({*pieces(token.text)} & known) or self._is_past(token)

    def _follows_about(self, at: int) -> bool:
        before = self._before(at)
        return before is not None and before.text in listed(lexicon.ABOUT[self._language])

    def _before(self, at: int) -> Token | None:
        """The token before a time that is no article."""
        place = at - 1
        while place > 0 and "article" in self._tokens[place].meanings and "at" not in self._tokens[place].meanings:
            place -= 1
        return self._tokens[place] if place >= 0 else None

    def _is_part_of_name(self, at: int, end: int) -> bool:
        tokens = self._tokens
        for first in range(max(0, at - _MAX_NAME_TOKENS), at + 1):
            for stop in range(min(len(tokens), end + _MAX_NAME_TOKENS), end - 1, -1):
                if stop - first > end - at and self._is_name(self._text[tokens[first].start : tokens[stop - 1].end]):
                    return True
        return False

    def _span(self, at: int, found: Expression) -> tuple[int, int]:
        """Where the time stands, with the preposition before it and a possessive after it."""
        first = at
        while first and ({"at", "article"} & self._tokens[first - 1].meanings.keys()):
            first -= 1
        end = self._tokens[found.end - 1].end
        possessive = _POSSESSIVE.match(self._text, end)
        return self._tokens[first].start, possessive.end() if possessive else end

    def _order(self, spans: Sequence[tuple[int, int]]) -> tuple[Order | None, list[tuple[int, int]]]:
        """Whether the newest or oldest is asked for, and the words that say so."""
        language = self._language
        orders: tuple[tuple[Order, str, str], ...] = (
            ("newest", lexicon.LAST_TIME[language], lexicon.NEWEST[language]),
            ("oldest", lexicon.FIRST_TIME[language], lexicon.FIRST[language]),
        )
        for order, phrase, adjectives in orders:
            said = re.search(rf"(?<!\w)(?:{phrase})(?!\w)", self._folded)
            if said and not overlaps(said.span(), spans) and self._said.past:
                return order, [said.span()]
            if place := self._adjective(listed(adjectives), spans):
                return order, [place]
        return None, []

    def _adjective(self, adjectives: frozenset[str], spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """Where `last` stands before a note or a meeting, with at most one word between them."""
        events = listed(lexicon.EVENTS[self._language])
        for at, token in enumerate(self._tokens):
            place = (token.start, token.end)
            beside = [*self._tokens[at + 1 : at + 3], *self._tokens[max(0, at - 1) : at]]
            is_free = not (overlaps(place, spans) or overlaps(place, self._quoted))
            if token.text in adjectives and is_free and any(each.text in events for each in beside):
                return place
        return None

    def _topic(self, rest: str) -> str:
        """The rest without the words of activity and those that only ask."""
        activity = listed(lexicon.ACTIVITY[self._language]) | listed(lexicon.PAST[self._language])
        activity |= listed(lexicon.ABOUT[self._language])
        activity |= stop_words(self._language) | _interrogatives(self._language)
        kept = []
        for word in rest.split():
            parts = [*pieces(fold(word))]
            if parts and not all(part in activity for part in parts):
                kept.append(word)
        return " ".join(kept)

    def _words(self) -> Words:
        language = self._language
        words = {token.text for token in self._tokens}
        words |= {piece for token in self._tokens for piece in pieces(token.text)}
        phrase = re.compile(rf"(?<!\w)(?:{lexicon.WHEN[language]})(?!\w)")

        def has(known: str) -> bool:
            return not words.isdisjoint(known.split())

        present = has(lexicon.PRESENT[language])
        events = listed(lexicon.EVENTS[language])
        events -= listed(lexicon.AMBIGUOUS_EVENTS) if present else frozenset()
        asks = bool(self._tokens) and self._tokens[0].text in _interrogatives(language)
        tells_of_past = language != "en" or asks or has(lexicon.FIRST_PERSON[language])  # "pointed end up"
        return Words(
            past=has(lexicon.PAST[language]) or (tells_of_past and any(map(self._is_past, self._tokens))),
            present=present,
            modal=has(lexicon.MODALS[language]),
            personal=has(lexicon.FIRST_PERSON[language]),
            event=not words.isdisjoint(events) or has(lexicon.HAPPENED[language]),
            changes=has(lexicon.CHANGES[language]),
            usually=has(lexicon.USUALLY[language]),
            when=bool(phrase.search(self._folded)),
        )

    def _is_past(self, token: Token) -> bool:
        ending = lexicon.PAST_ENDINGS[self._language]
        return bool(re.fullmatch(ending, self._text[token.start : token.end].lower().replace("’", "'")))
