"""Vectors of passages in files beside the note index: blocks, rows, and which section has which."""

import mmap
import os
import struct
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from zlib import crc32

from zkchat.core import (
    DIGEST_BYTES,
    NOTHING_KNOWN,
    AddedVectors,
    LockBusy,
    RefusedFile,
    StorageError,
    StoredVectors,
    VectorBlock,
    VectorPosition,
    locked,
    make_private,
    open_regular,
    read_bounded,
    write_atomically,
)
from zkchat.storage import storage_errors

_LOCK_SECONDS: Final = 10.0
_SUFFIX: Final = ".vectors"
_MAGIC: Final = b"zkvec\x01\r\n"
_HEADER: Final = struct.Struct("<8sQIIII")
"""The magic bytes, the generation, the bytes of a vector, those of a sketch, those of the name, a checksum."""
_BLOCK: Final = struct.Struct("<4sIII")
"""The magic bytes, how many vectors, the checksum of what stands before the vectors, and that of the vectors."""
_BLOCK_MAGIC: Final = b"zblk"
_MAX_NAME_BYTES: Final = 1_000
_MAX_VECTOR_BYTES: Final = 16_384
_MAX_BLOCK_VECTORS: Final = 4_096


class _FileFormat(NamedTuple):
    generation: int
    vector_bytes: int
    sketch_bytes: int
    name: str
    start: int


class _Block(NamedTuple):
    """Vectors that were added together, and where they stand."""

    digests: bytes
    """Empty, as the sketches are, where they are not as they were written."""
    sketches: bytes
    vectors_start: int
    end: int
    checksum: int


_Row = tuple[bytes, bytes, bytes]
"""The digest, the sketch and the vector of a passage."""


class VectorFiles:
    """The files of all methods. Several threads and processes may use them at once."""

    def __init__(self, index: Path) -> None:
        """Beside the file of the note index, under names that begin as its own does."""
        self._folder = index.parent
        self._stem = f"{index.stem}."
        self._lock = index.with_name(f"{self._stem}vectors-lock")
        self._active = index.with_name(f"{self._stem}vectors-active")

    def methods(self) -> list[str]:
        """Those that have vectors, the one written last first."""
        found: list[tuple[int, str]] = []
        for path in self._folder.glob(f"{self._stem}*{_SUFFIX}"):
            with suppress(OSError), open_regular(path) as file:
                if shape := _format_of(file):
                    found.append((os.fstat(file.fileno()).st_mtime_ns, shape.name))
        return [name for _, name in sorted(found, reverse=True)]

    def active(self) -> str:
        """The method that searches go by; empty where none was chosen."""
        try:
            return read_bounded(self._active, max_bytes=_MAX_NAME_BYTES).decode(errors="replace").strip()
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
        """What was added since, or all where what is known does not count any more; None where there is nothing."""
        path = self._path(method)
        try:
            with open_regular(path) as file:
                return _read(file, method, known)
        except (FileNotFoundError, RefusedFile):
            return None
        except (OSError, ValueError, MemoryError) as error:
            raise StorageError(f"{path} cannot be read: {error}.", hint="Move it away: it will be rebuilt.") from error

    def add(
        self,
        method: str,
        digests: Sequence[bytes],
        sketches: bytes,
        vectors: bytes,
        known: VectorPosition = NOTHING_KNOWN,
    ) -> AddedVectors:
        """Keep vectors, all or none, but not those that others have added since.

        Where they are of another size than those that are there, these are thrown away.
        """
        if not digests:
            return AddedVectors(known)
        path = self._path(method)
        rows = [*zip(digests, _cut(sketches, len(digests)), _cut(vectors, len(digests)), strict=True)]
        with self._writing(path), _open_to_write(path, method, rows[0]) as file:
            return _append_new(file, rows, known)

    def retain(self, method: str, digests: Collection[bytes]) -> int:
        """Forget all others, and those that are damaged; returned is how many there are."""
        path = self._path(method)
        with self._writing(path):
            try:
                with open_regular(path) as file:
                    return _rewrite(path, file, {*digests})
            except (FileNotFoundError, RefusedFile):
                return 0

    def remove(self, method: str) -> None:
        path = self._path(method)
        with self._writing(path):
            for each in (path, _claim_of(path)):
                each.unlink(missing_ok=True)

    @contextmanager
    def claim(self, method: str) -> Iterator[bool]:
        """Whether nobody else embeds by this method meanwhile."""
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


def _read(file: BinaryIO, method: str, known: VectorPosition) -> StoredVectors | None:
    shape, status = _format_of(file), os.fstat(file.fileno())
    if shape is None or shape.name != method:
        return None
    generation = (shape.generation, status.st_ino)
    is_new = known.generation != generation or not shape.start <= known.end <= status.st_size
    start = end = shape.start if is_new else known.end
    blocks: list[VectorBlock] = []
    for block in _blocks_from(file, shape, start):
        end = block.end
        if block.digests:
            blocks.append(VectorBlock(digests=block.digests, sketches=block.sketches, start=block.vectors_start))
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
def _open_to_write(path: Path, method: str, row: _Row) -> Iterator[BinaryIO]:
    """A file for vectors of this size; another one of that name is replaced by an empty one."""
    _, sketch_bytes, vector_bytes = map(len, row)
    found: _FileFormat | None = None
    with suppress(OSError), open_regular(path) as file:
        found = _format_of(file)
    if found is None or found[1:4] != (vector_bytes, sketch_bytes, method):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        with _replacing(path) as new:
            new.write(_header_of(method, vector_bytes, sketch_bytes))
    with path.open("r+b", buffering=0) as opened:
        yield opened


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    temporary = path.with_name(f"{path.name}-{os.urandom(4).hex()}")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "w+b") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _append_new(file: BinaryIO, rows: Sequence[_Row], known: VectorPosition) -> AddedVectors:
    """Write those that nobody has added since at the end of the last whole block."""
    shape = _format_of(file)
    if shape is None:
        raise OSError("the file changed while it was opened")
    status = os.fstat(file.fileno())
    generation = (shape.generation, status.st_ino)
    is_known = known.generation == generation and shape.start <= known.end <= status.st_size
    end = known.end if is_known else shape.start
    added: set[bytes] = set()
    for block in _blocks_from(file, shape, end):
        end = block.end
        added.update(_cut(block.digests, len(block.digests) // DIGEST_BYTES))
    try:
        for packed in _packed_blocks([row for row in rows if row[0] not in added]):
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
    shape = _format_of(file)
    if shape is None:
        path.unlink()
        return 0
    count = 0
    with _replacing(path) as new:
        new.write(_header_of(shape.name, shape.vector_bytes, shape.sketch_bytes))
        for block in _blocks_from(file, shape, shape.start):
            vectors = _bytes_at(file, block.vectors_start, block.end - block.vectors_start)
            if not block.digests or crc32(vectors) != block.checksum:
                continue
            length = len(block.digests) // DIGEST_BYTES
            parts = (_cut(part, length) for part in (block.digests, block.sketches, vectors))
            rows = [row for row in zip(*parts, strict=True) if row[0] in wanted]
            wanted.difference_update(row[0] for row in rows)
            count += len(rows)
            new.writelines(_packed_blocks(rows))
    return count


def _bytes_at(file: BinaryIO, place: int, count: int) -> bytes:
    file.seek(place)
    return file.read(count)


def _format_of(file: BinaryIO) -> _FileFormat | None:
    """What a header says; None for what is no file of vectors."""
    data = _bytes_at(file, 0, _HEADER.size + _MAX_NAME_BYTES)
    if len(data) < _HEADER.size:
        return None
    magic, generation, vector_bytes, sketch_bytes, name_bytes, checksum = _HEADER.unpack_from(data)
    name = data[_HEADER.size : _HEADER.size + name_bytes]
    is_ours = magic == _MAGIC and len(name) == name_bytes and checksum == crc32(name, crc32(data[: _HEADER.size - 4]))
    if not is_ours or not 0 < vector_bytes <= _MAX_VECTOR_BYTES or not 0 < sketch_bytes <= vector_bytes + 8:
        return None
    return _FileFormat(generation, vector_bytes, sketch_bytes, name.decode(errors="replace"), _HEADER.size + name_bytes)


def _header_of(method: str, vector_bytes: int, sketch_bytes: int) -> bytes:
    name = method.encode()
    head = _HEADER.pack(_MAGIC, int.from_bytes(os.urandom(8)), vector_bytes, sketch_bytes, len(name), 0)[:-4]
    return head + struct.pack("<I", crc32(name, crc32(head))) + name


def _blocks_from(file: BinaryIO, shape: _FileFormat, place: int) -> Iterator[_Block]:
    """The whole blocks from a place on; what a killed writer left is none."""
    size = os.fstat(file.fileno()).st_size
    while len(header := _bytes_at(file, place, _BLOCK.size)) == _BLOCK.size:
        magic, count, head_checksum, checksum = _BLOCK.unpack(header)
        vectors_start = place + _BLOCK.size + count * (DIGEST_BYTES + shape.sketch_bytes)
        end = vectors_start + count * shape.vector_bytes
        if magic != _BLOCK_MAGIC or not 0 < count <= _MAX_BLOCK_VECTORS or end > size:
            return
        head, cut = file.read(vectors_start - place - _BLOCK.size), count * DIGEST_BYTES
        head = head if crc32(head) == head_checksum else b""
        yield _Block(head[:cut], head[cut:], vectors_start, end, checksum)
        place = end


def _cut(packed: bytes, count: int) -> list[bytes]:
    size = len(packed) // max(count, 1)
    return [packed[at : at + size] for at in range(0, len(packed), size or 1)]


def _packed_blocks(rows: Sequence[_Row]) -> Iterator[bytes]:
    for start in range(0, len(rows), _MAX_BLOCK_VECTORS):
        digests, sketches, vectors = zip(*rows[start : start + _MAX_BLOCK_VECTORS], strict=True)
        head, data = b"".join((*digests, *sketches)), b"".join(vectors)
        yield _BLOCK.pack(_BLOCK_MAGIC, len(digests), crc32(head), crc32(data)) + head + data
