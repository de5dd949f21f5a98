"""The images of a conversation: which of them go along with a message, and what is read of their files for a request.

A session keeps path, size and digest of an image. Its file is read again for each turn that shows it, through the
library that the model may see, and is not sent if it is another one by now.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.chat.context.formatting import BLIND, NO_ROOM, ImageLook, describe_images
from zkchat.core import (
    Ambiguous,
    DocumentReference,
    FilePart,
    ImageDetail,
    ImagePart,
    ImageRule,
    Link,
    ModelInfo,
    ModelProvider,
    ModelRequest,
    NoteNotFound,
    PromptMessage,
    Resolved,
    StorageError,
    VaultError,
    Warned,
    ZkchatError,
    is_image,
    is_note,
)
from zkchat.index import Library
from zkchat.notes import MAX_FILE_BYTES, digest_of, encode_image, inspect_image, parse_note

MAX_IMAGES: Final = 8
"""Of one message, unless the settings say otherwise."""
GONE: Final = "its file is gone"
UNUSABLE: Final = "it cannot be used"
TOO_MANY: Final = "there are more images than are sent at once"

ReadFile = Callable[[str, int], bytes]
"""Reads a file that the user named, wherever it is, up to so many bytes. Raises `ZkchatError`."""


def no_files(path: str, most: int) -> bytes:  # noqa: ARG001 - the signature of `ReadFile`
    """Reads nothing but the vault."""
    raise NoteNotFound(f"There is no file {path}.")


class ImageIntake(Struct, frozen=True, kw_only=True):
    """The images that go along with a message."""

    parts: tuple[ImagePart, ...] = ()
    references: tuple[DocumentReference, ...] = ()
    """Those of the images, and how each was sent."""
    warnings: tuple[Warned, ...] = ()
    tokens: int = 0


class MessageImages(Struct, kw_only=True):
    """The images of a conversation, for the model at hand."""

    library: Library
    """As the model may see it."""
    provider: ModelProvider
    read_file: ReadFile = no_files
    most: int = MAX_IMAGES
    detail: ImageDetail = "high"
    _looks: dict[tuple[ImagePart, ModelInfo], ImageLook] = field(default_factory=dict)
    """Of this turn: a file is read once in each."""
    _encoded: dict[tuple[str, int, int], tuple[str, str]] = field(default_factory=dict)
    """By digest and size: media type and data."""

    @property
    def is_seen(self) -> bool:
        """Whether images go to this model at all."""
        return self.provider.info.sees_images and self.most > 0

    @property
    def rule(self) -> ImageRule:
        return replace(self.provider.info.image_rule, detail=self.detail)

    def begin_turn(self) -> None:
        """Have every file looked at again."""
        self._looks.clear()

    def look(self, image: ImagePart) -> ImageLook:
        """Whether the model gets an image of a message, and what it costs then."""
        if not self.is_seen or image.unsent:
            return ImageLook(reason=image.unsent or BLIND)
        key = image, self.provider.info
        if key not in self._looks:
            self._looks[key] = self._look(image)
        return self._looks[key]

    def _look(self, image: ImagePart) -> ImageLook:
        try:
            if not image.data and not image.digest:
                return ImageLook(reason=GONE)  # it was never read
            data = self._read(image)
            if image.digest and digest_of(data) != image.digest:
                return ImageLook(reason="its file has changed since")
            header = inspect_image(data, image.name)
        except NoteNotFound:
            return ImageLook(reason=GONE)
        except ZkchatError:
            return ImageLook(reason=UNUSABLE)
        size = (image.width, image.height) if image.width else (header.width, header.height)
        return ImageLook(tokens=max(1, self.rule.tokens(*self.rule.sized(*size))))

    def _read(self, image: ImagePart) -> bytes:
        if image.data:
            try:
                return b64decode(image.data, validate=True)
            except (Base64Error, ValueError) as error:
                raise VaultError(f"{image.name} is not an image.") from error
        if image.file:
            return self.read_file(image.file, MAX_FILE_BYTES)
        return self.library.read_data(image.name, MAX_FILE_BYTES)

    def load(self, request: ModelRequest) -> tuple[ModelRequest, list[Warned]]:
        """The request with the data of its images; of one that cannot be had any more, the model reads that."""
        if not any(message.images for message in request.messages):
            return request, []
        warnings: list[Warned] = []
        messages: list[PromptMessage] = []
        for message in request.messages:
            loaded: list[ImagePart] = []
            lost: list[tuple[ImagePart, str]] = []
            for image in message.images:
                try:
                    media_type, data = self._encode(image)
                except ZkchatError as error:
                    lost.append((image, GONE))
                    warnings.append(Warned(text=f"{image.name} is not sent. {error.message}", hint=error.hint))
                else:
                    loaded.append(replace(image, media_type=media_type, data=data))
            text = "\n\n".join(filter(None, [message.text, describe_images(lost)]))
            messages.append(replace(message, text=text, images=tuple(loaded)))
        return replace(request, messages=tuple(messages), image_detail=self.detail), warnings

    def _encode(self, image: ImagePart) -> tuple[str, str]:
        """Media type and data as they are sent. Raises `ZkchatError` where the file is gone, changed or broken."""
        digest = image.digest or digest_of(image.data.encode())
        known = self._encoded.get((digest, *self.rule.sized(image.width, image.height))) if image.width else None
        if known:
            return known
        data = self._read(image)
        if image.digest and digest_of(data) != image.digest:
            raise VaultError(f"The file {image.name} has changed since you sent it.")
        header = inspect_image(data, image.name)
        size = self.rule.sized(image.width or header.width, image.height or header.height)
        return self._keep(data, digest, size, image.name)

    def _keep(self, data: bytes, digest: str, size: tuple[int, int], name: str) -> tuple[str, str]:
        encoded = encode_image(data, size, name)
        kept = encoded.media_type, b64encode(encoded.data).decode("ascii")
        if sum(len(data) for _, data in self._encoded.values()) + len(kept[1]) > 48_000_000:  # characters
            self._encoded.clear()
        self._encoded[digest, *size] = kept
        return kept

    def take_named(
        self, references: Iterable[DocumentReference], given: Sequence[ImagePart], room: Callable[[], int]
    ) -> ImageIntake:
        """The images that a message links to or mentions, and those given beside it, as far as there is room.

        `room` is asked for the tokens that documents may take, where there is an image to be sent.
        """
        linked = {
            each.relative_path: each for each in references if each.relative_path and is_image(each.relative_path)
        }
        wanted = [*given, *(_part_of(path, each.wikilink) for path, each in linked.items())]
        if not wanted:
            return ImageIntake()
        taken, rows, warnings = self._take(wanted, int(0.75 * room()) if self.is_seen else 0)
        shown = {part.name: (part, why) for part, why in rows if not part.file and not part.data}
        return ImageIntake(
            parts=tuple(part for part, _ in rows),
            references=tuple(_reported(each, *shown[path]) for path, each in linked.items() if path in shown),
            warnings=tuple(warnings),
            tokens=taken,
        )

    def take_embedded(
        self, files: Iterable[FilePart], before: Sequence[ImagePart], room: Callable[[], int]
    ) -> ImageIntake:
        """The images that the notes which go along embed, as far as there is room beside everything else."""
        found: dict[str, tuple[ImagePart, DocumentReference]] = {}
        for part, reference in chain.from_iterable(map(self._embedded_in, files)) if self.is_seen else ():
            is_known = any(part.name == each.name for each in before)
            if not is_known and len(before) + len(found) < self.most:
                found.setdefault(part.name, (part, reference))
        if not found:
            return ImageIntake()
        taken, rows, _ = self._take([part for part, _ in found.values()], room(), already=len(before))
        sent = [part for part, why in rows if not why]  # the others stand in the text of their note
        references = tuple(_reported(found[part.name][1], part, "") for part in sent)
        return ImageIntake(parts=tuple(sent), references=references, tokens=taken)

    def _embedded_in(self, file: FilePart) -> Iterator[tuple[ImagePart, DocumentReference]]:
        """The images that a note embeds and that the model may see."""
        source = file.name.partition("#")[0]
        if file.server or not is_note(source) or "![" not in file.text:
            return
        count = 0
        for link in parse_note(source, file.text).links:
            if not link.embed or link.in_comment or link.external or count == 4:
                continue
            try:
                found = self.library.resolve(link, source, suggestions=0)
            except (StorageError, VaultError):
                continue
            if isinstance(found, Resolved | Ambiguous) and is_image(found.path):
                count += 1
                part = replace(_part_of(found.path, link.text), alt=link.display, embedded_in=source)
                yield part, DocumentReference(wikilink=link.text, relative_path=part.name, via="embed", title=part.name)

    def _take(
        self, wanted: Sequence[ImagePart], room: int, *, already: int = 0
    ) -> tuple[int, list[tuple[ImagePart, str]], list[Warned]]:
        """What they take, each image with the reason why it is not sent, and warnings about what is wrong with them."""
        rows: list[tuple[ImagePart, str]] = []
        warnings: list[Warned] = []
        taken = 0
        for number, image in enumerate(wanted):
            try:
                part, why, tokens = self._fitted(image, (room - taken) // (len(wanted) - number), already + number)
            except ZkchatError as error:
                # Of an image of the vault that this model may not see, not even the name is sent.
                link = Link(text=image.name, target=f"/{image.name}")
                if not (image.file or image.data) and (reason := self.library.withheld(link)):
                    warnings.append(Warned(text=f"not sent: {image.name} {reason}"))
                    continue
                part, why, tokens = image, UNUSABLE if self.is_seen else BLIND, 0
                if self.is_seen:
                    warnings.append(Warned(text=f"{error.message} It is not sent.", hint=error.hint))
            taken += tokens
            lasting = why if why != BLIND else ""  # a model that sees may come later
            rows.append((replace(part, unsent=lasting), why))
        return taken, rows, [*warnings, *self._why_unsent(rows)]

    def _fitted(self, image: ImagePart, room: int, number: int) -> tuple[ImagePart, str, int]:
        """An image in a size that fits, the reason why it is not sent, and its tokens. Raises `ZkchatError`."""
        data = self._read(image)
        header = inspect_image(data, image.name)
        width, height = self.rule.sized(header.width, header.height)
        part = replace(
            image,
            media_type=f"image/{header.format}",
            digest="" if image.data else digest_of(data),
            size=len(data),
            width=width,
            height=height,
        )
        if not self.is_seen:
            return part, BLIND, 0
        if number >= self.most:
            return part, TOO_MANY, 0
        fitting = self.rule.fitting(header.width, header.height, room)
        if fitting is None:
            return part, NO_ROOM, 0
        self._keep(data, part.digest or digest_of(image.data.encode()), fitting, image.name)
        return replace(part, width=fitting[0], height=fitting[1]), "", self.rule.tokens(*fitting)

    def _why_unsent(self, rows: Sequence[tuple[ImagePart, str]]) -> Iterator[Warned]:
        """A sentence for each reason why whole images are not sent."""
        info = self.provider.info
        said = {
            BLIND: (
                f"{info.shown} does not see images.",
                "`zkchat models` lists those that do. If this one does too, set models.NAME.sees_images = true.",
            ),
            NO_ROOM: (
                "There is no room for this in the context window.",
                'Raise context.max_tokens, choose a model with a larger context window, or set images.detail = "low".',
            ),
            TOO_MANY: (
                f"At most {self.most} images can be sent with one message.",
                "Ask about fewer, or raise images.max_count.",
            ),
        }
        if not info.is_located:  # its server has not said whether it sees, and that is said
            del said[BLIND]
        for reason in dict.fromkeys(why for _, why in rows if why in said):
            names = ", ".join(part.name for part, why in rows if why == reason)
            text, hint = said[reason]
            yield Warned(text=f"Not sent: {names}. {text}", hint=hint)


def _part_of(path: str, wikilink: str) -> ImagePart:
    """An image of the vault, of which nothing is known yet but its link."""
    links = [link for link in parse_note("", wikilink).links if link.embed or link.display]
    return ImagePart(name=path, media_type="", alt=links[0].display if links else "")


def _reported(reference: DocumentReference, part: ImagePart, why: str) -> DocumentReference:
    """The reference of an image, with what became of it."""
    if why:
        return replace(reference, included=False, unsent=why)
    about = f"image, sent in {part.width} × {part.height} pixels"
    return replace(reference, included=True, summary=about)
