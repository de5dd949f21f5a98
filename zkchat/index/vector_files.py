"""Vectors of passages in files beside the note index: blocks, rows, and which section has which."""

import mmap
import os
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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
_CHECKSUM_BYTES: Final = 4
_MAX_ROWS_BYTES: Final = 1 << 28
"""More than the rows of thirty million sections."""


class _Block(NamedTuple):
    """What the header of a block says, and where it stands."""

    place: int
    length: int
    head_checksum: int
    checksum: int


class _FileFormat(NamedTuple):
    """What the header of a file says."""

    generation: int
    vector_bytes: int
    sketch_bytes: int
    name: str
    start: int
    """Of the first block."""

    @property
    def head_bytes(self) -> int:
        """Of what stands before the vectors of a block, for each of them."""
        return DIGEST_BYTES + self.sketch_bytes

    def block_bytes(self, count: int) -> int:
        return _BLOCK.size + count * (self.head_bytes + self.vector_bytes)

    def vectors_of(self, block: _Block) -> int:
        """Where the vectors of a block begin."""
        return block.place + _BLOCK.size + block.length * self.head_bytes

    def end_of(self, block: _Block) -> int:
        return block.place + self.block_bytes(block.length)


class _Rows(NamedTuple):
    """Vectors with their digests and sketches, each packed."""

    digests: list[bytes]
    sketches: bytes
    vectors: bytes


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
        rows = _Rows([*digests], sketches, vectors)
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
                return _is_intact(file)
        except FileNotFoundError:
            return True
        except OSError:
            return False

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
    shape, status = _format_of(file), os.fstat(file.fileno())
    if shape is None or shape.name != method:
        return None
    generation = (shape.generation, status.st_ino)
    is_new = known.generation != generation or not shape.start <= known.end <= status.st_size
    start = end = shape.start if is_new else known.end
    blocks: list[VectorBlock] = []
    for block in _blocks_from(file, shape, start):
        end = shape.end_of(block)
        if head := _head_of(file, shape, block):
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
def _open_to_write(path: Path, method: str, rows: _Rows) -> Iterator[BinaryIO]:
    """A file for vectors of this size; another one of that name is replaced by an empty one."""
    vector_bytes, sketch_bytes = (len(part) // len(rows.digests) for part in (rows.vectors, rows.sketches))
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
    """A new file that takes the place of another, or of none, once it is written."""
    temporary = path.with_name(f"{path.name}-{os.urandom(4).hex()}")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "w+b") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _append_new(file: BinaryIO, rows: _Rows, known: VectorPosition) -> AddedVectors:
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
        end = shape.end_of(block)
        if head := _head_of(file, shape, block):
            added.update(_digests_of(head[0]))
    try:
        for packed in _packed_blocks(_select(rows, shape, lambda digest: digest not in added), shape):
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
    shape = _format_of(file)
    if shape is None:
        path.unlink()
        return 0
    count = 0
    with _replacing(path) as new:
        new.write(_header_of(shape.name, shape.vector_bytes, shape.sketch_bytes))
        for rows in _joined(_wanted_rows(file, shape, wanted)):
            count += len(rows.digests)
            for block in _packed_blocks(rows, shape):
                new.write(block)
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
    while len(head := _bytes_at(file, place, _BLOCK.size)) == _BLOCK.size:
        magic, count, head_checksum, checksum = _BLOCK.unpack(head)
        following = place + shape.block_bytes(count)
        if magic != _BLOCK_MAGIC or not 0 < count <= _MAX_BLOCK_VECTORS or following > size:
            return
        yield _Block(place, count, head_checksum, checksum)
        place = following


def _head_of(file: BinaryIO, shape: _FileFormat, block: _Block) -> tuple[bytes, bytes] | None:
    """The digests and the sketches of a block; None where not every byte is as it was written."""
    head = _bytes_at(file, block.place + _BLOCK.size, block.length * shape.head_bytes)
    cut = block.length * DIGEST_BYTES
    return (head[:cut], head[cut:]) if crc32(head) == block.head_checksum else None


def _block_rows(file: BinaryIO, shape: _FileFormat, block: _Block) -> _Rows | None:
    """All of a block; None where not every byte is as it was written."""
    head = _head_of(file, shape, block)
    vectors = _bytes_at(file, shape.vectors_of(block), block.length * shape.vector_bytes)
    if head is None or crc32(vectors) != block.checksum:
        return None
    return _Rows(_digests_of(head[0]), head[1], vectors)


def _is_intact(file: BinaryIO) -> bool:
    """Whether every block is as it was written."""
    shape = _format_of(file)
    return shape is not None and all(
        _block_rows(file, shape, block) for block in _blocks_from(file, shape, shape.start)
    )


def _digests_of(packed: bytes) -> list[bytes]:
    return [packed[start : start + DIGEST_BYTES] for start in range(0, len(packed), DIGEST_BYTES)]


def _select(rows: _Rows, shape: _FileFormat, is_wanted: Callable[[bytes], bool]) -> _Rows:
    places = [place for place, digest in enumerate(rows.digests) if is_wanted(digest)]
    if len(places) == len(rows.digests):
        return rows
    sizes = (shape.sketch_bytes, shape.vector_bytes)
    parts = (
        b"".join([packed[place * size : (place + 1) * size] for place in places])
        for packed, size in zip((rows.sketches, rows.vectors), sizes, strict=True)
    )
    return _Rows([rows.digests[place] for place in places], *parts)


def _packed_blocks(rows: _Rows, shape: _FileFormat) -> Iterator[bytes]:
    """As blocks."""
    for start in range(0, len(rows.digests), _MAX_BLOCK_VECTORS):
        digests = rows.digests[start : start + _MAX_BLOCK_VECTORS]
        end = start + len(digests)
        head = b"".join([*digests, rows.sketches[start * shape.sketch_bytes : end * shape.sketch_bytes]])
        vectors = rows.vectors[start * shape.vector_bytes : end * shape.vector_bytes]
        yield _BLOCK.pack(_BLOCK_MAGIC, len(digests), crc32(head), crc32(vectors)) + head + vectors


def _wanted_rows(file: BinaryIO, shape: _FileFormat, wanted: set[bytes]) -> Iterator[_Rows]:
    """Of each intact block those that are wanted, each once."""
    missing = {*wanted}
    for block in _blocks_from(file, shape, shape.start):
        if rows := _block_rows(file, shape, block):
            chosen = missing.intersection(rows.digests)
            missing -= chosen
            yield _select(rows, shape, chosen.__contains__)


def _joined(parts: Iterable[_Rows]) -> Iterator[_Rows]:
    """As few as there can be, of no more than a block each, or one that was longer already."""
    waiting: list[_Rows] = []
    for rows in parts:
        if sum(len(each.digests) for each in (*waiting, rows)) > _MAX_BLOCK_VECTORS:
            yield _concatenated(waiting)
            waiting = []
        waiting.append(rows)
    yield _concatenated(waiting)


def _concatenated(parts: Sequence[_Rows]) -> _Rows:
    return _Rows(
        [digest for rows in parts for digest in rows.digests],
        b"".join([rows.sketches for rows in parts]),
        b"".join([rows.vectors for rows in parts]),
    )
