"""Cut the metadata out of an image's file without decoding it: where it was taken, by whom, with what.

For an installation without Pillow. What is left is checked to be whole, so that a cut file is not sent.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final
from zlib import crc32

from zkchat.errors import ImageUnusable
from zkchat.vault.images.headers import ImageFormat, ImageHeader, jpeg_segments

_PNG_START: Final = 8
_PNG_KEPT: Final = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT"})
"""Chunks that make the image; all others tell of it, or animate it."""
_WEBP_KEPT: Final = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH"})
_WEBP_ALPHA: Final = 0x10
"""The only flag of the header that stays: the others announce what is cut out."""
_JFIF: Final = 0xE0
_ADOBE: Final = 0xEE
"""The application segments that say how colours are stored."""
_COMMENT: Final = 0xFE
_EXIF_ORIENTATION: Final = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0%c\0\0\0\0\0\0"
"""EXIF data that holds the orientation alone."""


def without_metadata(data: bytes, header: ImageHeader, name: str) -> bytes:
    """The same image as its pixels alone, the first one of an animation; a JPEG keeps how it is turned.

    Raises `ImageUnusable` where the file is cut or broken.
    """
    try:
        return _CUTTERS[header.format](data, header)
    except (ValueError, IndexError) as error:
        raise ImageUnusable(f"{name} is broken, or a part of it is missing.") from error


def _jpeg(data: bytes, header: ImageHeader) -> bytes:
    if b"\xff\xd9" not in data[-1024:].rstrip(b"\0"):
        raise ValueError("no end")
    kept = [data[:2]]
    if header.orientation != 1:
        exif = _EXIF_ORIENTATION % header.orientation
        kept.append(b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif)
    end = 0
    for segment in jpeg_segments(data):
        is_told = 0xE0 <= segment.marker <= 0xEF and segment.marker not in {_JFIF, _ADOBE}
        if not is_told and segment.marker != _COMMENT:
            kept.append(data[segment.start : segment.end])
        end = segment.end
        if segment.end > len(data):
            raise ValueError("cut")
    return b"".join([*kept, data[end : data.rindex(b"\xff\xd9") + 2]])


def _png(data: bytes, _header: ImageHeader) -> bytes:
    chunks = [chunk for kind, chunk in _png_chunks(data) if kind in _PNG_KEPT]
    return data[:_PNG_START] + b"".join(chunks)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    place, kind = _PNG_START, b""
    while kind != b"IEND":
        end = place + 12 + int.from_bytes(data[place : place + 4], "big")
        kind = data[place + 4 : place + 8]
        if end > len(data) or crc32(data[place + 4 : end - 4]).to_bytes(4, "big") != data[end - 4 : end]:
            raise ValueError("cut or changed")
        yield kind, data[place:end]
        place = end


def _webp(data: bytes, _header: ImageHeader) -> bytes:
    length = 8 + int.from_bytes(data[4:8], "little")
    if length > len(data):
        raise ValueError("cut")
    kept, place = [], 12
    while place + 8 <= length:
        kind, size = data[place : place + 4], int.from_bytes(data[place + 4 : place + 8], "little")
        end = place + 8 + size + size % 2
        chunk = data[place:end]
        if kind == b"VP8X":
            chunk = chunk[:8] + bytes([chunk[8] & _WEBP_ALPHA]) + chunk[9:]
        if kind in _WEBP_KEPT:
            kept.append(chunk)
        place = end
    body = b"WEBP" + b"".join(kept)
    return b"RIFF" + len(body).to_bytes(4, "little") + body


def _gif(data: bytes, _header: ImageHeader) -> bytes:
    place = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)
    kept = [data[:place]]
    while data[place] != 0x2C:  # extensions up to the first image
        if data[place] != 0x21:
            raise ValueError("no image")
        end = _end_of_blocks(data, place + 2)
        if data[place + 1] == 0xF9:  # which colour is transparent
            kept.append(data[place:end])
        place = end
    table = 3 << (data[place + 9] & 7) + 1 if data[place + 9] & 0x80 else 0
    kept.append(data[place : _end_of_blocks(data, place + 10 + table + 1)])
    return b"".join([*kept, b";"])


def _end_of_blocks(data: bytes, place: int) -> int:
    while size := data[place]:
        place += 1 + size
    return place + 1


_CUTTERS: Final[Mapping[ImageFormat, Callable[[bytes, ImageHeader], bytes]]] = {
    "jpeg": _jpeg,
    "png": _png,
    "webp": _webp,
    "gif": _gif,
}
