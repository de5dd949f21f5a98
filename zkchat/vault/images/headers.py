"""What an image's file is, by its first bytes and not by its name: format, size in pixels, orientation."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from zkchat.errors import ImageUnusable

ImageFormat = Literal["png", "jpeg", "webp", "gif", "bmp", "avif", "heic", "tiff"]
PLAIN_FORMATS: Final = frozenset({"png", "jpeg", "webp", "gif"})
"""What every provider takes; other images are sent as one of these."""
MAX_FILE_BYTES: Final = 20_000_000
MAX_PIXELS: Final = 64_000_000
"""Of an image that is decoded: a small file may claim to hold far more."""
MAX_SCANS: Final = 100
"""Of a JPEG file, each of which costs as much as the whole image."""
_JPEG_STANDALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_START_OF_SCAN: Final = 0xDA
_APP1: Final = 0xE1
_EXIF: Final = b"Exif\0\0"
_ORIENTATION: Final = 0x0112
_TURNED: Final = frozenset(range(5, 9))
"""Orientations in which width and height change places."""
_BRANDS: Final[Mapping[bytes, ImageFormat]] = {
    **dict.fromkeys((b"avif", b"avis"), "avif"),
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"), "heic"),
}


class ImageHeader(Struct, frozen=True, kw_only=True):
    format: ImageFormat
    width: int = 0
    height: int = 0
    """Pixels, as people see it; 0 where only a decoder can tell."""
    orientation: int = 1
    """How the pixels are turned, as cameras write it; 1 is upright."""
    is_animated: bool = False


class _BrokenHeader(Exception):
    """The file ends, or says something impossible, before its size is known."""


def read_header(data: bytes, name: str) -> ImageHeader:
    """Raises `ImageUnusable` for what is no image, or one that nobody should decode."""
    kind = _format_of(data)
    if kind is None:
        what = "is empty" if not data else "is no image that zkchat knows, whatever its name says"
        raise ImageUnusable(f"{name} {what}.", hint="PNG, JPEG, WebP and GIF are sent; SVG goes as text.")
    reader = _READERS.get(kind)
    try:
        header = reader(data) if reader else ImageHeader(format=kind)
    except (_BrokenHeader, IndexError) as error:
        raise ImageUnusable(f"{name} is broken: its size cannot be read.") from error
    if reader:
        check_size(header.width, header.height, name)
    return header


def check_size(width: int, height: int, name: str) -> None:
    """Raises `ImageUnusable` for an image without pixels, or with more than are decoded."""
    if not width or not height:
        raise ImageUnusable(f"{name} is broken: it has {width:,} × {height:,} pixels.")
    if width * height > MAX_PIXELS:
        raise ImageUnusable(
            f"{name} has {width:,} × {height:,} pixels, more than the {MAX_PIXELS // 1_000_000} million that are "
            "decoded.",
            hint="Make a smaller copy of it.",
        )


def _format_of(data: bytes) -> ImageFormat | None:
    beginnings: tuple[tuple[bytes, ImageFormat], ...] = (
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"\xff\xd8\xff", "jpeg"),
        (b"GIF87a", "gif"),
        (b"GIF89a", "gif"),
        (b"BM", "bmp"),
        (b"II*\0", "tiff"),
        (b"MM\0*", "tiff"),
    )
    for beginning, kind in beginnings:
        if data.startswith(beginning):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return _BRANDS.get(data[8:12]) if data[4:8] == b"ftyp" else None


def _number(data: bytes, start: int, length: int, *, little: bool = False) -> int:
    if start + length > len(data):
        raise _BrokenHeader
    return int.from_bytes(data[start : start + length], "little" if little else "big")


def _png(data: bytes) -> ImageHeader:
    if data[12:16] != b"IHDR":
        raise _BrokenHeader
    is_animated = b"acTL" in data[: data.find(b"IDAT") if b"IDAT" in data else None]
    return ImageHeader(format="png", width=_number(data, 16, 4), height=_number(data, 20, 4), is_animated=is_animated)


def _gif(data: bytes) -> ImageHeader:
    width, height = _number(data, 6, 2, little=True), _number(data, 8, 2, little=True)
    return ImageHeader(format="gif", width=width, height=height, is_animated=data.count(b"\0\x21\xf9\x04") > 1)


def _bmp(data: bytes) -> ImageHeader:
    if _number(data, 14, 4, little=True) == 12:  # the header of the first version
        return ImageHeader(
            format="bmp", width=_number(data, 18, 2, little=True), height=_number(data, 20, 2, little=True)
        )
    width, height = (int.from_bytes(data[start : start + 4], "little", signed=True) for start in (18, 22))
    if len(data) < 26 or width < 0:
        raise _BrokenHeader
    return ImageHeader(format="bmp", width=width, height=abs(height))


def _webp(data: bytes) -> ImageHeader:
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = 1 + _number(data, 24, 3, little=True), 1 + _number(data, 27, 3, little=True)
        return ImageHeader(format="webp", width=width, height=height, is_animated=bool(_number(data, 20, 1) & 2))
    if kind == b"VP8L":
        bits = _number(data, 21, 4, little=True)
        return ImageHeader(format="webp", width=1 + (bits & 0x3FFF), height=1 + (bits >> 14 & 0x3FFF))
    if kind == b"VP8 ":
        width, height = (_number(data, start, 2, little=True) & 0x3FFF for start in (26, 28))
        return ImageHeader(format="webp", width=width, height=height)
    raise _BrokenHeader


class JpegSegment(Struct, frozen=True):
    """A marker of a JPEG file with what follows it."""

    marker: int
    start: int
    end: int


def jpeg_segments(data: bytes) -> Iterator[JpegSegment]:
    """The segments up to the first scan, which is the last of them; fewer where the file is cut."""
    place = 2
    while place + 4 <= len(data):
        if data[place] != 0xFF:
            return
        marker = data[place + 1]
        if marker == 0xFF:  # a fill byte
            place += 1
            continue
        length = 0 if marker in _JPEG_STANDALONE else int.from_bytes(data[place + 2 : place + 4], "big")
        segment = JpegSegment(marker, place, place + 2 + length)
        yield segment
        if marker == _START_OF_SCAN:
            return
        place = segment.end


def _jpeg(data: bytes) -> ImageHeader:
    orientation = 1
    for segment in jpeg_segments(data):
        content = data[segment.start + 4 : segment.end]
        if segment.marker == _APP1 and content.startswith(_EXIF):
            orientation = _exif_orientation(content[len(_EXIF) :])
        if segment.marker in _JPEG_FRAMES:
            height, width = _number(content, 1, 2), _number(content, 3, 2)
            if orientation in _TURNED:
                width, height = height, width
            return ImageHeader(format="jpeg", width=width, height=height, orientation=orientation)
    raise _BrokenHeader


def _exif_orientation(exif: bytes) -> int:
    """The orientation of the first directory of EXIF data; 1 where it says none."""
    little = exif[:2] == b"II"
    try:
        place = _number(exif, 4, 4, little=little)
        for entry in range(place + 2, place + 2 + 12 * min(200, _number(exif, place, 2, little=little)), 12):
            if _number(exif, entry, 2, little=little) == _ORIENTATION:
                value = _number(exif, entry + 8, 2, little=little)
                return value if 1 <= value <= 8 else 1
    except _BrokenHeader:
        pass
    return 1


_READERS: Final[Mapping[ImageFormat, Callable[[bytes], ImageHeader]]] = {
    "png": _png,
    "jpeg": _jpeg,
    "webp": _webp,
    "gif": _gif,
    "bmp": _bmp,
}
