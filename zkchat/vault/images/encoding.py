"""From an image's file to what is sent: reduced, upright, its first picture only, without metadata.

With Pillow every image is decoded and written anew, so that nothing but its pixels leaves. Without it, what is small
enough goes with its metadata cut out, and the rest is refused.
"""

from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zkchat.errors import ImageUnusable
from zkchat.extras import install_command
from zkchat.vault.images.headers import (
    MAX_SCANS,
    PLAIN_FORMATS,
    ImageHeader,
    check_size,
    read_header,
    without_metadata,
)

if TYPE_CHECKING:
    from PIL import Image

MAX_PLAIN_BYTES: Final = 5_000_000
"""Of a file that is sent without decoding it."""
MAX_PNG_BYTES: Final = 1_500_000
"""Of a PNG that is sent: a larger one holds a photo, which goes as a JPEG."""
_QUALITY: Final = 87
_LIGHT: Final = 170
"""Of 255: what is drawn lighter than that on nothing is shown on black, and everything else on white."""


class EncodedImage(Struct, frozen=True, kw_only=True):
    """An image as it is sent."""

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
    plain = without_metadata(data, header, name)
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
        raise ImageUnusable(f"{name} is a JPEG of more than {MAX_SCANS} scans, which takes too long to decode.")
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
    image.save(buffer, "JPEG", quality=_QUALITY)
    return "image/jpeg", buffer.getvalue()
