"""Parse the text of a note into a `Note`."""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from zkchat.model.note import Block, Heading, Link, Note, NoteWarning, TaskLine, file_title
from zkchat.vault.notes.frontmatter import Frontmatter, comments_in, cut, distinct, properties_at
from zkchat.vault.notes.markdown import MAX_ITEMS, Lines, Outline, Span, blank, flatten, outline, plain
from zkchat.vault.notes.wikilink import Prose, inside, read_prose, scan, wikilink, wikilink_spans

_TAG = re.compile(
    r"#(?<!\S#)([^\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
    r"""'!"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s\0]+)"""
)
"""Obsidian's, and CJK punctuation ends a tag too."""
_WORDS = re.compile(r"[^\W_]+(?: [^\W_]+)*")
"""In these Markdown sees nothing but text."""
MAX_TAGS = 5_000
_TITLE = re.compile(r"\s*#.*|(?:.*\n)+? {0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)
_BLOCK_ID = re.compile(r"\^(?<!\S\^)([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)


_DRAWING_PROPERTY: Final = "excalidraw-plugin"
"""That the plugin writes into the frontmatter of every drawing."""
_DRAWING_HEADINGS: Final = frozenset(
    {"Excalidraw Data", "Text Elements", "Element Links", "Embedded Files", "Embedded files"}
)
"""Of the plugin, below what users write themselves."""

_DRAWING = re.compile(r"^##? Drawing[ \t]*\n(?=\s*(?:```|\{))", re.MULTILINE)
"""Until the end of the file there is only data below it."""
_DATA = re.compile(r"^```(?:compressed-json|json)[ \t]*$", re.MULTILINE)
_END_OF_DATA = re.compile(r"^```[ \t]*$", re.MULTILINE)
_LISTS = re.compile(r"^##? (?:Element Links|Embedded [Ff]iles)[ \t]*$", re.MULTILINE)
_ID = re.compile(r"^[\w-]{8,40}: (?=\S)", re.MULTILINE)
"""Before each link of an element and each embedded file."""
_LINES_OF_PLUGIN = re.compile(r"^(?:%%|==⚠.*⚠==.*|\^_dummy!_)[ \t]*$", re.MULTILINE)
_COLORS = re.compile(r"^[\w-]{8,40}: \[\[[^\]\n]*\]\]( \{\"[^\n]*\})[ \t]*$", re.MULTILINE)
"""Of an embedded file."""
_OPEN_BOXES: Final = ("[ ]", "[/]")
_BOX: Final = re.compile(r"\[(?P<state>[ /])\][ \t]+(?=\S)(?P<text>[^\n]+)")
_ITEM: Final = re.compile(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+")
"""What stands before a box: in quotations and callouts too, and where an item holds nothing but another list."""
_MAX_INDENT: Final = 200
"""Characters before a box."""
MAX_TASKS: Final = 2_000
"""Of one note."""
MAX_TASK_CHARACTERS: Final = 500
"""Of one task; what is longer is cut."""


def parse_note(path: str, text: str) -> Note:
    """Parse a note. Never raises, and takes time proportional to the length of the text."""
    flat, matter, body, hidden = _cut(text)
    found = outline(body, matter.end)
    prose = read_prose(text, body, found)
    headings = tuple(_shown(found.titles, prose.comments)[:MAX_ITEMS])
    first = headings[0] if headings else None
    before = _before(first.start, body, found, prose) if first else ""
    tags, blocks = (
        [*islice(_tags(prose.rest), MAX_TAGS + 1)],
        [*islice(_blocks(body, prose.rest, found.blocks), MAX_ITEMS)],
    )
    has_more = {
        "marks": found.is_cut,
        "headings": len(found.titles) > MAX_ITEMS,
        "links": prose.has_more_links,
        "block ids": len(blocks) == MAX_ITEMS,
        "tags": len(tags) > MAX_TAGS,
    }
    return Note(
        path=path,
        title=matter.title or _title_of(path, first, before, is_drawing=_DRAWING_PROPERTY in matter.properties),
        aliases=matter.aliases,
        tags=distinct((*matter.tags, *tags)),
        frontmatter=matter.properties,
        headings=headings,
        blocks=tuple(blocks),
        links=(*_frontmatter_links(text, flat, matter), *prose.links),
        tasks=_find_tasks(body, prose),
        body_start=matter.end,
        line_count=body.count("\n") + 1,
        comments=tuple(_all_hidden(prose.comments, hidden)),
        warnings=tuple(_warnings(path, matter, has_more)),
    )


def _warnings(path: str, matter: Frontmatter, has_more: Mapping[str, bool]) -> Iterator[NoteWarning]:
    if matter.warning:
        yield NoteWarning(path=path, text=matter.warning, kind="frontmatter")
    if left_out := [what for what, more in has_more.items() if more]:
        text = f"It has more {' and '.join(left_out)} than are looked at; the others count as text."
        yield NoteWarning(path=path, text=text, kind="excess")


def frontmatter_of(text: str) -> Frontmatter:
    """The frontmatter of a note, without parsing the rest."""
    return cut(flatten(text), start=int(text.startswith("\ufeff")))


class LinksInText(NamedTuple):
    """The links of a text, and what they were found by."""

    links: tuple[Link, ...]
    outline: Outline
    body: str
    """The flattened text, with the frontmatter blanked out."""


def find_links(text: str, *, has_frontmatter: bool = True) -> LinksInText:
    """The links of a note, or of a text without frontmatter, in order."""
    flat, matter, body, _ = _cut(text) if has_frontmatter else (flatten(text), Frontmatter(), flatten(text), [])
    found = outline(body, matter.end)
    links = (*_frontmatter_links(text, flat, matter), *read_prose(text, body, found).links)
    return LinksInText(links, found, body)


def prose_of(text: str) -> str:
    """The text of a note with frontmatter, code, formulas and links blanked out; offsets are preserved."""
    _, matter, body, _ = _cut(text)
    return read_prose(text, body, outline(body, matter.end)).rest


def running_text(text: str) -> str:
    """The same without comments and headings."""
    _, matter, body, _ = _cut(text)
    found = outline(body, matter.end)
    prose = read_prose(text, body, found)
    titles = [(title.start, _end_of_title(body, title.start)) for title in found.titles]
    return blank(prose.rest, sorted([*prose.comments, *titles]))


def _end_of_title(body: str, start: int) -> int:
    """The end of the line of a heading, or of the line below it that makes it one."""
    end = _TITLE.match(body, start)
    return end.end() if end else start


def comments_of(text: str) -> list[Span]:
    """The spans of `%% … %%` comments in a note, and of the data of a drawing."""
    if "%%" not in text and _DRAWING_PROPERTY not in text:
        return []
    _, matter, body, hidden = _cut(text)
    return _all_hidden(read_prose(text, body, outline(body, matter.end)).comments, hidden)


def _all_hidden(comments: list[Span], hidden: list[Span]) -> list[Span]:
    return _merged_spans(sorted([*comments, *hidden])) if hidden else comments


def _title_of(path: str, first: Heading | None, before: str, *, is_drawing: bool) -> str:
    """A level-1 heading with nothing but tags before it, else the name of the file."""
    name = file_title(path)
    if is_drawing:
        name = name.removesuffix(".excalidraw") or name
    if (
        not first
        or first.level != 1
        or (is_drawing and first.text in _DRAWING_HEADINGS)
        or _TAG.sub("", before).strip()
    ):
        return name
    return as_read(first.text) or name


def _before(end: int, body: str, found: Outline, prose: Prose) -> str:
    """What stands before a heading, without comments, HTML and embeds."""
    html = (span for span in found.code if body.startswith("<", span[0]))
    embeds = ((link.start, link.end) for link in prose.links if link.embed)
    spans = sorted(span for span in (*html, *embeds, *prose.comments) if span[1] <= end)
    return blank(body[:end], spans).replace("\0", " ")


def _cut(text: str) -> tuple[str, Frontmatter, str, list[Span]]:
    """The flattened text, its frontmatter, the text with the frontmatter and the data of a drawing blanked out, and
    where that data stands."""
    flat = flatten(text)
    matter = cut(flat, start=int(text.startswith("\ufeff")))
    body = _hidden(flat[: matter.end]) + flat[matter.end :]
    if _DRAWING_PROPERTY not in matter.properties:
        return flat, matter, body, []
    hidden = _hidden_spans(body)
    pieces: list[str] = []
    position = 0
    for start, end in hidden:
        is_line_end = body[end : end + 1] in {"", "\n"}  # else spaces would make code of the rest of the line
        pieces += (body[position:start], _hidden(body[start:end]) if is_line_end else "x" * (end - start))
        position = end
    return flat, matter, "".join([*pieces, body[position:]]), hidden


def _hidden(lines: str) -> str:
    """Replace spans by blank lines, so that offsets and line numbers are preserved."""
    return "\n".join(" " * len(line) for line in lines.split("\n"))


def _shown(titles: list[Heading], comments: list[Span]) -> list[Heading]:
    """The items outside comments."""
    if not comments:
        return titles
    commented = inside([(title.start, title.start + 1) for title in titles], comments)
    return [title for title, in_comment in zip(titles, commented, strict=True) if not in_comment]


def as_read(markdown: str) -> str:
    """The text of a heading as a reader sees it: without marks, links by what they show."""
    if _WORDS.fullmatch(markdown):
        return markdown
    pieces: list[str] = []
    position = 0
    for link in scan(markdown) if "[[" in markdown else ():
        if link.syntax == "wikilink":
            pieces += (markdown[position : link.start], link.display or link.target or link.anchor)
            position = link.end
    return plain(f"# {''.join(pieces)}{markdown[position:]}")


def _tags(rest: str) -> Iterator[str]:
    for match in _TAG.finditer(rest):
        tag = match[1].rstrip("/")
        if not tag.isdecimal():
            yield tag


def _frontmatter_links(text: str, flat: str, matter: Frontmatter) -> Iterator[Link]:
    start, end = matter.span
    if "[[" not in flat[start:end]:
        return
    visible = blank(flat[:end], comments_in(flat, matter.span))
    properties = properties_at(flat, matter.span)
    lines = Lines(flat)
    for span in wikilink_spans(visible, start):
        place = bisect_right(properties, span[0], key=lambda item: item[0]) - 1
        name = properties[place][1] if place >= 0 else ""
        link = wikilink(text, span, lines.at(span[0]), in_frontmatter=name)
        if link:
            yield link


def _blocks(body: str, rest: str, spans: list[Span]) -> Iterator[Block]:
    if "^" not in rest:
        return
    lines = Lines(body)
    known: dict[Span, tuple[int, int]] = {}
    matches = list(_BLOCK_ID.finditer(rest))
    for match, span in zip(matches, _owners([match.start() for match in matches], spans), strict=True):
        if span not in known:
            known[span] = lines.at(span[0]), lines.at(_end_of_text(body, *span))
        first, last = known[span]
        yield Block(id=match[1], line=lines.at(match.start()), first_line=first, last_line=last)


def _end_of_text(body: str, start: int, end: int) -> int:
    """The offset of the trailing white space of a span."""
    while end > start and body[end - 1].isspace():
        end -= 1
    return end


def _owners(offsets: list[int], spans: list[Span]) -> Iterator[Span]:
    """For each id the innermost block around it; for an id at the beginning of a block, the block before."""
    coming = deque(spans)
    around: list[tuple[Span, Span | None]] = []
    for offset in offsets:
        while coming and coming[0][0] <= offset:
            block = coming.popleft()
            elder = None
            while around and around[-1][0][1] <= block[0]:
                elder, _ = around.pop()
            around.append((block, elder))
        nowhere: tuple[Span, Span | None] = ((offset, offset + 1), None)
        block, elder = next((pair for pair in reversed(around) if offset < pair[0][1]), nowhere)
        yield elder if elder and block[0] == offset else block


def _hidden_spans(body: str) -> list[Span]:
    """What no reader is shown, in order and apart: the drawing, the plugin's notice, ids of elements.

    The texts of a drawing are shown also where all of it is a comment.
    """
    return _merged_spans(sorted(_drawing_spans(body)))


def _drawing_spans(body: str) -> Iterator[Span]:
    drawing = _DRAWING.search(body)
    end = drawing.start() if drawing else len(body)
    if drawing:
        yield end, len(body)
    yield from _fenced_data(body, end)
    yield from (match.span() for match in _LINES_OF_PLUGIN.finditer(body, 0, end))
    lists = _LISTS.search(body, 0, end)
    if lists:
        yield from (match.span() for match in _ID.finditer(body, lists.end(), end))
        yield from (match.span(1) for match in _COLORS.finditer(body, lists.end(), end))


def _fenced_data(body: str, end: int) -> Iterator[Span]:
    """Data that stands elsewhere, in fences; what is not closed ends with the note."""
    position = 0
    while opening := _DATA.search(body, position, end):
        closing = _END_OF_DATA.search(body, opening.end(), end)
        position = closing.end() if closing else end
        yield opening.start(), position


def _merged_spans(spans: list[Span]) -> list[Span]:
    """Spans in order, those that overlap as one."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def _find_tasks(body: str, prose: Prose) -> tuple[TaskLine, ...]:
    """The open tasks of a parsed text, in order. Those that are done, cancelled or of another kind are not looked at.

    `body` is the flattened text, `prose` the same with code blanked out.
    """
    if not any(box in body for box in _OPEN_BOXES):
        return ()
    lines = Lines(body)
    starts = [start for start, _ in prose.comments]
    found: list[TaskLine] = []
    for match in _BOX.finditer(prose.rest):
        box = match.start()
        line = prose.rest.rfind("\n", max(0, box - _MAX_INDENT), box) + 1
        comment = bisect_right(starts, box) - 1
        in_comment = comment >= 0 and box < prose.comments[comment][1]
        if in_comment or box - line > _MAX_INDENT or not _ITEM.fullmatch(prose.rest, line, box):
            continue
        start, end = match.span("text")
        text = " ".join(body[start : min(end, start + MAX_TASK_CHARACTERS)].split())
        found.append(TaskLine(lines.at(box), match["state"], text))
        if len(found) == MAX_TASKS:
            break
    return tuple(found)
