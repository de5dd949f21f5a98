"""What Chinese and Japanese texts say of time: the same as `grammar`, where no spaces part the words."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final, cast

from msgspec.structs import replace

from zkchat.lexicon.words import by_code, phrases
from zkchat.model.dates import Calendar, DayRange
from zkchat.vault.dates import calendar_ranges as ranges
from zkchat.vault.dates.calendar_ranges import Expression, Strength, Unit

_TEN: Final = 10
_MAX_COUNT: Final = 9999


class UnspacedGrammar:
    """Parses a text; ends of expressions are places in it."""

    def __init__(self, text: str, calendar: Calendar) -> None:
        self._text = text
        self._calendar = calendar
        self._today = calendar.today
        self._step = 1 if calendar.looks_ahead else -1
        self._first_weekday = calendar.first_weekday

    def _match(self, name: str, at: int) -> re.Match[str] | None:
        return _pattern(name).match(self._text, at)

    def expression(self, at: int) -> Expression | None:
        """The time that is named from there on, with the words around it that say so, the longest there is."""
        found = max(self._expressions(at), key=lambda each: each.end, default=None)
        if found is None:
            return None
        after = self._match("after_it", found.end)
        return replace(found, end=after.end()) if after else found

    def missing_day(self, at: int) -> int | None:
        """Where a day that does not exist ends, if one begins there: `2月30日`."""
        match = self._match("date", at)
        return match.end() if match and not self._date(match) else None

    def _expressions(self, at: int) -> Iterator[Expression]:
        lead = self._match("before_it", at)
        begin = lead.end() if lead else at
        since = self._match("since_before", at)
        if since and (found := self._atom(since.end())):
            yield from self._spans(found)
            yield from self._bounded(found, "since", is_said=True)
        found = self._atom(begin)
        if found is None:
            return
        yield found
        yield from self._spans(found)
        for side in ("since", "after", "before", "until"):
            yield from self._bounded(found, side)

    def _bounded(self, atom: Expression, side: str, *, is_said: bool = False) -> Iterator[Expression]:
        """All days on a side of a time, if that is said before it or after it."""
        end = self._match(side, atom.end)
        found = ranges.bounded(atom, side, self._today) if end or is_said else None
        if found:
            yield replace(found, end=end.end()) if end else found

    def _spans(self, first: Expression) -> Iterator[Expression]:
        """From one time to another."""
        for joint, needs_end in (("to", False), ("and", True)):
            joined = self._match(joint, first.end)
            last = self._atom(joined.end(), first) if joined else None
            if last is None or last.period.end is None:
                continue
            closed = self._match("between_end", last.end)
            begin = first.period.first
            if first.of_year and begin and begin >= last.period.end:
                earlier = first.of_year(ranges.plus(last.period.end, -1).year) or first.period
                begin = earlier.first
            elif first.unit == "number" and begin:
                begin = (ranges.nearest_day(last.period.first or begin, -1, begin.day) or first.period).first
            if begin and begin < last.period.end and (closed or not needs_end):
                end = closed.end() if closed else last.end
                yield replace(last, period=DayRange(begin, last.period.end), end=end, is_named=True, of_year=None)

    def _atom(self, at: int, before: Expression | None = None) -> Expression | None:
        found = max(self._atoms(at), key=lambda each: each.end, default=None)
        is_day = found is None or found.unit == "number"
        if is_day and before and before.strength == "day" and before.period.first:
            day = self._match("day", at)  # "5月3日到10日"
            number = _number(day["d"]) if day else 0
            of_month = before.period.first
            period = ranges.day_of(of_month.year, of_month.month, number)
            return ranges.expression_of(period, "day", day.end()) if day else None
        return found

    def _atoms(self, at: int) -> Iterator[Expression]:
        for name, build in self._builders().items():
            if (match := self._match(name, at)) and (found := build(match)):
                yield found
                yield from self._parts(found)

    def _parts(self, whole: Expression) -> Iterator[Expression]:
        """A part of what stands before it, and a part of that; each ends later in the text."""
        match = self._match("part_of", whole.end)
        if match and (part := self._part_of(whole, match)):
            part = replace(part, end=match.end())
            yield part
            yield from self._parts(part)

    def _part_of(self, whole: Expression, match: re.Match[str]) -> Expression | None:
        """`10月最后一周`, `10月の第1月曜日`, `上个月8号`, `两周前的星期一`."""
        name = match["zh"] or match["ja"]
        weekday = int(_values("weekday")[name]) if name else None
        if match["d"]:
            return ranges.nth_part(whole, _number(match["d"]), "day", self._calendar) if whole.unit == "month" else None
        if match["n"] or match["edge"]:
            number = int(_values("edge")[match["edge"]]) if match["edge"] else _number(match["n"])
            unit = cast("Unit", _values("unit")[match["unit"] or "日"])
            return ranges.nth_part(whole, number, unit, self._calendar, weekday=weekday)
        return ranges.weekday_in(whole, weekday) if whole.unit == "week" and weekday is not None else None

    def _builders(self) -> dict[str, Callable[[re.Match[str]], Expression | None]]:
        return {
            "iso": self._iso,
            "date": self._date,
            "numbered_day": self._numbered_day,
            "month": self._month,
            "iso_week": self._iso_week,  # before the year, which has days from 1 to 7 January as its first week
            "year": self._year,
            "season": self._season,
            "quarter": self._quarter,
            "relative_day": self._relative_day,
            "unit": self._unit,
            "weekday": self._weekday,
            "ago": lambda match: self._counted(match, ranges.ago),
            "rolling": lambda match: self._counted(match, ranges.rolling),
        }

    def _iso(self, match: re.Match[str]) -> Expression | None:
        year, month, day, week = (int(match[name] or 0) for name in ("y", "m", "d", "w"))
        if week:
            return ranges.expression_of(ranges.iso_week(year, week), "day", match.end(), unit="week")
        if day:
            return ranges.expression_of(ranges.day_of(year, month, day), "day", match.end())
        return ranges.expression_of(ranges.month_range(year, month), "day", match.end()) if 1 <= month <= 12 else None

    def _date(self, match: re.Match[str]) -> Expression | None:
        month, day = _number(match["m"]), _number(match["d"])
        return self._in_year(match, "day", lambda year: ranges.day_of(year, month, day))

    def _numbered_day(self, match: re.Match[str]) -> Expression | None:
        found = ranges.nearest_day(self._today, self._step, _number(match["d"]))
        return ranges.expression_of(found, "weak", match.end(), unit="number")

    def _month(self, match: re.Match[str]) -> Expression | None:
        month = _number(match["m"])
        if not 1 <= month <= 12:
            return None
        return self._in_year(match, "weak", lambda year: ranges.month_range(year, month))

    def _year(self, match: re.Match[str]) -> Expression | None:
        year, is_relative = self._year_of(match)
        if year is None or (match["relative"] and match["part"] == "初" and match["relative"] == "前年"):
            return None
        return self._part(
            match, ranges.expression_of(ranges.year_range(year), "relative" if is_relative else "weak", match.end())
        )

    def _season(self, match: re.Match[str]) -> Expression | None:
        season = int(_values("season")[match["season"]])
        if match["now"]:
            year = self._today.year + int(_values("modifier").get(match["now"], "-1"))
            return ranges.expression_of(ranges.season_range(year, season), "relative", match.end())
        return self._in_year(match, "weak", lambda year: ranges.season_range(year, season))

    def _quarter(self, match: re.Match[str]) -> Expression | None:
        quarter = _number(match["q"])
        if not 1 <= quarter <= 4:
            return None
        return self._in_year(match, "weak", lambda year: ranges.quarter_range(year, quarter))

    def _iso_week(self, match: re.Match[str]) -> Expression | None:
        week = _number(match["w"])
        return self._in_year(match, "weak", lambda year: ranges.iso_week(year, week))

    def _relative_day(self, match: re.Match[str]) -> Expression | None:
        day = ranges.plus(self._today, int(_values("relative_day")[match[0]]))
        return ranges.expression_of(ranges.day_range(day), "relative", match.end())

    def _unit(self, match: re.Match[str]) -> Expression | None:
        """`上周`, `先月`, `上周一`, `先週の金曜日`, `上周末`."""
        unit, shift = cast("Unit", _values("unit")[match["unit"]]), int(_values("modifier")[match["which"]])
        if unit == "day" or (unit == "year" and match["which"] in {"上", "下", "先", "本", "今", "来", "來"}):
            return None
        period = ranges.unit_range(unit, self._today, self._first_weekday, shift)
        if (weekday := match["weekday"]) and period.first:
            if unit != "week":
                return None
            day = ranges.plus(period.first, (int(_values("weekday")[weekday]) - period.first.weekday()) % 7)
            return ranges.expression_of(ranges.day_range(day), "relative", match.end(), unit="weekday")
        return self._part(match, ranges.expression_of(period, "relative", match.end(), unit=unit))

    def _weekday(self, match: re.Match[str]) -> Expression | None:
        found = ranges.nearest_day(self._today, self._step, weekday=int(_values("weekday")[match["zh"] or match["ja"]]))
        return ranges.expression_of(found, "weak", match.end(), unit="weekday")

    def _counted(
        self, match: re.Match[str], build: Callable[[int, Unit, int, Calendar], Expression | None]
    ) -> Expression | None:
        count = _number(match["n"])
        unit = cast("Unit", _values("unit")[match["unit"]])
        return build(count, unit, match.end(), self._calendar) if 0 < count <= _MAX_COUNT else None

    def _in_year(
        self, match: re.Match[str], strength: Strength, of_year: Callable[[int], DayRange | None]
    ) -> Expression | None:
        year, is_relative = self._year_of(match)
        if year is None:
            found = ranges.expression_of(ranges.nearest(of_year, self._calendar), strength, match.end())
            return self._part(match, replace(found, of_year=of_year) if found else None)
        is_weak = strength == "weak" and not is_relative
        return self._part(
            match, ranges.expression_of(of_year(year), "weak" if is_weak else "day", match.end(), unit="dated")
        )

    def _year_of(self, match: re.Match[str]) -> tuple[int | None, bool]:
        if match["relative"]:
            return self._today.year + int(_values("relative_year")[match["relative"]]), True
        return (_number(match["y"]), False) if match["y"] else (None, False)

    def _part(self, match: re.Match[str], found: Expression | None) -> Expression | None:
        part = match.groupdict().get("part")
        if found is None or not part:
            return found
        third = int(_values("part")[part])
        return ranges.part_of(found, lambda whole: ranges.third_of(whole, third), self._calendar)


def _number(text: str) -> int:
    """Digits of any form, or a number in words up to 99."""
    if not text:
        return 0
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if ten:
        return _TEN * (_number(tens) if tens else 1) + _number(ones)
    return int("".join(_values("digit").get(digit, "0") for digit in text))


@cache
def _values(kind: str) -> dict[str, str]:
    """By word of Chinese and Japanese the value of a kind: `unit`, `weekday`, …"""
    return {
        word: meaning.partition(":")[2]
        for words in by_code("calendar", spaced=False).values()
        for meaning, listed in words.items()
        if meaning.partition(":")[0] == kind
        for word in phrases(listed)
    }


@cache
def _pattern(name: str) -> re.Pattern[str]:
    pattern = _patterns().get(name)
    return re.compile(_one_of(_values(name)) if pattern is None else pattern)


def _one_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


@cache
def _patterns() -> dict[str, str]:
    """Of what is more than a list of words."""
    digit, word = "[0-9０-９]", "[〇零一二两兩三四五六七八九十]"
    number = rf"(?:(?<!{digit}){digit}{{1,4}}|(?<!{word}){word}{{1,3}})"
    day = rf"(?P<d>{number})(?:日|号|號)"
    short_weekday = "[一二三四五六天]|日(?![记記志誌])"
    weekday = rf"(?:(?:星期|礼拜|禮拜|周|週)(?P<zh>{short_weekday})|(?P<ja>[月火水木金土日])曜日?)"
    years, parts, units, edges = (_one_of(_values(kind)) for kind in ("relative_year", "part", "unit", "edge"))
    year = rf"(?:(?P<y>\d{{4}}|(?<!{word}){word}{{4}})年(?:度)?の?|(?P<relative>{years})[の的]?)"
    part = rf"の?(?P<part>{parts})?"
    after_day = "|".join(
        _one_of(_values(kind)) for kind in ("after_numbered_day", "to", "since", "until", "after", "before")
    )
    return {
        "iso": r"(?<!\d)(?P<y>\d{4})(?:-?[Ww](?P<w>\d{1,2})|[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?)(?![\d-])",
        "date": rf"{year}?(?P<m>{number})月[の的]?{day}",
        "day": day,
        "numbered_day": rf"(?<![第月]){day}(?={after_day})",
        "part_of": rf"[の的]?(?:{day}|(?:(?:第(?P<n>{number})|(?P<edge>{edges}))の?(?:一?[个個]|一)?)?"
        rf"(?:{weekday}|(?P<unit>{units})目?))",
        "month": rf"{year}?(?P<m>{number})月(?:份)?(?!曜){part}",
        "year": rf"{year}(?:年?の?(?P<part>{parts}))?",
        "season": rf"(?:{year}|(?P<now>今|昨|来))?(?P<season>[春夏秋冬])(?:天|季|休み)?",
        "quarter": rf"{year}?第?(?P<q>{number})(?:季度|四半期)",
        "iso_week": rf"{year}?第(?P<w>{number})[周週]",
        "unit": rf"(?P<which>{_one_of(_values('modifier'))})(?:一?[个個])?(?P<unit>{units})"
        rf"(?:の?(?P<weekday>[一二三四五六天月火水木金土日](?=曜)|{short_weekday})(?:曜日?)?|{part})",
        "weekday": weekday,
        "ago": rf"(?P<n>{number})[个個]?(?P<unit>{units})(?:{_one_of(_values('ago'))})",
        "rolling": rf"(?:{_one_of(_values('rolling'))})の?(?P<n>{number})[个個]?(?P<unit>{units})",
    }
