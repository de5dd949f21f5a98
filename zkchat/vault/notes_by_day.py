"""The notes of some days, in the order of time."""

from typing import Final

from msgspec.structs import replace

from zkchat.model.dates import DayRange, NoteDates
from zkchat.model.index import NotesOfDays
from zkchat.model.note import is_note
from zkchat.vault.library import Library

_MORE: Final = 8
"""How many times as many are looked at where too many were templates or no notes."""


def notes_by_day(library: Library, wanted: NotesOfDays, *, with_templates: bool = False) -> dict[str, NoteDates]:
    """By path the dates of the notes that are wanted, in the order of their days: the newest first unless the oldest
    are wanted, those of one day by path.

    By the days on which they were written, notes that tell them come before those whose file alone has a date.
    """
    looked_at = wanted
    while True:
        known = library.dates_of_days(looked_at)
        first = _in_order(known, wanted)[: looked_at.most]
        notes = [path for path in first if is_note(path)]
        found = (notes if with_templates else library.without_templates(notes))[: wanted.most]
        if wanted.most is None or looked_at.most is None or len(found) == wanted.most or len(first) < looked_at.most:
            return {path: known[path] for path in found}
        looked_at = replace(looked_at, most=_MORE * looked_at.most)


def changed_last(library: Library, limit: int, period: DayRange | None = None) -> dict[str, NoteDates]:
    """By path the dates of the notes that changed last, of all days or in a period: so many, and all others that
    changed on the same days."""
    wanted = NotesOfDays(days=period or DayRange(), by_change=True, most=limit)
    found = notes_by_day(library, wanted, with_templates=True)
    if not found or len(found) < limit:
        return found
    days = DayRange(min(each.changed.day for each in found.values()), wanted.days.end)
    return notes_by_day(library, NotesOfDays(days=days, by_change=True), with_templates=True)


def _in_order(known: dict[str, NoteDates], wanted: NotesOfDays) -> list[str]:
    dates = {path: each.changed if wanted.by_change else each.written for path, each in known.items()}
    sign = 1 if wanted.oldest_first else -1

    def position(path: str) -> tuple[bool, int, str]:
        is_told = wanted.by_change or dates[path].is_told
        return not is_told, sign * dates[path].day.toordinal(), path

    return sorted((path for path, each in dates.items() if each.day in wanted.days), key=position)
