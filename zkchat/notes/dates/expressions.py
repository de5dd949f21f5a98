"""Times as people write them, in texts with spaces and without: periods, instants, and filters of a search."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, partial
from typing import Final, cast

from msgspec.structs import replace

from zkchat.core import Calendar, DayRange, UsageError
from zkchat.language import by_code, phrases
from zkchat.notes.dates import calendar as ranges
from zkchat.notes.dates.calendar import Expression, Strength, Unit, day_range, plus, since_day, tokens_of, unit_range
from zkchat.notes.dates.grammar import Grammar

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
        return match.end() if match and not self._dated("date", match) else None

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
        if not (is_day and before and before.strength == "day" and before.period.first):
            return found
        day, month = self._match("day", at), before.period.first  # "5月3日到10日"
        period = ranges.day_of(month.year, month.month, _number(day["d"])) if day else None
        return ranges.expression_of(period, "day", day.end() if day else at)

    def _atoms(self, at: int) -> Iterator[Expression]:
        builders: dict[str, Callable[[re.Match[str]], Expression | None]] = {
            "iso": self._iso,
            "date": partial(self._dated, "date"),
            "numbered_day": self._nearest_day,
            "month": partial(self._dated, "month"),
            "iso_week": partial(self._dated, "iso_week"),  # before the year, which has its first week from 1 January on
            "year": self._year,
            "season": partial(self._dated, "season"),
            "quarter": partial(self._dated, "quarter"),
            "relative_day": self._relative_day,
            "unit": self._unit,
            "weekday": self._nearest_day,
            "ago": partial(self._counted, ranges.ago),
            "rolling": partial(self._counted, ranges.rolling),
        }
        for name, build in builders.items():
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

    def _iso(self, match: re.Match[str]) -> Expression | None:
        year, month, day, week = (int(match[name] or 0) for name in ("y", "m", "d", "w"))
        if week:
            return ranges.expression_of(ranges.iso_week(year, week), "day", match.end(), unit="week")
        if day:
            return ranges.expression_of(ranges.day_of(year, month, day), "day", match.end())
        return ranges.expression_of(ranges.month_range(year, month), "day", match.end()) if 1 <= month <= 12 else None

    def _dated(self, name: str, match: re.Match[str]) -> Expression | None:
        """What the year beside it decides, or which year is nearest."""
        values = match.groupdict()
        month, day, quarter, week = (_number(values.get(key) or "") for key in "mdqw")
        season = int(_values("season")[values["season"]]) if name == "season" else 0
        of_year: dict[str, Callable[[int], DayRange | None]] = {
            "date": lambda year: ranges.day_of(year, month, day),
            "month": lambda year: ranges.month_range(year, month) if 1 <= month <= 12 else None,
            "quarter": lambda year: ranges.quarter_range(year, quarter) if 1 <= quarter <= 4 else None,
            "iso_week": lambda year: ranges.iso_week(year, week),
            "season": lambda year: ranges.season_range(year, season),
        }
        if values.get("now"):
            named = self._today.year + int(_values("modifier").get(values["now"], "-1"))
            return ranges.expression_of(of_year[name](named), "relative", match.end())
        return self._in_year(match, "day" if name == "date" else "weak", of_year[name])

    def _nearest_day(self, match: re.Match[str]) -> Expression | None:
        """`8日` or `星期一` alone."""
        values = match.groupdict()
        name = values.get("zh") or values.get("ja")
        number, weekday = (None, int(_values("weekday")[name])) if name else (_number(match["d"]), None)
        found = ranges.nearest_day(self._today, self._step, number, weekday)
        return ranges.expression_of(found, "weak", match.end(), unit="weekday" if name else "number")

    def _year(self, match: re.Match[str]) -> Expression | None:
        year, is_relative = self._year_of(match)
        if year is None or (match["relative"] and match["part"] == "初" and match["relative"] == "前年"):
            return None
        whole = ranges.month_range(year, 1, 12)
        return self._part(match, ranges.expression_of(whole, "relative" if is_relative else "weak", match.end()))

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

    def _counted(
        self, build: Callable[[int, Unit, int, Calendar], Expression | None], match: re.Match[str]
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
        certainty: Strength = "weak" if strength == "weak" and not is_relative else "day"
        return self._part(match, ranges.expression_of(of_year(year), certainty, match.end(), unit="dated"))

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
        return 10 * (_number(tens) if tens else 1) + _number(ones)
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


PERIOD_FORMS: Final = (
    "2026-03-08, 2026-03, 2026-W10, Q1-2026, today, yesterday, this-week, last-month, March, spring-2025, or how many "
    "days or weeks back: 3d, 2w"
)
MAX_CHARACTERS: Final = 80
"""Of a period; what is longer is none."""
_COMPACT: Final = re.compile(r"(\d{4})(\d{2})(\d{2})")
_UNITS: Final[tuple[Unit, ...]] = ("week", "month", "quarter", "year")


def _expression(text: str, calendar: Calendar) -> Expression | None:
    """What a text names as a whole, in any of the languages; a month or day without a year is the latest that is
    not in the future."""
    plain = unicodedata.normalize("NFC", text.replace("..", " to ")).strip(" \t\n?!，。？！")
    slashed = re.fullmatch(r"(\d{1,2})/(\d{1,2})/\d{4}", plain)  # nobody knows which number is the month: 3/8/2026
    is_ambiguous = slashed and slashed[1] != slashed[2] and max(int(slashed[1]), int(slashed[2])) <= 12
    if not 0 < len(plain) <= MAX_CHARACTERS or is_ambiguous:
        return None
    plain = _COMPACT.sub(r"\1-\2-\3", plain) if _COMPACT.fullmatch(plain) else plain
    for spelled in dict.fromkeys((plain, re.sub(r"(?<=[^\W\d])[-_]|[-_](?=[^\W\d])", " ", plain))):
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
    """A period as it is understood again: `2026-03-08`, `2026-03-01 to 2026-03-07`, `since 2026-03-01`."""
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
                # Of what goes on, where it began.
                place = f"since {first:%A} {first}" if first <= today < end else f"{first} to {plus(end, -1)}"
                return f"{word} {unit} ({place})"
    if end == plus(today, 1):
        return f"in the last {(today - first).days} days (since {first})"
    return f"from {first} to {plus(end, -1)}"


TIME_FORMS: Final = "2026-03-01, 2026-03-01T18:00, today, yesterday, last week, March, or how long ago: 30m, 2h, 3d, 1w"


def parse_instant(
    option: str, text: str | None, calendar: Calendar, *, at_end: bool = False, is_since: bool = True
) -> datetime | None:
    """The point in time that a text names, where the user is unless it says otherwise: where all days since a period
    begin, or its own first day, or its end. `3d` is exactly three times 24 hours ago.

    Raises `UsageError` for a text that names no time."""
    if text is None:
        return None
    try:
        return _parse(text.strip(), calendar, at_end=at_end, is_since=is_since and not at_end).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{option} {text!r} is not a time.", hint=f"Write {TIME_FORMS}.") from error


def _parse(text: str, calendar: Calendar, *, at_end: bool, is_since: bool) -> datetime:
    """Raises `ValueError` for what is none, `OverflowError` for what is too long ago."""
    zone = calendar.now.tzinfo
    if ago := re.fullmatch(r"(?P<count>[0-9]{1,6})\s*(?P<unit>[mhdw])", text.casefold()):
        unit = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}[ago["unit"]]
        return calendar.now.astimezone(UTC) - timedelta(**{unit: int(ago["count"])})
    if period := filter_period("after" if is_since else "on", text, calendar):
        if at_end:
            if period.end is None:
                raise ValueError(text)
            return datetime.combine(plus(period.end, -1), time.max, zone)
        if period.first is None:
            raise ValueError(text)
        return datetime.combine(period.first, time.min, zone)
    if len(text) <= len("2026-03-01"):
        raise ValueError(text)
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=zone)


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
    are = "are not times" if len(unknown) > 1 else "is not a time"
    return f"{' and '.join(unknown)} {are}." if unknown else ""


def impossible_times(text: str, calendar: Calendar) -> str:
    """A sentence on filters that no day passes together; empty where there are none."""
    found = [(match.group(), days) for match, days in time_filters(text, calendar) if days]
    period: DayRange | None = None
    for _, days in found:
        period = days.overlap(period)
    is_empty = period is not None and period.first and period.end and period.first >= period.end
    return f"No day fits {' and '.join(words for words, _ in found)}." if is_empty else ""


def check_times(text: str, calendar: Calendar) -> None:
    """Raises `UsageError` for a filter that names no time."""
    if unknown := unknown_times(text, calendar):
        raise UsageError(unknown, hint=f"Write {PERIOD_FORMS}. To search for the words themselves, put them in quotes.")
