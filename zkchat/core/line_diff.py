"""Compare two texts by lines, in time that grows with their length whatever they hold."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from msgspec import Struct

CONTEXT_LINES: Final = 3
"""Unchanged lines around a change."""
_MAX_PRODUCT: Final = 10_000
"""Of the lines on both sides of a passage without a unique line in common, up to which it is compared closely."""
_MAX_PASSAGES: Final = 1_000
"""Passages that are compared closely; all further ones count as replaced."""
_MAX_READINGS: Final = 30
"""Times that each line is looked at, on the average, in search of unique ones."""

Mark = Literal[" ", "-", "+"]


class LineBlock(NamedTuple):
    """Lines that were replaced by others, as ranges of line numbers from 0; one of the ranges may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class DiffLine(NamedTuple):
    """One line of a hunk, with its line end."""

    mark: Mark
    text: str


class Hunk(Struct, frozen=True, kw_only=True):
    """Changed lines that stand close to each other, with some unchanged ones around them. Numbers are from 0."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[DiffLine, ...]


def split_lines(text: str) -> list[str]:
    """The lines with their ends. Only a line feed ends one, as in a patch."""
    lines = text.split("\n")
    return [*(f"{line}\n" for line in lines[:-1]), *([lines[-1]] if lines[-1] else [])]


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[LineBlock]:
    """What has to be replaced to make the new lines of the old ones, in order."""
    matches = [*_matches(old, new), (len(old), len(new))]
    blocks: list[LineBlock] = []
    for (old_before, new_before), (old_at, new_at) in pairwise([(-1, -1), *matches]):
        if old_at > old_before + 1 or new_at > new_before + 1:
            blocks.append(LineBlock(old_before + 1, old_at, new_before + 1, new_at))
    return blocks


def hunks_of(old: Sequence[str], new: Sequence[str], context: int = CONTEXT_LINES) -> Iterator[Hunk]:
    """The changed lines with their context; changes that stand close to each other are one hunk."""
    group: list[LineBlock] = []
    for block in changed_blocks(old, new):
        if group and block.old_start - group[-1].old_end > 2 * context:
            yield _hunk(group, old, new, context)
            group = []
        group.append(block)
    if group:
        yield _hunk(group, old, new, context)


def _hunk(blocks: Sequence[LineBlock], old: Sequence[str], new: Sequence[str], context: int) -> Hunk:
    before = min(context, blocks[0].old_start)
    after = min(context, len(old) - blocks[-1].old_end)
    start, end = blocks[0].old_start - before, blocks[-1].old_end + after
    lines: list[DiffLine] = []
    place = start
    for block in blocks:
        lines += (DiffLine(" ", line) for line in old[place : block.old_start])
        lines += (DiffLine("-", line) for line in old[block.old_start : block.old_end])
        lines += (DiffLine("+", line) for line in new[block.new_start : block.new_end])
        place = block.old_end
    lines += (DiffLine(" ", line) for line in old[place:end])
    new_start = blocks[0].new_start - before
    new_count = blocks[-1].new_end + after - new_start
    return Hunk(old_start=start, old_count=end - start, new_start=new_start, new_count=new_count, lines=tuple(lines))


def _matches(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of equal lines, in order: those that are unique on both sides first, then what stands between them."""
    passages_left, lines_left = _MAX_PASSAGES, _MAX_READINGS * (len(old) + len(new))
    passages: list[tuple[int, int, int, int] | tuple[int, int]] = [(0, len(old), 0, len(new))]
    while passages:
        passage = passages.pop()
        if len(passage) == 2:
            yield passage
            continue
        a, a_end, b, b_end = passage
        while a < a_end and b < b_end and old[a] == new[b]:
            yield a, b
            a, b = a + 1, b + 1
        ending: list[tuple[int, int]] = []
        while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            ending.append((a_end, b_end))
        passages += ending
        lines_left -= a_end - a + b_end - b
        if a == a_end or b == b_end or lines_left < 0:
            continue
        anchors = _unique_matches(old[a:a_end], new[b:b_end])
        if anchors:
            bounds = [(a - 1, b - 1), *((a + i, b + j) for i, j in anchors), (a_end, b_end)]
            inner: list[tuple[int, int, int, int] | tuple[int, int]] = []
            for (i, j), (next_i, next_j) in pairwise(bounds):
                inner += [(i + 1, next_i, j + 1, next_j), (next_i, next_j)]
            passages += reversed(inner[:-1])
        elif passages_left and (a_end - a) * (b_end - b) <= _MAX_PRODUCT:
            passages_left -= 1
            passages += reversed([(a + i, b + j) for i, j in _close_matches(old[a:a_end], new[b:b_end])])


def _close_matches(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    for i, j, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        yield from ((i + step, j + step) for step in range(size))


def _unique_matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest run of pairs of lines, in order on both sides, that are there once on each side (patience diff)."""
    in_old, in_new = Counter(old), Counter(new)
    place_in_new = {line: place for place, line in enumerate(new) if in_new[line] == 1}
    pairs = [
        (place, place_in_new[line]) for place, line in enumerate(old) if in_old[line] == 1 and line in place_in_new
    ]
    tails: list[int] = []  # the smallest last place of a run of each length
    ends: list[int] = []  # and the pair that ends it
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [place]
        ends[length : length + 1] = [number]
    run: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]
