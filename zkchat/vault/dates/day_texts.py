"""Days as properties of notes and names of files write them, in the form in which the index keeps them.

Where two numbers below 13 stand before the year, the first is the day: so it is written in all languages that we know
but the English of the United States, where the form with the name of the month is as usual.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import cache
from typing import Final

from zkchat.lexicon.words import by_code, phrases
from zkchat.model.patterns import lazy_pattern

FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2199
"""What lies outside is no date of a note: it speaks of history, or is a number of another kind."""
MAX_CHARACTERS: Final = 100
_FIRST_SECOND: Final = 631_152_000
_LAST_SECOND: Final = 7_258_118_399
"""Since 1970: from 1990 to 2199, so that a number with ten digits is taken for a time only where it is likely one."""
_MAX_MONTH: Final = 12
_NOON: Final = 12
_FEWEST_LETTERS: Final = 3
"""Of an abbreviated month."""
_FEWEST_OF_WEEKDAY: Final = 2

_CLOCK: Final = lazy_pattern(
    r"""(?: t | [\s,;]+ (?: (?:at|um|a|à|as|às|kl|om) \s+ )? )
    (?P<hour>\d{1,2}) (?: [:h.] (?P<minute>\d\d) (?: [:.] (?P<second>\d\d) (?: [.,]\d{1,9} )? )? | (?=\s*[ap]m) )
    \s* (?P<half>[ap]\.?m\.?)? (?:\s*uhr|\s*h)?
    \s* (?P<zone>z|utc|gmt|(?:utc|gmt)?[+-]\d\d:?\d\d|[+-]\d\d)? (?:\s*[a-z]{3,5}|\s*\([^()]*\))? \Z""",
    re.VERBOSE,
)
_HOUR: Final = lazy_pattern(r"\d[:h.]\d\d|\d\s*[ap]\.?m")
_ORDINAL: Final = r"(?:st|nd|rd|th|er|\.|º|ª|o\b)?"
_NAME: Final = r"(?P<month>[^\W\d_]{3,})\.?"
_GAP: Final = r"[\s\-/,]* (?: (?:of|de|del)\s+ )?"
_DAY_FORMS: Final = tuple(
    re.compile(form, re.VERBOSE)
    for form in (
        r"(?P<year>\d{4}) (?P<sep>[-/._\ ]) (?P<number>\d{1,2}) (?P=sep) (?P<day>\d{1,2})",
        r"(?P<year>\d{4}) (?P<number>\d\d) (?P<day>\d\d)",
        r"(?P<day>\d{1,2}) (?P<sep>[-/._\ ]|\.\s) (?P<number>\d{1,2}) (?P=sep) (?P<year>\d{4})\.?",
        rf"(?P<day>\d{{1,2}}){_ORDINAL} {_GAP} {_NAME} {_GAP} (?P<year>\d{{4}})",
        rf"{_NAME} [\s\-]* (?P<day>\d{{1,2}}){_ORDINAL} [\s\-,]+ (?P<year>\d{{4}})",
        rf"(?P<year>\d{{4}}) [\s\-,]+ {_NAME} [\s\-]* (?P<day>\d{{1,2}}){_ORDINAL}",
        r"(?P<year>\d{4})\s*[年년]\s*(?P<number>\d{1,2})\s*[月월]\s*(?P<day>\d{1,2})\s*[日号號일]",
    )
)
_MONTH_FORMS: Final = tuple(
    re.compile(form, re.VERBOSE)
    for form in (
        r"(?P<year>\d{4})-(?P<number>\d\d)",
        rf"{_NAME} \s+ (?:(?:of|de|del)\s+)? (?P<year>\d{{4}})",
        r"(?P<year>\d{4})\s*[年년]\s*(?P<number>\d{1,2})\s*[月월]",
    )
)
_WEEK: Final = lazy_pattern(r"(?P<year>\d{4})-?\s?(?:w|kw)(?P<week>\d\d)(?:-(?P<day>[1-7]))?")
_QUARTER: Final = lazy_pattern(r"(?P<year>\d{4})-?\s?q(?P<quarter>[1-4])")
_COMPACT: Final = lazy_pattern(r"(\d{4})(\d\d)(\d\d)(?:t?(\d\d)(\d\d)(\d\d)?)?(z?)")
_WEEKDAY_BEFORE: Final = lazy_pattern(r"([^\W\d_]{2,}(?:-feira)?)\.?,?\s+")
_WEEKDAY_AFTER: Final = lazy_pattern(
    r"\s*(?:[(（]?(?:星期|礼拜|周)?[一二三四五六日天月火水木金土](?:曜日?)?[)）]?)\Z|[\s,\-]+\(?([^\W\d_]{2,})\.?\)?\Z"
)


def parse_property(value: object) -> str | None:
    """The day, or day and time, that a property of a note holds; None where it holds none.

    With an offset it is the day as it was written there, in UTC it is a point in time.
    """
    for _ in range(2):  # `[[2026-03-08]]` without quotes is a list in a list
        if isinstance(value, list | tuple) and value:
            value = value[0]
    if isinstance(value, datetime):
        return _moment_text(value)
    if isinstance(value, date):
        return value.isoformat() if FIRST_YEAR <= value.year <= LAST_YEAR else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return parse_compact(str(value)) or _of_seconds(value)
    return parse_text(value) if isinstance(value, str) else None


def parse_text(text: str) -> str | None:
    """The day, or day and time, that a text names as a whole."""
    plain = folded(text[: MAX_CHARACTERS + 1]).strip().strip("[]\"'").strip()
    if not 0 < len(plain) <= MAX_CHARACTERS:
        return None
    if plain.isdecimal() and plain.isascii():
        return parse_compact(plain) or _of_seconds(int(plain))
    clock = _CLOCK.search(plain) if _HOUR.search(plain) else None
    if clock and (day := parse_day(plain[: clock.start()])):
        return _with_clock(day, clock)
    day = parse_day(plain) or parse_stretch(plain)
    return day.isoformat() if day else parse_compact(plain)


def parse_compact(text: str) -> str | None:
    """`20260308`, `202603081230`, `20260308123045`, `20260308t123045`."""
    found = _COMPACT.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second, zulu = found.groups()
    if hour is None:
        plain = valid_day(year, month, day)
        return plain.isoformat() if plain and not zulu else None
    try:
        at = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0))
    except ValueError:
        return None
    return _moment_text(at.replace(tzinfo=UTC) if zulu else at)


def parse_day(plain: str) -> date | None:
    """A day in folded text that may have the day of the week before or after it."""
    for candidate in _without_weekday(plain):
        for form in _DAY_FORMS:
            if found := form.fullmatch(candidate):
                return _day_of(found)
    return None


def _without_weekday(plain: str) -> Iterator[str]:
    """The text itself, and without the day of the week at its beginning or end."""
    yield plain
    before, after = _WEEKDAY_BEFORE.match(plain), _WEEKDAY_AFTER.search(plain)
    if before and is_weekday(before[1]):
        yield plain[before.end() :].strip(" ,")
    if after and (after[1] is None or is_weekday(after[1])):
        yield plain[: after.start()].strip(" ,")


def parse_stretch(plain: str) -> date | None:
    """The first day of a week, a month or a quarter in folded text."""
    if found := _WEEK.fullmatch(plain):
        return week_day(int(found["year"]), int(found["week"]), int(found["day"] or 1))
    if found := _QUARTER.fullmatch(plain):
        return valid_day(found["year"], 3 * int(found["quarter"]) - 2, 1)
    for form in _MONTH_FORMS:
        if found := form.fullmatch(plain):
            return _day_of(found)
    return None


def valid_day(year: int | str, month: int | str, day: int | str) -> date | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found if FIRST_YEAR <= found.year <= LAST_YEAR else None


def week_day(year: int, week: int, weekday: int) -> date | None:
    """A day of an ISO week, Monday being 1."""
    try:
        return date.fromisocalendar(year, week, weekday) if FIRST_YEAR <= year <= LAST_YEAR else None
    except ValueError:
        return None


def _day_of(found: re.Match[str]) -> date | None:
    groups = found.groupdict()
    month = int(groups["number"]) if groups.get("number") else month_number(groups["month"])
    day = int(groups.get("day") or 1)
    if month is None:
        return None
    if month > _MAX_MONTH and groups.get("sep") in {"/", "-"} and not found[0].startswith(groups["year"]):
        month, day = day, month  # 03/25/2026
    return valid_day(groups["year"], month, day)


def _with_clock(day: date, clock: re.Match[str]) -> str | None:
    hour, half = int(clock["hour"]), (clock["half"] or "")[:1]
    if half:
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    try:
        at = datetime.combine(day, time(hour, int(clock["minute"] or 0), int(clock["second"] or 0)))
    except ValueError:
        return day.isoformat()
    zone = clock["zone"]
    return _moment_text(at.replace(tzinfo=_zone(zone)) if zone else at)


def _zone(text: str) -> timezone:
    sign = text.find("+") if "+" in text else text.find("-")
    digits = text[sign + 1 :].replace(":", "") if sign >= 0 else "00"
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    try:
        return timezone(-offset if text[sign] == "-" else offset)
    except ValueError:
        return UTC


def _moment_text(at: datetime) -> str | None:
    if not FIRST_YEAR <= at.year <= LAST_YEAR:
        return None
    is_utc = at.utcoffset() == timedelta(0)
    return at.replace(microsecond=0, tzinfo=None).isoformat() + "Z" * is_utc


def _of_seconds(number: int) -> str | None:
    """A number of seconds or milliseconds since 1970."""
    seconds = number // 1000 if number > _LAST_SECOND else number
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
        return None
    return _moment_text(datetime.fromtimestamp(seconds, UTC))


def folded(text: str) -> str:
    """In lower case and without accents."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFD", text.casefold())
    return unicodedata.normalize("NFC", "".join(each for each in apart if not "\u0300" <= each <= "\u036f"))


@cache
def month_number(word: str) -> int | None:
    """The month that a folded word names, in any of the languages; None for `jui`, which may be June or July."""
    if len(word) < _FEWEST_LETTERS:
        return None
    if word in _month_names():
        return _month_names()[word]
    found = {month for month, name in _named("months") if name.startswith(word) or word.startswith(name)}
    return found.pop() if len(found) == 1 else None


@cache
def _month_names() -> dict[str, int]:
    """Other names of months and their abbreviations."""
    return {
        name: int(meaning.partition(":")[2])
        for words in by_code("calendar").values()
        for meaning, listed in words.items()
        if meaning.startswith("month:")
        for name in phrases(listed)
    }


@cache
def is_weekday(word: str) -> bool:
    """Whether a folded word names a day of the week."""
    return len(word) >= _FEWEST_OF_WEEKDAY and any(
        name.startswith(word) or word.startswith(name) for _, name in _named("weekdays")
    )


@cache
def _named(key: str) -> list[tuple[int, str]]:
    return [(number, folded(name)) for names in by_code(key).values() for number, name in enumerate(names.split(), 1)]
