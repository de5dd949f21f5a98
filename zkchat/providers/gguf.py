"""Models in GGUF files: where zkchat keeps them, and what their heads say. No weights are loaded."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from zkchat.errors import ConfigError

LARGEST_WINDOW = 8192
"""In tokens, unless somebody says otherwise: all of a window is kept in memory, and models offer 100,000 and more."""
_FETCH_A_SMALL_ONE = "fetch a small one: zkchat models pull smollm2"

_MAGIC = b"GGUF"
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The format's numbers for its types, as `struct` writes them."""
_STRING, _ARRAY = 8, 9
_CONTROL = 3
"""The kind of a token that is no text, such as the one that ends a message."""
_MOST = 100_000_000
"""Bytes or items: a head that claims to hold more is damaged."""

Fact = bool | int | float | str


def models_folder(cache: Path) -> Path:
    return cache / "models"


def kept(cache: Path) -> list[Path]:
    """The models in zkchat's folder, by name: those that were fetched, and those that the user put there."""
    return sorted(models_folder(cache).glob("*.gguf"))


def find(name: str, *, folder: Path, home: Path, cache: Path) -> Path:
    """The file that `local:NAME` means: one that zkchat keeps, or a path, which starts at `folder`."""
    if "/" in name or "\\" in name or name.endswith(".gguf"):
        return home / name.removeprefix("~/") if name.startswith("~/") else folder / name
    path = models_folder(cache) / f"{name}.gguf"
    if not path.exists():
        there = ", ".join(each.stem for each in kept(cache))
        raise ConfigError(
            f"There is no local model '{name}'.",
            hint=f"{f'There are: {there}.' if there else 'There are none yet.'} "
            f"Name a file (local:FILE.gguf), or {_FETCH_A_SMALL_ONE}",
        )
    return path


@dataclass(frozen=True, slots=True)
class Head:
    """The facts in the head of a file, by their names in it."""

    facts: dict[str, Fact | list[Fact]]
    file_bytes: int

    @property
    def window(self) -> int:
        """As large as the model was trained for, within reason."""
        return min(self._number("context_length") or LARGEST_WINDOW, LARGEST_WINDOW)

    @property
    def calls_tools(self) -> bool:
        """Whether the model's template for conversations knows tools; llama.cpp drops them in silence if not."""
        return "tools" in str(self.facts.get("tokenizer.chat_template", ""))

    @property
    def control_tokens(self) -> "re.Pattern[str] | None":
        """Finds the words that the model takes for the frame of the conversation, wherever they stand."""
        tokens, kinds = self.facts.get("tokenizer.ggml.tokens"), self.facts.get("tokenizer.ggml.token_type")
        if not isinstance(tokens, list) or not isinstance(kinds, list):
            return None
        words = [str(token) for token, kind in zip(tokens, kinds, strict=False) if kind == _CONTROL and token]
        return re.compile("|".join(map(re.escape, words))) if words else None

    def bytes_for(self, window: int) -> int:
        """The memory it takes, about: the weights, and for each token of the window two vectors in each layer."""
        heads = self._number("attention.head_count") or 1
        share = (self._number("attention.head_count_kv") or heads) / heads
        vector_bytes = 2 * (self._number("embedding_length") or 0) * share
        return self.file_bytes + int(window * 2 * (self._number("block_count") or 0) * vector_bytes)

    def _number(self, name: str) -> int | None:
        fact = self.facts.get(f"{self.facts.get('general.architecture')}.{name}")
        return fact if isinstance(fact, int) and fact > 0 else None


def read_head(path: Path) -> Head:
    """Raises `ConfigError` where there is no such file, or one of another kind."""
    try:
        with path.open("rb") as file:
            return Head(facts=dict(_facts(file)), file_bytes=path.stat().st_size)
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


def _facts(file: BinaryIO) -> Iterator[tuple[str, Fact | list[Fact]]]:
    if file.read(4) != _MAGIC:
        raise ValueError
    _version, _tensors, count = _integer(file, "I"), _integer(file, "Q"), _size(file)
    for _ in range(count):
        (name,) = _strings(file, 1)
        yield name, _value(file, _integer(file, "I"))


def _value(file: BinaryIO, kind: int) -> Fact | list[Fact]:
    if kind == _ARRAY:
        return _several(file, _integer(file, "I"), _size(file))
    (value,) = _several(file, kind, 1)
    return value


def _several(file: BinaryIO, kind: int, count: int) -> list[Fact]:
    if kind == _STRING:
        return [*_strings(file, count)]
    layout = f"<{count}{_NUMBERS[kind]}"
    return list(struct.unpack(layout, file.read(struct.calcsize(layout))))


def _strings(file: BinaryIO, count: int) -> Iterator[str]:
    for _ in range(count):
        yield file.read(_size(file)).decode("utf-8", "replace")


def _size(file: BinaryIO) -> int:
    size = _integer(file, "Q")
    if size > _MOST:
        raise ValueError
    return size


def _integer(file: BinaryIO, layout: Literal["I", "Q"]) -> int:
    number: int
    (number,) = struct.unpack(f"<{layout}", file.read(struct.calcsize(layout)))
    return number
