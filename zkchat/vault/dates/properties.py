"""Which properties of a note tell when it was written and changed."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from zkchat.lexicon.words import of_all
from zkchat.vault.dates.day_texts import folded, parse_property

_GAPS: Final = str.maketrans("", "", " _-:")


def stated_dates(properties: Mapping[str, object]) -> tuple[str | None, str | None]:
    """When a note was written and when it was changed, by its properties, in the form of `DateFacts`."""
    found: dict[str, object] = {}
    for name, value in properties.items():
        found.setdefault(_plain(name), value)
    return _first(found, _names("created_properties")), _first(found, _names("updated_properties"))


def _first(found: Mapping[str, object], names: Iterable[str]) -> str | None:
    return next((day for name in names if name in found and (day := parse_property(found[name]))), None)


@cache
def _names(key: str) -> tuple[str, ...]:
    return tuple(map(_plain, of_all(key).split()))


def _plain(name: str) -> str:
    return folded(name).translate(_GAPS)
