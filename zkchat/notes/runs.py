"""The lines of a Markdown text as runs, its sentences, and the language that it is in."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from zkchat.core import lazy_pattern
from zkchat.language import LANGUAGE_OF_SCRIPT, STOP_WORDS_BY_CODE
from zkchat.notes.frontmatter import cut
from zkchat.notes.markdown import Span, flatten, title_text

_SHARED_BY = Counter(word for listed in STOP_WORDS_BY_CODE.values() for word in listed)


_NOT_PROSE = lazy_pattern(r"```.*?```|`[^`]*`|\[\[[^\[\]]{1,300}\]\]|\b\w+://\S+", re.DOTALL)
"""Code, links and addresses keep their words whatever the language around them."""
_WORD = lazy_pattern(r"[^\W\d_]+")
MAX_CHARS = 20_000
"""Characters that are looked at."""
_JAPANESE_SHARE = 0.1
"""Of kana among the letters: a Chinese text may quote a Japanese name."""
MIN_HITS = 1.0
MIN_LEAD = 1.15
"""How far the likeliest language must be ahead of the next."""


def detect_language(text: str) -> str | None:
    """The language by its ISO 639-1 code, None if it is unclear: by its script, else by its stop words."""
    prose = unicodedata.normalize("NFC", _NOT_PROSE.sub(" ", text[:MAX_CHARS])).lower()
    scripts = Counter[str]()
    for letter, times in Counter(prose).items():
        scripts[unicodedata.name(letter, "").partition(" ")[0]] += times * letter.isalpha()
    if not scripts.total():
        return None
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if kana and kana > _JAPANESE_SHARE * scripts.total() and kana + scripts["CJK"] > scripts.total() / 2:
        return "ja"
    script, letters = scripts.most_common(1)[0]
    if script in LANGUAGE_OF_SCRIPT:
        return LANGUAGE_OF_SCRIPT[script] if letters > scripts.total() / 2 else None
    words = _WORD.findall(prose)
    hits = {  # a word that several languages have counts for each of them, and the less the more they are
        code: sum(1 / _SHARED_BY[word] for word in words if word in listed)
        for code, listed in STOP_WORDS_BY_CODE.items()
    }
    likeliest, next_likeliest = sorted(hits, key=hits.__getitem__, reverse=True)[:2]
    is_clear = hits[likeliest] >= MIN_HITS and hits[likeliest] >= MIN_LEAD * hits[next_likeliest]
    return likeliest if is_clear else None


def guess_language(text: str, codes: Iterable[str]) -> str | None:
    """The one of these languages of whose stop words a text holds most, however few; None if it holds none."""
    spoken = _WORD.findall(unicodedata.normalize("NFC", text[:MAX_CHARS]).lower())
    hits = {code: sum(word in STOP_WORDS_BY_CODE.get(code, ()) for word in spoken) for code in sorted(codes)}
    likeliest = max(hits, key=hits.__getitem__)
    return likeliest if hits[likeliest] else None


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

_FENCE = lazy_pattern(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = lazy_pattern(r" {0,3}(#{1,6})(?:[ \t]|$)")
ITEM = lazy_pattern(r"\s*(?:[-*+•‣◦▪]|(\d{1,9})[.)、])(?:(?<=、)|\s+|$)(?:\[.\]\s+)?")
"""A list marker, with the box of a task."""
_FOOTNOTE = lazy_pattern(r"\s*\[\^?[^\]\s][^\]]{0,200}\]:(?:\s|$)")
"""A footnote, or the address of a link."""
_FIELD = lazy_pattern(r"\s*(?:[*_]{2})?[^\s:|>`*_-][^:|`]*(?:[*_]{2})?::(?:[*_]{2})?(?:\s|$)")
"""A field of Dataview."""
_DEFINITION = lazy_pattern(r"\s*:[ \t]+\S")
_QUOTE_MARKS = lazy_pattern(r"(?:\s{0,3}>)+ ?")
_CALLOUT = lazy_pattern(r"\s*>\s*\[![^\]\n]{1,40}\]")
BLOCK_ID = lazy_pattern(r"(?:^|\s+)\^[A-Za-z0-9-]+\s*$")
_CODE_INDENT = ("    ", "\t")
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

    def before_id(self, start: int, end: int) -> int:
        """The end of a span without the block id that it ends in."""
        found = BLOCK_ID.search(self.flat, max(start, end - 100), end) if self.has_ids else None
        return found.start() if found else end


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


class Scanner:
    """Finds the runs of a text in order. Each line is in one, unless it is blank, a heading, a ruler or a block id."""

    def __init__(self, text: LinedText) -> None:
        self.runs: list[Run] = []
        self.paths: list[tuple[str, ...]] = [()]
        """The headings above each region."""
        self._lines = text.lines
        self._marks = [_mark(line) for line in text.lines]
        self._levels: list[int] = []
        number = text.body
        while number < len(self._lines):
            number = self._read(number)

    def _read(self, number: int) -> int:
        """Read what begins at a line, and say which line comes after it."""
        line, mark = self._lines[number], self._marks[number]
        kind: Kind
        match mark:
            case "blank" | "id" | "ruler" | "heading":
                if mark == "heading":
                    text = line.lstrip(" ").lstrip("#")
                    self._title(title_text(text), len(line.lstrip(" ")) - len(text))
                elif mark == "ruler":
                    self.paths.append(self.paths[-1])
                return number + 1
            case "fence":
                return self._fence(number)
            case "quote":
                kind = "callout" if _CALLOUT.match(line) else "quote"
                end = self._end(number + 1, lambda at: self._marks[at] == "quote" or self._goes_on(at))
            case "item":
                kind, end = "list", self._end_of_list(number)
            case "math":
                kind, end = "code", self._end_of_math(number)
            case "alone":
                kind = "paragraph"
                end = self._end(number + 1, self._goes_on) if _FOOTNOTE.match(line) else number + 1
            case _:
                return self._text(number)
        return self._add(kind, number, end, stands_alone=mark == "alone")

    def _text(self, number: int) -> int:
        if self._marks[number] == "row" or self._is_header(number):
            end = self._end(number + 1, lambda at: "|" in self._lines[at] and self._marks[at] in {"text", "row"})
            return self._add("table", number, end)
        if self._lines[number].startswith(_CODE_INDENT):
            end = self._end(
                number + 1, lambda at: self._marks[at] == "blank" or self._lines[at].startswith(_CODE_INDENT)
            )
            while self._marks[end - 1] == "blank":
                end -= 1
            return self._add("code", number, end)
        return self._paragraph(number)

    def _add(self, kind: Kind, first: int, last: int, *, stands_alone: bool = False) -> int:
        self.runs.append(Run(kind, first, last, len(self.paths) - 1, stands_alone))
        return last

    def _title(self, title: str, level: int) -> None:
        while self._levels and self._levels[-1] >= level:
            self._levels.pop()
        self.paths.append((*self.paths[-1][: len(self._levels)], title))
        self._levels.append(level)

    def _paragraph(self, first: int) -> int:
        number = first + 1
        while number < len(self._lines):
            mark = self._marks[number]
            is_underline = mark in {"underline", "ruler"} and not self._lines[number].strip(" \t-=")
            if is_underline and number == first + 1 and len(self._lines[first]) <= _MAX_UNDERLINED:
                self._title(" ".join(self._lines[first].split()), 1 if "=" in self._lines[number] else 2)
                return number + 1
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
        end = self._end(
            number,
            lambda at: self._goes_on(at) and not (self._marks[at] == "text" and self._mark_after(at) == "definition"),
        )
        return self._add("paragraph", term, end, stands_alone=True)

    def _mark_after(self, number: int) -> _Mark:
        return self._marks[number + 1] if number + 1 < len(self._marks) else "blank"

    def _goes_on(self, number: int) -> bool:
        """Whether a line is part of the paragraph that the line before belongs to."""
        mark, line = self._marks[number], self._lines[number]
        if mark == "item":  # a number may stand at the beginning of a line by chance
            ordered = ITEM.match(line)
            return bool(ordered and ordered[1] and ordered[1] != "1" and not ends_in_colon(self._lines[number - 1]))
        if mark == "row" and line.rstrip().endswith("|"):
            return False
        return mark in {"text", "definition", "underline", "row"} and not self._is_header(number)

    def _is_header(self, number: int) -> bool:
        return "|" in self._lines[number] and number + 1 < len(self._lines) and is_delimiter(self._lines[number + 1])

    def _end(self, number: int, goes_on: Callable[[int], bool]) -> int:
        while number < len(self._lines) and goes_on(number):
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
            elif not line.startswith(("  ", "\t")):
                # A line that goes on with an item although it is not indented, and does not introduce other items.
                introduces = self._mark_after(number) == "item" and ends_in_colon(line)
                if number > end or introduces or not self._goes_on(number):
                    break
            number = end = self._end_of_fence(number) if mark == "fence" else number + 1
        return end

    def _is_ordered(self, number: int) -> bool:
        return self._lines[number].lstrip()[:1].isdigit()

    def _fence(self, number: int) -> int:
        end = self._end_of_fence(number)
        is_closed = closes_fence(self._lines[end - 1], opens_fence(self._lines[number])) and end - 1 > number
        is_bare = not self._lines[number].strip().strip("`~")
        runs = self.runs
        if is_closed or not is_bare or not runs or runs[-1].last != number or runs[-1].region:
            return self._add("code", number, end)
        # The section begins in the middle of a listing, which ends here.
        runs[-1].kind, runs[-1].last = "code", number + 1
        return number + 1

    def _end_of_fence(self, number: int) -> int:
        fence = opens_fence(self._lines[number])
        end = self._end(number + 1, lambda at: not closes_fence(self._lines[at], fence))
        return min(end + 1, len(self._lines))

    def _end_of_math(self, number: int) -> int:
        opening = self._lines[number].strip()
        if len(opening) > 3 and opening.endswith("$$"):
            return number + 1
        end = self._end(
            number + 1, lambda at: self._marks[at] != "blank" and not self._lines[at].rstrip().endswith("$$")
        )
        return end + (end < len(self._lines) and self._marks[end] != "blank")


_MARKS = ".!?…。！？｡।॥؟۔։።។៕။"
_END = lazy_pattern(
    rf"[{_MARKS}](?<![{_MARKS}].)[{_MARKS}]*"
    r"(?:(?<=[.!?…])[\"'”’»)\]*_]*(?=\s)|(?<=[。！？｡])[」』”’）]*|(?<=[।॥؟۔։።])(?=\s|$)|(?<=[។៕။]))"
)
_ABBREVIATION = lazy_pattern(
    r"(?:\b(?:e\.g|i\.e|z\.B|d\.h|u\.a|cf|vs|ca|bzw|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Fig|p|pp|vol|ed|bspw|evtl|ggf|inkl|approx|"
    r"incl|Sra?|стр|рис|ул|им|т\.е|(?<![\d:.,])(?:[12]\d|3[01]))|(?<!°)\b\w)\.$"
)
_WITHOUT_ENDS = "\u0e01-\u0e45\u0e47-\u0e4e\u0e81-\u0ec5\u0ec7-\u0ecd\u1000-\u103f\u1780-\u17d3"
"""Letters of Thai, Lao, Burmese and Khmer: a space there ends a clause, and often nothing else ends a sentence."""
_CLAUSE_END = lazy_pattern(f"(?<=[{_WITHOUT_ENDS}])[ \u00a0\u200b]+(?=[{_WITHOUT_ENDS}])(?!ฯ)")
_MIN_CLAUSE = 40
"""Characters of a piece that is cut off at such a space."""
_MAX_UNCUT = 90
"""Characters of a text without sentence ends that is left as it is."""
_WORD_CHARACTER = lazy_pattern(r"[^\W_]")
_NO_SPACE = lazy_pattern(r"\S")


def sentence_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """Where the sentences of `text[start:end]` stand, a paragraph without its markers; without space around them."""
    cuts = [start]
    for match in _END.finditer(text, start, end):  # an abbreviation, or a small letter after it, ends nothing
        place = match.end()
        following = _NO_SPACE.search(text, place, end)
        is_small = following is not None and following[0].islower()
        if not is_small and not _ABBREVIATION.search(text, max(0, place - 12), place):
            cuts.append(place)
    cuts.append(end)
    for first, last in pairwise(cuts):
        for span in _clauses(text, first, last) if last - first > _MAX_UNCUT else ((first, last),):
            sentence = text[span[0] : span[1]]
            if _WORD_CHARACTER.search(sentence):
                begin = span[0] + len(sentence) - len(sentence.lstrip())
                yield begin, begin + len(sentence.strip())


def _clauses(text: str, start: int, end: int) -> Iterator[Span]:
    """The pieces of a long text in a script without sentence ends, cut at spaces outside brackets; other text whole."""
    depth, seen = 0, start
    for match in _CLAUSE_END.finditer(text, start, end):
        depth += sum(text.count(sign, seen, match.start()) for sign in "([")
        depth -= sum(text.count(sign, seen, match.start()) for sign in ")]")
        seen = match.start()
        if depth <= 0 and match.start() - start >= _MIN_CLAUSE <= end - match.end():
            yield start, match.start()
            start = match.end()
            depth = 0
    yield start, end
