"""Words as pieces of a vocabulary, by byte-pair encoding as SentencePiece trains it.

Its vocabulary lists pieces in the order in which they were learned, so that the number of a piece is also the rank of
the merge that makes it: the list of merges, which takes most of the time to read a tokenizer's file, is not needed.
"""

import sys
from itertools import pairwise
from pathlib import Path

_WORD_START = "▁"
_FIRST_BYTE = "<0x00>"
"""The piece of the first byte; those of the others follow. A letter without a piece is written in bytes."""
_NO_PIECE = sys.maxsize


class Subwords:
    def __init__(self, numbers: dict[str, int]) -> None:
        """The pieces of a vocabulary and their numbers. Raises `KeyError` where there are none for bytes."""
        self._numbers = numbers
        self._first_byte = numbers[_FIRST_BYTE]

    @classmethod
    def from_file(cls, path: Path) -> "Subwords":
        """The vocabulary of a tokenizer's file in JSON. Raises `ValueError`, `KeyError` and `OSError`."""
        from msgspec import DecodeError, json

        content = path.read_bytes()
        start, end = content.index(b"{", content.index(b'"vocab"')), content.index(b'"merges"')
        try:
            return cls(json.decode(content[start : content.rindex(b"}", start, end) + 1], type=dict[str, int]))
        except DecodeError as error:
            raise ValueError(f"its vocabulary is not readable: {error}") from error

    def pieces(self, word: str) -> list[tuple[str, int]]:
        """The pieces of a word with their numbers, without the mark of where a word begins."""
        return [each for piece in self._merged(word) for each in self._numbered(piece)]

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

    def _numbered(self, piece: str) -> list[tuple[str, int]]:
        number = self._numbers.get(piece)
        if number is not None:
            return [(piece.strip(_WORD_START), number)]
        return [(f"<0x{byte:02X}>", self._first_byte + byte) for byte in piece.encode()]
