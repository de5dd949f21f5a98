"""Dates in the names of files: daily notes, notes of a week or month, zettel ids, names that begin with a day.

Obsidian makes names by a format in the notation of moment.js.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from msgspec import Struct

from zkchat.vault.dates.day_texts import (
    FIRST_YEAR,
    LAST_YEAR,
    folded,
    month_number,
    parse_compact,
    parse_day,
    parse_stretch,
    valid_day,
    week_day,
)

_MAX_CHARACTERS: Final = 250
_DIGIT: Final = re.compile(r"\d")
_YEAR: Final = re.compile(r"\d{4}")
_BEGINS_WITH_DAY: Final = re.compile(
    r"(?P<year>\d{4})(?P<sep>[-_. ])(?P<month>\d\d)(?P=sep)(?P<day>\d\d)"
    r"(?:[T _-]+(?P<hour>\d\d)[:.h-]?(?P<minute>\d\d)(?:[:.-]?(?P<second>\d\d))?)?(?![^\W_])"
)
_BEGINS_WITH_ID: Final = re.compile(r"(\d{14}|\d{12}|\d{8}(?:t\d{4}(?:\d\d)?)?)(?![^\W_])", re.IGNORECASE)
_BEGINS_WITH_UNSPACED: Final = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日号號일]")
_BEGINS_WITH_WEEK: Final = re.compile(r"(\d{4}-w\d\d)(?![^\W_])", re.IGNORECASE)
_ENDS_WITH_DAY: Final = re.compile(r"(?<![^\W_])(?P<year>\d{4})(?P<sep>[-_])(?P<month>\d\d)(?P=sep)(?P<day>\d\d)\Z")
_ENDS_WITH_DOTS: Final = re.compile(r"(?<=\.)(\d{4})\.(\d\d)\.(\d\d)\Z")
_FOLDERS: Final = re.compile(r"(?:\A|/)(\d{4})/(\d\d)/(\d\d)\Z")
_MAX_FORMAT: Final = 200
"""Characters of a format."""
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
_TOKEN: Final = re.compile(rf"\[([^\]]*)\]|({'|'.join(sorted(_TOKENS, key=len, reverse=True))})|(.)", re.DOTALL)
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
        if known and (day := known.day_of(stem)):
            return day.isoformat()
    if found := leading_date(name):
        return found
    day = _trailing(stem, name) or whole_date(name)
    return day.isoformat() if day else None


def whole_date(name: str) -> date | None:
    """`March 8th, 2026`, `08.03.2026`, `2026-03`."""
    if not _YEAR.search(name):
        return None
    plain = folded(name)
    return parse_day(plain) or parse_stretch(plain)


def _trailing(stem: str, name: str) -> date | None:
    """`Meeting 2026-03-08`, `daily.journal.2026.03.08`, `2026/03/08`."""
    if ends := _ENDS_WITH_DAY.search(name):
        return valid_day(ends["year"], ends["month"], ends["day"])
    if ends := _ENDS_WITH_DOTS.search(name) or _FOLDERS.search(stem):
        return valid_day(*ends.groups())
    return None


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
        parts = stem.rsplit("/", self.folders + 1)
        found = self.pattern.fullmatch("/".join(parts[-self.folders - 1 :]))
        return _day(self.tokens, found.groups()) if found else None


@lru_cache(maxsize=64)
def moment_format(notation: str) -> MomentFormat | None:
    """None for a format that does not tell the day, or that nobody would choose."""
    if not 0 < len(notation) <= _MAX_FORMAT:
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
        value = month_number(folded(text).rstrip(".")) if token in {"MMMM", "MMM"} else _number(text)
        if value is None:
            return None
        value += 2000 * (len(text) == 2 and name == "year")
        if values.setdefault(name, value) != value:
            return None
    return _combined(values)


def _number(text: str) -> int:
    return int("".join(each for each in text if each.isdecimal()))


def _combined(values: Mapping[str, int]) -> date | None:
    year = values["year"]
    if "day" in values and "month" in values:
        return valid_day(year, values["month"], values["day"])
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    if "day_of_year" in values:
        found = date(year, 1, 1) + timedelta(days=values["day_of_year"] - 1)
        return found if found.year == year else None
    if "week" in values:
        return week_day(year, values["week"], values.get("weekday", 1))
    month = values["month"] if "month" in values else 3 * values["quarter"] - 2
    return valid_day(year, month, 1)
