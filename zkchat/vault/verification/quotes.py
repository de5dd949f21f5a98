"""Find a statement word for word in a passage: case, spaces, line breaks, Markdown and quotation marks may differ."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from zkchat.lexicon.drafts import ATTRIBUTIONS, NOTES, SAYINGS, SEE
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.verification.passages import Unit
from zkchat.vault.verification.sentence_parser import CONDITION
from zkchat.vault.verification.tokens import Token, tokenize

_MIN_TOKENS: Final = 2
_MIN_PART: Final = 4
"""Words that a quote must have which is only a part of a sentence."""
_NOTE: Final = r"(?:!?\[\[[^\[\]\n]{1,300}\]\]|[^()\[\]\n,;]{1,200}\.md(?::\d{1,9}(?:[-–]\d{1,9})?)?)"
_CITATION: Final = lazy_pattern(
    rf"\s{{0,3}}(?:[(\[（]\s*(?:{SEE}:?\s*)?{_NOTE}(?:[,;]\s*{_NOTE}){{0,9}}\s*[)\]）]|\s[—–-]{{1,3}}\s{{0,3}}!?\[\[[^\[\]\n]{{1,300}}\]\])(?=\s{{0,3}}[.!。]?\s{{0,3}}$)",
    re.IGNORECASE,
)
"""What stands at the end of a sentence and says where it is from."""
_NUMBERED: Final = lazy_pattern(r"\s{0,3}\[\d{1,3}\](?=[\s.,;:!。]|$)")
_LEAD: Final = lazy_pattern(
    rf"^\s*(?:{ATTRIBUTIONS}\s+(?:{NOTES}|!?\[\[[^\[\]\n]{{1,300}}\]\])\s*[,:]?\s+"
    rf"|(?:{NOTES}|!?\[\[[^\[\]\n]{{1,300}}\]\])\s+{SAYINGS}\s*(?:that\b|dass\b|que\b|che\b|dat\b|[:,])\s*)",
    re.IGNORECASE,
)
"""What stands at the beginning and says so."""


class Quote(NamedTuple):
    first: Unit
    text: str


def forms(statement: str) -> list[tuple[str, ...]]:
    """The words of a statement as it is, and without what only says where it is from."""
    found = dict.fromkeys(_words(tokenize(text)) for text in (statement, without_source(statement)))
    return [words for words in found if len(words) >= _MIN_TOKENS]


def without_source(statement: str) -> str:
    """A statement without what only says where it is from."""
    return _LEAD.sub("", _NUMBERED.sub("", _CITATION.sub("", statement)))


def find_quote(said: Sequence[tuple[str, ...]], units: Sequence[Unit], language: str) -> Quote | None:
    """Where one of the forms stands in consecutive sentences of a passage."""
    row = " " + " ".join(token.word for unit in units for token in unit.tokens) + " "
    for words in said:
        sought, place = f" {' '.join(words)} ", -1
        while (place := row.find(sought, place + 1)) >= 0:
            first = row.count(" ", 0, place)
            if found := _quote(units, first, first + len(words), language):
                return found
    return None


def _quote(units: Sequence[Unit], first: int, last: int, language: str) -> Quote | None:
    """The sentences that hold the words with these numbers, unless what is left out of them changes what is said."""
    before = 0
    touched: list[Unit] = []
    for unit in units:
        after = before + len(unit.tokens)
        if before < last and first < after:
            touched.append(unit)
            kept = range(max(first - before, 0), min(last - before, len(unit.tokens)))
            if len(kept) < len(unit.tokens) and not _may_be_cut(unit, kept, language):
                return None
        before = after
    start, end = touched[0], touched[-1]
    if start.block is end.block:
        return Quote(start, start.block.text[start.start : end.end])
    return Quote(start, start.text)


def _may_be_cut(unit: Unit, kept: range, language: str) -> bool:
    """Whether the rest of a sentence can be left out: it neither denies what is kept nor sets a condition."""
    (source,) = unit.sources(language, divided=False)
    return len(kept) >= _MIN_PART and not any(
        each.place not in kept and (each.target in kept or each.target < 0 or each.word == CONDITION)
        for each in source.sentence.operators
    )


def _words(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.word for token in tokens)
