"""Changes of files as diffs for a terminal: hunks with line numbers, changed words marked, long ones folded."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, islice, pairwise
from typing import Final

from msgspec import Struct
from rich.cells import cell_len, get_character_cell_size
from rich.console import Console
from rich.text import Text

from zkchat.core import (
    ChangeSet,
    DiffLine,
    FileDiff,
    FileWrite,
    Hunk,
    counted,
    counted_files,
    file_diffs,
    hunks_of_write,
    text_of,
)
from zkchat.render.sanitize import sanitize_line, sanitize_text

FOLDED_LINES: Final = 40
"""Lines of one file that are shown before the rest is folded."""
FOLDED_NOTES: Final = 12
"""Notes of a list of those whose links follow a move."""
MAX_SHOWN_CHARS: Final = 1_000
"""Of one line."""
_STYLES: Final = {"-": "error", "+": "good", " ": ""}
_WORD_STYLES: Final = {"-": "bold reverse error", "+": "bold reverse good"}
_BRACKETS: Final = {"-": ("[-", "-]"), "+": ("{+", "+}")}
_VISIBLE: Final = str.maketrans({" ": "·", "\t": "→\t", "\u00a0": "⍽", "\u3000": "□", "\r": "␍", "\n": ""})
_TOKEN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+?(?=[\u3040-\u30ff\u3400-\u9fff])|\w+|\s+|.")
"""Words, blanks and signs; each character where words are not set apart by blanks."""
_MAX_TOKENS: Final = 300
_MAX_CHARS: Final = 2_000
_MAX_COMPARED: Final = 12
"""Lines on each side of a change, where their numbers differ, up to which they are compared with each other."""
_ALIKE: Final = 0.5
"""The share of two lines that has to be the same for one to be shown as made of the other."""

Span = tuple[int, int]


class DiffStyle(Struct, frozen=True, kw_only=True):
    width: int
    colored: bool = True
    """Whether changed words are told by their style; else by brackets: `[-old-]` and `{+new+}`."""
    most_lines: int | None = FOLDED_LINES


def style_for(console: Console, *, whole: bool = False) -> DiffStyle:
    colored = console.is_terminal and not console.no_color
    return DiffStyle(width=console.width, colored=colored, most_lines=None if whole else FOLDED_LINES)


def print_changes(console: Console, changes: ChangeSet, *, whole: bool = False) -> None:
    """Draw a change set, long files folded unless it is to be seen whole."""
    for row in diff_rows(changes, style_for(console, whole=whole)):
        console.print(row, no_wrap=True, overflow="ignore", crop=False)


def diff_rows(changes: ChangeSet, style: DiffStyle) -> Iterator[Text]:
    """All of a change set, one row of the screen after the other."""
    changed = file_diffs(changes)
    following = [each for each in changed if each.only_follows]
    for number, each in enumerate(each for each in changed if not each.only_follows):
        if number:
            yield Text()
        yield from file_rows(each, style)
    if following:
        yield Text()
        yield from following_rows(following, style)


def file_rows(diff: FileDiff, style: DiffStyle) -> Iterator[Text]:
    """One file: its heading, and its hunks."""
    yield from _fitted(Text(heading(diff), style="bold"), style.width)
    if diff.write is None:
        return
    for remark in _remarks(diff.write):
        yield from _fitted(Text(remark, style="dim"), style.width)
    hunks = [*hunks_of_write(diff.write)]
    highest = max((max(hunk.old_start + hunk.old_count, hunk.new_start + hunk.new_count) for hunk in hunks), default=0)
    gutter, total = len(str(highest)), sum(len(hunk.lines) for hunk in hunks)
    left = total if style.most_lines is None else min(style.most_lines, total)
    more = total - left
    for number, hunk in enumerate(hunks):
        if not left:
            break
        if number:
            yield Text("⋮".rjust(gutter), style="dim")
        for place, line, spans in islice(_marked(hunk), left):
            yield from _line_rows(line, place, spans, gutter, style)
        left -= min(left, len(hunk.lines))
    if more:
        yield Text(f"… {counted(more, 'more line')}", style="dim")


def following_rows(following: Sequence[FileDiff], style: DiffStyle) -> Iterator[Text]:
    """The files in which nothing but links follow a move; with each line of them where nothing is folded."""
    links = counted(sum(each.links for each in following), "link")
    paths = [each.change.path for each in following]
    yield from _fitted(Text(f"{links} in {counted_files(paths)} will be changed too", style="bold"), style.width)
    if style.most_lines is None:
        for each in following:
            yield from file_rows(each, style)
        return
    for each in following[:FOLDED_NOTES]:
        count = f" ({each.links} links)" if each.links > 1 else ""
        yield from _fitted(Text(f"  {sanitize_line(each.change.path)}{count}"), style.width)
    if more := paths[FOLDED_NOTES:]:
        yield Text(f"  … and {counted_files(more, 'more ')}", style="dim")


def heading(diff: FileDiff) -> str:
    """`Inbox.md: changed, +2 -1`."""
    change = diff.change
    path, source = sanitize_line(change.path), sanitize_line(change.moved_from)
    folder = "folder " if diff.is_folder else ""
    lines = f", +{diff.added} -{diff.removed}" if diff.added or diff.removed else ""
    match change.action:
        case "created":
            return f"{path}: new file, {counted(diff.added, 'line')}"
        case "edited":
            return f"{path}: changed{lines}"
        case "moved":
            return f"{folder}{source} → {path}{lines.replace(',', ':', 1)}"
        case "trashed":
            return f"{folder}{source}: to the trash"
        case "removed":
            return f"{path}: deleted, {counted(diff.removed, 'line')}"


def _remarks(write: FileWrite) -> Iterator[str]:
    """What a diff by lines does not show well."""
    if write.before is None or write.goes_away:
        return
    before, after = text_of(write.before), text_of(write.after)
    if (old := _line_ends(before)) != (new := _line_ends(after)) and old and new:
        yield f"line endings: {old} → {new}"
    if before.startswith("\ufeff") != after.startswith("\ufeff"):
        yield "byte order mark " + ("removed" if before.startswith("\ufeff") else "added")


def _line_ends(text: str) -> str:
    windows = text.count("\r\n")
    lines = text.count("\n")
    return "" if not lines else "CRLF" if windows == lines else "mixed" if windows else "LF"


def _marked(hunk: Hunk) -> Iterator[tuple[int, DiffLine, tuple[Span, ...]]]:
    """The lines of a hunk with their numbers in the file, and the words of each that differ."""
    old, new = hunk.old_start + 1, hunk.new_start + 1
    # A run of removed lines and of those that were added in their place; an unchanged line is a run by itself.
    starts = [
        number
        for number, line in enumerate(hunk.lines)
        if not number or line.mark == " " or hunk.lines[number - 1].mark + line.mark in {"+-", " -", " +"}
    ]
    for start, end in pairwise([*starts, len(hunk.lines)]):
        run = hunk.lines[start:end]
        removed, added = ([line for line in run if line.mark == mark] for mark in "-+")
        spans: dict[tuple[str, int], tuple[Span, ...]] = {}
        if removed and added and max(len(removed), len(added)) <= 500:
            for place, other in pair_lines([line.text for line in removed], [line.text for line in added]):
                if marks := word_marks(removed[place].text, added[other].text):
                    spans["-", place], spans["+", other] = marks
        for number, line in enumerate(removed):
            yield old + number, line, spans.get(("-", number), ())
        for number, line in enumerate(added):
            yield new + number, line, spans.get(("+", number), ())
        same = len(run) - len(removed) - len(added)
        if same:
            yield new, run[0], ()
        old, new = old + len(removed) + same, new + len(added) + same


def _line_rows(line: DiffLine, place: int, spans: tuple[Span, ...], gutter: int, style: DiffStyle) -> Iterator[Text]:
    content = _content(line, spans, style)
    room = max(10, style.width - gutter - 3)
    first = Text(f"{place:>{gutter}} ", style="dim")
    first.append(f"{line.mark} ", style=_STYLES[line.mark] or "none")
    for number, row in enumerate(_fitted(content, room)):
        lead = first if not number else Text(f"{' ' * (gutter + 1)}{line.mark} ", style=_STYLES[line.mark])
        yield Text.assemble(lead, row)
    if line.mark != " " and not line.text.endswith("\n"):
        yield Text(f"{' ' * (gutter + 3)}(no line break at the end)", style="dim")


def _content(line: DiffLine, spans: tuple[Span, ...], style: DiffStyle) -> Text:
    """The text of a line, sanitized, with the words that differ marked; blanks are visible where they alone differ.

    Of a long line the part around the first word that differs is shown.
    """
    text = line.text.removesuffix("\n")
    shown = Text(style=_STYLES[line.mark])
    opening, closing = ("", "") if style.colored or line.mark == " " else _BRACKETS[line.mark]
    first = next((start for start, _ in spans), 0)
    start = max(0, min(first - MAX_SHOWN_CHARS // 4, len(text) - MAX_SHOWN_CHARS))
    end = min(start + MAX_SHOWN_CHARS, len(text))
    if start:
        shown.append(f"… {start:,} characters … ", style="dim")
    place = start
    only_blanks = all(not text[a:b].strip() for a, b in spans)
    for span_start, span_end in spans:
        a, b = max(start, span_start), min(end, span_end, len(text))
        if a >= b and not (only_blanks and span_start < span_end):
            continue
        shown.append(_plain(text[place:a]))
        # A carriage return, which is otherwise dropped, is a symbol where it matters.
        word = line.text[a : min(end, span_end)].translate(_VISIBLE) if only_blanks else text[a:b]
        if word := _plain(word):
            shown.append(f"{opening}{word}{closing}", style=_WORD_STYLES[line.mark] if style.colored else None)
        place = max(place, b)
    shown.append(_plain(text[place:end]))
    if end < len(text):
        shown.append(f" … {len(text) - end:,} more characters", style="dim")
    return shown


def _plain(text: str) -> str:
    """Sanitized, on one line."""
    return sanitize_text(text.replace("\n", " ")).expandtabs(4)


def _fitted(text: Text, width: int) -> Iterator[Text]:
    """The text in rows of that many cells."""
    if text.cell_len <= width:
        yield text
        return
    rest = text
    while rest.cell_len > width:
        place = _cut(rest.plain, width)
        row, rest = rest.divide([place])
        row.rstrip()
        yield row
    if rest.plain.strip(" "):
        yield rest


def _cut(text: str, width: int) -> int:
    """Where to break a line: after the last blank that fits, or else where the row is full."""
    ends = accumulate(map(get_character_cell_size, text))
    place = next((place for place, end in enumerate(ends) if end > width), len(text))
    while place > 1 and cell_len(text[:place]) > width:  # some characters are wider together than each for itself
        place -= 1
    blank = text.rfind(" ", 0, place + 1)
    return blank + 1 if blank > place // 2 else max(1, place)


WordMarks = tuple[tuple[Span, ...], tuple[Span, ...]]
"""The parts of the old and of the new line that differ, in characters."""


def word_marks(old: str, new: str) -> WordMarks | None:
    """What differs between two lines; None where too little is the same for single words to tell."""
    if old == new:
        return (), ()
    before, after = ((_TOKEN.findall(line) if len(line) <= _MAX_CHARS else None) for line in (old, new))
    if before is None or after is None or max(len(before), len(after)) > _MAX_TOKENS:
        # Of long lines, what stands between their common beginning and their common end.
        start = common_length(old, new)
        end = common_length(old[start:][::-1], new[start:][::-1])
        first, second = (((start, len(line) - end),) if start < len(line) - end else () for line in (old, new))
        return (first, second) if start + end >= _ALIKE * min(len(old), len(new)) else None
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    same = sum(len(token.strip()) for i, _, size in matcher.get_matching_blocks() for token in before[i : i + size])
    least = min(len(old.strip()), len(new.strip()))
    if same < _ALIKE * least or not same:
        return None
    starts, new_starts = ([*accumulate(map(len, tokens), initial=0)] for tokens in (before, after))
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        tuple((starts[i], starts[j]) for _, i, j, _, _ in changed if i < j),
        tuple((new_starts[i], new_starts[j]) for _, _, _, i, j in changed if i < j),
    )


def common_length(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    differing = (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(differing, min(len(one), len(other)))


def pair_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Which of the new lines was made of which of the old ones, in order."""
    if len(old) == len(new):
        return [(place, place) for place in range(len(old))]
    if max(len(old), len(new)) > _MAX_COMPARED:
        return []
    pairs: list[tuple[int, int]] = []
    start = 0
    for place, line in enumerate(old):
        ratios = [
            (SequenceMatcher(None, line[:_MAX_CHARS], other[:_MAX_CHARS], autojunk=False).quick_ratio(), -number)
            for number, other in enumerate(new[start:], start)
        ]
        ratio, number = max(ratios, default=(0.0, 0))
        if ratio >= _ALIKE:
            pairs.append((place, -number))
            start = 1 - number
    return pairs
