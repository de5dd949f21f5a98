"""Sentence segmentation: a passage in units that can be quoted alone (sentences, list items, table rows, listings)."""

import re
from collections.abc import Iterator
from itertools import pairwise

_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_HEADING_OR_ID = re.compile(r"\s{0,3}#{1,6}\s|\s*\^[\w-]+\s*$")
_STARTS_A_UNIT = re.compile(r"^\s*(?:[-*+]\s|\d{1,9}[.)]\s|\|)")
_MARKER = re.compile(r"^(?:\s*>)*\s*(?:\[![\w-]+\][+-]?\s*)?(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?")
"""Quote marks, call-outs, list bullets, check boxes: they frame a sentence and are no part of it."""
_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]*_]*(?=\s)|(?<![。！？｡])[。！？｡]+[」』”’）]*|[।॥](?=\s|$)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|z\.B|d\.h|u\.a|cf|vs|ca|bzw|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Fig|p|pp|vol|ed)|\b\w)\.$"
)
_NO_SPACE = re.compile(r"\S")
_BLOCK_ID = re.compile(r"\s\^[\w-]+\s*$")
_MAX_LISTING_LINES = 12


def sentences(text: str) -> list[str]:
    """In order, each exactly as it is written, soft line breaks included."""
    return [sentence for unit in _units(text) for sentence in _split(unit)]


def _units(text: str) -> Iterator[str]:
    """Paragraphs, list items and table rows; a short code listing is one unit with its fences."""
    unit: list[str] = []
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        if fence:
            unit.append(line)
            if opened and opened[1].startswith(fence) and not line.strip().strip(fence[0]):
                yield from _taken(unit) if len(unit) <= _MAX_LISTING_LINES else ()
                unit, fence = [], ""
            continue
        is_prose = not _is_frame(line)
        if opened or not is_prose or _STARTS_A_UNIT.match(line):
            yield from _taken(unit)
            unit = []
        if opened:
            fence = opened[1]
        if is_prose:
            unit.append(line)
    yield from _taken(unit) if not fence else ()


def _is_frame(line: str) -> bool:
    """Blank lines, headings, rulers, the second row of a table, a lonely block id."""
    marks = "".join(line.split())
    if not marks.strip("-*_"):
        return len(marks) != 1 and len(marks) != 2
    is_second_row = "|" in line[1:] and not marks.strip(":|-")
    return is_second_row or _HEADING_OR_ID.match(line) is not None


def _taken(unit: list[str]) -> Iterator[str]:
    if unit:
        yield "\n".join(unit)


def _split(unit: str) -> Iterator[str]:
    if _FENCE.match(unit) or unit.lstrip().startswith("|"):
        yield unit.strip()
        return
    unit = _BLOCK_ID.sub("", _MARKER.sub("", unit, count=1))
    cuts = [0, *(end for end in map(re.Match.end, _END.finditer(unit)) if _is_end(unit, end)), len(unit)]
    for start, end in pairwise(cuts):
        sentence = unit[start:end].strip()
        if any(character.isalnum() for character in sentence):
            yield sentence


def _is_end(unit: str, end: int) -> bool:
    """A full stop after an abbreviation, or before a small letter, ends nothing."""
    following = _NO_SPACE.search(unit, end)
    return not (following and following[0].islower()) and not _ABBREVIATION.search(unit[max(0, end - 12) : end])
