"""Split a note into sections that are small enough to be passages."""

import unicodedata
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator

from zkchat.model.note import Note, Section
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.markdown import Lines, Span, with_line_feeds

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
        for piece in _pieces(flat, *region):
            start, end = _trimmed(flat, *piece)
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


def _trimmed(flat: str, start: int, end: int) -> Span:
    """Without blank lines before and space after."""
    if flat[start] in " \t\n" and (blank := _BLANK_LINES.match(flat, start, end)):
        start = blank.end()
    return start, start + len(flat[start:end].rstrip())


def _without_comments(text: str, start: int, end: int, comments: tuple[Span, ...]) -> str:
    if not comments:
        return text[start:end]
    pieces = []
    position = start
    index = bisect_right(comments, start, key=lambda comment: comment[1])
    while index < len(comments) and comments[index][0] < end:
        opening, closing = comments[index]
        pieces.append(text[position:opening])
        position = closing
        index += 1
    pieces.append(text[position:end])
    return "".join(pieces).strip()
