"""The notes of some days, in the order of time."""

from typing import Final

from msgspec.structs import replace

from zkchat.model.dates import NoteDates
from zkchat.model.index import NotesOfDays
from zkchat.model.note import is_note
from zkchat.vault.library import Library

_MORE: Final = 8
"""How many times as many are looked at where too many were templates or no notes."""


def notes_by_day(library: Library, wanted: NotesOfDays) -> dict[str, NoteDates]:
    """By path the dates of the notes that are wanted, without templates: in the order of their days, the newest first
    unless the oldest are wanted, those of one day by path.

    By the days on which they were written, notes that tell them come before those whose file alone has a date.
    """
    looked_at = wanted
    while True:
        known = library.dates_of_days(looked_at)
        first = _in_order(known, wanted)[: looked_at.most]
        found = library.without_templates(path for path in first if is_note(path))[: wanted.most]
        if wanted.most is None or looked_at.most is None or len(found) == wanted.most or len(first) < looked_at.most:
            return {path: known[path] for path in found}
        looked_at = replace(looked_at, most=_MORE * looked_at.most)


def _in_order(known: dict[str, NoteDates], wanted: NotesOfDays) -> list[str]:
    dates = {path: each.changed if wanted.by_change else each.written for path, each in known.items()}
    sign = 1 if wanted.oldest_first else -1

    def position(path: str) -> tuple[bool, int, str]:
        is_told = wanted.by_change or dates[path].is_told
        return not is_told, sign * dates[path].day.toordinal(), path

    return sorted((path for path, each in dates.items() if each.day in wanted.days), key=position)
