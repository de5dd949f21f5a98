"""Counting tokens. Encodings ship with the package: counting needs no network, and never raises on a note's text."""

import math
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from zkchat.errors import ConfigError
from zkchat.ports import Tokenizer

if TYPE_CHECKING:
    import tiktoken

DIGESTS = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
FALLBACK_ENCODING = "o200k_base"
"""Counts for a model whose own encoding is unknown."""

_WORD_TAIL = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_PATTERNS = {
    "o200k_base": "|".join(
        [
            _WORD_TAIL + r"*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            _WORD_TAIL + r"+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
    "cl100k_base": "|".join(
        [
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
            r"[^\r\n\p{L}\p{N}]?\p{L}+",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
}


class Estimate:
    """Seven ASCII characters to two tokens, one token to every other character: rather high than low."""

    exact = False

    def count(self, text: str) -> int:
        ascii_characters = len(text.encode("ascii", "ignore"))
        return math.ceil(ascii_characters / 3.5 + (len(text) - ascii_characters))


class Encoding:
    """A tiktoken encoding, loaded when the first text is counted: that costs half a second.

    `exact` says whether it is the model's own.
    """

    def __init__(self, name: str, *, exact: bool = True) -> None:
        if name not in DIGESTS:
            raise ConfigError(f"There is no encoding '{name}'.", hint=f"There are: {', '.join(DIGESTS)}.")
        self._name = name
        self.exact = exact

    def count(self, text: str) -> int:
        # A note may hold a lone surrogate, which has no UTF-8 form, and `<|endoftext|>`, which is no command here.
        return len(load_encoding(self._name).encode_ordinary(text.encode("utf-8", "replace").decode()))


class CachedTokenizer:
    """Caches the counts of another tokenizer by the text's digest."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._counts: dict[bytes, int] = {}

    @property
    def exact(self) -> bool:
        return self._tokenizer.exact

    def count(self, text: str) -> int:
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        if key not in self._counts:
            self._counts[key] = self._tokenizer.count(text)
        return self._counts[key]


def tokenizer_for(encoding: str, *, otherwise: str = "") -> Tokenizer:
    """The tokenizer of an encoding; where none is given, `otherwise` as an approximation, or the estimate."""
    if encoding:
        return Encoding(encoding)
    return Encoding(otherwise, exact=False) if otherwise else Estimate()


@lru_cache
def load_encoding(name: str) -> "tiktoken.Encoding":
    """Load an encoding from the package, once. Raises `ConfigError` where its file is damaged."""
    import tiktoken

    return tiktoken.Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=_ranks(name), special_tokens={})


def _ranks(name: str) -> dict[bytes, int]:
    from base64 import b64decode

    data = (files("zkchat.context") / "encodings" / f"{name}.tiktoken").read_bytes()
    if sha256(data).hexdigest() != DIGESTS[name]:
        raise ConfigError(f"The encoding '{name}' of this installation is damaged.", hint="Install zkchat again.")
    pairs = (line.split() for line in data.splitlines())
    return {b64decode(token): int(rank) for token, rank in pairs}
