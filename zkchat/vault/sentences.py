"""Cutting a passage into what can be quoted by itself: sentences, list items, table rows, short listings. Pure."""

import re
from collections.abc import Iterator
from itertools import pairwise

_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_NOT_PROSE = re.compile(r"^\s{0,3}#{1,6}\s|^\s*([-*_]\s*){3,}$|^\s*\|?[\s:|-]+\|[\s:|-]*$|^\s*\^[\w-]+\s*$")
"""Headings, rulers, the second row of a table, a lonely block id."""
_STARTS_A_UNIT = re.compile(r"^\s*(?:[-*+]\s|\d{1,9}[.)]\s|\|)")
_MARKER = re.compile(r"^(?:\s*>)*\s*(?:\[![\w-]+\][+-]?\s*)?(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?")
"""Quote marks, call-outs, list bullets, check boxes: they frame a sentence and are no part of it."""
_END = re.compile(r"[.!?…]+[\"'”’»)\]*_]*(?=\s)|[。！？｡]+[」』”’）]*|[।॥](?=\s|$)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|z\.B|d\.h|u\.a|cf|vs|ca|bzw|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Fig|p|pp|vol|ed)|\b\w)\.$"
)
_BLOCK_ID = re.compile(r"\s\^[\w-]+\s*$")
_LONGEST_LISTING = 12


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
                yield from _taken(unit) if len(unit) <= _LONGEST_LISTING else ()
                unit, fence = [], ""
            continue
        if opened or not line.strip() or _NOT_PROSE.match(line) or _STARTS_A_UNIT.match(line):
            yield from _taken(unit)
            unit = []
        if opened:
            fence = opened[1]
        if line.strip() and not _NOT_PROSE.match(line):
            unit.append(line)
    yield from _taken(unit) if not fence else ()


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
    following = unit[end:].lstrip()[:1]
    return not following.islower() and not _ABBREVIATION.search(unit[max(0, end - 12) : end])
