"""Weeks, months, quarters, seasons and years as ranges of days, and the times that words name by them.

What lies beyond the calendar ends where it ends.
"""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from zkchat.model.dates import Calendar, DayRange

Unit = Literal["day", "week", "month", "quarter", "year", "weekend"]
Strength = Literal["relative", "day", "weak"]
"""`relative`: by the day it is (yesterday, last week). `day`: a day of a month. `weak`: a month, a year or a weekday,
whose names are in many texts that say nothing of when."""

MIN_YEAR: Final = 1000
MAX_YEAR: Final = 2999
"""Years that a number of four digits may mean."""
_SATURDAY: Final = 5
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_DAYS: Final = {"day": 1, "week": 7, "weekend": 2}
_MONTHS_OF_YEAR: Final = 12
_MIN_DAYS_OF_MONTH: Final = 28
_DAYS_OF_MONTH: Final = 30.4
_THIRDS: Final = 3
_YEARS_TRIED: Final = 10
"""Years in which a day is looked for: the 29 February is eight years away at most."""


def plus(day: date, days: int) -> date:
    """So many days after a day; the first or last day that there is where it has none."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


def day_range(day: date) -> DayRange:
    """The last day that there is has no day after it, and its range no end."""
    return DayRange(day, plus(day, 1) if day < date.max else None)


def days_range(first: date, days: int) -> DayRange:
    return DayRange(first, plus(first, days))


def week_of(day: date, first_weekday: int) -> DayRange:
    return days_range(plus(day, -((day.weekday() - first_weekday) % 7)), 7)


def iso_week(year: int, week: int) -> DayRange | None:
    try:
        return days_range(date.fromisocalendar(year, week, 1), 7)
    except ValueError:
        return None


def month_range(year: int, month: int, months: int = 1) -> DayRange:
    """So many months from the first of a month on; months before the first or after the twelfth count on."""
    return DayRange(_first_of_month(year, month), _first_of_month(year, month + months))


def _first_of_month(year: int, month: int) -> date:
    year, month = year + (month - 1) // _MONTHS_OF_YEAR, (month - 1) % _MONTHS_OF_YEAR + 1
    if year < date.min.year:
        return date.min
    return date(year, month, 1) if year <= date.max.year else date.max


def year_range(year: int) -> DayRange:
    return month_range(year, 1, 12)


def quarter_range(year: int, quarter: int) -> DayRange:
    return month_range(year, 3 * quarter - 2, 3)


def season_range(year: int, season: int) -> DayRange:
    """From spring, which is 0, in March, to winter, which begins in December."""
    return month_range(year, 3 + 3 * season, 3)


def weekend_of(day: date) -> DayRange:
    """The latest weekend that has begun on that day."""
    return days_range(plus(day, -((day.weekday() - _SATURDAY) % 7)), 2)


def unit_range(unit: Unit, day: date, first_weekday: int, shift: int = 0) -> DayRange:
    """The unit that a day is in, or the one so many units after it."""
    if unit == "day":
        return day_range(plus(day, shift))
    if unit == "week":
        return week_of(plus(day, 7 * shift), first_weekday)
    if unit == "weekend":
        begun = weekend_of(day)
        return weekend_of(plus(begun.first or day, 7 * (shift + (day not in begun))))
    months = _MONTHS[unit]
    first = (day.month - 1) // months * months + 1
    return month_range(day.year, first + shift * months, months)


def day_before(day: date, unit: Unit, count: int) -> date:
    """So many units before a day."""
    if unit in {"day", "week", "weekend"}:
        return plus(day, -count * (1 if unit == "day" else 7))
    first = month_range(day.year, day.month - count * _MONTHS[unit])
    assert first.first is not None
    last = plus(first.end, -1) if first.end else date.max
    return min(plus(first.first, day.day - 1), last)


def nearest(of_year: Callable[[int], DayRange | None], calendar: Calendar, which: int | None = None) -> DayRange | None:
    """The range of the latest year that has begun; where the calendar looks ahead, of the first that is not over.

    `which` says that it is that of this year, the last one that is over (below zero) or the next to begin.
    """
    today = calendar.today
    if which == 0:
        return of_year(today.year)
    is_ahead = calendar.looks_ahead if which is None else which > 0
    first_year = today.year - 1 if is_ahead else today.year
    years = (first_year + (number if is_ahead else -number) for number in range(_YEARS_TRIED))

    def is_meant(found: DayRange) -> bool:
        begins_later = found.first is not None and found.first > today
        is_over = found.end is not None and found.end <= today
        if which is None:
            return not (is_over if is_ahead else begins_later)
        return begins_later if is_ahead else is_over

    found = (of_year(year) for year in years if date.min.year <= year <= date.max.year)
    return next((each for each in found if each and is_meant(each)), None)


def nearest_day(start: date, step: int, number: int | None = None, weekday: int | None = None) -> DayRange | None:
    """From a day on, back or ahead, the first that has this number in its month, and that is such a weekday."""
    days = (plus(start, step * count) for count in range(366 * _YEARS_TRIED))
    fit = (day for day in days if number in {None, day.day} and weekday in {None, day.weekday()})
    return next(map(day_range, fit), None)


def nth_of(whole: DayRange, number: int, unit: Unit, weekday: int | None = None) -> DayRange | None:
    """The unit with this number in a longer time, or the weekday; a number below zero counts from the end.

    Weeks are seven days each, from the first day on, so that the first Monday is in the first week. The last week is
    the last seven days. A weekend is of the time that its Saturday is in.
    """
    first, end = whole.first, whole.end
    if first is None or end is None or not number:
        return None
    from_end = number < 0
    number -= not from_end
    side = end if from_end else first
    if unit in _MONTHS:
        found = month_range(side.year, side.month + number * _MONTHS[unit], _MONTHS[unit])
    elif unit == "day" and weekday is None:
        found = day_range(plus(side, number))
    else:
        begins_on = _SATURDAY if unit == "weekend" else weekday
        wait = 0 if begins_on is None else (begins_on - side.weekday()) % 7
        begin = plus(side, wait + 7 * number)
        found = days_range(begin, _DAYS[unit] if weekday is None else 1)
        if unit == "week" and weekday is None:
            found = found.overlap(whole)
    return found if found.first and found.first in whole and found != whole else None


def third_of(whole: DayRange, number: int) -> DayRange:
    """The first, middle or last part of a month (ten days) or of something longer (whole months)."""
    first, end = whole.first, whole.end
    if first is None or end is None:
        return whole
    days = (end - first).days
    if days < _MIN_DAYS_OF_MONTH:
        return whole
    months = max(1, round(days / _DAYS_OF_MONTH) // _THIRDS)
    if days < 2 * _MIN_DAYS_OF_MONTH:
        begins = [plus(first, 10 * part) for part in range(_THIRDS)]
    else:
        begins = [_first_of_month(first.year, first.month + months * part) for part in range(_THIRDS)]
    return DayRange(begins[number], [*begins, end][number + 1])


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


def ago(count: int, unit: Unit, end: int, calendar: Calendar) -> Expression | None:
    """`Three weeks ago`: the week that was then; after `since`, the day."""
    then = day_before(calendar.today, unit, count)
    found = expression_of(unit_range(unit, then, calendar.first_weekday), "relative", end, unit=unit)
    return replace(found, since=then) if found else None


def rolling(count: int, unit: Unit, end: int, calendar: Calendar) -> Expression | None:
    """`The last three weeks`: the days since so many units ago, with today."""
    period = DayRange(day_before(calendar.today, unit, count), plus(calendar.today, 1))
    return expression_of(period, "relative", end)


def bounded(found: Expression, side: str, today: date) -> Expression | None:
    """All days `since` or `after` a time, `before` or `until` it; None where there is no such side."""
    first, end = found.period.first, found.period.end
    match side:
        case "since":
            period = DayRange(since_day(found, today), None)
        case "after" if end:
            period = DayRange(end, None)
        case "before" if first not in {None, date.min}:
            period = DayRange(None, first)
        case "until" if end:
            period = DayRange(None, end)
        case _:
            return None
    return replace(found, period=period, is_named=True)
