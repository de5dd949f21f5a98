"""Which words differ between two lines, and which lines of a change were made of which."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+?(?=[\u3040-\u30ff\u3400-\u9fff])|\w+|\s+|.")
"""Words, blanks and signs; each character where words are not set apart by blanks."""
_MAX_TOKENS: Final = 300
_MAX_CHARS: Final = 2_000
_MAX_PAIRED: Final = 12
"""Lines on each side of a change, where their numbers differ, up to which they are compared with each other."""
_ALIKE: Final = 0.5
"""The share of two lines that has to be the same for one to be shown as made of the other."""

Span = tuple[int, int]


class WordMarks(NamedTuple):
    """The parts of the old and of the new line that differ, in characters."""

    old: tuple[Span, ...]
    new: tuple[Span, ...]


def word_marks(old: str, new: str) -> WordMarks | None:
    """What differs between two lines; None where too little is the same for single words to tell."""
    if old == new:
        return WordMarks((), ())
    if max(len(old), len(new)) > _MAX_CHARS:
        return _ends(old, new)
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if max(len(before), len(after)) > _MAX_TOKENS:
        return _ends(old, new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    same = sum(len(token.strip()) for i, _, size in matcher.get_matching_blocks() for token in before[i : i + size])
    least = min(len(old.strip()), len(new.strip()))
    if same < _ALIKE * least or not same:
        return None
    starts, new_starts = _offsets(before), _offsets(after)
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return WordMarks(
        tuple((starts[i], starts[j]) for _, i, j, _, _ in changed if i < j),
        tuple((new_starts[i], new_starts[j]) for _, _, _, i, j in changed if i < j),
    )


def _offsets(tokens: Sequence[str]) -> list[int]:
    places = [0]
    for token in tokens:
        places.append(places[-1] + len(token))
    return places


def _ends(old: str, new: str) -> WordMarks | None:
    """Of long lines, what stands between their common beginning and their common end."""
    most = min(len(old), len(new))
    start = _common(old, new, most)
    end = _common(old[: start - 1 if start else None : -1], new[: start - 1 if start else None : -1], most - start)
    if start + end < _ALIKE * most:
        return None
    spans = [((start, len(line) - end),) if start < len(line) - end else () for line in (old, new)]
    return WordMarks(*spans)


def _common(one: str, other: str, most: int) -> int:
    """How many characters two texts begin with in common, found by halving."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def pair_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Which of the new lines was made of which of the old ones, in order."""
    if len(old) == len(new):
        return [(place, place) for place in range(len(old))]
    if max(len(old), len(new)) > _MAX_PAIRED:
        return []
    pairs: list[tuple[int, int]] = []
    start = 0
    for place, line in enumerate(old):
        ratios = [(_likeness(line, other), -number) for number, other in enumerate(new[start:], start)]
        ratio, number = max(ratios, default=(0.0, 0))
        if ratio >= _ALIKE:
            pairs.append((place, -number))
            start = 1 - number
    return pairs


def _likeness(old: str, new: str) -> float:
    return SequenceMatcher(None, old[:_MAX_CHARS], new[:_MAX_CHARS], autojunk=False).quick_ratio()
