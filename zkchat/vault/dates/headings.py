"""Dates in headings: what stands below `## 2026-03-19: Larch for the frame` was written on that day."""

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Final

from zkchat.model.note import Section
from zkchat.vault.dates.names import leading_date, whole_date

_DAY_LENGTH: Final = len("2026-03-08")
_MAX_CHARACTERS: Final = 200
_YEAR: Final = re.compile(r"\d{4}")
_MARKUP: Final = " \t[]()*_`~="
_AFTER_DAY: Final = re.compile(r":\s|[:：]?\s*[-–—|·]\s|[,;(\[]\s*|：|\s(?=\()")
"""What may stand between a day and the rest of a heading."""


def day_of_headings(heading_path: Sequence[str]) -> date | None:
    """The day of the innermost heading that begins with one, or is one."""
    for heading in reversed(heading_path):
        if _YEAR.search(heading) and (day := _day_of(heading)):
            return date.fromisoformat(day)
    return None


def section_days(sections: Sequence[Section]) -> dict[int, str]:
    """By place in the list, the day of each section whose headings tell one, in ISO form."""
    days = ((place, day_of_headings(section.heading_path)) for place, section in enumerate(sections))
    return {place: day.isoformat() for place, day in days if day}


@lru_cache(maxsize=256)
def _day_of(heading: str) -> str | None:
    plain = heading[:_MAX_CHARACTERS].strip(_MARKUP)
    if found := leading_date(plain):
        return found[:_DAY_LENGTH]
    for separator in (None, *_AFTER_DAY.finditer(plain)):
        day = whole_date(plain[: separator.start()].strip(_MARKUP) if separator else plain)
        if day:
            return day.isoformat()
    return None
