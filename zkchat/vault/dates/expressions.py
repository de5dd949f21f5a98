"""Periods as the user types them, in seven languages, and as lists and answers show them."""

import re
import unicodedata
from datetime import date
from typing import Final

from zkchat.errors import UsageError
from zkchat.lexicon.words import by_code
from zkchat.model.dates import Calendar, DayRange
from zkchat.vault.dates.calendar_ranges import Expression, Unit, day_range, plus, since_day, unit_range
from zkchat.vault.dates.grammar import Grammar
from zkchat.vault.dates.lexer import tokens_of
from zkchat.vault.dates.unspaced import UnspacedGrammar

PERIOD_FORMS: Final = (
    "2026-03-08, 2026-03, 2026-W10, Q1-2026, today, yesterday, this-week, last-month, March, spring-2025, or how many "
    "days or weeks back: 3d, 2w"
)
MAX_CHARACTERS: Final = 80
"""Of a period; what is longer is none."""
_COMPACT: Final = re.compile(r"(\d{4})(\d{2})(\d{2})")
_SLASHED: Final = re.compile(r"(\d{1,2})/(\d{1,2})/\d{4}")
_MAX_MONTH: Final = 12
_JOINT: Final = re.compile(r"(?<=[^\W\d])[-_]|[-_](?=[^\W\d])")
"""Between the words of `last-month` and `spring-2025`."""
_UNITS: Final[tuple[Unit, ...]] = ("week", "month", "quarter", "year")


def parse_period(text: str, calendar: Calendar) -> DayRange | None:
    """The days that a text names as a whole, in any of the seven languages; None where it names none.

    A month or day without a year is the latest that is not in the future.
    """
    found = _expression(text, calendar)
    return found.period if found else None


def _expression(text: str, calendar: Calendar) -> Expression | None:
    plain = unicodedata.normalize("NFC", text.replace("..", " to ")).strip(" \t\n?!，。？！")
    if not 0 < len(plain) <= MAX_CHARACTERS or _is_ambiguous(plain):
        return None
    plain = _COMPACT.sub(r"\1-\2-\3", plain) if _COMPACT.fullmatch(plain) else plain
    for spelled in dict.fromkeys((plain, _JOINT.sub(" ", plain))):
        for language in by_code("calendar", spaced=True):
            if found := _whole(spelled, language, calendar):
                return found
    unspaced = UnspacedGrammar(plain, calendar).expression(0)
    return unspaced if unspaced and unspaced.end == len(plain) else None


def filter_period(field: str, value: str, calendar: Calendar) -> DayRange | None:
    """The days that a filter lets through: `on:` and `during:` a period, `after:` all days since it,
    `before:` all earlier ones. None for a value that names no time."""
    found = _expression(value, calendar)
    if found is None or field in {"on", "during"}:
        return found.period if found else None
    period = found.period
    if period.first is None or (field == "before" and period.first == date.min):
        return None
    return DayRange(first=since_day(found, calendar.today)) if field == "after" else DayRange(end=period.first)


def period_given(option: str, text: str, calendar: Calendar, *, is_since: bool = False) -> DayRange:
    """The period that an option is given, or all days from its first on. Raises `UsageError` where it names none."""
    period = filter_period("after" if is_since else "on", text, calendar)
    if period is None:
        raise UsageError(f"{option} {text!r} is not a time.", hint=f"Write {PERIOD_FORMS}.")
    return period


def _is_ambiguous(text: str) -> bool:
    """Whether nobody knows which number is the month: 3/8/2026."""
    found = _SLASHED.fullmatch(text)
    return found is not None and found[1] != found[2] and max(int(found[1]), int(found[2])) <= _MAX_MONTH


def _whole(text: str, language: str, calendar: Calendar) -> Expression | None:
    tokens = tokens_of(text, language)
    grammar = Grammar(tokens, language, calendar)
    for start, token in enumerate(tokens):
        found = grammar.expression(start)
        if found and found.end == len(tokens):
            return found
        if "at" not in token.meanings and "article" not in token.meanings:
            return None
    return None


def period_text(period: DayRange) -> str:
    """A period as `parse_period` understands it: `2026-03-08`, `2026-03-01 to 2026-03-07`, `since 2026-03-01`."""
    if period.first is None:
        return f"before {period.end}" if period.end else "any time"
    if period.end is None:
        return f"since {period.first}"
    last = plus(period.end, -1)
    return f"{period.first}" if last == period.first else f"{period.first} to {last}"


def of_period(period: DayRange) -> str:
    """A period to be read after "notes": `of 2026-03-08`, `from before 2026-03-01`, `from 2026-03-01 or later`."""
    if period.first is None and period.end:
        return f"from before {period.end}"
    return f"from {period.first} or later" if period.first and period.end is None else f"of {period_text(period)}"


def describe_period(period: DayRange, calendar: Calendar) -> str:
    """A period for people, to be read after "changed": `last week (2026-02-23 to 2026-03-01)`, `on 2026-03-08`."""
    today = calendar.today
    first, end = period.first, period.end
    for days, name in ((0, "today"), (-1, "yesterday"), (1, "tomorrow")):
        if first == plus(today, days) and (period == day_range(first) or (end is None and days <= 0)):
            return f"{'since ' if end is None and days else ''}{name} ({first})"
    if first is None or end is None:
        return period_text(period)
    if end == plus(first, 1):
        return f"on {first:%A} ({first})" if 0 < (today - first).days < 7 else f"on {first}"
    for unit in _UNITS:
        for shift, word in ((0, "this"), (-1, "last"), (1, "next")):
            if period == unit_range(unit, today, calendar.first_weekday, shift):
                return f"{word} {unit} ({_place(first, end, today)})"
    if end == plus(today, 1):
        return f"in the last {(today - first).days} days (since {first})"
    return f"from {first} to {plus(end, -1)}"


def _place(first: date, end: date, today: date) -> str:
    """Of what goes on, where it began."""
    return f"since {first:%A} {first}" if first <= today < end else f"{first} to {plus(end, -1)}"
