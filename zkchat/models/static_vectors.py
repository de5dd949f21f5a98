"""Vectors without a neural net: the weighted mean of the word vectors that the package `wordllama` carries.

Only its two files are used, none of its code: that would look for them on the network.
"""

import json
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from zkchat.core import ProviderError, SimilarityTraits, lazy_pattern

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_VECTORS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_DIMENSIONS = 256

_FIRST_WORD = 259
"""Tokens before it are controls and bytes; those from it on are in the order of how common they are."""
_SIF_A = 1e-3
"""The parameter `a` of SIF: a token that makes up this share of all text counts half, a rare one wholly."""

_SIGNS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts in which a single sign means something: kana, ideographs, Hangul."""
_WORD = lazy_pattern(rf"[{_SIGNS}]|[^\W\d_{_SIGNS}]{{1,40}}")
_SIGN = lazy_pattern(f"[{_SIGNS}]")
_WORD_CACHE_SIZE = 1 << 16


class StaticVectors:
    """Each word counts by its rarity (SIF: Arora and others, 2017). Capitals do not matter.

    Words that the vocabulary knows only letter by letter, such as all of Thai and Hindi, are left out: their letters
    say nothing about their meaning, and two texts that share letters would pass for near.
    """

    name = "wordllama-l2-256-sif"
    dimensions = _DIMENSIONS
    traits = SimilarityTraits(min_cosine=0.3)  # questions on nothing in a vault stay below
    is_on_this_machine = True
    needs_server = False
    is_in_process = True
    batch_size = 256  # some tens of milliseconds of work

    def __init__(self, folder: Path) -> None:
        """The files in this folder are read when the first text is embedded."""
        self._folder = folder
        if not all((folder / file).is_file() for file in (_VECTORS, _TOKENIZER)):
            raise _unusable(f"Files of the search by meaning are missing in {folder}.")

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        vectors = self._words.sums([*map(self._words.tokens, texts)])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
        return vectors

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    @cached_property
    def _words(self) -> "_Words":
        try:
            return _Words(self._folder)
        except (ImportError, OSError, ValueError, KeyError) as error:
            raise _unusable(f"The search by meaning cannot use {self._folder}: {error}.") from error


@cache
def installed(package: str = "wordllama") -> StaticVectors:
    """The vectors of an installed package. Raises `ProviderError` if it is not installed."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise _unusable(f"The search by meaning needs the package '{package}', which is not installed.")
    return StaticVectors(Path(found.submodule_search_locations[0]))


class _Words:
    """The vocabulary: the vectors stay on disk, and only the pages that are used come into memory."""

    def __init__(self, folder: Path) -> None:
        import numpy as np

        self._subwords = Subwords.from_file(folder / _TOKENIZER)
        self._vectors = _mapped(folder / _VECTORS)
        # By Zipf's law the share of a token in all text is about 1 / (10 × its rank).
        self._weights = np.ones(len(self._vectors), dtype=np.float32)
        share = 1 / (10 * np.arange(1, len(self._vectors) - _FIRST_WORD + 1))
        self._weights[_FIRST_WORD:] = _SIF_A / (_SIF_A + share)
        self._tokens_of = lru_cache(_WORD_CACHE_SIZE)(self._tokenized)

    def tokens(self, text: str) -> "NDArray[np.uint16]":
        import numpy as np

        words = _WORD.findall(unicodedata.normalize("NFC", text).lower())
        return np.frombuffer(b"".join(map(self._tokens_of, words)), dtype=np.uint16)

    def sums(self, texts: Sequence["NDArray[np.uint16]"]) -> "NDArray[np.float32]":
        """For each list of tokens the sum of their vectors, each by its weight.

        Texts have most of their tokens in common, so each is made a number of 32 bits once for all of them.
        """
        import numpy as np

        is_used = np.zeros(len(self._weights), dtype=np.bool_)
        for tokens in texts:
            is_used[tokens] = True
        used = np.flatnonzero(is_used)
        place = np.empty(len(is_used), dtype=np.intp)
        place[used] = np.arange(len(used))
        vectors = self._weights[used, None] * self._vectors[used]
        sums = [vectors[place[tokens]].sum(axis=0) for tokens in texts]
        return np.array(sums, dtype=np.float32).reshape(-1, _DIMENSIONS)

    def _tokenized(self, word: str) -> bytes:
        """The tokens of a word that say something, as numbers of 16 bits. A rare sign has none but its bytes."""
        import numpy as np

        is_sign = not word.isascii() and _SIGN.match(word)
        kept = [
            number
            for piece, number in self._subwords.pieces(word)
            if (piece if is_sign else len(piece) > 1 and piece.isalpha())
        ]
        return np.array(kept, dtype=np.uint16).tobytes()


def _mapped(path: Path) -> "NDArray[np.float16]":
    """The one matrix of a safetensors file: the length of the header, the header in JSON, the numbers."""
    import numpy as np

    with path.open("rb") as file:
        header_length = int.from_bytes(file.read(8), "little")
        matrix = json.loads(file.read(header_length))["embedding.weight"]
    if matrix["dtype"] != "F16" or matrix["shape"][1:] != [_DIMENSIONS]:
        raise ValueError(f"its file is of another kind than expected ({matrix['dtype']}, {matrix['shape']})")
    start = 8 + header_length + matrix["data_offsets"][0]
    mapped = np.memmap(path, dtype="<f2", mode="r", offset=start, shape=tuple(matrix["shape"]))
    return np.asarray(mapped)  # whose rows are plain arrays, which are made in less time


def _unusable(sentence: str) -> ProviderError:
    return ProviderError(sentence, hint="Run `pip install wordllama`; until then the search goes by words alone.")


_WORD_START = "▁"
_FIRST_BYTE = "<0x00>"
"""The piece of the first byte; those of the others follow. A letter without a piece is written in bytes."""
_NO_PIECE = sys.maxsize


class Subwords:
    """Words as pieces of a vocabulary, by byte-pair encoding as SentencePiece trains it.

    Its vocabulary lists pieces in the order in which they were learned, so that the number of a piece is also the rank
    of the merge that makes it: the list of merges, which takes most of the time to read a tokenizer's file, is not
    needed.
    """

    def __init__(self, numbers: dict[str, int]) -> None:
        """The pieces of a vocabulary and their numbers. Raises `KeyError` where there are none for bytes."""
        self._numbers = numbers
        self._first_byte = numbers[_FIRST_BYTE]

    @classmethod
    def from_file(cls, path: Path) -> "Subwords":
        """The vocabulary of a tokenizer's file in JSON. Raises `ValueError`, `KeyError` and `OSError`."""
        content = path.read_bytes()
        start, end = content.index(b"{", content.index(b'"vocab"')), content.index(b'"merges"')
        try:
            return cls(msgspec.json.decode(content[start : content.rindex(b"}", start, end) + 1], type=dict[str, int]))
        except msgspec.DecodeError as error:
            raise ValueError(f"its vocabulary is not readable: {error}") from error

    def pieces(self, word: str) -> list[tuple[str, int]]:
        """The pieces of a word with their numbers, without the mark of where a word begins."""
        found: list[tuple[str, int]] = []
        for piece in self._merged(word):
            number = self._numbers.get(piece)
            if number is not None:
                found.append((piece.strip(_WORD_START), number))
            else:
                found += [(f"<0x{byte:02X}>", self._first_byte + byte) for byte in piece.encode()]
        return found

    def _merged(self, word: str) -> list[str]:
        """Of two pieces side by side that make another one, those are joined first that make the first learned."""
        numbers = self._numbers
        pieces = [_WORD_START, *word]
        while len(pieces) > 1:
            ranks = [numbers.get(one + other, _NO_PIECE) for one, other in pairwise(pieces)]
            best = min(ranks)
            if best == _NO_PIECE:
                break
            at = ranks.index(best)
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        return pieces
