"""Counting tokens. Encodings ship with the package: counting needs no network, and never raises on a note's text.

Where an encoding cannot be loaded, tokens are estimated from the number of characters, and `problem` says why.
"""

import math
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from zkchat.core import ConfigError, Tokenizer, ZkchatError

if TYPE_CHECKING:
    import tiktoken


DIGESTS = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
FALLBACK_ENCODING = "o200k_base"
"""Counts for a model whose own encoding is unknown."""
_SLICE_CHARS = 200_000
"""Characters that are encoded at once: tiktoken ends in a stack overflow on a million spaces."""

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


REMEDY = "Install zkchat again."


class Estimate:
    """Seven ASCII characters to two tokens, one token to every other character: rather high than low."""

    exact = False
    problem = ""

    def count(self, text: str) -> int:
        ascii_characters = len(text.encode("ascii", "ignore"))
        return math.ceil(ascii_characters / 3.5 + (len(text) - ascii_characters))


class Encoding:
    """A tiktoken encoding, loaded when the first text is counted: that costs half a second.

    Where it cannot be loaded, it estimates, and `problem` is a sentence that says why.
    """

    def __init__(self, name: str, *, exact: bool = True) -> None:
        if name not in DIGESTS:
            raise ConfigError(f"There is no encoding '{name}'.", hint=f"There are: {', '.join(DIGESTS)}.")
        self._name = name
        self._is_own = exact
        self.problem = ""

    @property
    def exact(self) -> bool:
        """Whether it counts, and is the model's own."""
        return self._is_own and not self.problem

    def count(self, text: str) -> int:
        encoding = self._loaded()
        if encoding is None:
            return Estimate().count(text)
        # A note may hold a lone surrogate, which has no UTF-8 form, and `<|endoftext|>`, which is no command here.
        plain = text.encode("utf-8", "replace").decode()
        slices = (plain[start : start + _SLICE_CHARS] for start in range(0, len(plain), _SLICE_CHARS))
        return sum(len(encoding.encode_ordinary(each)) for each in slices)

    def _loaded(self) -> "tiktoken.Encoding | None":
        if self.problem:
            return None
        try:
            return load_encoding(self._name)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with an installation, the chat goes on
            self.problem = _sentence(error)
            return None


class CachedTokenizer:
    """Caches the counts of another tokenizer by the text's digest."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._counts: dict[bytes, int] = {}

    @property
    def exact(self) -> bool:
        return self._tokenizer.exact

    @property
    def problem(self) -> str:
        return self._tokenizer.problem

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
    """Load an encoding from the package, once. Raises `ConfigError` where its file is damaged or missing."""
    import tiktoken

    return tiktoken.Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=_ranks(name), special_tokens={})


def _ranks(name: str) -> dict[bytes, int]:
    from base64 import b64decode

    pairs = (line.split() for line in _data(name).splitlines())
    return {b64decode(token): int(rank) for token, rank in pairs}


def _data(name: str) -> bytes:
    try:
        data = (files("zkchat.chat.context") / "encodings" / f"{name}.tiktoken").read_bytes()
    except OSError as error:
        raise ConfigError(f"The encoding '{name}' of this installation cannot be read.", hint=REMEDY) from error
    if sha256(data).hexdigest() != DIGESTS[name]:
        raise ConfigError(f"The encoding '{name}' of this installation is damaged.", hint=REMEDY)
    return data


def check_encodings() -> None:
    """Check that tokens can be counted, without the time that loading takes. Raises `ConfigError`."""
    for name in DIGESTS:
        _data(name)
    try:
        import tiktoken  # noqa: F401
    except Exception as error:  # a broken installation may raise anything
        raise ConfigError(_sentence(error), hint=REMEDY) from error


def _sentence(error: Exception) -> str:
    if isinstance(error, ZkchatError):
        return error.message
    what = next(iter(str(error).splitlines()), "") or type(error).__name__
    return f"tiktoken cannot be loaded ({what})."
