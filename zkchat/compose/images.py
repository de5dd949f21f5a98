"""Images that are no files of the vault: those that the user names on the command line, and those of a client."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from zkchat.environment import Environment
from zkchat.errors import ImageUnusable, NoteNotFound, NoteUnreadable, UsageError, ZkchatError
from zkchat.files import read_bounded
from zkchat.model.parts import ImagePart
from zkchat.vault.images.encoding import digest_of, encode_image, inspect_image
from zkchat.vault.images.headers import MAX_FILE_BYTES

MAX_INLINE_SIDE: Final = 1568
"""Pixels of the longer side of an image that is stored with its message."""


def read_image_file(path: str, most: int) -> bytes:
    """What a file holds that the user named. Raises `NoteNotFound` or `NoteUnreadable`."""
    try:
        return read_bounded(Path(path), max_bytes=most)
    except FileNotFoundError as error:
        raise NoteNotFound(f"There is no file {path}.") from error
    except OSError as error:
        raise NoteUnreadable(f"{path} cannot be read: {error.strerror}.") from error


def named_images(environment: Environment, vault: Path, files: Sequence[Path]) -> tuple[ImagePart, ...]:
    """The images for a message; one of the vault as if it were mentioned. Raises `UsageError` for what is no image."""
    if not files:
        return ()
    parts: list[ImagePart] = []
    for file in dict.fromkeys(files):
        whole = environment.cwd / file.expanduser()
        try:
            data = read_image_file(str(whole), MAX_FILE_BYTES)
            header = inspect_image(data, file.name)
        except NoteNotFound as error:
            raise UsageError(f"--image: There is no file {file}.") from error
        except ZkchatError as error:
            raise UsageError(f"--image: {error.message}", hint=error.hint) from error
        inside = whole.resolve().is_relative_to(vault.resolve())
        parts.append(
            ImagePart(
                name=whole.resolve().relative_to(vault.resolve()).as_posix() if inside else file.name,
                media_type=f"image/{header.format}",
                file="" if inside else str(whole),
                digest=digest_of(data),
                size=len(data),
                width=header.width,
                height=header.height,
            )
        )
    return tuple(parts)


def inline_image(name: str, data: str) -> ImagePart:
    """An image without a file, in base 64, made smaller: it is stored with its message. Raises `ImageUnusable`."""
    from base64 import b64decode, b64encode

    if len(data) > MAX_FILE_BYTES * 4 // 3:
        raise ImageUnusable(f"{name} is larger than {MAX_FILE_BYTES:,} bytes.")
    try:
        content = b64decode(data, validate=True)
    except ValueError as error:
        raise ImageUnusable(f"{name} is no image.") from error
    encoded = encode_image(content, (MAX_INLINE_SIDE, MAX_INLINE_SIDE), name)
    return ImagePart(
        name=name,
        media_type=encoded.media_type,
        data=b64encode(encoded.data).decode("ascii"),
        width=encoded.width,
        height=encoded.height,
    )
