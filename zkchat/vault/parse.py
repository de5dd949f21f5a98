"""From the text of a note to what is known of it."""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator

from zkchat.model.note import Block, Heading, Link, Note
from zkchat.vault.frontmatter import Frontmatter, comments_in, cut, distinct, properties_at
from zkchat.vault.markdown import Lines, Span, blank, flatten, outline, plain
from zkchat.vault.wikilink import inside, read_prose, scan, wikilink, wikilink_spans

_TAG = re.compile(
    r"#(?<!\S#)([^\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
    r"""'!"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s\0]+)"""
)
"""Obsidian's, and CJK punctuation ends a tag too."""
_WORDS = re.compile(r"[^\W_]+(?: [^\W_]+)*")
"""In these Markdown sees nothing but text."""
_BLOCK_ID = re.compile(r"\^(?<!\S\^)([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)


def parse_note(path: str, text: str) -> Note:
    """Read a note. No text makes this raise, and none makes it slow."""
    flat, matter, body = _cut(text)
    found = outline(body, matter.end)
    prose = read_prose(text, body, found)
    headings = tuple(_shown(found.titles, prose.comments))
    return Note(
        path=path,
        title=matter.title or _first_title(headings) or file_title(path),
        aliases=matter.aliases,
        tags=distinct((*matter.tags, *_tags(prose.rest))),
        frontmatter=matter.properties,
        headings=headings,
        blocks=tuple(_blocks(body, prose.rest, found.blocks)),
        links=(*_frontmatter_links(text, flat, matter), *prose.links),
        body_start=matter.end,
        line_count=body.count("\n") + 1,
        comments=tuple(prose.comments),
        warnings=(matter.warning,) if matter.warning else (),
    )


def prose_of(text: str) -> str:
    """What a note says beside its links: frontmatter, code, formulas and links are blanked out. Every offset stays."""
    _, matter, body = _cut(text)
    return read_prose(text, body, outline(body, matter.end)).rest


def file_title(path: str) -> str:
    """The name of a note's file, without folders and `.md`."""
    name = path.rpartition("/")[2]
    return name[:-3] if name[-3:].lower() == ".md" else name


def _cut(text: str) -> tuple[str, Frontmatter, str]:
    """The flattened text, its frontmatter, and the text again with the frontmatter blanked out."""
    flat = flatten(text)
    matter = cut(flat, start=int(text.startswith("\ufeff")))
    return flat, matter, _hidden(flat[: matter.end]) + flat[matter.end :]


def _hidden(lines: str) -> str:
    """Blank lines in place of these, so that offsets and line numbers stay."""
    return "\n".join(" " * len(line) for line in lines.split("\n"))


def _shown(titles: list[Heading], comments: list[Span]) -> list[Heading]:
    """Those that stand in no comment."""
    if not comments:
        return titles
    commented = inside([(title.start, title.start + 1) for title in titles], comments)
    return [title for title, in_comment in zip(titles, commented, strict=True) if not in_comment]


def _first_title(headings: tuple[Heading, ...]) -> str:
    shown = (_as_read(heading.text) for heading in headings if heading.level == 1)
    return next(filter(None, shown), "")


def _as_read(markdown: str) -> str:
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
            start, end = span
            known[span] = lines.at(start), lines.at(start + len(body[start:end].rstrip()))
        first, last = known[span]
        yield Block(id=match[1], line=lines.at(match.start()), first_line=first, last_line=last)


def _owners(offsets: list[int], spans: list[Span]) -> Iterator[Span]:
    """For each id the innermost block around it; for one that stands at the beginning of a block, the block before."""
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
