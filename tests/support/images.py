"""Images for tests, whole and broken, and a server that records what it is shown."""

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, Final

from PIL import Image, PngImagePlugin

from tests.providers.loopback import PROTOCOLS, Loopback
from zkchat.core.prompt import Finish, ModelChunk, TextChunk

SECRET: Final = b"GPS-CANARY-48.8584N"
"""Stands in the metadata of images."""


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 30), colour: str = "red", **options: Any) -> bytes:
    """An image of one colour."""
    buffer = BytesIO()
    Image.new("RGB", size, colour).save(buffer, kind, **options)
    return buffer.getvalue()


def exif(orientation: int = 1) -> Image.Exif:
    """EXIF data with a secret, and how the camera was turned."""
    data = Image.Exif()
    data[0x0112] = orientation
    data[0x010E] = SECRET.decode()
    return data


def told(kind: str) -> bytes:
    """An image whose metadata holds the secret."""
    if kind == "PNG":
        info = PngImagePlugin.PngInfo()
        info.add_text("Location", SECRET.decode())
        return picture("PNG", pnginfo=info, exif=exif())
    if kind == "GIF":
        return picture("GIF", comment=SECRET)
    options: dict[str, Any] = {"comment": SECRET} if kind == "JPEG" else {}
    return picture(kind, exif=exif(), **options)


def animation(kind: str) -> bytes:
    """A red picture, and a blue one after it."""
    buffer = BytesIO()
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue", "green")]
    frames[0].save(buffer, kind, save_all=True, append_images=frames[1:], duration=100)
    return buffer.getvalue()


def first_pixel(data: bytes) -> tuple[int, ...]:
    """The colour in the upper left corner, about: a JPEG does not keep it to the last bit."""
    with Image.open(BytesIO(data)) as image:
        value = image.convert("RGB").getpixel((0, 0))
    assert isinstance(value, tuple)
    return tuple(round(part / 64) * 64 for part in value)


class SeeingServer(Loopback):
    """An Ollama and an OpenAI-like server with models that see, and one that does not (`blind`)."""

    def __init__(self, *, window: int = 32_768) -> None:
        answer: list[ModelChunk] = [TextChunk(text="A red square."), Finish()]
        super().__init__({"sees": answer, "blind": answer, "far-cloud": answer, "tunnelled": answer}, key="")
        self.window = window
        self.capabilities = ["completion", "vision"]

    def shown(self) -> object:
        facts: Mapping[str, object] = {"general.architecture": "llama", "llama.context_length": self.window}
        return {"parameters": "", "template": "", "model_info": facts, "capabilities": self.capabilities}

    @property
    def chats(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests if request.path in PROTOCOLS]

    def images(self) -> list[str]:
        """All images that it was sent since the last time, in base 64."""
        found = [image for body in self.chats for image in images_in(body["messages"])]
        self.requests.clear()
        return found


def images_in(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The images of the messages of a request, by either protocol."""
    for message in messages:
        yield from message.get("images") or ()
        content = message["content"]
        for part in content if isinstance(content, list) else ():
            if part["type"] == "image_url":
                yield part["image_url"]["url"].partition(";base64,")[2]
