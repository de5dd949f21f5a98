"""Which vector each section of an index has, in a file beside the vectors: a cache that may be thrown away."""

from pathlib import Path
from typing import Final
from zlib import crc32

from msgspec import DecodeError, msgpack

from zkchat.errors import StorageError
from zkchat.files import read_bounded, write_atomically
from zkchat.model.embeddings import SectionRows

_CHECKSUM_BYTES: Final = 4
_MAX_BYTES: Final = 1 << 28
"""More than the rows of thirty million sections."""


def read_rows(file: Path) -> SectionRows | None:
    """None where there are none, or not every byte is as it was written."""
    try:
        content = read_bounded(file, max_bytes=_MAX_BYTES)
        packed = memoryview(content)[_CHECKSUM_BYTES:]
        if crc32(packed).to_bytes(_CHECKSUM_BYTES) != content[:_CHECKSUM_BYTES]:
            return None
        return msgpack.decode(packed, type=SectionRows)
    except (OSError, StorageError, DecodeError, UnicodeDecodeError):
        return None


def write_rows(file: Path, rows: SectionRows) -> None:
    packed = msgpack.encode(rows)
    write_atomically(file, crc32(packed).to_bytes(_CHECKSUM_BYTES) + packed, mode=0o600)
