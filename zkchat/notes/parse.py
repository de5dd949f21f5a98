"""Parse the text of a note: title, tags, tasks, links, drawings; and the warnings about it."""

import html
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import Final, Literal, NamedTuple
from urllib.parse import quote, unquote

from zkchat.core import Block, Heading, Link, Note, NoteWarning, TaskLine, WarningKind, file_title, lazy_pattern
from zkchat.notes.frontmatter import Frontmatter, comments_in, cut, distinct, properties_at
from zkchat.notes.link_catalog import Prose, inside, link_to, read_prose, scan, wikilink, wikilink_spans
from zkchat.notes.markdown import MAX_ITEMS, Hyperlink, Lines, Outline, Span, blank, flatten, outline, plain

_IN_COMMON: Final[Mapping[WarningKind, str]] = {
    "frontmatter": "notes have frontmatter that cannot be read",
    "encoding": "notes have characters that are not UTF-8",
    "excess": "notes have more headings, links, tags or block ids than zkchat reads",
    "privacy": "notes have their `zkchat` property twice or in the wrong place, so they count as private",
    "unreadable": "notes cannot be read and are found by name only",
    "extraction": "PDFs cannot be read, or only in part",
    "waiting": "PDFs are not read yet",
    "unlisted": "files or folders are left out, such as symbolic links out of the vault",
    "setting": "private folders (privacy.local_only) hold no note",
    "damaged": "caches were damaged and are rebuilt",
}


def describe_warning(warning: NoteWarning) -> str:
    """A warning with the path of its file, unless the text begins with it."""
    return warning.text if warning.text.startswith(warning.path) else f"{warning.path}: {warning.text}"


def summarize_warnings(warnings: Iterable[NoteWarning]) -> list[str]:
    """A sentence for each kind of warning; a single one of its kind is told as it is."""
    by_kind: dict[WarningKind, list[NoteWarning]] = {}
    for warning in dict.fromkeys(warnings):
        by_kind.setdefault(warning.kind, []).append(warning)
    sentences = [
        f"{len(found):,} {_IN_COMMON[kind]}, e.g. {found[0].path}." if len(found) > 1 else describe_warning(found[0])
        for kind, found in by_kind.items()
    ]
    if any(len(found) > 1 for found in by_kind.values()):
        sentences[-1] += " zkchat check lists them."
    return sentences


def without_templates(warnings: Sequence[NoteWarning], templates: Callable[[], Sequence[str]]) -> list[NoteWarning]:
    """The warnings without those on the frontmatter of templates, which is filled in later."""
    if not any(warning.kind == "frontmatter" for warning in warnings):
        return [*warnings]
    folders = tuple(templates())
    return [each for each in warnings if not (each.kind == "frontmatter" and each.path.startswith(folders))]


_TAG = re.compile(
    r"#(?<!\S#)([^\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
    r"""'!"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s\0]+)"""
)
"""Obsidian's, and CJK punctuation ends a tag too."""
_WORDS = lazy_pattern(r"[^\W_]+(?: [^\W_]+)*")
"""In these Markdown sees nothing but text."""
MAX_TAGS = 5_000
_TITLE = lazy_pattern(r"\s*#.*|(?:.*\n)+? {0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)
_BLOCK_ID = lazy_pattern(r"\^(?<!\S\^)([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)


_DRAWING_PROPERTY: Final = "excalidraw-plugin"
"""That the plugin writes into the frontmatter of every drawing."""
_DRAWING_HEADINGS: Final = frozenset(
    {"Excalidraw Data", "Text Elements", "Element Links", "Embedded Files", "Embedded files"}
)
"""Of the plugin, below what users write themselves."""

_DRAWING = lazy_pattern(r"^##? Drawing[ \t]*\n(?=\s*(?:```|\{))", re.MULTILINE)
"""Until the end of the file there is only data below it."""
_DATA = lazy_pattern(r"^```(?:compressed-json|json)[ \t]*$", re.MULTILINE)
_END_OF_DATA = lazy_pattern(r"^```[ \t]*$", re.MULTILINE)
_LISTS = lazy_pattern(r"^##? (?:Element Links|Embedded [Ff]iles)[ \t]*$", re.MULTILINE)
_ID = lazy_pattern(r"^[\w-]{8,40}: (?=\S)", re.MULTILINE)
"""Before each link of an element and each embedded file."""
_LINES_OF_PLUGIN = lazy_pattern(r"^(?:%%|==⚠.*⚠==.*|\^_dummy!_)[ \t]*$", re.MULTILINE)
_COLORS = lazy_pattern(r"^[\w-]{8,40}: \[\[[^\]\n]*\]\]( \{\"[^\n]*\})[ \t]*$", re.MULTILINE)
"""Of an embedded file."""
_BOX: Final = lazy_pattern(r"\[(?P<state>[ /])\][ \t]+(?=\S)(?P<text>[^\n]+)")
_ITEM: Final = lazy_pattern(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+")
"""What stands before a box: in quotations and callouts too, and where an item holds nothing but another list."""
_MAX_INDENT: Final = 200
"""Characters before a box."""
MAX_TASKS: Final = 2_000
"""Of one note."""
MAX_TASK_CHARACTERS: Final = 500
"""Of one task; what is longer is cut."""


def parse_note(path: str, text: str) -> Note:
    """Parse a note. Never raises, and takes time proportional to the length of the text."""
    read = find_links(text)
    matter, body, prose, titles = read.matter, read.body, read.prose, read.outline.titles
    commented = inside([(title.start, title.start + 1) for title in titles], prose.comments)
    headings = tuple(title for title, is_hidden in zip(titles, commented, strict=True) if not is_hidden)[:MAX_ITEMS]
    written = (match[1].rstrip("/") for match in _TAG.finditer(prose.rest))
    tags = [*islice((tag for tag in written if not tag.isdecimal()), MAX_TAGS + 1)]
    blocks = [*islice(_blocks(body, prose.rest, read.outline.blocks), MAX_ITEMS)]
    has_more = {
        "marks": read.outline.is_cut,
        "headings": len(titles) > MAX_ITEMS,
        "links": prose.has_more_links,
        "block ids": len(blocks) == MAX_ITEMS,
        "tags": len(tags) > MAX_TAGS,
    }
    warnings = [NoteWarning(path=path, text=matter.warning, kind="frontmatter")] if matter.warning else []
    if left_out := [what for what, more in has_more.items() if more]:
        excess = f"It has more {' and '.join(left_out)} than zkchat reads; the rest is read as plain text."
        warnings.append(NoteWarning(path=path, text=excess, kind="excess"))
    return Note(
        path=path,
        title=matter.title or _title_of(path, headings[:1], read),
        aliases=matter.aliases,
        tags=distinct((*matter.tags, *tags[:MAX_TAGS])),
        frontmatter=matter.properties,
        headings=headings,
        blocks=tuple(blocks),
        links=read.links,
        tasks=_find_tasks(body, prose),
        body_start=matter.end,
        line_count=body.count("\n") + 1,
        comments=tuple(read.hidden),
        warnings=tuple(warnings),
    )


def frontmatter_of(text: str) -> Frontmatter:
    """The frontmatter of a note, without parsing the rest."""
    return cut(flatten(text), start=int(text.startswith("\ufeff")))


class ReadText(NamedTuple):
    links: tuple[Link, ...]
    """In order."""
    matter: Frontmatter
    body: str
    """The flattened text, with the frontmatter and the data of a drawing blanked out."""
    outline: Outline
    prose: Prose
    hidden: list[Span]
    """Where comments and the data of a drawing stand."""


def find_links(text: str, *, has_frontmatter: bool = True) -> ReadText:
    flat = flatten(text)
    matter = cut(flat, start=int(text.startswith("\ufeff"))) if has_frontmatter else Frontmatter()
    body = _hidden(flat[: matter.end]) + flat[matter.end :]
    data = _merged_spans(sorted(_drawing_spans(body))) if _DRAWING_PROPERTY in matter.properties else []
    edits = []
    for start, end in data:
        is_line_end = body[end : end + 1] in {"", "\n"}  # else spaces would make code of the rest of the line
        edits.append(TextEdit(start, end, _hidden(body[start:end]) if is_line_end else "x" * (end - start)))
    body = edited(body, edits)
    found = outline(body, matter.end)
    prose = read_prose(text, body, found)
    links = (*_frontmatter_links(text, flat, matter), *prose.links)
    hidden = _merged_spans(sorted([*prose.comments, *data])) if data else prose.comments
    return ReadText(links, matter, body, found, prose, hidden)


def prose_of(text: str) -> str:
    """The text of a note with frontmatter, code, formulas and links blanked out; offsets are preserved."""
    return find_links(text).prose.rest


def running_text(text: str) -> str:
    """The same without comments and headings."""
    read = find_links(text)
    titles = []
    for title in read.outline.titles:
        lines = _TITLE.match(read.body, title.start)  # that of a heading, and the line below it that makes it one
        titles.append((title.start, lines.end() if lines else title.start))
    return blank(read.prose.rest, sorted([*read.prose.comments, *titles]))


def _title_of(path: str, first: Sequence[Heading], read: ReadText) -> str:
    """A level-1 heading with nothing but tags, comments, HTML and embeds before it, else the name of the file."""
    name = file_title(path)
    is_drawing = _DRAWING_PROPERTY in read.matter.properties
    if is_drawing:
        name = name.removesuffix(".excalidraw") or name
    if not first or first[0].level != 1 or (is_drawing and first[0].text in _DRAWING_HEADINGS):
        return name
    end = first[0].start
    html = (span for span in read.outline.code if read.body.startswith("<", span[0]))
    embeds = ((link.start, link.end) for link in read.prose.links if link.embed)
    spans = sorted(span for span in (*html, *embeds, *read.prose.comments) if span[1] <= end)
    before = blank(read.body[:end], spans).replace("\0", " ")
    return name if _TAG.sub("", before).strip() else as_read(first[0].text) or name


def _hidden(lines: str) -> str:
    """Replace spans by blank lines, so that offsets and line numbers are preserved."""
    return "\n".join(" " * len(line) for line in lines.split("\n"))


def as_read(markdown: str) -> str:
    """The text of a heading as a reader sees it: without marks, links by what they show."""
    if _WORDS.fullmatch(markdown):
        return markdown
    links = [link for link in scan(markdown) if link.syntax == "wikilink"] if "[[" in markdown else []
    shown = (TextEdit(link.start, link.end, link.display or link.target or link.anchor) for link in links)
    return plain(f"# {edited(markdown, shown)}")


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
            known[span] = lines.at(span[0]), lines.at(span[0] + len(body[slice(*span)].rstrip()))
        first, last = known[span]
        yield Block(id=match[1], line=lines.at(match.start()), first_line=first, last_line=last)


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


def _drawing_spans(body: str) -> Iterator[Span]:
    """What no reader is shown: the drawing, the plugin's notice, ids of elements.

    The texts of a drawing are shown also where all of it is a comment.
    """
    drawing = _DRAWING.search(body)
    end = drawing.start() if drawing else len(body)
    if drawing:
        yield end, len(body)
    position = 0
    while opening := _DATA.search(body, position, end):  # what is not closed ends with the note
        closing = _END_OF_DATA.search(body, opening.end(), end)
        position = closing.end() if closing else end
        yield opening.start(), position
    yield from (match.span() for match in _LINES_OF_PLUGIN.finditer(body, 0, end))
    lists = _LISTS.search(body, 0, end)
    if lists:
        yield from (match.span() for match in _ID.finditer(body, lists.end(), end))
        yield from (match.span(1) for match in _COLORS.finditer(body, lists.end(), end))


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
    if not any(box in body for box in ("[ ]", "[/]")):
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


Notation = Literal["wikilink", "plain", "angle"]
"""`[[…]]`, `[x](…)` and `[x](<…>)`; the last two also in definitions, `[x]: …`."""

_ESCAPED = lazy_pattern(r"\\([!-/:-@\[-`{-~])|(&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")
_DEFINITION = lazy_pattern(
    r"^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*\[(?!\^)(?:[^\[\]\\\n]|\\.)+\]:[ \t]*(?:\n[ \t>]*)?(?=\S)", re.MULTILINE
)
_OPENING = lazy_pattern(r"[ \t\r\n]*")
_ANGLE = lazy_pattern(r"<((?:[^<>\n\\]|\\.)*)>")
_NOT_IN_ANGLES = lazy_pattern(r"[\x00-\x1f<>\\#`|$]|%(?=[0-9A-Fa-f]{2}|%)|&(?=[#A-Za-z][0-9A-Za-z]*;)")
_NOT_PLAIN = lazy_pattern(rf"{_NOT_IN_ANGLES.pattern}|[%\s\x7f]")


class LinkTarget(NamedTuple):
    """The target of a link, before `#` and `|`, and its place in the text."""

    target: str
    """As reading understands it."""
    link: str
    """The whole link as it is written."""
    place: Span | None
    """Of the target as it is written; None where it cannot be told, so that it cannot be changed either."""
    notation: Notation


def link_targets(text: str, *, has_frontmatter: bool = True) -> list[LinkTarget]:
    """The targets of all links of a note that may lead to a file, in order; a definition once for each of its uses."""
    found = find_links(text, has_frontmatter=has_frontmatter)
    hyperlinks = {(link.start, link.end): link for link in found.outline.hyperlinks}
    definitions: Mapping[str, _Destination] | None = None
    targets = []
    for link in found.links:
        if link.external or not link.target:
            continue
        if link.syntax == "wikilink":
            start = link.start + 2 + link.embed
            written = Link.split(link.text[2 + link.embed : -2].partition("|")[0].removesuffix("\\"))[0]
            start += len(written) - len(written.lstrip())
            place = start, start + len(written.strip())
            targets.append(LinkTarget(link.target, link.text, place, "wikilink"))
            continue
        hyperlink = hyperlinks[link.start, link.end]
        destination = _inline_destination(text, hyperlink)
        if destination is None:
            definitions = _definitions(text, found) if definitions is None else definitions
            destination = definitions.get(hyperlink.address)
        if destination is None:
            targets.append(LinkTarget(link.target, link.text, None, "plain"))
            continue
        start, end = destination.place
        written = Link.split(text[start:end])[0]
        start += len(written) - len(written.lstrip())
        written = written.strip()
        is_certain = unquote(_unescaped(written)).strip() == link.target
        sure = (start, start + len(written)) if is_certain else None
        targets.append(LinkTarget(link.target, link.text, sure, "angle" if destination.angle else "plain"))
    return targets


class _Destination(NamedTuple):
    """Where a link leads, as it is written, without `<` and `>`."""

    place: Span
    angle: bool


def _inline_destination(text: str, link: Hyperlink) -> _Destination | None:
    """The destination of `[label](destination "title")`; None for a link by reference."""
    at = text.rfind("](", link.start, link.end)
    while at >= 0:
        destination = _destination_at(text, at + 2, link.end)
        if destination and _unescaped(text[slice(*destination.place)]) == link.address:
            return destination
        at = text.rfind("](", link.start, at)
    return None


def _definitions(text: str, found: ReadText) -> dict[str, _Destination]:
    """By address, the first definition that leads there."""
    visible = blank(found.body, found.outline.code)
    definitions: dict[str, _Destination] = {}
    for match in _DEFINITION.finditer(visible):
        if destination := _destination_at(text, match.end(), len(text)):
            definitions.setdefault(_unescaped(text[slice(*destination.place)]), destination)
    return definitions


def _destination_at(text: str, start: int, end: int) -> _Destination | None:
    opening = _OPENING.match(text, start, end)
    start = opening.end() if opening else start
    if angle := _ANGLE.match(text, start, end):
        return _Destination(angle.span(1), angle=True)
    depth, at = 0, start
    while at < end and not text[at].isspace():
        if text[at] == "\\":
            at += 1
        elif text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if depth < 0:
                break
        at += 1
    return _Destination((start, min(at, end)), angle=False) if at > start else None


def _unescaped(written: str) -> str:
    """Without backslashes and entities, as Markdown reads an address."""
    if "\\" not in written and "&" not in written:
        return written
    return _ESCAPED.sub(lambda match: match[1] or html.unescape(match[2]), written)


def written_target(target: str, at: LinkTarget, text: str) -> str:
    """A target as it has to be written in the place of another, encoded as that is.

    Folders and names that the other has too are written as they are there.
    """
    if at.notation == "wikilink" or at.place is None:
        return target
    before = text[slice(*at.place)]
    known = {unquote(_unescaped(part)): part for part in before.split("/")}
    return "/".join(known.get(part) or _encoded(part, before, at.notation) for part in target.split("/"))


def fits(target: str, notation: Notation) -> bool:
    """Whether a link of this notation can have this target; `[x](…)` can have any."""
    if notation != "wikilink":
        return True
    text, link = f"[[{target}]]", link_to(target)
    is_whole = wikilink_spans(text) == [(0, len(text))] and not re.search(r"\||\\\Z", target)
    return is_whole and link.target == target and not link.external


def _encoded(part: str, example: str, notation: Notation) -> str:
    special = _NOT_IN_ANGLES if notation == "angle" else _NOT_PLAIN
    encoded = special.sub(lambda match: quote(match[0], safe=""), part)
    depths = [0, *accumulate((character == "(") - (character == ")") for character in part)]
    is_balanced = min(depths) >= 0 and depths[-1] == 0
    if notation == "plain" and (not is_balanced or re.search(r"%2[89]", example)):
        encoded = re.sub(r"[()]", lambda match: f"%{ord(match[0]):X}", encoded)
    if re.search(r"%[89A-Fa-f][0-9A-Fa-f]", example):
        encoded = re.sub(r"[^\x00-\x7f]+", lambda match: quote(match[0]), encoded)
    return encoded


class TextEdit(NamedTuple):
    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with these spans replaced; an edit that is there twice is made once."""
    pieces: list[str] = []
    position = 0
    for start, end, replacement in sorted({*edits}):
        pieces += (text[position:start], replacement)
        position = end
    return "".join([*pieces, text[position:]])


def shown_text(text: str) -> str:
    """The text of a note as models see it: without comments."""
    if "%%" not in text and _DRAWING_PROPERTY not in text:
        return text
    return without_comments(text, find_links(text).hidden)


def without_comments(text: str, comments: Iterable[tuple[int, int]]) -> str:
    return edited(text, (TextEdit(start, end, "\n" * text.count("\n", start, end)) for start, end in comments))
