"""Cut passages into the sentences, list items and table rows that a statement is compared with."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from zkchat.model.note import Passage
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.library import Library
from zkchat.vault.notes.blocks import Block, blocks
from zkchat.vault.notes.markdown import Span
from zkchat.vault.notes.sentences import sentence_spans
from zkchat.vault.verification.comparison import Source
from zkchat.vault.verification.sentence_parser import parse_sentence
from zkchat.vault.verification.tokens import Token, tokenize

_SEMICOLON: Final = lazy_pattern(r"[;；]")
MAX_UNITS: Final = 120
"""Sentences of a passage that are compared."""
_MAX_KEPT: Final = 2_000
"""Passages whose sentences are remembered."""


class Unit(Struct, eq=False):
    """A sentence of a passage."""

    passage: Passage
    text: str
    """As it is written."""
    start: int
    end: int
    """Where it stands in the text of its block."""
    block: Block
    frame: tuple[Token, ...]
    """The tokens of what stands above it."""
    tokens: tuple[Token, ...]
    _sources: dict[tuple[str, bool], list[Source]] = field(default_factory=dict[tuple[str, bool], list[Source]])

    @property
    def heading_path(self) -> tuple[str, ...]:
        return self.block.heading_path or self.passage.heading_path

    def sources(self, language: str, *, divided: bool) -> list[Source]:
        """The sentence, or, `divided`, its parts between semicolons, each under those before it."""
        key = language, divided
        if key not in self._sources:
            parts = [part for part in _SEMICOLON.split(self.text) if part.strip()] if divided else [self.text]
            frames = [tokenize(" ".join(parts[:number])) for number in range(len(parts))]
            self._sources[key] = [
                Source(parse_sentence(part, language), (*self.frame, *before))
                for part, before in zip(parts, frames, strict=True)
            ]
        return self._sources[key]


class UnitReader:
    """Reads the units of passages, each once."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[tuple[str, int], list[Unit]] = {}

    def units(self, passage: Passage) -> list[Unit]:
        place = passage.path, passage.first_line
        if place not in self._known:
            if len(self._known) >= _MAX_KEPT:
                self._known.clear()
            self._known[place] = [*self._read(passage)][:MAX_UNITS]
        return self._known[place]

    def _read(self, passage: Passage) -> Iterator[Unit]:
        names = tokenize("; ".join((*self._library.names(passage.path), *passage.heading_path)))
        for block in blocks(passage.text):
            above = (*names, *tokenize("; ".join(block.heading_path)))
            for sentence in block.sentences:
                parent = () if sentence.parent is None else tokenize(block.sentences[sentence.parent].text)
                for start, end in _spans(block, (sentence.start, sentence.end)):
                    text = block.text[start:end]
                    yield Unit(passage, text, start, end, block, (*above, *parent), tokenize(text))


def _spans(block: Block, span: Span) -> Iterator[Span]:
    """The sentences of a unit of a block; a listing or a row of a table is one."""
    if block.kind in {"code", "table"}:
        yield span
    else:
        yield from sentence_spans(block.text, *span)
