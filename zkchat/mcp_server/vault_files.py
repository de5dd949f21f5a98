"""The files of a vault as a host may see them: listed in pages, and read."""

import unicodedata
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime
from mimetypes import MimeTypes
from typing import Final

from msgspec import Struct

from zkchat.errors import NoteNotFound
from zkchat.mcp_server.uris import Place, places_in
from zkchat.model.index import CatalogRow
from zkchat.model.note import Ambiguous, Link, Resolved, file_title, is_drawing, is_note
from zkchat.vault.guarded import targets_of
from zkchat.vault.library import GuardedLibrary

PAGE_FILES: Final = 100
MAX_BLOB_BYTES: Final = 8_000_000
"""Bytes of a file that is no note."""
MARKDOWN: Final = "text/markdown"
_TYPES: Final = MimeTypes()
for _type, _suffix in (
    ("text/yaml", ".base"),
    ("image/webp", ".webp"),
    ("image/avif", ".avif"),
    ("image/heic", ".heic"),
    ("audio/mp4", ".m4a"),
    ("audio/flac", ".flac"),
    ("video/x-matroska", ".mkv"),
):
    _TYPES.add_type(_type, _suffix)
_TEXT_TYPES: Final = ("text/", "application/json", "application/xml", "application/yaml", "application/javascript")


class ListedFile(Struct, frozen=True, kw_only=True):
    path: str
    title: str
    media_type: str
    size: int | None = None
    changed_at: datetime | None = None


class FilePage(Struct, frozen=True, kw_only=True):
    files: Sequence[ListedFile]
    cursor: str = ""
    """Where the next page begins; empty on the last one."""


class FileContent(Struct, frozen=True, kw_only=True):
    place: Place
    media_type: str
    text: str | None = None
    data: bytes = b""
    """Where it is no text."""


class VisibleFiles:
    """The files that a host may know.

    An attachment that is linked by notes which are kept back, and by no other, is kept back with them.
    """

    def __init__(self, library: GuardedLibrary) -> None:
        self.library = library
        self._known: tuple[int, frozenset[str]] | None = None
        self._rows: list[CatalogRow] = []

    def rows(self) -> list[CatalogRow]:
        """By path."""
        state = self.library.generation(), self.library.hidden()
        if self._known != state:
            kept_back = self._attachments_of(state[1])
            self._rows = sorted(
                (row for row in self.library.files() if row.path not in kept_back), key=lambda row: row.path
            )
            self._known = state
        return self._rows

    def _attachments_of(self, hidden: frozenset[str]) -> set[str]:
        if not hidden:
            return set()
        links = self.library.whole.links_from(*hidden)
        attachments = {path for link in links for path in targets_of(link.resolution) if not is_note(path)}
        return {path for path in attachments if not self.library.links_to(path)}


def list_page(files: VisibleFiles, cursor: str = "") -> FilePage:
    """A page of all files. Raises `ValueError` for a cursor that is none of ours."""
    rows, library = files.rows(), files.library
    start = bisect_right(rows, _path_of(cursor), key=lambda row: row.path) if cursor else 0
    page = rows[start : start + PAGE_FILES]
    stamps = library.stamps()
    shown = {*library.confirmed(row.path for row in page)}
    dates, zone = library.dates(shown), library.calendar().now.tzinfo
    changed = {path: each.changed.at(zone) for path, each in dates.items()}
    listed = [_listed(row, stamps.get(row.path), changed.get(row.path)) for row in page if row.path in shown]
    return FilePage(files=listed, cursor=_cursor_of(page[-1].path) if start + PAGE_FILES < len(rows) else "")


def _listed(row: CatalogRow, stamp: tuple[int, int, bool] | None, changed_at: datetime | None) -> ListedFile:
    return ListedFile(
        path=row.path,
        title=row.title or file_title(row.path),
        media_type=media_type_of(row.path),
        size=stamp[0] if stamp else None,
        changed_at=changed_at,
    )


def _cursor_of(path: str) -> str:
    return urlsafe_b64encode(path.encode()).decode()


def _path_of(cursor: str) -> str:
    path = urlsafe_b64decode(cursor.encode()).decode()
    if not path or _cursor_of(path) != cursor:
        raise ValueError(cursor)
    return path


def read_uri(files: VisibleFiles, uri: str) -> FileContent:
    """What an address names. Raises `NoteNotFound`, the same for a file that is kept back as for one that is not there,
    and `NoteUnreadable`."""
    library = files.library
    place = _find(files.rows(), places_in(uri))
    if place is None:
        raise NoteNotFound("There is no such file in the vault.")
    if place.heading and not _has_heading(library, place):
        raise NoteNotFound(f"{place.path} has no such heading.")
    if is_note(place.path) or is_drawing(place.path) or (place.heading and library.is_indexed(place.path)):
        return FileContent(place=place, media_type=MARKDOWN, text=library.section(place.path, place.heading))
    content = library.read_data(place.path, MAX_BLOB_BYTES)
    media_type = media_type_of(place.path)
    if (text := _as_text(content, media_type)) is not None:
        return FileContent(place=place, media_type=media_type or "text/plain", text=text)
    return FileContent(place=place, media_type=media_type or "application/octet-stream", data=content)


def _find(rows: Sequence[CatalogRow], places: Iterable[Place]) -> Place | None:
    """The first of the places whose file is there, also by the other Unicode form of its path."""
    paths = {row.path for row in rows}
    for place in places:
        if place.path in paths:
            return place
        composed = _composed(place.path)
        if found := next((path for path in paths if _composed(path) == composed), None):
            return place._replace(path=found)
    return None


def _has_heading(library: GuardedLibrary, place: Place) -> bool:
    if not library.is_indexed(place.path):
        return False
    found = library.resolve(Link(text="", target=f"/{place.path}", anchor=place.heading), suggestions=0)
    return isinstance(found, Resolved | Ambiguous) and found.path == place.path and found.anchor_found


def media_type_of(path: str) -> str:
    """Of what is read of a file, by the suffix; empty where that says nothing. A canvas is read as Markdown."""
    return MARKDOWN if is_note(path) or is_drawing(path) else _TYPES.guess_type(f"x.{path.rpartition('.')[2]}")[0] or ""


def _as_text(content: bytes, media_type: str) -> str | None:
    if (media_type and not media_type.startswith(_TEXT_TYPES)) or b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _composed(path: str) -> str:
    return unicodedata.normalize("NFC", path)
