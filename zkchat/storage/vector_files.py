"""Vectors of passages in files of their own beside the note index: one for each method, appended to and mapped.

What a killed writer left of its last block is overwritten by the next one; a block whose bytes have changed is skipped.
No block is ever rewritten in place, so that what others have mapped stays as it is: where too much of a file is of no
use any more, a new one takes its place.
"""

import mmap
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final

from zkchat.errors import StorageError
from zkchat.files import LockBusy, RefusedFile, locked, make_private, open_regular, read_bounded, write_atomically
from zkchat.model.embeddings import (
    NOTHING_KNOWN,
    AddedVectors,
    SectionRows,
    StoredVectors,
    VectorBlock,
    VectorPosition,
)
from zkchat.storage.database_errors import storage_errors
from zkchat.storage.row_files import read_rows, write_rows
from zkchat.storage.vector_blocks import (
    MAX_NAME_BYTES,
    FileFormat,
    Rows,
    blocks_from,
    digests_of,
    format_of,
    head_of,
    header_of,
    is_intact,
    joined,
    packed_blocks,
    select,
    wanted_rows,
)

_LOCK_SECONDS: Final = 10.0
_SUFFIX: Final = ".vectors"


class VectorFiles:
    """The files of all methods. Several processes, and every thread, may use them at once."""

    def __init__(self, index: Path) -> None:
        """Beside the file of the note index, under names that begin as its own does."""
        self._folder = index.parent
        self._stem = f"{index.stem}."
        self._lock = index.with_name(f"{self._stem}vectors-lock")
        self._active = index.with_name(f"{self._stem}vectors-active")

    def methods(self) -> list[str]:
        """Those that have a file, the one written last first."""
        found: list[tuple[int, str]] = []
        for path in self._folder.glob(f"{self._stem}*{_SUFFIX}"):
            with suppress(OSError), open_regular(path) as file:
                if shape := format_of(file):
                    found.append((os.fstat(file.fileno()).st_mtime_ns, shape.name))
        return [name for _, name in sorted(found, reverse=True)]

    def active(self) -> str:
        """The method that searches go by; empty where none was chosen."""
        try:
            return read_bounded(self._active, max_bytes=MAX_NAME_BYTES).decode(errors="replace").strip()
        except OSError:
            return ""

    def activate(self, method: str) -> None:
        if self.active() != method:
            write_atomically(self._active, method, mode=0o600)

    def stamp(self, method: str) -> tuple[int, int]:
        """Another one, where there is something new to read; asked at every search."""
        try:
            status = self._path(method).stat()
        except OSError:
            return 0, 0
        return status.st_ino, status.st_size

    def read(self, method: str, known: VectorPosition = NOTHING_KNOWN) -> StoredVectors | None:
        """What was added since, or all of a file that is another one; None where nothing is."""
        path = self._path(method)
        try:
            with open_regular(path) as file:
                return _read(file, method, known)
        except (FileNotFoundError, RefusedFile):
            return None
        except (OSError, ValueError, MemoryError) as error:
            raise StorageError(f"{path} cannot be read: {error}.", hint="Move it away: it is made again.") from error

    def add(
        self,
        method: str,
        digests: Sequence[bytes],
        sketches: bytes,
        vectors: bytes,
        known: VectorPosition = NOTHING_KNOWN,
    ) -> AddedVectors:
        """Keep vectors, all or none, but not those that others have added since.

        Where they are of another size than those of the file, that one is thrown away.
        """
        if not digests:
            return AddedVectors(known)
        path = self._path(method)
        rows = Rows([*digests], sketches, vectors)
        with self._writing(path), _open_to_write(path, method, rows) as file:
            return _append_new(file, rows, known)

    def retain(self, method: str, digests: Collection[bytes]) -> int:
        """Write the file anew with these vectors only, as far as they are intact; returned is how many there are."""
        path = self._path(method)
        with self._writing(path):
            try:
                with open_regular(path) as file:
                    return _rewrite(path, file, {*digests})
            except (FileNotFoundError, RefusedFile):
                return 0

    def is_intact(self, method: str) -> bool:
        """Whether every byte of the file is as it was written. All of it is read, and nothing mapped."""
        try:
            with open_regular(self._path(method)) as file:
                return is_intact(file)
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def section_rows(self, method: str) -> SectionRows | None:
        """Which vectors sections had when somebody last kept it."""
        return read_rows(_rows_of(self._path(method)))

    def keep_section_rows(self, method: str, rows: SectionRows | None) -> None:
        path = _rows_of(self._path(method))
        if rows is None:
            with storage_errors(path):
                path.unlink(missing_ok=True)
        else:
            write_rows(path, rows)

    def remove(self, method: str) -> None:
        path = self._path(method)
        with self._writing(path):
            for each in (path, _claim_of(path), _rows_of(path)):
                each.unlink(missing_ok=True)

    @contextmanager
    def claim(self, method: str) -> Iterator[bool]:
        """Whether nobody else embeds by this method meanwhile: what a server does for two is done once."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(_claim_of(self._path(method)), seconds=0))
            except LockBusy:
                yield False
            else:
                yield True

    def _path(self, method: str) -> Path:
        return self._folder / f"{self._stem}{blake2b(method.encode(), digest_size=8).hexdigest()}{_SUFFIX}"

    @contextmanager
    def _writing(self, path: Path) -> Iterator[None]:
        with storage_errors(path):
            make_private(self._folder)
            with locked(self._lock, seconds=_LOCK_SECONDS):
                yield


def _claim_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-claim")


def _rows_of(path: Path) -> Path:
    return path.with_suffix(".rows")


def _read(file: BinaryIO, method: str, known: VectorPosition) -> StoredVectors | None:
    shape, status = format_of(file), os.fstat(file.fileno())
    if shape is None or shape.name != method:
        return None
    generation = (shape.generation, status.st_ino)
    is_new = known.generation != generation or not shape.start <= known.end <= status.st_size
    start = end = shape.start if is_new else known.end
    blocks: list[VectorBlock] = []
    for block in blocks_from(file, shape, start):
        end = shape.end_of(block)
        if head := head_of(file, shape, block):
            blocks.append(VectorBlock(digests=head[0], sketches=head[1], start=shape.vectors_of(block)))
    data = mmap.mmap(file.fileno(), end, access=mmap.ACCESS_READ) if blocks else b""
    return StoredVectors(
        position=VectorPosition(generation, end),
        is_new=is_new,
        vector_bytes=shape.vector_bytes,
        sketch_bytes=shape.sketch_bytes,
        blocks=blocks,
        data=memoryview(data),
    )


@contextmanager
def _open_to_write(path: Path, method: str, rows: Rows) -> Iterator[BinaryIO]:
    """A file for vectors of this size; another one of that name is replaced by an empty one."""
    vector_bytes, sketch_bytes = (len(part) // len(rows.digests) for part in (rows.vectors, rows.sketches))
    found: FileFormat | None = None
    with suppress(OSError), open_regular(path) as file:
        found = format_of(file)
    if found is None or found[1:4] != (vector_bytes, sketch_bytes, method):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        with _replacing(path) as new:
            new.write(header_of(method, vector_bytes, sketch_bytes))
    with path.open("r+b", buffering=0) as opened:
        yield opened


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of another, or of none, once it is written."""
    temporary = path.with_name(f"{path.name}-{os.urandom(4).hex()}")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "w+b") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _append_new(file: BinaryIO, rows: Rows, known: VectorPosition) -> AddedVectors:
    """Write those that nobody has added since at the end of the last whole block."""
    shape = format_of(file)
    if shape is None:
        raise OSError("the file changed while it was opened")
    status = os.fstat(file.fileno())
    generation = (shape.generation, status.st_ino)
    is_known = known.generation == generation and shape.start <= known.end <= status.st_size
    end = known.end if is_known else shape.start
    added: set[bytes] = set()
    for block in blocks_from(file, shape, end):
        end = shape.end_of(block)
        if head := head_of(file, shape, block):
            added.update(digests_of(head[0]))
    try:
        for packed in packed_blocks(select(rows, shape, lambda digest: digest not in added), shape):
            file.seek(end)
            _write_whole(file, packed)
            end += len(packed)
    except OSError:
        with suppress(OSError):  # what others may have mapped stays
            os.ftruncate(file.fileno(), max(end, status.st_size))
        raise
    return AddedVectors(VectorPosition(generation, end), frozenset(added))


def _write_whole(file: BinaryIO, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]


def _rewrite(path: Path, file: BinaryIO, wanted: set[bytes]) -> int:
    """Blocks of a file of many small ones are joined."""
    shape = format_of(file)
    if shape is None:
        path.unlink()
        return 0
    count = 0
    with _replacing(path) as new:
        new.write(header_of(shape.name, shape.vector_bytes, shape.sketch_bytes))
        for rows in joined(wanted_rows(file, shape, wanted)):
            count += len(rows.digests)
            for block in packed_blocks(rows, shape):
                new.write(block)
    return count
