"""A cache of the texts of PDFs, by the digest of the file: a PDF that is renamed or copied is not extracted again."""

import json
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from sqlite3 import Connection
from typing import Final, TypeVar

from zkchat.core import ExtractedText, FileStamp, StorageDamaged, StorageError, is_pdf
from zkchat.storage.database import CacheDatabase

Written = TypeVar("Written")

PACKAGE: Final = "pypdfium2"
VERSION: Final = 1
SCHEMA: Final = (
    """CREATE TABLE texts (
        digest BLOB PRIMARY KEY, method TEXT NOT NULL, failed INTEGER NOT NULL, content BLOB NOT NULL)""",
    """CREATE TABLE files (
        path TEXT PRIMARY KEY, size INTEGER NOT NULL, modified_ns INTEGER NOT NULL, digest BLOB NOT NULL)
        WITHOUT ROWID""",
)
_FIND: Final = """SELECT content FROM files JOIN texts USING (digest)
    WHERE path = ? AND files.size = ? AND modified_ns = ?"""
_LATEST: Final = "SELECT content FROM files JOIN texts USING (digest) WHERE path = ?"
_EXTRACTED: Final = """SELECT path, size, modified_ns FROM files JOIN texts USING (digest) WHERE method = ?"""


class SqliteExtractedTexts:
    """Implements `ExtractedTexts`. There is no file until there is a text."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._file = CacheDatabase(path, schema=SCHEMA, version=VERSION)
        self.close = self._file.close

    def __reduce__(self) -> "tuple[Callable[[Path, int], SqliteExtractedTexts], tuple[Path, int]]":
        """In another process: the texts of the same file, opened there once."""
        return _open_cached, (self._path, self._max_bytes)

    @cached_property
    def _method(self) -> str:
        """How texts are made now; those that were made otherwise are made again in time."""
        from importlib.metadata import version

        from zkchat.storage.pdf_layout import LAYOUT_VERSION

        return f"{PACKAGE} {version(PACKAGE)}, layout {LAYOUT_VERSION}"

    # --- texts ---

    def covers(self, path: str) -> bool:
        return is_pdf(path)

    def find(self, stamp: FileStamp) -> ExtractedText | None:
        if stamp.size > self._max_bytes:
            sizes = f"It has {stamp.size / 1e6:,.0f} MB, more than the {self._max_bytes / 1e6:,.0f} MB"
            return ExtractedText(trouble=f"{sizes} of the setting vault.max_pdf_bytes, and is only found by its name.")
        return self._text(_FIND, (stamp.path, stamp.size, stamp.modified_ns))

    def latest(self, path: str) -> ExtractedText | None:
        return self._text(_LATEST, (path,))

    def _text(self, query: str, parameters: tuple[object, ...]) -> ExtractedText | None:
        if not self._path.exists():
            return None
        try:
            with self._file.reading() as database:
                row = database.execute(query, parameters).fetchone()
                return _unpacked(row[0]) if row else None
        except StorageDamaged:  # it all can be extracted again
            self._file.reset()
            return None

    # --- extraction ---

    def missing(self, stamps: Sequence[FileStamp]) -> list[FileStamp]:
        """The files of which there is no text that was made as texts are made now."""
        wanted = [stamp for stamp in stamps if self.covers(stamp.path) and stamp.size <= self._max_bytes]
        if not wanted or not self._path.exists():
            return wanted
        try:
            with self._file.reading() as database:
                extracted = {*database.execute(_EXTRACTED, (self._method,))}
        except StorageDamaged:
            self._file.reset()
            return wanted
        return [stamp for stamp in wanted if stamp[:3] not in extracted]

    def attach(self, stamp: FileStamp, digest: bytes) -> bool:
        """From now on the file has the text of this digest; returns whether there is one."""

        def write(database: Connection) -> bool:
            database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", (*stamp[:3], digest))
            query = "SELECT 1 FROM texts WHERE digest = ? AND method = ?"
            return database.execute(query, (digest, self._method)).fetchone() is not None

        return self._write(write)

    def keep(self, digest: bytes, text: ExtractedText) -> None:
        content = [text.pages, text.title, text.trouble, text.outline, text.omission]
        packed = zlib.compress(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"), 6)
        row = (digest, self._method, bool(text.trouble), packed)
        self._write(lambda database: database.execute("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)", row))

    def _write(self, write: Callable[[Connection], Written]) -> Written:
        """What came of it; a damaged file is replaced by an empty one first. Raises `StorageError`."""
        try:
            with self._file.writing() as database:
                return write(database)
        except StorageDamaged:
            self._file.reset()
            with self._file.writing() as database:
                return write(database)

    def forget_failures(self) -> None:
        """Drop what could not be extracted, so that it is tried again."""
        with suppress(StorageError):
            if self._path.exists():
                with self._file.writing() as database:
                    database.execute("DELETE FROM texts WHERE failed")

    def prune(self, paths: Collection[str]) -> None:
        with suppress(StorageError), self._file.writing() as database:
            gone = [(path,) for (path,) in database.execute("SELECT path FROM files") if path not in paths]
            database.executemany("DELETE FROM files WHERE path = ?", gone)
            database.execute("DELETE FROM texts WHERE digest NOT IN (SELECT digest FROM files)")


@cache
def _open_cached(path: Path, max_bytes: int) -> SqliteExtractedTexts:
    return SqliteExtractedTexts(path, max_bytes)


def _unpacked(content: bytes) -> ExtractedText:
    try:
        pages, title, trouble, outline, omission = json.loads(zlib.decompress(content))
    except zlib.error as error:
        raise ValueError("not what was packed") from error
    return ExtractedText(
        pages=tuple(pages),
        title=title,
        trouble=trouble,
        outline=tuple((page, heading) for page, heading in outline),
        omission=omission,
    )
