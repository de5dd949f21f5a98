"""The images of messages in a request: which of them the model gets, what they cost, and what it is told of the others.

Pure: whether a file is what it was, and may be shown, is for an `ImageView` to say.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from msgspec import Struct

from zkchat.model.message import ChatMessage
from zkchat.model.parts import ImagePart

BLIND: Final = "the model does not see images"
"""Why no image is sent to most models."""
NO_ROOM: Final = "there is no room for it in the context"
"""Why an image is not sent with a message that is shortened."""


class ImageLook(Struct, frozen=True, kw_only=True):
    """What becomes of an image in a request."""

    tokens: int = 0
    reason: str = ""
    """Why it is not sent; empty where it is."""


class ImageView(Protocol):
    def look(self, image: ImagePart) -> ImageLook:
        """Whether the model gets an image, and what it costs then."""
        ...


class NoImages:
    """The view of a model that does not see."""

    def look(self, image: ImagePart) -> ImageLook:  # noqa: ARG002 - none is shown
        return ImageLook(reason=BLIND)


def images_of(message: ChatMessage) -> list[ImagePart]:
    """The images that go along with a message of the user; models take none with their own answers."""
    return [part for part in message.parts if isinstance(part, ImagePart)] if message.role == "user" else []


def with_reasons(message: ChatMessage, unsent: Sequence[str] = ()) -> list[tuple[ImagePart, str]]:
    """The images of a message, each with the reason why it is left out; `unsent` has those of the first ones."""
    images = images_of(message)
    return [*zip(images, [*unsent, *[""] * len(images)], strict=False)]


def describe_images(images: Sequence[tuple[ImagePart, str]]) -> str:
    """What a model reads beside images: their names in their order, and which it does not get, and why."""
    sent = [image for image, reason in images if not reason]
    others = [each for each in images if each[1]]
    blocks = [
        "\n".join(["Images that come with this message, in their order:", *map(_line, sent)]) if sent else "",
        "\n".join(["Images that you are not shown:", *_lines_of_unsent(others)]) if others else "",
    ]
    return "\n\n".join(filter(None, blocks))


def words_alone(message: ChatMessage) -> str:
    """The words of a message, and the names of its images in the place of these."""
    unsent = [(image, NO_ROOM) for image in images_of(message)]
    return "\n\n".join(filter(None, [message.text, describe_images(unsent)]))


def _lines_of_unsent(images: Sequence[tuple[ImagePart, str]]) -> Iterator[str]:
    for image, reason in images:
        yield f"{_line(image)} ({reason})"


def _line(image: ImagePart) -> str:
    """Its name, what its link says of it, and where it stands; on one line, whatever the name holds."""
    alt = f', "{image.alt}"' if image.alt else ""
    source = f", embedded in {image.embedded_in}" if image.embedded_in else ""
    return " ".join(f"- {image.name}{alt}{source}".split())
