"""Images as they are sent, with and without Pillow, and files that are none."""

from io import BytesIO
from random import Random

import pytest
from PIL import Image

from tests.support.images import SECRET, animation, exif, first_pixel, picture, told
from zkchat.core.errors import ImageUnusable
from zkchat.notes import images as encoding
from zkchat.notes.images import encode_image, inspect_image

BOX = (2048, 2048)
RED = (256, 0, 0)


@pytest.fixture(params=[True, False], ids=["with Pillow", "without"])
def pillow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(encoding, "has_pillow", lambda: request.param)
    return bool(request.param)


@pytest.fixture
def without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "has_pillow", lambda: False)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_nothing_of_the_metadata_is_sent(pillow: bool, kind: str) -> None:
    data = told(kind)
    assert SECRET in data
    sent = encode_image(data, BOX, "photo")
    assert SECRET not in sent.data
    with Image.open(BytesIO(sent.data)) as image:
        image.load()
        assert image.size == (40, 30) == (sent.width, sent.height)
        assert {*image.getexif()} <= {0x0112}
    assert first_pixel(sent.data) == RED
    assert pillow or sent.media_type == f"image/{kind.lower()}"


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "AVIF"])
def test_other_formats_are_converted_or_refused_with_a_way_out(pillow: bool, kind: str) -> None:
    if pillow:
        sent = encode_image(picture(kind), BOX, "scan")
        assert sent.media_type in {"image/png", "image/jpeg"}
        assert first_pixel(sent.data) == RED
    else:
        with pytest.raises(ImageUnusable, match="has to be converted") as refused:
            encode_image(picture(kind), BOX, "scan")
        assert "zkchat[images]" in refused.value.hint


def test_a_photo_is_reduced_and_set_upright() -> None:
    turned = Image.new("RGB", (300, 200), "blue")
    turned.paste("red", (0, 0, 300, 100))  # above, as the camera lay: on the right once it is upright
    buffer = BytesIO()
    turned.save(buffer, "JPEG", exif=exif(orientation=6), quality=95)
    header = inspect_image(buffer.getvalue(), "photo.jpg")
    assert (header.width, header.height) == (200, 300)
    sent = encode_image(buffer.getvalue(), (100, 150), "photo.jpg")
    assert (sent.width, sent.height, sent.media_type) == (100, 150, "image/jpeg")
    with Image.open(BytesIO(sent.data)) as image:
        buffer = BytesIO()
        image.crop((90, 0, 100, 10)).save(buffer, "PNG")
        ended = buffer.getvalue()
    assert first_pixel(sent.data) == (0, 0, 256)
    assert first_pixel(ended) == RED


@pytest.mark.usefixtures("without_pillow")
@pytest.mark.parametrize(("turned", "size"), [(4, (40, 30)), (5, (30, 40)), (8, (30, 40))])
def test_without_pillow_a_photo_keeps_how_it_is_turned_and_nothing_else(turned: int, size: tuple[int, int]) -> None:
    sent = encode_image(picture("JPEG", exif=exif(orientation=turned)), BOX, "photo.jpg")
    with Image.open(BytesIO(sent.data)) as image:
        assert (dict(image.getexif()), sent.width, sent.height) == ({0x0112: turned}, *size)


@pytest.mark.usefixtures("without_pillow")
def test_without_pillow_a_large_image_is_refused_with_a_way_out() -> None:
    with pytest.raises(ImageUnusable, match=r"3,000 × 10 pixels .* smaller") as refused:
        encode_image(picture(size=(3000, 10)), BOX, "wide.png")
    assert "zkchat[images]" in refused.value.hint
    assert encode_image(picture() + bytes(5_000_000 - len(picture())), BOX, "full.png").width
    with pytest.raises(ImageUnusable, match="in 5,000,001 bytes"):
        encode_image(picture() + bytes(5_000_001 - len(picture())), BOX, "full.png")


@pytest.mark.parametrize("kind", ["GIF", "PNG"])
def test_of_an_animation_the_first_picture_is_sent(pillow: bool, kind: str) -> None:
    sent = encode_image(animation(kind), BOX, "moving")
    with Image.open(BytesIO(sent.data)) as image:
        assert getattr(image, "n_frames", 1) == 1
    assert first_pixel(sent.data) == RED


def test_an_animated_webp_needs_pillow(pillow: bool) -> None:
    data = animation("WEBP")
    if pillow:
        assert first_pixel(encode_image(data, BOX, "moving.webp").data) == RED
    else:
        with pytest.raises(ImageUnusable, match="an animated WEBP"):
            encode_image(data, BOX, "moving.webp")


@pytest.mark.parametrize(
    ("ink", "paper"),
    [("black", (256, 256, 256)), ("#aaaaaa", (256, 256, 256)), ("#ababab", (0, 0, 0)), ("white", (0, 0, 0))],
)
def test_what_is_drawn_on_nothing_can_be_seen(ink: str, paper: tuple[int, ...]) -> None:
    drawing = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    drawing.paste(ink, (5, 5, 15, 15))
    buffer = BytesIO()
    drawing.save(buffer, "PNG")
    assert first_pixel(encode_image(buffer.getvalue(), BOX, "drawing.png").data) == paper


@pytest.mark.parametrize("mode", ["P", "CMYK", "I;16"])
def test_every_kind_of_pixel_is_written_as_three_colours(mode: str) -> None:
    buffer = BytesIO()
    Image.new(mode, (8, 8)).save(buffer, "TIFF")
    with Image.open(BytesIO(encode_image(buffer.getvalue(), BOX, "scan.tif").data)) as image:
        assert image.mode == "RGB"


def bomb() -> bytes:
    """A PNG that claims a billion pixels."""
    data = bytearray(picture())
    data[16:24] = (40_000).to_bytes(4, "big") * 2
    return bytes(data)


def scans() -> bytes:
    data = picture("JPEG", progressive=True)
    start = data.index(b"\xff\xda")
    return data[:start] + data[start : start + 40] * 101 + data[start:]


BROKEN = {
    "empty": (b"", "is empty"),
    "a page": (b"<!doctype html><title>404</title>", "is not an image"),
    "png cut in its header": (picture()[:20], "its size cannot be read"),
    "png cut in its pixels": (picture(size=(200, 200))[:-40], "a part of it is missing"),
    "png with changed bytes": (picture()[:45] + b"\xff\xff\xff" + picture()[48:], "is broken"),
    "jpeg cut in its header": (picture("JPEG")[:30], "its size cannot be read"),
    "jpeg cut in its pixels": (picture("JPEG", (400, 400), "teal")[:700], "a part of it is missing"),
    "webp cut": (picture("WEBP")[:40], "a part of it is missing"),
    "no pixels": (picture()[:16] + bytes(8) + picture()[24:], "0 × 0 pixels"),
    "a bomb": (bomb(), "40,000 × 40,000 pixels, more than the limit of 64 million"),
    "heic": (b"\0\0\0\x18ftypheic" + bytes(40), "HEIC"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_each_broken_file_is_one_sentence(pillow: bool, kind: str) -> None:
    data, said = BROKEN[kind]
    with pytest.raises(ImageUnusable) as refused:
        encode_image(data, BOX, "pic.png")
    assert said in refused.value.message
    assert refused.value.message.startswith("pic.png ")
    assert refused.value.message.count(". ") == 0


def test_a_jpeg_of_many_scans_is_not_decoded() -> None:
    with pytest.raises(ImageUnusable, match="passes"):
        encode_image(scans(), BOX, "slow.jpg")


def test_a_picture_that_takes_much_as_a_png_is_sent_as_a_photo() -> None:
    for side, sent in ((700, "image/png"), (720, "image/jpeg")):
        noise = Image.frombytes("RGB", (side, side), Random(1).randbytes(3 * side * side))
        buffer = BytesIO()
        noise.save(buffer, "BMP")
        assert encode_image(buffer.getvalue(), BOX, "noise.bmp").media_type == sent
