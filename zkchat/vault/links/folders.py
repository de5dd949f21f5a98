"""Folders of the vault: which one a name means, and what it holds, as a list that can be read back. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from zkchat.model.index import CatalogRow
from zkchat.model.note import file_title, is_note
from zkchat.model.text import counted
from zkchat.vault.notes.wikilink import name_key

MAX_LISTED: Final = 200
"""Files of a folder that are listed."""
_MAX_NEAREST: Final = 3


def is_folder(path: str) -> bool:
    """Whether a path names a folder: it ends in a slash."""
    return path.endswith("/")


class Folders:
    """The folders that hold a file, by the names that people use."""

    def __init__(self, paths: Iterable[str]) -> None:
        found = sorted(folders_of(paths))
        self._by_key = {name_key(folder[:-1]): folder for folder in reversed(found)}
        self._by_name: dict[str, list[str]] = {}
        for key in self._by_key:
            self._by_name.setdefault(key.rpartition("/")[2], []).append(key)

    def find(self, wanted: str) -> str:
        """The folder that a name means, with a slash at its end: by its path, else by the end of its path where only
        one has that end. Empty where there is none."""
        key = name_key(wanted.strip("/"))
        if key in self._by_key:
            return self._by_key[key]
        ending = [each for each in self._by_name.get(key.rpartition("/")[2], ()) if each.endswith(f"/{key}")]
        return self._by_key[ending[0]] if len(ending) == 1 else ""

    def nearest(self, wanted: str) -> list[str]:
        """Folders with a name like this one."""
        key = name_key(wanted.strip("/"))
        near = [*get_close_matches(key, self._by_key)]
        for name in get_close_matches(key.rpartition("/")[2], self._by_name):
            near += self._by_name[name]
        return [self._by_key[each] for each in dict.fromkeys(near)][:_MAX_NEAREST]


def folders_of(paths: Iterable[str]) -> set[str]:
    """All folders that hold a file, each with a slash at its end."""
    found: set[str] = set()
    for path in paths:
        end = path.rfind("/")
        while end > 0 and (folder := path[: end + 1]) not in found:
            found.add(folder)
            end = path.rfind("/", 0, end)
    return found


def rows_in(folder: str, rows: Iterable[CatalogRow]) -> list[CatalogRow]:
    """What lies in a folder or below it, notes first, by path."""
    inside = (row for row in rows if row.path.startswith(folder) and not re.search(r"[\n\r]", row.path))
    return sorted(inside, key=lambda row: (not is_note(row.path), row.path))


def describe_folder(folder: str, listed: Sequence[CatalogRow], total: int) -> str:
    """The list of a folder: a line for each file, with the title of a note where its name does not say it."""
    more = [f"(and {total - len(listed):,} more)"] if total > len(listed) else []
    return "\n".join([f"The folder {folder} holds {counted(total, 'file')}:", *map(_item, listed), *more]) + "\n"


def _item(row: CatalogRow) -> str:
    title = " ".join(row.title.split())
    return f"- {row.path} | {title}" if title and title != file_title(row.path) else f"- {row.path}"


def listed_paths(text: str) -> Iterator[str]:
    """The paths that the list of a folder names, and for a path that itself holds a bar what may be one."""
    for line in text.split("\n"):
        if line.startswith("- "):
            place = line[2:]
            yield place
            end = place.rfind(" | ")
            while end >= 0:
                yield place[:end]
                end = place.rfind(" | ", 0, end + 2)
