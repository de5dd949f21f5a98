"""What a client sends as a prompt, as one message: text, notes that are mentioned, texts that are embedded, images."""

import re
from collections.abc import Sequence
from os.path import normpath
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import url2pathname

from acp import schema
from msgspec import Struct

from zkchat.app import inline_image
from zkchat.chat import Elsewhere
from zkchat.core import ImagePart, ImageUnusable, ModelInfo, StorageError, UsageError, VaultError, is_note, lazy_pattern
from zkchat.hosting import fenced
from zkchat.index import Library
from zkchat.notes import privacy_of_text

Block = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)
_LINES: Final = lazy_pattern(r"L(\d+)(?:(?::|-L?)(\d+))?")


class PromptText(Struct, frozen=True, kw_only=True):
    """A prompt as a message, and what the user should know of what was left out."""

    text: str
    notices: tuple[str, ...] = ()
    images: tuple[ImagePart, ...] = ()


class PromptReader:
    """Reads the blocks of prompts. Nothing outside the vault is opened."""

    def __init__(
        self, vault: Path, library: Library, model: ModelInfo, *, local_globs: Sequence[str], max_bytes: int
    ) -> None:
        """`library` holds all notes, also those that the model may not see."""
        self._vault = vault
        self._library = library
        self._may_see_local = model.is_located and model.on_this_machine
        self._local_globs = local_globs
        self._max_bytes = max_bytes
        self._notices: list[str] = []
        self._material: list[str] = []
        self._images: list[ImagePart] = []

    def read(self, blocks: Sequence[Block]) -> PromptText:
        """The words in their order, then what came with them. Raises `UsageError` for more than is read."""
        self._notices, self._material, self._images = [], [], []
        words = "".join(map(self._words, blocks)).strip()
        text = "\n\n".join([*([words] if words else []), *self._material])
        if len(text.encode(errors="replace")) > self._max_bytes:
            raise UsageError(
                f"The message is larger than {self._max_bytes:,} bytes.",
                hint="Send less, or raise limits.max_input_bytes.",
            )
        return PromptText(text=text, notices=tuple(dict.fromkeys(self._notices)), images=tuple(self._images))

    def _words(self, block: Block) -> str:
        match block:
            case schema.TextContentBlock():
                return block.text
            case schema.ResourceContentBlock():
                return self._mention(block.uri, block.name)
            case schema.EmbeddedResourceContentBlock():
                if isinstance(block.resource, schema.TextResourceContents):
                    return self._embedded(block.resource.uri, block.resource.text)
                self._notices.append(f"{_name_of(block.resource.uri)} is not text, so it was not sent.")
            case schema.ImageContentBlock():
                return self._image(block)
            case schema.AudioContentBlock():
                self._notices.append("zkchat cannot use audio, so it was not sent.")
        return ""

    def _image(self, block: schema.ImageContentBlock) -> str:
        """An image of the vault is named, so that it is as private as it is there; any other goes along, reduced."""
        if block.uri and (path := self._path_in_vault(block.uri)):
            return self._link(path)
        name = _name_of(block.uri) if block.uri else "image"
        try:
            part = inline_image(name, block.data)
        except ImageUnusable as error:
            self._notices.append(f"{error.message} It was not sent. {error.hint}".strip())
            return ""
        self._images.append(part)
        return ""

    def _mention(self, uri: str, name: str) -> str:
        """A document that is named: a link where it is in the vault, else its name or address alone."""
        if _split(uri).scheme in {"http", "https"}:
            return uri
        path = self._path_in_vault(uri)
        if path is None:
            shown = name or _name_of(uri)
            self._notices.append(f"{shown} is not in this vault, so it was not read.")
            return f"`{shown}`"
        lines = _lines_of(uri)
        return self._link(path) + (f" ({lines})" if lines else "")

    def _embedded(self, uri: str, text: str) -> str:
        """A text that came along, perhaps unasked. Of a note that is not for every model, the link alone, and nothing
        where this model may not see it; of one that is there as it is, the link too: it says as much."""
        path = self._path_in_vault(uri)
        name, written = path or _name_of(uri), self._text_of(path) if path else None
        if path and is_note(path) and written is None:  # it may say anything of who may see it
            self._notices.append(f"{path} is not a note that zkchat can read, so it was not sent.")
            return ""
        # What the note, as it is and as the editor holds it, says about models that may not see it.
        globs = self._local_globs if path else ()
        classes = {privacy_of_text(each, name, globs) for each in (text, written or "")} - {"open"}
        if path and not self._library.guarded_for(Elsewhere()).confirmed([path]):
            classes.add("local")
        if classes:
            if path and self._may_see_local and classes == {"local"}:
                return self._link(path)
            self._notices.append(f"{name} is private, so it was not sent.")
            return ""
        if path and is_note(path) and text.strip() == (written or "").strip():
            return self._link(path)
        lines = _lines_of(uri)
        title = f"{name}, {lines}" if lines else name
        self._material.append(f"{title}:\n{fenced(text.strip(chr(10)))}")
        return f"`{title}`"

    def _text_of(self, path: str) -> str | None:
        try:
            return self._library.read(path)
        except (VaultError, StorageError):
            return None

    def _link(self, path: str) -> str:
        if is_note(path):
            return self._library.link_to(path)
        return f'@"{path}"' if re.search(r"\s", path) else f"@{path}"

    def _path_in_vault(self, uri: str) -> str | None:
        """The path inside the vault of the file that an address or a path means; None outside.

        A file that is reached through a link in the vault is inside, whatever the link leads to. Editors have addresses
        of their own for files, of which only the path is known.
        """
        parts = _split(uri)
        vault = self._vault.resolve()
        file = vault / (url2pathname(parts.path) if parts.scheme else unquote(uri.partition("#")[0]))
        try:
            inside = [each for each in (Path(normpath(file)), file.resolve()) if each.is_relative_to(vault)]
            is_there = bool(inside) and file.exists()
        except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
            return None
        return inside[0].relative_to(vault).as_posix() if is_there and inside[0] != vault else None


def _split(uri: str) -> SplitResult:
    """The parts of an address; one that is malformed is all path."""
    try:
        return urlsplit(uri)
    except ValueError:
        return SplitResult("", "", uri, "", "")


def _lines_of(uri: str) -> str:
    """`lines 3 to 5`, of an address that ends in `#L3:5` or `#L3-L5`."""
    found = _LINES.search(_split(uri).fragment)
    if found is None:
        return ""
    return f"lines {found[1]} to {found[2]}" if found[2] and found[2] != found[1] else f"line {found[1]}"


def _name_of(uri: str) -> str:
    """What a reader calls an address: the end of its path."""
    parts = _split(uri)
    return PurePosixPath(unquote(parts.path)).name or unquote(parts.netloc) or "the attachment"
