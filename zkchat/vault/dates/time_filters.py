"""Filters such as `after:2026-03-01` in a text, and what is wrong with those that name no time, or no day together."""

import re
from collections.abc import Iterator
from typing import Final

from zkchat.errors import UsageError
from zkchat.model.dates import Calendar, DayRange
from zkchat.vault.dates.expressions import PERIOD_FORMS, filter_period

TIME_FILTERS: Final = ("on", "after", "before", "during")
_FILTER: Final = re.compile(
    rf"""(?<!\S)(?P<field>{"|".join(TIME_FILTERS)}):(?:"(?P<quoted>[^"]+)"|(?P<plain>[^\s"]+))|"[^"]*\"""",
    re.IGNORECASE,
)


def time_filters(text: str, calendar: Calendar) -> Iterator[tuple[re.Match[str], DayRange | None]]:
    """Each filter of a text with the days that it lets through; None where its value names no time.

    What stands in quotes is text.
    """
    for found in _FILTER.finditer(text):
        value = found["quoted"] or found["plain"] or ""
        if found["field"] and any(map(str.isalnum, value)):
            yield found, filter_period(found["field"].lower(), value, calendar)


def unknown_times(text: str, calendar: Calendar) -> str:
    """A sentence on the filters that name no time; empty where there are none."""
    unknown = [found.group() for found, days in time_filters(text, calendar) if days is None]
    return f"{' and '.join(unknown)} name{'s' * (len(unknown) == 1)} no time." if unknown else ""


def impossible_times(text: str, calendar: Calendar) -> str:
    """A sentence on filters that no day passes together; empty where there are none."""
    found = [(match.group(), days) for match, days in time_filters(text, calendar) if days]
    period: DayRange | None = None
    for _, days in found:
        period = days.overlap(period)
    is_empty = period is not None and period.first and period.end and period.first >= period.end
    return f"No day is in {' and '.join(words for words, _ in found)}." if is_empty else ""


def check_times(text: str, calendar: Calendar) -> None:
    """Raises `UsageError` for a filter that names no time."""
    if unknown := unknown_times(text, calendar):
        raise UsageError(unknown, hint=f"Write {PERIOD_FORMS}. In quotes it is text, as any phrase.")
