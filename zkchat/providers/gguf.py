"""Models in GGUF files: where they are kept, and the metadata of their headers. No weights are loaded."""

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

from msgspec import Struct

from zkchat.errors import ConfigError
from zkchat.providers.small_models import parse_size

MAX_WINDOW = 8192
"""In tokens, unless set otherwise: the whole window is kept in memory, and models offer 100,000 and more."""
_FETCH_A_SMALL_ONE = "fetch a small one: zkchat models pull smollm2"

_MAGIC = b"GGUF"
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The format's numbers for its types, as `struct` writes them."""
_STRING, _ARRAY = 8, 9
_SIZE_LABEL = "general.size_label"
_CONTROL = 3
"""The kind of a token that is no text, such as the one that ends a message."""
_MAX_ITEMS = 100_000_000
"""Bytes or items: a header that claims to hold more is damaged."""

Value = bool | int | float | str


def models_folder(cache: Path) -> Path:
    return cache / "models"


def model_files(cache: Path) -> list[Path]:
    """The model files in zkchat's cache folder, sorted by name: fetched ones, and those that the user put there."""
    return sorted(models_folder(cache).glob("*.gguf"))


def find_model_file(name: str, *, folder: Path, home: Path, cache: Path) -> Path:
    """Resolve the NAME of `local:NAME`: a model in the cache folder, or a path relative to `folder`."""
    if "/" in name or "\\" in name or name.endswith(".gguf"):
        return home / name.removeprefix("~/") if name.startswith("~/") else folder / name
    path = models_folder(cache) / f"{name}.gguf"
    if not path.exists():
        there = ", ".join(each.stem for each in model_files(cache))
        raise ConfigError(
            f"There is no local model '{name}'.",
            hint=f"{f'There are: {there}.' if there else 'There are none yet.'} "
            f"Name a file (local:FILE.gguf), or {_FETCH_A_SMALL_ONE}",
        )
    return path


class Header(Struct, frozen=True):
    """The metadata of a file's header, by key."""

    metadata: dict[str, Value | list[Value]]
    file_bytes: int

    @property
    def size(self) -> int:
        """Parameters where the header names them, else the bytes of the file."""
        return parse_size(self.metadata.get(_SIZE_LABEL)) or self.file_bytes

    @property
    def window(self) -> int:
        """The window that the model was trained for, at most `MAX_WINDOW`."""
        return min(self._number("context_length") or MAX_WINDOW, MAX_WINDOW)

    @property
    def calls_tools(self) -> bool:
        """Whether the model's template for conversations knows tools; llama.cpp drops them in silence if not."""
        return "tools" in str(self.metadata.get("tokenizer.chat_template", ""))

    @property
    def control_tokens(self) -> "re.Pattern[str] | None":
        """Matches the control tokens of the chat template wherever they occur in a text."""
        tokens, kinds = self.metadata.get("tokenizer.ggml.tokens"), self.metadata.get("tokenizer.ggml.token_type")
        if not isinstance(tokens, list) or not isinstance(kinds, list):
            return None
        words = [str(token) for token, kind in zip(tokens, kinds, strict=False) if kind == _CONTROL and token]
        return re.compile("|".join(map(re.escape, words))) if words else None

    def bytes_for(self, window: int) -> int:
        """Approximate memory use: the weights, and two vectors per token of the window and layer."""
        heads = self._number("attention.head_count") or 1
        share = (self._number("attention.head_count_kv") or heads) / heads
        vector_bytes = 2 * (self._number("embedding_length") or 0) * share
        return self.file_bytes + int(window * 2 * (self._number("block_count") or 0) * vector_bytes)

    def _number(self, name: str) -> int | None:
        value = self.metadata.get(f"{self.metadata.get('general.architecture')}.{name}")
        return value if isinstance(value, int) and value > 0 else None


def read_header(path: Path) -> Header:
    """Raises `ConfigError` where there is no such file, or one of another kind."""
    try:
        with path.open("rb") as file:
            return Header(metadata=dict(_metadata(file)), file_bytes=path.stat().st_size)
    except OSError as error:
        raise ConfigError(
            f"The model {path} cannot be read: {error.strerror}.",
            hint=f"Name a GGUF file (local:FILE.gguf), or {_FETCH_A_SMALL_ONE}",
        ) from error
    except (ValueError, KeyError, struct.error) as error:
        raise ConfigError(
            f"The file {path} is no model in the GGUF format, or it is damaged.",
            hint=f"Fetch it again, or {_FETCH_A_SMALL_ONE}",
        ) from error


def read_size(path: Path) -> int | None:
    """As `Header.size`, without reading the vocabulary, which takes a while; None where it is no model's file."""
    facts: dict[str, Value | list[Value]] = {}
    try:
        with path.open("rb") as file:
            for name, value in _metadata(file):
                facts[name] = value
                if name == _SIZE_LABEL or not name.startswith("general."):
                    break
            return Header(metadata=facts, file_bytes=path.stat().st_size).size
    except (OSError, ValueError, KeyError, struct.error):
        return None


def _metadata(file: BinaryIO) -> Iterator[tuple[str, Value | list[Value]]]:
    if file.read(4) != _MAGIC:
        raise ValueError
    _version, _tensors, count = _integer(file, "I"), _integer(file, "Q"), _size(file)
    for _ in range(count):
        (name,) = _strings(file, 1)
        yield name, _value(file, _integer(file, "I"))


def _value(file: BinaryIO, kind: int) -> Value | list[Value]:
    if kind == _ARRAY:
        return _several(file, _integer(file, "I"), _size(file))
    (value,) = _several(file, kind, 1)
    return value


def _several(file: BinaryIO, kind: int, count: int) -> list[Value]:
    if kind == _STRING:
        return [*_strings(file, count)]
    layout = f"<{count}{_NUMBERS[kind]}"
    return list(struct.unpack(layout, file.read(struct.calcsize(layout))))


def _strings(file: BinaryIO, count: int) -> Iterator[str]:
    for _ in range(count):
        yield file.read(_size(file)).decode("utf-8", "replace")


def _size(file: BinaryIO) -> int:
    size = _integer(file, "Q")
    if size > _MAX_ITEMS:
        raise ValueError
    return size


def _integer(file: BinaryIO, layout: Literal["I", "Q"]) -> int:
    number: int
    (number,) = struct.unpack(f"<{layout}", file.read(struct.calcsize(layout)))
    return number
