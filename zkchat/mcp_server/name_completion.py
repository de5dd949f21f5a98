"""Completions of what a user types for an argument: paths and titles of notes, folders, times."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import Final

from msgspec import Struct

from zkchat.mcp_server.vault_files import VisibleFiles
from zkchat.model.index import CatalogRow
from zkchat.model.note import file_title, is_note
from zkchat.vault.library import GuardedLibrary

MAX_VALUES: Final = 100
"""As the protocol has it."""
_DAYS: Final = 14
_PERIODS: Final = ("today", "yesterday", "1d", "3d", "1w", "2w", "4w")


class Completions(Struct, frozen=True, kw_only=True):
    values: Sequence[str] = ()
    total: int = 0

    @classmethod
    def of(cls, found: Iterable[str]) -> "Completions":
        values = [*dict.fromkeys(found)]
        return cls(values=values[:MAX_VALUES], total=len(values))


def complete_path(files: VisibleFiles, typed: str) -> Completions:
    """The paths that begin with what is typed, then those of files whose name, title or alias does or has a word that
    does."""
    return _confirmed(files.library, _ranked(files.rows(), typed.removeprefix("/")))


def complete_link(files: VisibleFiles, typed: str) -> Completions:
    """A text whose last link is not closed yet, with the notes that it may mean."""
    before, opening, name = typed.rpartition("[[")
    if not opening or "]]" in name:
        return Completions()
    found = _confirmed(files.library, _ranked([row for row in files.rows() if is_note(row.path)], name))
    return Completions(values=[f"{before}{files.library.link_to(path)}" for path in found.values], total=found.total)


def complete_folder(library: GuardedLibrary, typed: str) -> Completions:
    """The folders that hold a note, by how they begin."""
    paths = [row.path for row in library.notes()]
    folders = sorted({folder for path in paths for folder in _folders_of(path)})
    found = [folder for folder in folders if _key(folder).startswith(_key(typed))][:MAX_VALUES]
    shown = [folder for folder in found if library.find_folder(f"{folder}/")]
    return Completions.of(shown)


def complete_period(typed: str, today: date) -> Completions:
    """Times since when: words, how long ago, and the last days."""
    return Completions.of(each for each in (*_PERIODS, *_last_days(today)) if each.startswith(typed.casefold()))


def complete_day(typed: str, today: date) -> Completions:
    return Completions.of(each for each in ("today", "yesterday", *_last_days(today)) if each.startswith(typed))


def _last_days(today: date) -> Iterator[str]:
    return ((today - timedelta(days=back)).isoformat() for back in range(_DAYS))


def _folders_of(path: str) -> Iterator[str]:
    folder = path
    while folder := folder.rpartition("/")[0]:
        yield folder


def _confirmed(library: GuardedLibrary, paths: Sequence[str]) -> Completions:
    first = paths[:MAX_VALUES]
    shown = library.confirmed(first)
    return Completions(values=shown, total=len(paths) - len(first) + len(shown))


def _ranked(rows: Iterable[CatalogRow], typed: str) -> list[str]:
    """The paths that fit, the best first, else by path."""
    wanted = _key(typed)
    ranks = ((_rank(row, wanted), row.path) for row in rows)
    return [path for rank, path in sorted(pair for pair in ranks if pair[0] is not None)]


def _rank(row: CatalogRow, wanted: str) -> int | None:
    path = _key(row.path)
    if path.startswith(wanted):
        return 0
    names = [_key(name) for name in (file_title(row.path), row.title, *row.aliases)]
    if any(name.startswith(wanted) for name in names):
        return 1
    if any(f" {wanted}" in name for name in names):
        return 2
    return 3 if wanted in path else None


def _key(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())
