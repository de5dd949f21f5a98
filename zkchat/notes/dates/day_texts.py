"""Days as properties of notes and names of files write them, and which of them date a note."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct

from zkchat.core import DateFacts, DateOrigin, NoteDate, NoteDates, Section, StorageDamaged, lazy_pattern
from zkchat.language import by_code, of_all, phrases

FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2199
"""What lies outside is no date of a note: it speaks of history, or is a number of another kind."""
MAX_CHARACTERS: Final = 100
_FIRST_SECOND: Final = 631_152_000
_LAST_SECOND: Final = 7_258_118_399
"""Since 1970: from 1990 to 2199, so that a number with ten digits is taken for a time only where it is likely one."""
_MAX_MONTH: Final = 12
_NOON: Final = 12

_CLOCK: Final = lazy_pattern(
    r"""(?: t | [\s,;]+ (?: (?:at|um|a|à|as|às|kl|om) \s+ )? )
    (?P<hour>\d{1,2}) (?: [:h.] (?P<minute>\d\d) (?: [:.] (?P<second>\d\d) (?: [.,]\d{1,9} )? )? | (?=\s*[ap]m) )
    \s* (?P<half>[ap]\.?m\.?)? (?:\s*uhr|\s*h)?
    \s* (?P<zone>z|utc|gmt|(?:utc|gmt)?[+-]\d\d:?\d\d|[+-]\d\d)? (?:\s*[a-z]{3,5}|\s*\([^()]*\))? \Z""",
    re.VERBOSE,
)
_ORDINAL: Final = r"(?:st|nd|rd|th|er|\.|º|ª|o\b)?"
_NAME: Final = r"(?P<month>[^\W\d_]{3,})\.?"
_GAP: Final = r"[\s\-/,]* (?: (?:of|de|del)\s+ )?"
_DAY_FORMS: Final = tuple(
    lazy_pattern(form, re.VERBOSE)
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
    lazy_pattern(form, re.VERBOSE)
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
    clock = _CLOCK.search(plain) if re.search(r"\d[:h.]\d\d|\d\s*[ap]\.?m", plain) else None
    if clock and (day := parse_day(plain[: clock.start()])):
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
    candidates = [plain]
    before, after = _WEEKDAY_BEFORE.match(plain), _WEEKDAY_AFTER.search(plain)
    if before and is_weekday(before[1]):
        candidates.append(plain[before.end() :].strip(" ,"))
    if after and (after[1] is None or is_weekday(after[1])):
        candidates.append(plain[: after.start()].strip(" ,"))
    fitting = (found for each in candidates for form in _DAY_FORMS if (found := form.fullmatch(each)))
    first = next(fitting, None)
    return _day_of(first) if first else None


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
    if len(word) < 3:
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
    return len(word) >= 2 and any(name.startswith(word) or word.startswith(name) for _, name in _named("weekdays"))


@cache
def _named(key: str) -> list[tuple[int, str]]:
    return [(number, folded(name)) for names in by_code(key).values() for number, name in enumerate(names.split(), 1)]


_MAX_CHARACTERS: Final = 250
_DIGIT: Final = lazy_pattern(r"\d")
_YEAR: Final = lazy_pattern(r"\d{4}")
_BEGINS_WITH_DAY: Final = lazy_pattern(
    r"(?P<year>\d{4})(?P<sep>[-_. ])(?P<month>\d\d)(?P=sep)(?P<day>\d\d)"
    r"(?:[T _-]+(?P<hour>\d\d)[:.h-]?(?P<minute>\d\d)(?:[:.-]?(?P<second>\d\d))?)?(?![^\W_])"
)
_BEGINS_WITH_ID: Final = lazy_pattern(r"(\d{14}|\d{12}|\d{8}(?:t\d{4}(?:\d\d)?)?)(?![^\W_])", re.IGNORECASE)
_BEGINS_WITH_UNSPACED: Final = lazy_pattern(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日号號일]")
_BEGINS_WITH_WEEK: Final = lazy_pattern(r"(\d{4}-w\d\d)(?![^\W_])", re.IGNORECASE)
_ENDS_WITH_DAY: Final = lazy_pattern(r"(?<![^\W_])(?P<year>\d{4})(?P<sep>[-_])(?P<month>\d\d)(?P=sep)(?P<day>\d\d)\Z")
_FOLDERS: Final = lazy_pattern(r"(?:\A|/)(\d{4})/(\d\d)/(\d\d)\Z")
_MAX_TOKENS: Final = 12
_MAX_WORDS: Final = 3
"""Formats come with the vault: one with many tokens could take for ever to compare with a name."""
_WORD: Final = r"[^\W\d_]{2,15}\.?"
_TOKENS: Final[Mapping[str, str]] = {
    "YYYY": r"\d{4}", "YY": r"\d\d", "GGGG": r"\d{4}", "gggg": r"\d{4}",
    "Qo": r"[1-4]\w\w", "Q": "[1-4]",
    "MMMM": _WORD, "MMM": _WORD, "MM": r"\d\d", "Mo": r"\d{1,2}\w\w", "M": r"\d{1,2}",
    "DDDD": r"\d{3}", "DDD": r"\d{1,3}", "DD": r"\d\d", "Do": r"\d{1,2}[^\W\d_]{0,2}\.?", "D": r"\d{1,2}",
    "dddd": _WORD, "ddd": _WORD, "dd": _WORD, "d": "[0-6]", "E": "[1-7]", "e": "[0-6]",
    "WW": r"\d\d", "W": r"\d{1,2}", "ww": r"\d\d", "w": r"\d{1,2}",
    "HH": r"\d\d", "H": r"\d{1,2}", "hh": r"\d\d", "h": r"\d{1,2}", "mm": r"\d\d", "m": r"\d{1,2}", "ss": r"\d\d",
    "s": r"\d{1,2}", "SSS": r"\d{3}", "A": "[AP]M", "a": "[ap]m", "ZZ": r"[+-]\d{4}", "Z": r"[+-]\d\d:\d\d",
    "X": r"\d{10}", "x": r"\d{13}",
}  # fmt: skip
"""What stands in a name in the place of each token."""
_TOKEN: Final = lazy_pattern(rf"\[([^\]]*)\]|({'|'.join(sorted(_TOKENS, key=len, reverse=True))})|(.)", re.DOTALL)
_FIELDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("YYYY", "YY", "GGGG", "gggg"), "year"),
    **dict.fromkeys(("Qo", "Q"), "quarter"),
    **dict.fromkeys(("MMMM", "MMM", "MM", "Mo", "M"), "month"),
    **dict.fromkeys(("DDDD", "DDD"), "day_of_year"),
    **dict.fromkeys(("DD", "Do", "D"), "day"),
    **dict.fromkeys(("WW", "W", "ww", "w"), "week"),
    "E": "weekday",
}


def name_date(path: str, formats: Sequence[str] = ()) -> str | None:
    """The day, or day and time, that the path of a file names, in the form of `DateFacts`.

    `formats` are those of Obsidian's settings, in the notation of moment.js.
    """
    stem = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
    name = stem.rpartition("/")[2]
    if len(name) > _MAX_CHARACTERS or not _DIGIT.search(name):
        return None
    for notation in formats:
        known = moment_format(notation)
        if known and (told := known.day_of(stem)):
            return told.isoformat()
    if found := leading_date(name):
        return found
    day: date | None = None
    if ends := _ENDS_WITH_DAY.search(name):  # `Meeting 2026-03-08`
        day = valid_day(ends["year"], ends["month"], ends["day"])
    elif ends := re.search(r"(?<=\.)(\d{4})\.(\d\d)\.(\d\d)\Z", name) or _FOLDERS.search(stem):
        # `daily.journal.2026.03.08`, `2026/03/08`
        day = valid_day(*ends.groups())
    day = day or whole_date(name)
    return day.isoformat() if day else None


def whole_date(name: str) -> date | None:
    """`March 8th, 2026`, `08.03.2026`, `2026-03`."""
    if not _YEAR.search(name):
        return None
    plain = folded(name)
    return parse_day(plain) or parse_stretch(plain)


def leading_date(name: str) -> str | None:
    """`2026-03-08 Meeting`, `202603081230 Links`, `2026-W10 Review`."""
    if found := _BEGINS_WITH_DAY.match(name):
        day = valid_day(found["year"], found["month"], found["day"])
        if day is None:
            return None
        clock = f"{found['hour']}{found['minute']}{found['second'] or '00'}" if found["hour"] else ""
        return (clock and parse_compact(f"{day:%Y%m%d}{clock}")) or day.isoformat()
    if found := _BEGINS_WITH_ID.match(name):
        return parse_compact(found[1].lower())
    if found := _BEGINS_WITH_UNSPACED.match(name):
        day = valid_day(*found.groups())
    elif found := _BEGINS_WITH_WEEK.match(name):
        day = parse_stretch(found[1].lower())
    else:
        return None
    return day.isoformat() if day else None


class MomentFormat(Struct, frozen=True):
    """A format whose dates can be read back."""

    pattern: re.Pattern[str]
    tokens: tuple[str, ...]
    folders: int
    """How many folders it names."""

    def day_of(self, stem: str) -> date | None:
        """The day that the end of a path, without the suffix of the file, was made from."""
        found = self.pattern.fullmatch("/".join(stem.split("/")[-self.folders - 1 :]))
        return _day(self.tokens, found.groups()) if found else None


@lru_cache(maxsize=64)
def moment_format(notation: str) -> MomentFormat | None:
    """None for a format that does not tell the day, or that nobody would choose."""
    if not 0 < len(notation) <= 200:
        return None
    pattern, tokens = "", []
    for literal, token, other in _TOKEN.findall(notation.strip("/")):
        pattern += f"({_TOKENS[token]})" if token else re.escape(literal or other)
        tokens += [token] * bool(token)
    fields = {_FIELDS.get(token) for token in tokens}
    words = sum(_TOKENS[token] == _WORD for token in tokens)
    if len(tokens) > _MAX_TOKENS or words > _MAX_WORDS:
        return None
    if "year" not in fields or fields.isdisjoint({"month", "day_of_year", "week", "quarter"}):
        return None
    return MomentFormat(re.compile(pattern), tuple(tokens), folders=pattern.count("/"))


def _day(tokens: tuple[str, ...], texts: tuple[str, ...]) -> date | None:
    """The day of what stands in the place of each token; None where two of them disagree."""
    values: dict[str, int] = {}
    for token, text in zip(tokens, texts, strict=True):
        name = _FIELDS.get(token)
        if name is None:
            continue
        digits = "".join(filter(str.isdecimal, text))
        value = month_number(folded(text).rstrip(".")) if token in {"MMMM", "MMM"} else int(digits)
        if value is None:
            return None
        value += 2000 * (len(text) == 2 and name == "year")
        if values.setdefault(name, value) != value:
            return None
    year = values["year"]
    if "day" in values and "month" in values:
        return valid_day(year, values["month"], values["day"])
    if "day_of_year" in values:
        first = valid_day(year, 1, 1)
        found = first + timedelta(days=values["day_of_year"] - 1) if first else None
        return found if found and found.year == year else None
    if "week" in values:
        return week_day(year, values["week"], values.get("weekday", 1))
    return valid_day(year, values["month"] if "month" in values else 3 * values["quarter"] - 2, 1)


_DAY_LENGTH: Final = len("2026-03-08")
_MARKUP: Final = " \t[]()*_`~="
_AFTER_DAY: Final = lazy_pattern(r":\s|[:：]?\s*[-–—|·]\s|[,;(\[]\s*|：|\s(?=\()")
"""What may stand between a day and the rest of a heading."""


def day_of_headings(heading_path: Sequence[str]) -> date | None:
    """The day of the innermost heading that begins with one, or is one."""
    for heading in reversed(heading_path):
        if _YEAR.search(heading) and (day := _headings_day_of(heading)):
            return date.fromisoformat(day)
    return None


def section_days(sections: Sequence[Section]) -> dict[int, str]:
    """By place in the list, the day of each section whose headings tell one, in ISO form."""
    days = ((place, day_of_headings(section.heading_path)) for place, section in enumerate(sections))
    return {place: day.isoformat() for place, day in days if day}


@lru_cache(maxsize=256)
def _headings_day_of(heading: str) -> str | None:
    plain = heading[:200].strip(_MARKUP)
    if found := leading_date(plain):
        return found[:_DAY_LENGTH]
    for separator in (None, *_AFTER_DAY.finditer(plain)):
        day = whole_date(plain[: separator.start()].strip(_MARKUP) if separator else plain)
        if day:
            return day.isoformat()
    return None


_GAPS: Final = str.maketrans("", "", " _-:")


def stated_dates(properties: Mapping[str, object]) -> tuple[str | None, str | None]:
    """When a note was written and when it was changed, by its properties, in the form of `DateFacts`."""
    found: dict[str, object] = {}
    for name, value in properties.items():
        found.setdefault(_plain(name), value)

    def first(key: str) -> str | None:
        return next((day for name in _names(key) if name in found and (day := parse_property(found[name]))), None)

    return first("created_properties"), first("updated_properties")


@cache
def _names(key: str) -> tuple[str, ...]:
    return tuple(map(_plain, of_all(key).split()))


def _plain(name: str) -> str:
    return folded(name).translate(_GAPS)


def all_dates(facts: Mapping[str, DateFacts], zone: tzinfo | None) -> dict[str, NoteDates]:
    """By path. Raises `StorageDamaged` for facts that nobody stored."""
    try:
        return {path: note_dates(each, zone) for path, each in facts.items()}
    except (TypeError, ValueError) as error:
        raise StorageDamaged(
            "The dates in the search index are damaged.", hint="Rebuild it: zkchat config index --rebuild"
        ) from error


def note_dates(facts: DateFacts, zone: tzinfo | None) -> NoteDates:
    """When a note was written and changed, in a time zone; None is the system's."""
    named, created, updated_text, committed, first_committed, modified_ns = facts
    updated = None if updated_text is None else _of_text(updated_text, "frontmatter", zone)
    last = None if committed is None else _of_instant(committed, "git", zone)
    if updated and last:
        changed = last if last.day > updated.day else updated
    else:
        changed = updated or last or _of_instant(modified_ns // 1_000_000_000, "file", zone)
    if named is not None:
        return NoteDates(_of_text(named, "name", zone), changed, updated)
    if created is not None:
        return NoteDates(_of_text(created, "frontmatter", zone), changed, updated)
    if updated or first_committed is None:
        return NoteDates(updated or changed, changed, updated)
    return NoteDates(_of_instant(first_committed, "git", zone), changed, updated)


def _of_instant(seconds: int, origin: DateOrigin, zone: tzinfo | None) -> NoteDate:
    """A time that a calendar cannot hold is the beginning of 1970."""
    try:
        at = datetime.fromtimestamp(seconds, zone)
    except (OverflowError, OSError, ValueError):
        return NoteDate(date(1970, 1, 1), None, origin)
    return NoteDate(at.date(), at.time(), origin)


def _of_text(text: str, origin: DateOrigin, zone: tzinfo | None) -> NoteDate:
    """Raises `ValueError` for a text that was not stored as a date."""
    if len(text) == _DAY_LENGTH:
        return NoteDate(date.fromisoformat(text), None, origin)
    at = datetime.fromisoformat(text)
    if at.tzinfo is not None:
        return _of_instant(int(at.timestamp()), origin, zone)
    return NoteDate(at.date(), at.time(), origin)
