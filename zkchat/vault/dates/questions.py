"""The time that a question asks for: which days its notes are of, or whether it is the newest that is wanted.

A question whose time is what it is about ("the history of March") asks for no time.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from zkchat.lexicon.calendar_words import CALENDAR_WORDS
from zkchat.lexicon.time_questions import FIRST_PERSON, OWN_WRITING, UNSPACED_OWN_WRITING, WITHOUT_PRONOUN
from zkchat.model.dates import Calendar, DayRange
from zkchat.model.patterns import lazy_pattern
from zkchat.model.text import may_be_wide
from zkchat.vault.dates.question_time import MissingDay, PlacedPeriod, TimeInQuestion, listed, without
from zkchat.vault.dates.spaced_questions import SpacedQuestion, telling_words
from zkchat.vault.dates.time_filters import time_filters
from zkchat.vault.dates.tokens import fold
from zkchat.vault.dates.unspaced import UnspacedGrammar
from zkchat.vault.dates.unspaced_questions import UnspacedQuestion

MAX_CHARACTERS: Final = 400
"""Of a question; what is longer tells a story."""
_UNSPACED: Final = lazy_pattern(r"[\u3040-\u30ff\u4e00-\u9fff]")


def time_in_question(
    text: str, calendar: Calendar, is_name: Callable[[str], bool] = lambda _: False
) -> TimeInQuestion | None:
    """The time that a question asks for; None where it asks for none, or where its time is what it is about.

    `is_name` tells which words are the name of a note: a time in a name is none. Filters such as `after:2026-03-01`
    count before all words.
    """
    plain = unicodedata.normalize("NFC", " ".join(text.split()))
    if not 0 < len(plain) <= MAX_CHARACTERS:
        return None
    if filtered := _filtered(plain, calendar):
        return filtered
    if _is_unspaced(plain):
        return UnspacedQuestion(plain, calendar, is_name).time()
    for language in _languages_of(plain):
        if found := SpacedQuestion(plain, language, calendar, is_name).time():
            return found
    return None


def missing_day(text: str, calendar: Calendar) -> MissingDay | None:
    """The day that a question asks for, where there is no such day."""
    plain = unicodedata.normalize("NFC", " ".join(text.split()))
    if not 0 < len(plain) <= MAX_CHARACTERS:
        return None
    if _is_unspaced(plain):
        return UnspacedQuestion(plain, calendar, lambda _: False).missing_day()
    questions = (SpacedQuestion(plain, language, calendar, lambda _: False) for language in _languages_of(plain))
    return next(filter(None, (question.missing_day() for question in questions)), None)


def asks_for_own_writing(text: str) -> bool:
    """Whether a question asks for what the user wrote: that is in notes, and not in documents of others."""
    if _is_unspaced(text):
        return bool(re.search(UNSPACED_OWN_WRITING, text))
    words = {piece for piece in re.split(r"\W+", fold(text[:MAX_CHARACTERS])) if piece}
    return any(
        words & listed(OWN_WRITING[language])
        and (language in WITHOUT_PRONOUN or words & listed(FIRST_PERSON[language]))
        for language in _languages_of(text[:MAX_CHARACTERS])
    )


def _is_unspaced(text: str) -> bool:
    return may_be_wide(text) and _UNSPACED.search(text) is not None


def find_period(text: str, language: str, calendar: Calendar) -> PlacedPeriod | None:
    """The first period that a text in this language names, whatever the text is about."""
    if language not in CALENDAR_WORDS:
        grammar = UnspacedGrammar(text, calendar)
        places = ((at, grammar.expression(at)) for at in range(len(text)))
        return next((PlacedPeriod(found.period, at, found.end) for at, found in places if found), None)
    return SpacedQuestion(text, language, calendar, lambda _: False).first_period()


def _filtered(text: str, calendar: Calendar) -> TimeInQuestion | None:
    """The period of the filters that are typed into a question."""
    period: DayRange | None = None
    places: list[tuple[int, int]] = []
    for found, days in time_filters(text, calendar):
        if days:
            period = days.overlap(period)
            places.append(found.span())
    if period is None:
        return None
    rest = without(text, places)
    words = " ".join(text[start:end] for start, end in places)
    return TimeInQuestion(period=period, words=words, rest=rest, topic=rest)


def _languages_of(text: str) -> list[str]:
    """The languages that a question may be in: those that most of its words are of."""
    words = [piece for piece in re.split(r"\W+", fold(text)) if piece]
    hits = {language: sum(word in telling_words(language) for word in words) for language in CALENDAR_WORDS}
    most = max(hits.values())
    return [language for language in CALENDAR_WORDS if hits[language] == most]
