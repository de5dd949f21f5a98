"""The Markdown structure of a text, and a note split into sections that are small enough to be passages."""

import unicodedata
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from zkchat.core import Heading, Note, Section, lazy_pattern

if TYPE_CHECKING:
    import pyromark
    from pyromark.event import Range
    from pyromark.event import _LinkData as LinkData
    from pyromark.event import _Tag as Tag


Span = tuple[int, int]

_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_PIPED = lazy_pattern(r"\[\[[^\[\]\n|]*\|[^\[\]\n]*\]\]")
_ESCAPED = lazy_pattern(r"\\[\\\[!#%^]")
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
_STRIDE = 256
"""Bytes between two known character counts."""

_OPAQUE = {"CodeBlock", "HtmlBlock"}
_CONTAINERS = {"BlockQuote", "Item", "FootnoteDefinition"}
_BLOCKS = {"Paragraph", "Heading", "List", "Table"} | _OPAQUE | _CONTAINERS
_WANTED = {"Heading", "Link", "Image"} | _OPAQUE | _CONTAINERS


_MARKS = ("`", "<", "$", "^", "\t", "\v", "\f", "    ", "~")
_HYPERLINK = lazy_pattern(r"\][(:]")
_ODD_LINE = lazy_pattern(r"\n(?=[ =-])(?: {1,3}#| {0,3}=|(?<!\n\n) {0,3}-+ *(?:\n|\Z))")
"""Where a text has none of these, it holds no code, formula, hyperlink or block with an id, and its only headings are
lines that begin with `#`: the parser need not be asked, which is slow because it tells more."""
MAX_ITEMS = 10_000
"""Headings, links and blocks of a note that are known, of each: so many take as long as the text of a large note."""
MAX_SPANS = 50_000
"""Pieces of code, formulas, HTML, links and blocks of a note that are told from its text, all together."""
LONGEST_LINK = 10_000
"""Characters of a link; more is data, such as a picture inside of a text."""
MAX_TITLE_CHARACTERS = 1_000
"""Characters of a heading that are kept: what is longer is no heading but a text with a mark before it."""
_PLAIN_TITLE = lazy_pattern(r"\n(#{1,6})(?![^ \n])(.*)")


class Hyperlink(NamedTuple):
    """`[label](address)`, `![label](address)` or `[label][reference]`."""

    label: str
    address: str
    image: bool
    start: int
    end: int


class Outline(Struct):
    code: list[Span] = field(default_factory=list)
    """Code, HTML and the addresses of hyperlinks: nothing in there is a wikilink or a tag."""
    formulas: list[Span] = field(default_factory=list)
    titles: list[Heading] = field(default_factory=list)
    """Those outside quotes and lists, with their texts as they are written."""
    hyperlinks: list[Hyperlink] = field(default_factory=list)
    blocks: list[Span] = field(default_factory=list)
    """In order of their beginnings, each before the blocks inside it. Left empty where no block can have an id."""
    is_cut: bool = False
    """Whether there was too much of all this, so that from some place on the text counts as text."""


def flatten(text: str) -> str:
    """The text with `\\n` as its only line end and no byte order mark or lone surrogate; offsets are preserved."""
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    try:
        text.encode()
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", text)
    return with_line_feeds(text)


def with_line_feeds(text: str) -> str:
    """The text with `\\n` as its only line end; offsets are preserved."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def find_lines(text: str, first: int, last: int, wanted: str) -> tuple[int, int]:
    """On which lines of a file, between two of them, a text stands; those two where it does not stand there."""
    lines = with_line_feeds(text).split("\n")
    whole, sought = "\n".join(lines[first - 1 : last]), with_line_feeds(wanted)
    place = whole.find(sought)
    if place < 0:
        return first, last
    start = first + whole.count("\n", 0, place)
    return start, start + sought.count("\n")


class Lines:
    """Line numbers of offsets, counted from 1. Queries in rising order scan the text once."""

    def __init__(self, flat: str) -> None:
        self._flat = flat
        self._offset = 0
        self._line = 1

    def at(self, offset: int) -> int:
        if offset >= self._offset:
            self._line += self._flat.count("\n", self._offset, offset)
        else:
            self._line -= self._flat.count("\n", offset, self._offset)
        self._offset = offset
        return self._line


def blank(flat: str, spans: Iterable[Span]) -> str:
    """The text with NULs in the spans, which must be in order. A line end that closes a span stays."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        stop = end - (flat[end - 1] == "\n")
        if stop > position:
            pieces += (flat[position:start], "\0" * (stop - max(start, position)))
            position = stop
    pieces.append(flat[position:])
    return "".join(pieces)


def blank_escapes(flat: str) -> str:
    """The text with NULs for each character that a backslash escapes."""
    return _ESCAPED.sub("\0\0", flat) if "\\" in flat else flat


def plain(markdown: str) -> str:
    """Markdown as plain text on one line: without emphasis, backticks or addresses."""
    pieces = []
    for event in _parser().events(flatten(markdown)):
        if isinstance(event, str):
            pieces.append(" ")
        elif "Text" in event:
            pieces.append(event["Text"])
        elif "Code" in event:
            pieces.append(event["Code"])
        elif "InlineMath" in event:
            pieces.append(event["InlineMath"])
    return " ".join("".join(pieces).split())


def outline(flat: str, start: int = 0) -> Outline:
    """Parse a flattened text in linear time. Before `start` it is blank.

    Tables are limited, because the parser fills short rows with empty cells: its output can be larger than its input.
    """
    lines = f"\n{flat[start:]}"
    if not (any(mark in lines for mark in _MARKS) or _HYPERLINK.search(lines) or _ODD_LINE.search(lines)):
        numbers, titles = Lines(flat), []
        for match in islice(_PLAIN_TITLE.finditer(lines), MAX_ITEMS + 1):  # before them is an extra line end
            place = start + match.start()
            titles.append(Heading(title_text(match[2]), len(match[1]), numbers.at(place), place))
        return Outline(titles=titles)
    found = _Reader(flat).read(_parser(), at_most=3 * len(flat) + _STRIDE)
    return found or _Reader(flat).read(_parser(tables=False)) or Outline()


class _Reader:
    def __init__(self, flat: str) -> None:
        self._flat = flat
        self._at = int if flat.isascii() else _character_offsets(flat.encode())
        self._found = Outline()
        self._has_ids = "^" in flat
        self._wanted = _WANTED | _BLOCKS if self._has_ids else _WANTED
        self._nested_until = 0
        self._lines = Lines(flat)
        self._room = MAX_SPANS

    def read(self, parser: "pyromark.Markdown", at_most: float = inf) -> Outline | None:
        """Parse the text; None if the parser reports more than `at_most` events."""
        found = self._found
        # The pipes of wikilinks, escaped or not, must not end a table cell.
        piped = _PIPED.sub(lambda match: match[0].replace("|", "/"), self._flat) if "|" in self._flat else self._flat
        events = parser.events_with_range(piped, merge_text=True)
        for number, (event, place) in enumerate(events):
            if number > at_most:
                return None
            if self._room < 0:
                found.is_cut = True
                break
            if "Text" in event or "End" in event or isinstance(event, str):
                continue
            if "Start" in event:
                tag = event["Start"]
                kind = tag if isinstance(tag, str) else next(iter(tag))
                if kind in self._wanted:
                    self._open(kind, tag, place)
            elif "Code" in event or "InlineHtml" in event:
                self._room -= 1
                found.code.append(self._span(place))
            elif "InlineMath" in event or "DisplayMath" in event:
                self._room -= 1
                span = self._span(place)
                if not self._flat[span[1] : span[1] + 1].isdigit():  # `$5 … $6` are prices
                    found.formulas.append(span)
        found.code.sort()
        return found

    def _span(self, place: "Range") -> Span:
        return self._at(place["start"]), self._at(place["end"])

    def _open(self, kind: str, tag: "Tag", place: "Range") -> None:
        self._room -= 1
        span = self._span(place)
        if self._has_ids and kind in _BLOCKS:
            self._found.blocks.append(span)
        if kind in _OPAQUE:
            self._found.code.append(span)
        elif kind in _CONTAINERS:
            self._nested_until = max(self._nested_until, span[1])
        elif isinstance(tag, str):
            return
        elif "Heading" in tag:
            start, end = span
            if start >= self._nested_until and len(self._found.titles) <= MAX_ITEMS:
                level, line = int(tag["Heading"]["level"][1]), self._lines.at(start)
                self._found.titles.append(Heading(_title_of(self._flat[start:end]), level, line, start))
        elif "Link" in tag:
            self._hyperlink(tag["Link"], span, image=False)
        elif "Image" in tag:
            self._hyperlink(tag["Image"], span, image=True)

    def _hyperlink(self, link: "LinkData", span: Span, *, image: bool) -> None:
        if link["link_type"] in {"Autolink", "Email"} or not link["dest_url"]:
            return
        start, end = span
        if self._flat.startswith("[]", end):  # the parser leaves these out
            end += 2
        inline = link["link_type"] == "Inline"
        is_long = end - start > LONGEST_LINK
        label_end = -1 if is_long and not inline else self._flat.rfind("](" if inline else "][", start, end)
        if label_end < 0:
            label_end = end - 1
        if inline:
            self._found.code.append((label_end + 1, end))
        if not is_long and len(self._found.hyperlinks) <= MAX_ITEMS:
            label = self._flat[start + 1 + image : label_end]
            self._found.hyperlinks.append(Hyperlink(label, link["dest_url"], image, start, end))


def _title_of(source: str) -> str:
    lines = source.rstrip().split("\n")
    underlined = len(lines) > 1
    return (
        " ".join("\n".join(lines[:-1]).split())[:MAX_TITLE_CHARACTERS] if underlined else title_text(source.lstrip("#"))
    )


def title_text(line: str) -> str:
    """The text of a heading, without opening and closing `#`."""
    text = line.strip()
    if not text.endswith("#"):
        return text[:MAX_TITLE_CHARACTERS]
    without_closing = text.rstrip("#")
    return (without_closing.rstrip() if without_closing[-1:] in {"", " ", "\t"} else text)[:MAX_TITLE_CHARACTERS]


def _character_offsets(data: bytes) -> Callable[[int], int]:
    counts = [0]
    for start in range(0, len(data), _STRIDE):
        counts.append(counts[-1] + len(data[start : start + _STRIDE].translate(None, _CONTINUATION_BYTES)))

    def at(offset: int) -> int:
        step = offset // _STRIDE
        return counts[step] + len(data[step * _STRIDE : offset].translate(None, _CONTINUATION_BYTES))

    return at


@cache
def _parser(*, tables: bool = True) -> "pyromark.Markdown":
    import pyromark

    options = pyromark.Options
    wanted = options.ENABLE_FOOTNOTES | options.ENABLE_TASKLISTS | options.ENABLE_STRIKETHROUGH | options.ENABLE_MATH
    return pyromark.Markdown(options=wanted | options.ENABLE_TABLES if tables else wanted)


MAX_TOKENS = 400
"""Tokens of a section, by estimate: a CJK character is one, of other text four characters are."""

_CJK_WEIGHT = 4
"""How many other characters a CJK one counts as."""
_BUDGET = _CJK_WEIGHT * MAX_TOKENS
_PARAGRAPH = lazy_pattern(r"\n[ \t]*\n")
_LINE = lazy_pattern(r"\n")
_SENTENCE = lazy_pattern(r"[.!?…][\"'”’)\]]*\s|[。！？]")
_WORD = lazy_pattern(r"\s")
_BLANK_LINES = lazy_pattern(r"(?:[ \t]*\n)*")
_MAX_HEADING_CHARACTERS = 200
"""Characters of a heading that its sections are found by: a longer one would outweigh the text of each."""
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_MAX_CODE_POINTS = 32
"""Code points that are kept together as one; more of them are no character but an attack."""
_CJK_LETTER = lazy_pattern("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
"""A CJK character."""


def sections_of(note: Note, text: str) -> list[Section]:
    """Split the note's body at its headings. Every character that is not blank or in a comment is in one section."""
    flat = with_line_feeds(text)
    lines = Lines(flat)
    sections = []
    for heading_path, region in _regions(note, len(text)):
        for begin, stop in _pieces(flat, *region):
            blanks = _BLANK_LINES.match(flat, begin, stop) if flat[begin] in " \t\n" else None
            start = blanks.end() if blanks else begin
            end = start + len(flat[start:stop].rstrip())
            shown = _without_comments(text, start, end, note.comments)
            if shown:
                sections.append(Section(heading_path, shown, start, end, lines.at(start), lines.at(end)))
    return sections


def _regions(note: Note, length: int) -> Iterator[tuple[tuple[str, ...], Span]]:
    start = note.body_start
    path: tuple[str, ...] = ()
    levels: list[int] = []
    for text, level, _, heading_start in note.headings:
        if start < heading_start:
            yield path, (start, heading_start)
        while levels and levels[-1] >= level:
            levels.pop()
        path = (*path[: len(levels)], text[:_MAX_HEADING_CHARACTERS])
        levels.append(level)
        start = heading_start
    yield path, (start, length)


def _pieces(flat: str, start: int, end: int) -> list[Span]:
    pieces = []
    while end - start > MAX_TOKENS:
        stop = _reach(flat, start, end)
        if stop < end:
            stop = _best_cut(flat, start, stop)
        pieces.append((start, stop))
        start = stop
    if start < end:
        pieces.append((start, end))
    return pieces


def _reach(flat: str, start: int, end: int) -> int:
    """The greatest end of a section that begins at `start`."""
    window = flat[start : min(end, start + _BUDGET)]
    extra_bytes = len(window.encode(errors="surrogatepass")) - len(window)
    heavy_at_most = extra_bytes // 2  # a CJK character takes three bytes or four
    if len(window) + (_CJK_WEIGHT - 1) * heavy_at_most <= _BUDGET:
        return start + len(window)
    reach, budget = 0, _BUDGET
    while budget and reach < len(window):
        step = window[reach : reach + max(1, budget // _CJK_WEIGHT)]
        weight = len(step) + (_CJK_WEIGHT - 1) * len(_CJK_LETTER.findall(step))
        if weight > budget:  # one character, and a heavy one
            break
        reach, budget = reach + len(step), budget - weight
    return start + reach


def _best_cut(flat: str, start: int, stop: int) -> int:
    """The last good split position in the second half of the section."""
    half = (start + stop) // 2
    for pattern in (_PARAGRAPH, _LINE, _SENTENCE, _WORD):
        last = deque(pattern.finditer(flat, half, stop), maxlen=1)
        if last:
            return last[0].end()
    for cut in range(stop, max(half, stop - _MAX_CODE_POINTS), -1):
        if not _joined(flat[cut - 1], flat[cut]):
            return cut
    return stop


def _joined(before: str, after: str) -> bool:
    """Whether two code points belong to one grapheme."""
    return (
        unicodedata.combining(after) > 0
        or after in "\u200d\ufe0e\ufe0f"
        or before == "\u200d"
        or ord(after) in _SKIN_TONES
    )


def _without_comments(text: str, start: int, end: int, comments: tuple[Span, ...]) -> str:
    if not comments:
        return text[start:end]
    pieces, position = [], start
    for opening, closing in islice(comments, bisect_right(comments, start, key=lambda each: each[1]), None):
        if opening >= end:
            break
        pieces.append(text[position:opening])
        position = closing
    return "".join([*pieces, text[position:end]]).strip()
