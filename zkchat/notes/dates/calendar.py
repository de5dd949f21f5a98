"""Weeks, months, quarters, seasons and years as ranges of days, and times that words name."""

import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import Calendar, DayRange, lazy_pattern
from zkchat.language import by_code, phrases

_LITERALS: Final = (
    ("date", lazy_pattern(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\w-])")),
    ("iso_week", lazy_pattern(r"(\d{4})-?w(\d{1,2})(?!\w)")),
    ("quarter", lazy_pattern(r"(?:(\d{4})[- ]?)q([1-4])(?!\w)|q([1-4])(?:[- /](\d{4}))?(?!\w)")),
    ("year_month", lazy_pattern(r"(\d{4})-(\d{2})(?![\w-])")),
    ("dotted", lazy_pattern(r"(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4}))?(?!\w)")),
    ("slashed", lazy_pattern(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4})(?![\w-])")),
    ("duration", lazy_pattern(r"(\d{1,4})\s?([dw])(?!\w)")),
    ("ordinal_day", lazy_pattern(r"(\d{1,2})(?:st|nd|rd|th|er|\.(?=[\s?!]|$)|º|ª)(?!\w)")),
    ("number", lazy_pattern(r"\d{1,4}(?![\w.,:%]*\d)(?![\w%°€$£])")),
)
_WORD: Final = lazy_pattern(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\w+|\S")
_SPACE: Final = lazy_pattern(r"[\s,]+")


class Token(Struct, frozen=True):
    start: int
    end: int
    text: str
    meanings: Mapping[str, str]
    """What it may mean, the most frequent first, each with its value; nothing for a word that is not known."""

    @property
    def meaning(self) -> str:
        return next(iter(self.meanings), "")

    def may_mean(self, meaning: str) -> bool:
        return meaning in self.meanings

    def value(self, meaning: str) -> int | None:
        found = self.meanings.get(meaning)
        return int(found) if found is not None else None


class Phrases:
    def __init__(self, language: str, *tables: str) -> None:
        """Of these tables of its file, and its numbers in words."""
        self._meanings: dict[str, dict[str, str]] = {}
        self._lengths: dict[str, list[int]] = {}
        """By the first letter, those of the phrases, the longest first."""
        for table in tables:
            for meaning, listed in by_code(table)[language].items():
                kind, _, value = meaning.partition(":")
                for phrase in phrases(listed):
                    self.add(phrase, kind, value)
        for pair in by_code("number_words").get(language, "").split():
            word, value = pair.split(":")
            self.add(word, "number", value)

    def add(self, phrase: str, meaning: str, value: str = "") -> None:
        key = fold(phrase)
        self._meanings.setdefault(key, {})[meaning] = value
        lengths = self._lengths.setdefault(key[0], [])
        if len(key) not in lengths:
            lengths.append(len(key))
            lengths.sort(reverse=True)

    def longest(self, folded: str, at: int, is_inside_word: Callable[[str, int], bool]) -> Token | None:
        """The longest phrase that stands there and ends no word in its middle."""
        for length in self._lengths.get(folded[at], ()):
            end = at + length
            meanings = self._meanings.get(folded[at:end])
            if meanings and end <= len(folded) and not is_inside_word(folded, end):
                return Token(at, end, folded[at:end], meanings)
        return None


def tokens_of(text: str, language: str) -> list[Token]:
    """The words and signs of a text, without spaces and commas: numbers, dates, and what words say of time."""
    folded = fold(text)
    tokens: list[Token] = []
    at = 0
    while at < len(folded):
        if space := _SPACE.match(folded, at):
            at = space.end()
            continue
        token = _literal(folded, at)
        if token is None and not (at and folded[at].isalnum() and folded[at - 1].isalnum()):
            token = _calendar_phrases(language).longest(folded, at, _is_inside_word)
        if token is None:
            word = _WORD.match(folded, at)
            end = word.end() if word else at + 1
            token = Token(at, end, folded[at:end], {})
        tokens.append(token)
        at = token.end
    return tokens


def _literal(folded: str, at: int) -> Token | None:
    if not folded[at].isdigit() and folded[at] != "q":
        return None
    if at and (folded[at - 1].isalnum() or folded[at - 1] in "/.#"):
        return None
    if at > 1 and folded[at - 1] == "-" and not folded[at - 2].isdigit():
        return None
    for meaning, pattern in _LITERALS:
        if found := pattern.match(folded, at):
            groups = found.group(1, 3, 4) if meaning in {"date", "slashed"} else found.groups()
            value = "/".join(each or "" for each in groups) or found[0]
            return Token(at, found.end(), found[0], {meaning: value})
    return None


def _is_inside_word(folded: str, end: int) -> bool:
    """Whether a word goes on there; after an apostrophe or a hyphen that ends the phrase another begins."""
    if end >= len(folded) or folded[end - 1] in "'-–—":
        return False
    after = folded[end]
    return after.isalnum() or (after == "-" and folded[end + 1 : end + 2].isalpha())


@cache
def _calendar_phrases(language: str) -> Phrases:
    found = Phrases(language, "calendar")
    weeks = by_code("calendar")[language].get("week_after_month", "")
    for number, name in enumerate(by_code("months")[language].split(), start=1):
        found.add(name, "month", str(number))
        if weeks:
            found.add(f"{name}{weeks}", "week_of_month", str(number))
    for number, name in enumerate(by_code("weekdays")[language].split()):
        found.add(name, "weekday", str(number))
    for word in by_code("ones")[language].split():
        found.add(word, "one", "1")
    return found


def fold(text: str) -> str:
    """The text in lower case and without Latin accents, letter for letter."""
    return "".join(map(_folded, text))


@cache
def _folded(letter: str) -> str:
    if letter == "’":
        return "'"
    small = letter.lower()
    plain = unicodedata.normalize("NFD", small)
    if plain[1:].strip("\u0300\u0301\u0302\u0303\u0308\u0327") == "":
        return plain[0]
    return small if len(small) == 1 else letter


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


def quarter_range(year: int, quarter: int) -> DayRange:
    return month_range(year, 3 * quarter - 2, 3)


def season_range(year: int, season: int) -> DayRange:
    """From spring, which is 0, in March, to winter, which begins in December."""
    return month_range(year, 3 + 3 * season, 3)


def unit_range(unit: Unit, day: date, first_weekday: int, shift: int = 0) -> DayRange:
    """The unit that a day is in, or the one so many units after it."""
    if unit == "day":
        return day_range(plus(day, shift))
    if unit in {"week", "weekend"}:
        begins_on = first_weekday if unit == "week" else _SATURDAY
        begun = days_range(plus(day, -((day.weekday() - begins_on) % 7)), _DAYS[unit])
        return days_range(plus(begun.first or day, 7 * (shift + (day not in begun))), _DAYS[unit])
    months = _MONTHS[unit]
    first = (day.month - 1) // months * months + 1
    return month_range(day.year, first + shift * months, months)


def day_before(day: date, unit: Unit, count: int) -> date:
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
    months = max(1, round(days / 30.4) // _THIRDS)
    if days < 2 * _MIN_DAYS_OF_MONTH:
        begins = [plus(first, 10 * part) for part in range(_THIRDS)]
    else:
        begins = [_first_of_month(first.year, first.month + months * part) for part in range(_THIRDS)]
    return DayRange(begins[number], [*begins, end][number + 1])


class Expression(Struct, frozen=True, kw_only=True):
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
