"""How much of a note's text a model was given, by the parts of it that stood in requests."""

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final

_MAX_COMPARED_LINES: Final = 5_000
"""Lines of a text that are compared one by one with a part that is no longer there as it was given."""


class GivenParts:
    """Which characters of a text stand in parts that were given. White space between them does not matter."""

    def __init__(self, text: str, parts: Iterable[str]) -> None:
        """Parts are in the order in which they were given: the same words twice are two places of the text."""
        self._text = text
        self._marks = bytearray(len(text))
        end = 0
        for part in parts:
            stripped = part.strip()
            start = text.find(stripped, end)
            start = text.find(stripped) if start < 0 else start
            if start >= 0:
                end = self._mark(start, len(stripped))
            else:
                self._mark_lines(stripped)

    @property
    def count(self) -> int:
        """The number of characters that were given."""
        return len(self._text) if self._is_given(0, len(self._text)) else sum(self._marks)

    def hold(self, wanted: str) -> bool:
        """Whether all of a passage of the text was given."""
        wanted = wanted.strip()
        start = self._text.find(wanted)
        while start >= 0:
            if self._is_given(start, start + len(wanted)):
                return True
            start = self._text.find(wanted, start + 1)
        return False

    def _is_given(self, start: int, end: int) -> bool:
        return all(self._marks[place] or self._text[place].isspace() for place in range(start, end))

    def _mark(self, start: int, length: int) -> int:
        self._marks[start : start + length] = b"\1" * length
        return start + length

    def _mark_lines(self, part: str) -> None:
        """Mark the lines that are still as they were given; the first and the last of them may be parts of lines."""
        lines = self._text.splitlines(keepends=True)
        if len(lines) > _MAX_COMPARED_LINES:
            return
        starts = [*_starts(lines)]
        given = [line.rstrip() for line in part.splitlines()]
        matcher = SequenceMatcher(None, [line.rstrip() for line in lines], given, autojunk=False)
        for first, in_part, length in matcher.get_matching_blocks()[:-1]:
            for number in range(first, first + length):
                self._mark(starts[number], len(lines[number]))
            before, after = first - 1, first + length
            if in_part == 1 and before >= 0 and lines[before].rstrip().endswith(given[0]):
                self._mark(starts[before] + len(lines[before].rstrip()) - len(given[0]), len(given[0]))
            if in_part + length == len(given) - 1 and after < len(lines) and lines[after].startswith(given[-1]):
                self._mark(starts[after], len(given[-1]))


def _starts(lines: Iterable[str]) -> Iterator[int]:
    start = 0
    for line in lines:
        yield start
        start += len(line)
