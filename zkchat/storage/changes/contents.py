"""What files held before and after changes: a table of the journal, each content once, the oldest dropped first."""

import sqlite3
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

MAX_CONTENT_BYTES: Final = 64 << 20
"""Of stored contents, as they are stored; those of the oldest changes are dropped first."""

_COMPRESSION: Final = 1
"""Of zlib: the default takes 1.4 times as long, and saves 3 % more of notes of 2 kB."""


def keep_content(connection: sqlite3.Connection, content: bytes, number: int) -> None:
    """Store what a file held, once, as used by the change of this number."""
    digest = digest_of(content)
    found = connection.execute("UPDATE contents SET last_used = ? WHERE digest = ?", (number, digest))
    if not found.rowcount:
        packed = b64encode(zlib.compress(content, level=_COMPRESSION)).decode("ascii")
        connection.execute("INSERT INTO contents VALUES (?, ?, ?, ?)", (digest, number, len(packed), packed))


def drop_oldest_contents(connection: sqlite3.Connection, *, before: int) -> None:
    """Remove contents until the rest fits; those that a change since `before` uses stay in any case."""
    (excess,) = connection.execute("SELECT COALESCE (SUM (size), 0) - ? FROM contents", (MAX_CONTENT_BYTES,)).fetchone()
    if excess <= 0:
        return
    rows = connection.execute("SELECT last_used, SUM (size) FROM contents GROUP BY last_used ORDER BY last_used")
    for last_used, size in rows.fetchall():
        if excess <= 0 or last_used >= before:
            break
        connection.execute("DELETE FROM contents WHERE last_used = ?", (last_used,))
        excess -= size


def stored_contents(connection: sqlite3.Connection, digests: Iterable[str]) -> dict[str, bytes]:
    """Those that are still there, by their digests."""
    found = {}
    for digest in digests:
        row = connection.execute("SELECT content FROM contents WHERE digest = ?", (digest,)).fetchone()
        if row is not None:
            found[digest] = unpacked_content(digest, row[0])
    return found


def stored_digests(connection: sqlite3.Connection, digests: Iterable[str]) -> Iterator[str]:
    for digest in digests:
        if connection.execute("SELECT 1 FROM contents WHERE digest = ?", (digest,)).fetchone():
            yield digest


def unpacked_content(digest: str, packed: str) -> bytes:
    """A content as it was. Raises `ValueError` or `zlib.error` where it is not the one of the digest."""
    content = zlib.decompress(b64decode(packed, validate=True))
    if digest_of(content) != digest:
        raise ValueError(digest)
    return content


def digest_of(content: bytes) -> str:
    return sha256(content).hexdigest()
