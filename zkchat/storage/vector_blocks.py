"""The bytes of a file of vectors: a header, and blocks of what was embedded together.

A block holds the digests, the sketches and the vectors of its passages, in this order, the vectors with a checksum of
their own.
"""

import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple
from zlib import crc32

from zkchat.model.embeddings import DIGEST_BYTES

_MAGIC: Final = b"zkvec\x01\r\n"
_HEADER: Final = struct.Struct("<8sQIIII")
"""The magic bytes, the generation, the bytes of a vector, those of a sketch, those of the name, a checksum."""
_BLOCK: Final = struct.Struct("<4sIII")
"""The magic bytes, how many vectors, the checksum of what stands before the vectors, and that of the vectors."""
_BLOCK_MAGIC: Final = b"zblk"
MAX_NAME_BYTES: Final = 1_000
_MAX_VECTOR_BYTES: Final = 16_384
_MAX_BLOCK_VECTORS: Final = 4_096


class FileFormat(NamedTuple):
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

    def vectors_of(self, block: "Block") -> int:
        """Where the vectors of a block begin."""
        return block.place + _BLOCK.size + block.length * self.head_bytes

    def end_of(self, block: "Block") -> int:
        return block.place + self.block_bytes(block.length)


class Block(NamedTuple):
    """What the header of a block says, and where it stands."""

    place: int
    length: int
    head_checksum: int
    checksum: int


class Rows(NamedTuple):
    """Vectors with their digests and sketches, each packed."""

    digests: list[bytes]
    sketches: bytes
    vectors: bytes


def _bytes_at(file: BinaryIO, place: int, count: int) -> bytes:
    file.seek(place)
    return file.read(count)


def format_of(file: BinaryIO) -> FileFormat | None:
    """What a header says; None for what is no file of vectors."""
    data = _bytes_at(file, 0, _HEADER.size + MAX_NAME_BYTES)
    if len(data) < _HEADER.size:
        return None
    magic, generation, vector_bytes, sketch_bytes, name_bytes, checksum = _HEADER.unpack_from(data)
    name = data[_HEADER.size : _HEADER.size + name_bytes]
    is_ours = magic == _MAGIC and len(name) == name_bytes and checksum == crc32(name, crc32(data[: _HEADER.size - 4]))
    if not is_ours or not 0 < vector_bytes <= _MAX_VECTOR_BYTES or not 0 < sketch_bytes <= vector_bytes + 8:
        return None
    return FileFormat(generation, vector_bytes, sketch_bytes, name.decode(errors="replace"), _HEADER.size + name_bytes)


def header_of(method: str, vector_bytes: int, sketch_bytes: int) -> bytes:
    name = method.encode()
    head = _HEADER.pack(_MAGIC, int.from_bytes(os.urandom(8)), vector_bytes, sketch_bytes, len(name), 0)[:-4]
    return head + struct.pack("<I", crc32(name, crc32(head))) + name


def blocks_from(file: BinaryIO, shape: FileFormat, place: int) -> Iterator[Block]:
    """The whole blocks from a place on; what a killed writer left is none."""
    size = os.fstat(file.fileno()).st_size
    while len(head := _bytes_at(file, place, _BLOCK.size)) == _BLOCK.size:
        magic, count, head_checksum, checksum = _BLOCK.unpack(head)
        following = place + shape.block_bytes(count)
        if magic != _BLOCK_MAGIC or not 0 < count <= _MAX_BLOCK_VECTORS or following > size:
            return
        yield Block(place, count, head_checksum, checksum)
        place = following


def head_of(file: BinaryIO, shape: FileFormat, block: Block) -> tuple[bytes, bytes] | None:
    """The digests and the sketches of a block; None where not every byte is as it was written."""
    head = _bytes_at(file, block.place + _BLOCK.size, block.length * shape.head_bytes)
    cut = block.length * DIGEST_BYTES
    return (head[:cut], head[cut:]) if crc32(head) == block.head_checksum else None


def rows_of(file: BinaryIO, shape: FileFormat, block: Block) -> Rows | None:
    """All of a block; None where not every byte is as it was written."""
    head = head_of(file, shape, block)
    vectors = _bytes_at(file, shape.vectors_of(block), block.length * shape.vector_bytes)
    if head is None or crc32(vectors) != block.checksum:
        return None
    return Rows(digests_of(head[0]), head[1], vectors)


def is_intact(file: BinaryIO) -> bool:
    """Whether every block is as it was written."""
    shape = format_of(file)
    return shape is not None and all(rows_of(file, shape, block) for block in blocks_from(file, shape, shape.start))


def digests_of(packed: bytes) -> list[bytes]:
    return [packed[start : start + DIGEST_BYTES] for start in range(0, len(packed), DIGEST_BYTES)]


def select(rows: Rows, shape: FileFormat, is_wanted: Callable[[bytes], bool]) -> Rows:
    places = [place for place, digest in enumerate(rows.digests) if is_wanted(digest)]
    if len(places) == len(rows.digests):
        return rows
    sizes = (shape.sketch_bytes, shape.vector_bytes)
    parts = (
        b"".join([packed[place * size : (place + 1) * size] for place in places])
        for packed, size in zip((rows.sketches, rows.vectors), sizes, strict=True)
    )
    return Rows([rows.digests[place] for place in places], *parts)


def packed_blocks(rows: Rows, shape: FileFormat) -> Iterator[bytes]:
    """As blocks."""
    for start in range(0, len(rows.digests), _MAX_BLOCK_VECTORS):
        digests = rows.digests[start : start + _MAX_BLOCK_VECTORS]
        end = start + len(digests)
        head = b"".join([*digests, rows.sketches[start * shape.sketch_bytes : end * shape.sketch_bytes]])
        vectors = rows.vectors[start * shape.vector_bytes : end * shape.vector_bytes]
        yield _BLOCK.pack(_BLOCK_MAGIC, len(digests), crc32(head), crc32(vectors)) + head + vectors


def wanted_rows(file: BinaryIO, shape: FileFormat, wanted: set[bytes]) -> Iterator[Rows]:
    """Of each intact block those that are wanted, each once."""
    missing = {*wanted}
    for block in blocks_from(file, shape, shape.start):
        if rows := rows_of(file, shape, block):
            chosen = missing.intersection(rows.digests)
            missing -= chosen
            yield select(rows, shape, chosen.__contains__)


def joined(parts: Iterable[Rows]) -> Iterator[Rows]:
    """As few as there can be, of no more than a block each, or one that was longer already."""
    waiting: list[Rows] = []
    for rows in parts:
        if sum(len(each.digests) for each in (*waiting, rows)) > _MAX_BLOCK_VECTORS:
            yield _concatenated(waiting)
            waiting = []
        waiting.append(rows)
    yield _concatenated(waiting)


def _concatenated(parts: Sequence[Rows]) -> Rows:
    return Rows(
        [digest for rows in parts for digest in rows.digests],
        b"".join([rows.sketches for rows in parts]),
        b"".join([rows.vectors for rows in parts]),
    )
