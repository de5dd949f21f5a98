"""Read the lines of a Markdown text as runs: the paragraphs, lists, tables, quotes and listings at its top level.

A Markdown parser says more and takes longer. This reads each line a bounded number of times.
"""

import re
from typing import Literal

from msgspec import Struct, field

from zkchat.vault.notes.frontmatter import cut
from zkchat.vault.notes.markdown import Span, flatten, title_text

Kind = Literal["paragraph", "list", "table", "code", "callout", "quote"]
_Mark = Literal[
    "blank",
    "text",
    "heading",
    "ruler",
    "underline",
    "id",
    "fence",
    "math",
    "quote",
    "item",
    "row",
    "definition",
    "alone",
]
"""What a line begins, as far as it tells by itself."""

_MAX_UNDERLINED = 120
"""Characters of a heading that is underlined; more is a paragraph above a ruler."""
_MAX_KEY = 60
"""Characters of the name of a Dataview field."""

_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
ITEM = re.compile(r"\s*(?:[-*+•‣◦▪]|(\d{1,9})[.)、])(?:(?<=、)|\s+|$)(?:\[.\]\s+)?")
"""A list marker, with the box of a task."""
_FOOTNOTE = re.compile(r"\s*\[\^?[^\]\s][^\]]{0,200}\]:(?:\s|$)")
"""A footnote, or the address of a link."""
_FIELD = re.compile(r"\s*(?:[*_]{2})?[^\s:|>`*_-][^:|`]*(?:[*_]{2})?::(?:[*_]{2})?(?:\s|$)")
"""A field of Dataview."""
_DEFINITION = re.compile(r"\s*:[ \t]+\S")
_QUOTE_MARKS = re.compile(r"(?:\s{0,3}>)+ ?")
_CALLOUT = re.compile(r"\s*>\s*\[![^\]\n]{1,40}\]")
BLOCK_ID = re.compile(r"(?:^|\s+)\^[A-Za-z0-9-]+\s*$")
_CODE_INDENT = ("    ", "\t")
_ITEM_INDENT = ("  ", "\t")
_CLOSING_MARKS = " \t*_)\"'”’»"


class Run(Struct):
    """Lines that belong together by Markdown."""

    kind: Kind
    first: int
    last: int
    """The line after it."""
    region: int
    """A heading or a ruler begins a new one."""
    stands_alone: bool = False
    """Whether it introduces nothing, and nothing introduces it: a footnote, a field, a definition."""
    question_end: int = 0
    """Where the question ends that it begins with, as an offset in the text; 0 if it begins with none."""

    @property
    def is_one_line(self) -> bool:
        return self.last - self.first == 1


class LinedText(Struct):
    """A text with where its lines begin, and the line after its frontmatter."""

    flat: str
    lines: list[str]
    starts: list[int]
    body: int
    has_ids: bool

    def span(self, run: Run) -> Span:
        return self.starts[run.first], self.starts[run.last] - 1


def split_lines(text: str) -> LinedText:
    flat = flatten(text)
    start = int(text.startswith("\ufeff"))
    matter = cut(flat, start).end if flat.startswith("---", start) else 0
    lines = flat.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return LinedText(flat, lines, starts, flat.count("\n", 0, matter), " ^" in flat)


def ends_in_colon(text: str) -> bool:
    return text.rstrip(_CLOSING_MARKS).endswith((":", "："))


def ends_in_question_mark(text: str) -> bool:
    return text.rstrip(_CLOSING_MARKS).endswith(("?", "？", "؟"))


def is_delimiter(line: str) -> bool:
    """Whether this is the row between the header of a table and its other rows."""
    return "-" in line and "|" in line and not line.strip("|:- \t")


def without_quote_marks(line: str) -> str:
    marks = _QUOTE_MARKS.match(line)
    return line[marks.end() :] if marks else line


def opens_fence(line: str) -> str:
    """The marks that open or close a listing; nothing if the line does neither."""
    fence = _FENCE.match(line)
    return fence[1] if fence else ""


def closes_fence(line: str, fence: str) -> bool:
    marks = line.strip()
    return marks.startswith(fence) and not marks.strip(fence[0])


def _mark(line: str) -> _Mark:
    stripped = line.strip()
    if not stripped:
        return "blank"
    first = stripped[0]
    if first.isalpha():
        return "alone" if "::" in stripped[: _MAX_KEY + 2] and _FIELD.match(line) else "text"
    return _mark_of_sign(first, stripped, line)


def _mark_of_sign(first: str, stripped: str, line: str) -> _Mark:
    found: _Mark = "text"
    if first in "-*_" and len(stripped) >= 3 and not stripped.strip(f"{first} \t") and stripped.count(first) >= 3:
        found = "ruler"
    elif first in "-=" and not stripped.strip(first) and (first == "=" or len(stripped) > 1):
        found = "underline"
    elif first == "#":
        found = "heading" if _HEADING.match(line) else "text"
    elif first in "`~":
        found = "fence" if opens_fence(line) else "text"
    elif first in ">|":
        found = "quote" if first == ">" else "row"
    elif first in "-*+•‣◦▪0123456789" and ITEM.match(line):
        found = "item"
    elif first == "^":
        found = "id" if BLOCK_ID.match(stripped) else "text"
    elif first == ":":
        found = "definition" if _DEFINITION.match(line) else "text"
    elif stripped.startswith("$$"):
        found = "math"
    elif (first == "[" and _FOOTNOTE.match(line)) or ("::" in stripped[: _MAX_KEY + 2] and _FIELD.match(line)):
        found = "alone"
    return found


class Scan(Struct):
    """What was found in a text."""

    runs: list[Run] = field(default_factory=list)
    paths: list[tuple[str, ...]] = field(default_factory=lambda: [()])
    """The headings above each region."""


def scan(text: LinedText) -> Scan:
    """The runs of a text in order. Each line is in one, unless it is blank, a heading, a ruler or a block id."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: LinedText) -> None:
        self._lines = text.lines
        self._marks = [_mark(line) for line in text.lines]
        self._body = text.body
        self._found = Scan()
        self._levels: list[int] = []

    def scan(self) -> Scan:
        number = self._body
        while number < len(self._lines):
            number = self._read(number)
        return self._found

    def _read(self, number: int) -> int:
        """Read what begins at a line, and say which line comes after it."""
        line = self._lines[number]
        match self._marks[number]:
            case "blank" | "id":
                after = number + 1
            case "heading":
                after = self._heading(line, number + 1)
            case "ruler":
                after = self._region(self._found.paths[-1], number + 1)
            case "quote":
                kind: Kind = "callout" if _CALLOUT.match(line) else "quote"
                after = self._add(kind, number, self._end_of_quote(number + 1))
            case "item":
                after = self._add("list", number, self._end_of_list(number))
            case "fence":
                after = self._fence(number)
            case "math":
                after = self._add("code", number, self._end_of_math(number))
            case "alone":
                end = self._end_of_footnote(number + 1) if _FOOTNOTE.match(line) else number + 1
                after = self._add("paragraph", number, end, stands_alone=True)
            case _:
                after = self._text(number)
        return after

    def _text(self, number: int) -> int:
        if self._marks[number] == "row" or self._is_header(number):
            return self._add("table", number, self._end_of_table(number + 1))
        if self._lines[number].startswith(_CODE_INDENT):
            return self._add("code", number, self._end_of_indented(number + 1))
        return self._paragraph(number)

    def _add(self, kind: Kind, first: int, last: int, *, stands_alone: bool = False) -> int:
        self._found.runs.append(Run(kind, first, last, len(self._found.paths) - 1, stands_alone))
        return last

    def _heading(self, line: str, after: int) -> int:
        marks = line.lstrip(" ")
        text = marks.lstrip("#")
        return self._title(title_text(text), len(marks) - len(text), after)

    def _title(self, title: str, level: int, after: int) -> int:
        while self._levels and self._levels[-1] >= level:
            self._levels.pop()
        path = (*self._found.paths[-1][: len(self._levels)], title)
        self._levels.append(level)
        return self._region(path, after)

    def _region(self, path: tuple[str, ...], after: int) -> int:
        self._found.paths.append(path)
        return after

    def _paragraph(self, first: int) -> int:
        number = first + 1
        while number < len(self._lines):
            mark = self._marks[number]
            is_underline = mark in {"underline", "ruler"} and not self._lines[number].strip(" \t-=")
            if is_underline and number == first + 1 and len(self._lines[first]) <= _MAX_UNDERLINED:
                level = 1 if "=" in self._lines[number] else 2
                return self._title(" ".join(self._lines[first].split()), level, number + 1)
            if mark == "definition":
                return self._definition(first, number)
            if not self._goes_on(number):
                break
            number += 1
        return self._add("paragraph", first, number)

    def _definition(self, first: int, number: int) -> int:
        """A term, the line before this one, with what is said of it; what stands before it is a paragraph."""
        term = number - 1
        if term > first:
            self._add("paragraph", first, term)
        while number < len(self._lines) and self._goes_on(number):
            if self._marks[number] == "text" and self._mark_after(number) == "definition":
                break
            number += 1
        return self._add("paragraph", term, number, stands_alone=True)

    def _mark_after(self, number: int) -> _Mark:
        return self._marks[number + 1] if number + 1 < len(self._marks) else "blank"

    def _goes_on(self, number: int) -> bool:
        """Whether a line is part of the paragraph that the line before belongs to."""
        mark, line = self._marks[number], self._lines[number]
        if mark == "item":  # a number may stand at the beginning of a line by chance
            ordered = ITEM.match(line)
            return bool(ordered and ordered[1] and ordered[1] != "1" and not ends_in_colon(self._lines[number - 1]))
        if mark == "row":
            return not line.rstrip().endswith("|") and not self._is_header(number)
        return mark in {"text", "definition", "underline"} and not self._is_header(number)

    def _is_header(self, number: int) -> bool:
        return "|" in self._lines[number] and number + 1 < len(self._lines) and is_delimiter(self._lines[number + 1])

    def _end_of_table(self, number: int) -> int:
        while number < len(self._lines) and "|" in self._lines[number] and self._marks[number] in {"text", "row"}:
            number += 1
        return number

    def _end_of_quote(self, number: int) -> int:
        while number < len(self._lines) and (self._marks[number] == "quote" or self._goes_on(number)):
            number += 1
        return number

    def _end_of_list(self, first: int) -> int:
        number = end = first + 1
        while number < len(self._lines):
            mark, line = self._marks[number], self._lines[number]
            if mark == "blank":
                number += 1
                continue
            if mark == "item":
                if number > end and self._is_ordered(number) != self._is_ordered(first) and not line[0].isspace():
                    break
            elif not line.startswith(_ITEM_INDENT) and (number > end or not self._is_lazy(number)):
                break
            number = end = self._end_of_fence(number) if mark == "fence" else number + 1
        return end

    def _is_ordered(self, number: int) -> bool:
        return self._lines[number].lstrip()[:1].isdigit()

    def _is_lazy(self, number: int) -> bool:
        """Whether a line goes on with an item although it is not indented, and does not introduce other items."""
        return self._goes_on(number) and not (self._mark_after(number) == "item" and ends_in_colon(self._lines[number]))

    def _fence(self, number: int) -> int:
        end = self._end_of_fence(number)
        is_closed = closes_fence(self._lines[end - 1], opens_fence(self._lines[number])) and end - 1 > number
        is_bare = not self._lines[number].strip().strip("`~")
        runs = self._found.runs
        if is_closed or not is_bare or not runs or runs[-1].last != number or runs[-1].region:
            return self._add("code", number, end)
        # The section begins in the middle of a listing, which ends here.
        runs[-1].kind, runs[-1].last = "code", number + 1
        return number + 1

    def _end_of_fence(self, number: int) -> int:
        fence = opens_fence(self._lines[number])
        for place in range(number + 1, len(self._lines)):
            if closes_fence(self._lines[place], fence):
                return place + 1
        return len(self._lines)

    def _end_of_math(self, number: int) -> int:
        opening = self._lines[number].strip()
        if len(opening) > 3 and opening.endswith("$$"):
            return number + 1
        for place in range(number + 1, len(self._lines)):
            if self._marks[place] == "blank":
                return place
            if self._lines[place].rstrip().endswith("$$"):
                return place + 1
        return len(self._lines)

    def _end_of_indented(self, number: int) -> int:
        end = number
        while number < len(self._lines) and (
            self._marks[number] == "blank" or self._lines[number].startswith(_CODE_INDENT)
        ):
            number += 1
            end = end if self._marks[number - 1] == "blank" else number
        return end

    def _end_of_footnote(self, number: int) -> int:
        while number < len(self._lines) and self._goes_on(number):
            number += 1
        return number
