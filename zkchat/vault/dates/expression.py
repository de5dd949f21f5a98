"""A time that words name, as the grammars find it."""

from collections.abc import Callable
from datetime import date
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from zkchat.model.dates import Calendar, DayRange
from zkchat.vault.dates.calendar_ranges import Unit, day_range, nearest, nth_of, plus

Strength = Literal["relative", "day", "weak"]
"""`relative`: by the day it is (yesterday, last week). `day`: a day of a month. `weak`: a month, a year or a weekday,
whose names are in many texts that say nothing of when."""


class Expression(Struct, frozen=True, kw_only=True):
    """A time that is said in words."""

    period: DayRange
    strength: Strength
    end: int
    """The token after it."""
    since: date | None = None
    """Where it begins after "since", if not at its first day: three weeks ago is a day then, and a week else."""
    of_year: Callable[[int], DayRange | None] | None = None
    """The same in another year, where none is named."""
    unit: str = ""
    """What kind of stretch it is, where that matters: `week`, `month`, `year`, `weekday`, `number`."""
    is_named: bool = False
    """Whether "since", "between" or the like says that it is a time."""


def since_day(found: Expression, today: date) -> date | None:
    """Where all days since a time begin; None where the time has no first day.

    Said on a Monday, "since Monday" begins a week ago.
    """
    if found.period.first is None or found.period.end is None:
        return found.period.first
    begin = found.since or found.period.first
    is_bare_weekday = found.unit == "weekday" and found.strength == "weak"
    return plus(begin, -7) if is_bare_weekday and begin == today else begin


def day_of(year: int, month: int, day: int) -> DayRange | None:
    try:
        return day_range(date(year, month, day))
    except ValueError:
        return None


def part_of(whole: Expression, part: Callable[[DayRange], DayRange | None], calendar: Calendar) -> Expression | None:
    """A part of a time. Where that has no year, it is in the year in which the part is nearest."""
    of_year = whole.of_year if whole.strength != "relative" else None

    def in_year(year: int) -> DayRange | None:
        found = of_year(year) if of_year else None
        return part(found) if found else None

    found = expression_of(nearest(in_year, calendar) if of_year else part(whole.period), whole.strength, whole.end)
    return replace(found, unit=whole.unit, of_year=in_year if of_year else None) if found else None


def nth_part(
    whole: Expression, number: int, unit: Unit, calendar: Calendar, *, weekday: int | None = None
) -> Expression | None:
    """A week, a day or the like of a longer time, or a weekday: `nth_of`."""
    found = part_of(whole, lambda period: nth_of(period, number, unit, weekday), calendar)
    is_date = whole.strength == "weak" and unit != "quarter"
    return replace(found, unit=unit, strength="day" if is_date else whole.strength) if found else None


def weekday_in(week: Expression, weekday: int) -> Expression | None:
    """A day of a week."""
    first = week.period.first
    if first is None:
        return None
    day = day_range(plus(first, (weekday - first.weekday()) % 7))
    return replace(week, period=day, unit="weekday", since=None, of_year=None)


def expression_of(period: DayRange | None, strength: Strength, end: int, *, unit: str = "") -> Expression | None:
    """None where there is no such time, or where it lies beyond the calendar."""
    if period is None or period.first is None or (period.end is not None and period.first >= period.end):
        return None
    return Expression(period=period, strength=strength, end=end, unit=unit)
