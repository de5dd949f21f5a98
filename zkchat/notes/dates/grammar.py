"""What tokens of a text say of time: a day, a week, a month, or all days since, before or between such."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from typing import Final, cast

from msgspec.structs import replace

from zkchat.core import Calendar, DayRange
from zkchat.language import languages
from zkchat.notes.dates import calendar as ranges
from zkchat.notes.dates.calendar import Expression, Strength, Token, Unit

_MAX_DAY: Final = 31


class Grammar:
    """Parses the tokens of one text in one language. Places beyond the last token have no meaning."""

    def __init__(self, tokens: Sequence[Token], language: str, calendar: Calendar) -> None:
        self._tokens = tokens
        self._known = languages()[language]
        self._calendar = calendar
        self._today = calendar.today
        self._step = 1 if calendar.looks_ahead else -1
        self._first_weekday = calendar.first_weekday

    def expression(self, at: int) -> Expression | None:
        """The time that is named from a token on, the longest there is."""
        return max(self._expressions(at), key=lambda found: found.end, default=None)

    def _expressions(self, at: int) -> Iterator[Expression]:
        after = self._articles(at + 1)
        for side in ("since", "after", "before", "until"):
            atom = self._atom(after) if self._has(at, side) else None
            if atom and (found := ranges.bounded(atom, side, self._today)):
                yield found
        if self._has(at, "between") and (found := self._span(after, "and")):
            yield found
        if self._has(at, "from") and (found := self._span(after, "to")):
            yield found
        if found := self._span(at, "to"):
            yield found
        if found := self._atom(at):
            yield found

    def _span(self, at: int, joined_by: str) -> Expression | None:
        """From one time to another: `3 and 10 May`, `March to May 2025`."""
        first = self._atom(at) or self._numbered(at, self._day_number(at))
        if first is None or not self._has(first.end, joined_by):
            return None
        last = self._atom(self._articles(first.end + 1))
        if last is None or last.period.end is None:
            return None
        begin: date | None = None
        if first.of_year:  # what has no year is in that of the end, or in the one before
            year = ranges.plus(last.period.end, -1).year
            starts = (found.first for each in (year, year - 1) if (found := first.of_year(each)))
            begin = next((each for each in starts if each and each < last.period.end), None)
        elif first.unit != "number":
            begin = first.period.first
        elif first.period.first and last.period.first and (last.strength == "day" or last.unit == "number"):
            day = ranges.nearest_day(last.period.first, -1, first.period.first.day)
            begin = day.first if day else None
        if begin is None or begin >= last.period.end:
            return None
        return replace(
            last, period=DayRange(begin, last.period.end), is_named=True, of_year=None, since=None, unit="span"
        )

    def _atom(self, at: int) -> Expression | None:
        at = self._articles(at)
        found = max(self._atoms(at), key=lambda each: each.end, default=None)
        if found is None or (self._has(found.end, "part_of") and (self._value(at, "ordinal") or 0) < 0):
            return None  # the last week of the holidays is not last week
        return self._weekday_of_week(at, found) or found

    def _atoms(self, at: int) -> Iterator[Expression]:
        if at >= len(self._tokens) or not self._tokens[at].meanings:
            return
        productions = (
            self._literal, self._relative_day, self._day_of_month, self._numbered_day, self._month, self._weekday,
            self._nth, self._week_number, self._unit, self._rolling, self._ago, self._year, self._part,
            self._week_around,
        )  # fmt: skip
        yield from filter(None, (production(at) for production in productions))

    # What is known by its form

    def _literal(self, at: int) -> Expression | None:
        end, period = at + 1, None
        meaning, value = next(iter(self._tokens[at].meanings.items()), ("", "")) if at < len(self._tokens) else ("", "")
        match meaning, [int(each) if each.isdigit() else 0 for each in value.split("/")]:
            case "date", [year, month, day]:
                period = ranges.day_of(year, month, day)
            case "year_month", [year, month] if 1 <= month <= 12:
                period = ranges.month_range(year, month)
            case "iso_week", [year, week]:
                return ranges.expression_of(ranges.iso_week(year, week), "day", end, unit="week")
            case "slashed", [first, second, year]:
                # The day first; where the month is written first too, only what can be one of them.
                is_month_first = self._known.get("month_first", False)
                is_clear = not is_month_first or first == second or max(first, second) > 12
                period = ranges.day_of(year, second, first) if is_clear else None
                period = ranges.day_of(year, first, second) if is_month_first and is_clear and not period else period
            case "dotted", [day, month, year] if year or self._known.get("dotted_days"):
                return self._day(day, month, end, year)
            case "quarter", [before, quarter, alone, after]:
                return self._in_year(
                    lambda year: ranges.quarter_range(year, quarter or alone), "weak", end, year=before or after
                )
            case "duration", [count, _]:
                return ranges.rolling(count, "day" if value.endswith("d") else "week", end, self._calendar)
        return ranges.expression_of(period, "day", end)

    def _relative_day(self, at: int) -> Expression | None:
        days = self._value(at, "relative_day")
        found = None if days is None else ranges.day_range(ranges.plus(self._today, days))
        return ranges.expression_of(found, "relative", at + 1)

    def _day_of_month(self, at: int) -> Expression | None:
        """`8 March 2026`, `Sunday, March 8th`, `8. März`."""
        found = self._day_and_month(at)
        return self._day(*found) if found else None

    def _day_and_month(self, at: int) -> tuple[int, int, int] | None:
        begin = self._articles(at + 1) if self._has(at, "weekday") else at
        if (day := self._day_number(begin)) is not None:
            after = self._articles(begin + 1)
            if month := self._value(after, "month"):
                return day, month, after + 1
        if month := self._value(begin, "month"):
            after = begin + 1 + (self._text(begin + 1) == ".")
            after += self._has(after, "article") and self._text(after) == "the"
            if (day := self._day_number(after)) is not None and not self._is_year(after):
                return day, month, after + 1
        return None

    def _numbered_day(self, at: int) -> Expression | None:
        """`The 8th`, `Monday the 8th`, `le 8`, `the 8th of last month`."""
        weekday = self._value(at, "weekday")
        at = at if weekday is None else self._articles(at + 1)
        day = self._day_number(at)
        if day is None or not (self._has(at, "ordinal_day") or self._has(at - 1, "day_before")):
            return None
        after = self._articles(at + 1)
        month = self._unit(after)
        if month and month.unit == "month":
            return ranges.nth_part(month, day, "day", self._calendar)
        is_counted = self._has(after, "unit", "weekday", "month", "season")
        return None if is_counted else self._numbered(at, day, weekday)

    def _numbered(self, at: int, day: int | None, weekday: int | None = None) -> Expression | None:
        found = ranges.nearest_day(self._today, self._step, day, weekday) if day else None
        return ranges.expression_of(found, "weak", at + 1, unit="number")

    def missing_day(self, at: int) -> int | None:
        """Where a day that does not exist ends, if one begins there: `30 February`, `2026-02-30`."""
        is_of_month_before = self._has(at - 1, "month") and not self._has(at, "month")  # "March 31, April 2"
        found = None if is_of_month_before else self._day_and_month(at)
        if found and not self._day(*found):
            named = self._named_year(found[2])
            return named[1] if named else found[2]
        is_date = self._has(at, "date") or (self._has(at, "dotted") and self._known.get("dotted_days"))
        return at + 1 if is_date and not self._literal(at) else None

    def _day(self, day: int, month: int, end: int, year: int = 0) -> Expression | None:
        return self._in_year(lambda year: ranges.day_of(year, month, day), "day", end, year=year)

    def _month(self, at: int) -> Expression | None:
        for meaning, of_year in (("month", ranges.month_range), ("season", ranges.season_range)):
            if found := self._with_modifier(at, meaning):
                number, which, end = found
                return self._in_year(lambda year: of_year(year, number), "weak", end, which=which)  # noqa: B023
        return None

    def _weekday(self, at: int) -> Expression | None:
        found = self._with_modifier(at, "weekday")
        if found is None:
            return None
        weekday, which, end = found
        if which is None:
            nearest_one = ranges.nearest_day(self._today, self._step, weekday=weekday)
            return ranges.expression_of(nearest_one, "weak", end, unit="weekday")
        back = (self._today.weekday() - weekday) % 7
        if which == 0:
            week = ranges.unit_range("week", self._today, self._first_weekday)
            day = ranges.plus(week.first or self._today, (weekday - self._first_weekday) % 7)
        elif which > 0:
            day = ranges.plus(self._today, 7 - back)
        else:
            day = ranges.plus(self._today, -(back or 7) + 7 * (which + 1))
        return ranges.expression_of(ranges.day_range(day), "relative", end, unit="weekday")

    def _in_year(
        self,
        of_year: Callable[[int], DayRange | None],
        strength: Strength,
        end: int,
        *,
        which: int | None = None,
        year: int = 0,
    ) -> Expression | None:
        """In this year, or the one that follows, else the latest that is not in the future, or as `last` says."""
        if year:
            return ranges.expression_of(of_year(year), strength, end)
        if which is None and (named := self._named_year(end)):
            year, end, is_relative = named
            is_weak = strength == "weak" and not is_relative
            return ranges.expression_of(of_year(year), "weak" if is_weak else "day", end, unit="dated")
        found = ranges.nearest(of_year, self._calendar, which)
        made = ranges.expression_of(found, strength if which is None else "relative", end)
        return replace(made, of_year=of_year) if made else None

    def _named_year(self, at: int) -> tuple[int, int, bool] | None:
        """A year after a day, a month or a season: `2026`, `of last year`; where it ends, whether it is relative."""
        at = self._articles(at)
        if self._is_year(at):
            return cast("int", self._value(at, "number")), at + 1, False
        if (found := self._unit(at)) and found.unit == "year" and found.period.first:
            return found.period.first.year, found.end, True
        return None

    # Stretches of time

    def _unit(self, at: int) -> Expression | None:
        """`Last week`, `la semaine dernière`, `the week before last`."""
        shift, name, end = self._shift_after(at + 1), self._name(at, "unit"), at + 2
        if shift is None and name == "weekend" and at and self._has(at - 1, "at", "article"):
            end, shift = at + 1, -1 if self._today not in ranges.unit_range("weekend", self._today, 0) else 0
        if not name or shift is None:
            shift, name, end = self._shift(at), self._name(at + 1, "unit"), at + 2
        if shift is None or name in {"", "day"}:
            return None
        period = ranges.unit_range(cast("Unit", name), self._today, self._first_weekday, shift)
        return ranges.expression_of(period, "relative", end, unit=name)

    def _rolling(self, at: int) -> Expression | None:
        """`The last 7 days`, `les 7 derniers jours`, `the past month`."""
        for word, number, end in ((at, at + 1, at + 3), (at + 1, at, at + 3), (at, None, at + 2)):
            is_one = number is None and self._text(at) in {"past", "recent"}
            count = 1 if is_one else self._count(number, allow_one=False) if number is not None else None
            name = self._name(end - 1, "unit")
            if self._has(word, "rolling") and count and name not in {"", "weekend"}:
                return ranges.rolling(count, cast("Unit", name), end, self._calendar)
        return None

    def _ago(self, at: int) -> Expression | None:
        """`Three weeks ago`, `vor drei Wochen`."""
        begin = at + 1 if self._has(at, "ago_before") else at
        count, name = self._count(begin), self._name(begin + 1, "unit")
        if not count or not name:
            return None
        is_after = begin == at
        if is_after and not self._has(begin + 2, "ago"):
            return None
        return ranges.ago(count, cast("Unit", name), begin + 2 + is_after, self._calendar)

    def _year(self, at: int) -> Expression | None:
        if not self._is_year(at):
            return None
        year = cast("int", self._value(at, "number"))
        return ranges.expression_of(ranges.month_range(year, 1, 12), "weak", at + 1, unit="year")

    def _nth(self, at: int) -> Expression | None:
        """`The last week of October`, `the first Monday of last month`, `the first quarter`."""
        number, unit = self._value(at, "ordinal"), self._name(at + 1, "unit")
        number = self._value(at, "ordinal_day") if number is None else number
        weekday, month = self._value(at + 1, "weekday"), self._value(at + 1, "week_of_month")
        if number is None or not (unit or month or weekday is not None):
            return None
        if month:
            unit, whole = "week", self._in_year(lambda year: ranges.month_range(year, month), "weak", at + 2)
        elif unit == "quarter" and number > 0:
            whole = self._in_year(lambda year: ranges.month_range(year, 1, 12), "weak", at + 2)
        else:
            whole = self._whole(at + 2)
        if whole is None:
            return None
        return ranges.nth_part(whole, number, cast("Unit", unit or "day"), self._calendar, weekday=weekday)

    def _whole(self, at: int) -> Expression | None:
        """What a part is of: a month, a year, a season, and what is said by its form or by the day it is."""
        begin = self._articles(at)
        if begin == len(self._tokens) or (begin == at and not self._known.get("marks_case")):
            return None
        productions = (self._literal, self._month, self._unit, self._year)
        return max(filter(None, (each(begin) for each in productions)), key=lambda each: each.end, default=None)

    def _week_number(self, at: int) -> Expression | None:
        """`Week 10 of 2026`, `KW 10`, `week 1 of October`."""
        number = self._value(at + 1, "number")
        if not self._has(at, "week_number") or not number or number > 53:
            return None
        whole = self._whole(at + 2)
        if whole and whole.unit != "year":
            return ranges.nth_part(whole, number, "week", self._calendar)
        return self._in_year(lambda year: ranges.iso_week(year, number), "weak", at + 2)

    def _part(self, at: int) -> Expression | None:
        """`Early March`, `the end of last year`."""
        for third, part in enumerate(("early", "mid", "late")):
            if self._has(at, part) and (found := self._atom(at + 1)) and found.period.first and found.period.end:
                return ranges.part_of(found, partial(ranges.third_of, number=third), self._calendar)
        return None

    def _week_around(self, at: int) -> Expression | None:
        """`The week of 8 March`."""
        if self._name(at, "unit") != "week" or not self._has(at + 1, "article", "at"):
            return None
        found = self._day_of_month(self._articles(at + 1)) or self._literal(self._articles(at + 1))
        if not found or found.strength != "day" or not found.period.first:
            return None
        return replace(
            found, period=ranges.unit_range("week", found.period.first, self._first_weekday), unit="week", of_year=None
        )

    def _weekday_of_week(self, at: int, found: Expression) -> Expression | None:
        """`Monday of last week`, `two weeks ago on Monday`: the day where a weekday stands beside a week."""
        after = found.end
        while self._has(after, "article") or (self._has(after, "at") and not self._has(after, "from")):
            after += 1
        weekday = self._value(at, "weekday")
        if found.unit == "weekday" and weekday is not None and found.end == at + 1:
            weeks = (each(after) for each in (self._unit, self._ago, self._nth))
            week = next((each for each in weeks if each and each.unit == "week"), None)
            return ranges.weekday_in(week, weekday) if week else None
        weekday = self._value(after, "weekday")
        if found.unit != "week" or weekday is None:
            return None
        return ranges.weekday_in(replace(found, end=after + 1), weekday)

    # The tokens by their meanings

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
        return number is not None and len(self._text(at)) == 4 and ranges.MIN_YEAR <= number <= ranges.MAX_YEAR

    def _day_number(self, at: int) -> int | None:
        number = self._value(at, "ordinal_day")
        number = self._value(at, "number") if number is None else number
        number = self._value(at, "ordinal") if number is None else number
        return number if number is not None and 1 <= number <= _MAX_DAY else None

    def _count(self, at: int, *, allow_one: bool = True) -> int | None:
        number = self._value(at, "number")
        if number is None and allow_one:
            number = self._value(at, "one")
        return number if number and number <= 9999 else None

    def _shift(self, at: int) -> int | None:
        """How many units on a word before a name says."""
        return self._first_of(at, (("last", -1), ("this", 0), ("next", 1), ("two_ago", -2)))

    def _shift_after(self, at: int) -> int | None:
        """How many units on a word after a name says."""
        return self._first_of(at, (("after_last", -1), ("after_next", 1), ("after_two_ago", -2), ("before_last", -2)))

    def _first_of(self, at: int, shifts: Sequence[tuple[str, int]]) -> int | None:
        return next((shift for meaning, shift in shifts if self._has(at, meaning)), None)
