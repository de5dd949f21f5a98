"""Dates in the names of files: daily notes, notes of a week or month, zettel ids, names that begin with a day."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from zkchat.model.patterns import lazy_pattern
from zkchat.vault.dates.day_texts import parse_compact, parse_day, parse_stretch, valid_day
from zkchat.vault.dates.day_words import folded
from zkchat.vault.dates.moment_formats import moment_format

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
_ENDS_WITH_DOTS: Final = lazy_pattern(r"(?<=\.)(\d{4})\.(\d\d)\.(\d\d)\Z")
_FOLDERS: Final = lazy_pattern(r"(?:\A|/)(\d{4})/(\d\d)/(\d\d)\Z")


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
