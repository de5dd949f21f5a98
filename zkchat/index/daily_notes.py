"""Daily notes: how today's is called by Obsidian's settings, and which note that is."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Final

from msgspec import Struct

from zkchat.core import NOTE_SUFFIX, Ambiguous, Link, Resolved, file_title, is_note
from zkchat.index.library import Library

_DEFAULT_FORMAT: Final = "YYYY-MM-DD"
_USUAL_FORMATS: Final = (_DEFAULT_FORMAT, "YYYYMMDD", "YYYY_MM_DD", "YYYY.MM.DD", "DD-MM-YYYY", "DD.MM.YYYY")
_ISO_NAME: Final = re.compile(r"\d{4}-\d\d-\d\d")


class DailyNoteSettings(Struct, frozen=True, kw_only=True):
    """Where Obsidian puts daily notes, and how it names them."""

    folder: str = ""
    format: str = ""
    """In the notation of moment.js; empty: nothing is set."""
    template: str = ""
    """The note whose text a new daily note gets, as a path; empty: none."""


class DailyNote(Struct, frozen=True, kw_only=True):
    expected_path: str
    path: str | None = None
    """Where it is; None if there is none."""


def find_daily_note(library: Library, settings: DailyNoteSettings, day: date) -> DailyNote:
    """The daily note of a day: at the path that the settings give it, else by one of the usual names anywhere."""
    folder = settings.folder
    if not (settings.format or folder):  # the folder with most notes that are named by a date
        dated = [row.path for row in library.notes() if _ISO_NAME.fullmatch(file_title(row.path))]
        folders = Counter(path.rpartition("/")[0] for path in dated)
        folder = folders.most_common(1)[0][0] if folders else ""
    name = format_day(settings.format or _DEFAULT_FORMAT, day)
    expected = "/".join(part for part in f"{folder}/{name}".split("/") if part) + NOTE_SUFFIX
    formats = (settings.format, *_USUAL_FORMATS) if settings.format else _USUAL_FORMATS
    names = [format_day(each, day).rpartition("/")[2] for each in formats]
    for target in (f"/{expected}", *names):
        found = library.resolve(Link(text=f"[[{target}]]", target=target), suggestions=0)
        if isinstance(found, Resolved | Ambiguous) and is_note(found.path):
            return DailyNote(expected_path=expected, path=found.path)
    return DailyNote(expected_path=expected)


_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _week(day: date) -> tuple[int, int]:
    """Year and number of the week as in the United States: weeks begin on Sunday, and 1 January is in the first."""
    saturday = day + timedelta(days=(5 - day.weekday()) % 7)
    return saturday.year, (saturday.timetuple().tm_yday - 1) // 7 + 1


_TOKENS: Final[dict[str, Callable[[Any], str]]] = {
    "YYYY": lambda day: f"{day.year:04}",
    "YY": lambda day: f"{day.year % 100:02}",
    "Q": lambda day: str((day.month + 2) // 3),
    "MMMM": lambda day: _MONTHS[day.month - 1],
    "MMM": lambda day: _MONTHS[day.month - 1][:3],
    "MM": lambda day: f"{day.month:02}",
    "Mo": lambda day: _ordinal(day.month),
    "M": lambda day: str(day.month),
    "DDDD": lambda day: f"{day.timetuple().tm_yday:03}",
    "DDD": lambda day: str(day.timetuple().tm_yday),
    "DD": lambda day: f"{day.day:02}",
    "Do": lambda day: _ordinal(day.day),
    "D": lambda day: str(day.day),
    "dddd": lambda day: _WEEKDAYS[day.weekday()],
    "ddd": lambda day: _WEEKDAYS[day.weekday()][:3],
    "dd": lambda day: _WEEKDAYS[day.weekday()][:2],
    "d": lambda day: str(day.isoweekday() % 7),
    "E": lambda day: str(day.isoweekday()),
    "e": lambda day: str(day.isoweekday() % 7),
    "GGGG": lambda day: f"{day.isocalendar().year:04}",
    "WW": lambda day: f"{day.isocalendar().week:02}",
    "W": lambda day: str(day.isocalendar().week),
    "gggg": lambda day: f"{_week(day)[0]:04}",
    "ww": lambda day: f"{_week(day)[1]:02}",
    "w": lambda day: str(_week(day)[1]),
}
_TIME_TOKENS: Final[dict[str, Callable[[Any], str]]] = {
    "HH": lambda at: f"{at.hour:02}",
    "H": lambda at: str(at.hour),
    "hh": lambda at: f"{at.hour % 12 or 12:02}",
    "h": lambda at: str(at.hour % 12 or 12),
    "mm": lambda at: f"{at.minute:02}",
    "m": lambda at: str(at.minute),
    "ss": lambda at: f"{at.second:02}",
    "s": lambda at: str(at.second),
    "SSS": lambda at: f"{at.microsecond // 1000:03}",
    "A": lambda at: "AM" if at.hour < 12 else "PM",
    "a": lambda at: "am" if at.hour < 12 else "pm",
    "ZZ": lambda at: f"{at:%z}",
    "Z": lambda at: f"{at:%z}"[:3] + ":" + f"{at:%z}"[3:],
    "X": lambda at: str(int(at.timestamp())),
    "x": lambda at: str(int(at.timestamp() * 1000)),
}


def format_day(notation: str, day: date) -> str:
    """A day in the notation of moment.js, with English names; what is no token of a date stays as it is."""
    return _formatted(notation, {name: partial(value, day) for name, value in _TOKENS.items()})


def format_moment(notation: str, at: datetime) -> str:
    """The same of a day and its time."""
    return _formatted(notation, {name: partial(value, at) for name, value in (_TOKENS | _TIME_TOKENS).items()})


def _formatted(notation: str, values: Mapping[str, Callable[[], str]]) -> str:
    tokens = "|".join(sorted(values, key=len, reverse=True))
    pattern = rf"\[(?P<literal>[^\]]*)\]|{tokens}"
    return re.sub(pattern, lambda found: values[found[0]]() if found["literal"] is None else found["literal"], notation)
