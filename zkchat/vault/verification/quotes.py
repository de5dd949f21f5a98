"""Find a statement word for word in a passage: case, spaces, line breaks, Markdown and quotation marks may differ."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from zkchat.vault.verification.passages import Unit
from zkchat.vault.verification.tokens import Token, tokenize

_MIN_TOKENS: Final = 3
_MIN_PART: Final = 0.3
"""The share of the sentences of the note that a quote of a part of them must have."""
_CITATION: Final = re.compile(
    r"[(\[]?\s*(?:see|siehe|from|in|—|–|-)?\s*!?\[\[[^\[\]\n]*\]\]\s*[)\]]?[.。]?\s*$", re.IGNORECASE
)
_NUMBERED: Final = re.compile(r"\s*\[\d{1,3}\](?=[\s.,;:]|$)")


class Quote(NamedTuple):
    first: Unit
    text: str


def forms(statement: str) -> list[tuple[str, ...]]:
    """The words of a statement as it is, and without what only says where it is from."""
    bare = _NUMBERED.sub("", _CITATION.sub("", statement))
    found = dict.fromkeys(_words(tokenize(text)) for text in (statement, bare))
    return [words for words in found if len(words) >= _MIN_TOKENS]


def find_quote(said: Sequence[tuple[str, ...]], units: Sequence[Unit]) -> Quote | None:
    """Where one of the forms stands in consecutive sentences of a passage."""
    row = " " + " ".join(token.word for unit in units for token in unit.tokens) + " "
    for words in said:
        place = row.find(f" {' '.join(words)} ")
        if place >= 0:
            first = row.count(" ", 0, place + 1) - 1
            return _quote(units, first, first + len(words))
    return None


def _quote(units: Sequence[Unit], first: int, last: int) -> Quote | None:
    """The sentences that hold the words with these numbers, unless what is left out of them changes what is said."""
    before = 0
    touched: list[Unit] = []
    for unit in units:
        after = before + len(unit.tokens)
        if before < last and first < after:
            touched.append(unit)
        before = after
    start, end = touched[0], touched[-1]
    if start.block is end.block:
        return Quote(start, start.block.text[start.start : end.end])
    return Quote(start, start.text)


def _words(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.word for token in tokens)
