"""Notes of Obsidian's Excalidraw plugin: which parts of them are a drawing's data and nobody's words."""

import re
from collections.abc import Iterator
from typing import Final

from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.markdown import Span

DRAWING_PROPERTY: Final = "excalidraw-plugin"
"""That the plugin writes into the frontmatter of every drawing."""
DRAWING_HEADINGS: Final = frozenset(
    {"Excalidraw Data", "Text Elements", "Element Links", "Embedded Files", "Embedded files"}
)
"""Of the plugin, below what users write themselves."""

_DRAWING = lazy_pattern(r"^##? Drawing[ \t]*\n(?=\s*(?:```|\{))", re.MULTILINE)
"""Until the end of the file there is only data below it."""
_DATA = lazy_pattern(r"^```(?:compressed-json|json)[ \t]*$", re.MULTILINE)
_END_OF_DATA = lazy_pattern(r"^```[ \t]*$", re.MULTILINE)
_LISTS = lazy_pattern(r"^##? (?:Element Links|Embedded [Ff]iles)[ \t]*$", re.MULTILINE)
_ID = lazy_pattern(r"^[\w-]{8,40}: (?=\S)", re.MULTILINE)
"""Before each link of an element and each embedded file."""
_MARK = lazy_pattern(r"^%%[ \t]*$", re.MULTILINE)
_NOTICE = lazy_pattern(r"^==⚠.*⚠==.*$", re.MULTILINE)
_DUMMY = lazy_pattern(r"^\^_dummy!_[ \t]*$", re.MULTILINE)
_COLORS = lazy_pattern(r"^[\w-]{8,40}: \[\[[^\]\n]*\]\]( \{\"[^\n]*\})[ \t]*$", re.MULTILINE)
"""Of an embedded file."""


def hidden_spans(body: str) -> list[Span]:
    """What no reader is shown, in order and apart: the drawing, the plugin's notice, ids of elements.

    The texts of a drawing are shown also where all of it is a comment.
    """
    return merged_spans(sorted(_hidden(body)))


def _hidden(body: str) -> Iterator[Span]:
    drawing = _DRAWING.search(body)
    end = drawing.start() if drawing else len(body)
    if drawing:
        yield end, len(body)
    yield from _fenced_data(body, end)
    for pattern in (_MARK, _NOTICE, _DUMMY):
        yield from (match.span() for match in pattern.finditer(body, 0, end))
    lists = _LISTS.search(body, 0, end)
    if lists:
        yield from (match.span() for match in _ID.finditer(body, lists.end(), end))
        yield from (match.span(1) for match in _COLORS.finditer(body, lists.end(), end))


def _fenced_data(body: str, end: int) -> Iterator[Span]:
    """Data that stands elsewhere, in fences; what is not closed ends with the note."""
    position = 0
    while opening := _DATA.search(body, position, end):
        closing = _END_OF_DATA.search(body, opening.end(), end)
        position = closing.end() if closing else end
        yield opening.start(), position


def merged_spans(spans: list[Span]) -> list[Span]:
    """Spans in order, those that overlap as one."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged
