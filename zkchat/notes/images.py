"""Images: what a file is, what is sent of it, and its metadata cut out."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Final, Literal
from zlib import crc32

from msgspec import Struct

from zkchat.core import ImageUnusable, install_command

if TYPE_CHECKING:
    from PIL import Image


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
        what = "is empty" if not data else "is not an image that zkchat can read, whatever its name says"
        raise ImageUnusable(f"{name} {what}.", hint="zkchat sends PNG, JPEG, WebP and GIF; of SVG, the text.")
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
            f"{name} has {width:,} × {height:,} pixels, more than the limit of {MAX_PIXELS // 1_000_000} million.",
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


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Each marker with where it begins and where what belongs to it ends, up to the first scan; fewer in a cut file."""
    place, marker = 2, 0
    while place + 4 <= len(data) and data[place] == 0xFF and marker != _START_OF_SCAN:
        if data[place + 1] == 0xFF:  # a fill byte
            place += 1
            continue
        marker = data[place + 1]
        length = 0 if marker in _JPEG_STANDALONE else int.from_bytes(data[place + 2 : place + 4], "big")
        yield marker, place, place + 2 + length
        place += 2 + length


def _jpeg(data: bytes) -> ImageHeader:
    orientation = 1
    for marker, start, end in _jpeg_segments(data):
        content = data[start + 4 : end]
        if marker == _APP1 and content.startswith(_EXIF):
            orientation = _exif_orientation(content[len(_EXIF) :])
        if marker in _JPEG_FRAMES:
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
}


def _plain_jpeg(data: bytes, header: ImageHeader) -> bytes:
    if b"\xff\xd9" not in data[-1024:].rstrip(b"\0"):
        raise ValueError("no end")
    kept = [data[:2]]
    if header.orientation != 1:
        exif = _EXIF_ORIENTATION % header.orientation
        kept.append(b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif)
    end = 0
    for marker, start, end in _jpeg_segments(data):
        is_told = 0xE0 <= marker <= 0xEF and marker not in {_JFIF, _ADOBE}
        if not is_told and marker != _COMMENT:
            kept.append(data[start:end])
        if end > len(data):
            raise ValueError("cut")
    return b"".join([*kept, data[end : data.rindex(b"\xff\xd9") + 2]])


def _plain_png(data: bytes, _header: ImageHeader) -> bytes:
    place, kind, kept = _PNG_START, b"", [data[:_PNG_START]]
    while kind != b"IEND":
        end = place + 12 + int.from_bytes(data[place : place + 4], "big")
        kind = data[place + 4 : place + 8]
        if end > len(data) or crc32(data[place + 4 : end - 4]).to_bytes(4, "big") != data[end - 4 : end]:
            raise ValueError("cut or changed")
        kept += [data[place:end]] if kind in _PNG_KEPT else []
        place = end
    return b"".join(kept)


def _plain_webp(data: bytes, _header: ImageHeader) -> bytes:
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


def _plain_gif(data: bytes, _header: ImageHeader) -> bytes:
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
    "jpeg": _plain_jpeg,
    "png": _plain_png,
    "webp": _plain_webp,
    "gif": _plain_gif,
}
"""What makes of an image its pixels alone, the first of an animation; a JPEG keeps how it is turned."""


MAX_PLAIN_BYTES: Final = 5_000_000
"""Of a file that is sent without decoding it."""
MAX_PNG_BYTES: Final = 1_500_000
"""Of a PNG that is sent: a larger one holds a photo, which goes as a JPEG."""
_LIGHT: Final = 170
"""Of 255: what is drawn lighter than that on nothing is shown on black, and everything else on white."""


class EncodedImage(Struct, frozen=True, kw_only=True):
    media_type: str
    data: bytes
    width: int
    height: int


@cache
def has_pillow() -> bool:
    return find_spec("PIL") is not None


def digest_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def inspect_image(data: bytes, name: str) -> ImageHeader:
    """What the file holds, without decoding its pixels. Raises `ImageUnusable` for what cannot be sent."""
    header = read_header(data, name)
    if header.format == "heic":
        raise ImageUnusable(f"{name} is a HEIC image, which zkchat cannot decode.", hint="Export it as JPEG or PNG.")
    if header.format in PLAIN_FORMATS and (header.format != "webp" or not header.is_animated):
        return header
    if not has_pillow():
        what = f"an animated {header.format.upper()}" if header.is_animated else f"a {header.format.upper()} image"
        raise ImageUnusable(f"{name} is {what}, which has to be converted to be sent.", hint=_install_hint())
    if header.width:
        return header
    image = _open(data, header, name)
    check_size(*image.size, name)
    return ImageHeader(format=header.format, width=image.width, height=image.height)


def encode_image(data: bytes, size: tuple[int, int], name: str) -> EncodedImage:
    """The image in at most that size. Raises `ImageUnusable` where it is broken, or too large without Pillow."""
    header = inspect_image(data, name)
    if has_pillow():
        return _encode(data, header, size, name)
    if header.width > size[0] or header.height > size[1] or len(data) > MAX_PLAIN_BYTES:
        raise ImageUnusable(
            f"{name} has {header.width:,} × {header.height:,} pixels in {len(data):,} bytes, and has to be made "
            "smaller to be sent.",
            hint=_install_hint(),
        )
    try:
        plain = _CUTTERS[header.format](data, header)
    except (ValueError, IndexError) as error:
        raise _broken(name) from error
    return EncodedImage(media_type=f"image/{header.format}", data=plain, width=header.width, height=header.height)


def _install_hint() -> str:
    return f"Install Pillow, which does that: {install_command('images')}"


def _open(data: bytes, header: ImageHeader, name: str) -> "Image.Image":
    from PIL import Image

    try:
        return Image.open(BytesIO(data), formats=[header.format.upper()])
    except Exception as error:  # a decoder may raise anything on a broken file
        raise _broken(name) from error


def _broken(name: str) -> ImageUnusable:
    return ImageUnusable(f"{name} is broken, or a part of it is missing.")


def _encode(data: bytes, header: ImageHeader, size: tuple[int, int], name: str) -> EncodedImage:
    if header.format == "jpeg" and data.count(b"\xff\xda") > MAX_SCANS:
        raise ImageUnusable(
            f"{name} is a JPEG in more than {MAX_SCANS} passes, too many to read. Save it again as PNG."
        )
    image = _open(data, header, name)
    check_size(*image.size, name)
    try:
        pixels = _pixels(image, size)
        media_type, encoded = _written(pixels, is_drawing=header.format not in {"jpeg", "webp", "avif"})
    except Exception as error:  # a decoder may raise anything on a broken file
        raise _broken(name) from error
    return EncodedImage(media_type=media_type, data=encoded, width=pixels.width, height=pixels.height)


def _pixels(image: "Image.Image", size: tuple[int, int]) -> "Image.Image":
    """The first picture, upright and in that size, as pixels of three colours and nothing else."""
    from PIL import Image, ImageOps

    image.draft("RGB", (max(size), max(size)))  # a JPEG is decoded in a fraction of its size
    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I"):
        upright = upright.point(lambda value: value / 256).convert("L")  # 16 bits each
    colours = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    scale = min(1.0, size[0] / colours.width, size[1] / colours.height)
    if scale < 1:
        target = max(1, round(scale * colours.width)), max(1, round(scale * colours.height))
        colours = colours.resize(target, Image.Resampling.LANCZOS, reducing_gap=3.0)
    clean = Image.new("RGB", colours.size, _background(colours))
    clean.paste(colours, mask=colours.getchannel("A") if colours.mode == "RGBA" else None)
    return clean


def _background(image: "Image.Image") -> str:
    """The colour behind an image with transparent places on which what is drawn can be seen."""
    from PIL import ImageStat

    if image.mode != "RGBA":
        return "white"
    seen = ImageStat.Stat(image.convert("L"), mask=image.getchannel("A"))
    return "black" if seen.count[0] and seen.mean[0] > _LIGHT else "white"


def _written(image: "Image.Image", *, is_drawing: bool) -> tuple[str, bytes]:
    """A drawing or screenshot without loss, unless it is large; a photo as a JPEG."""
    if is_drawing:
        buffer = BytesIO()
        image.save(buffer, "PNG")
        if buffer.tell() <= MAX_PNG_BYTES:
            return "image/png", buffer.getvalue()
    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=87)
    return "image/jpeg", buffer.getvalue()
