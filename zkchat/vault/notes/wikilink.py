"""Links: their grammar, where they are in a text, and when two targets are the same name."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from zkchat.model.note import Link
from zkchat.vault.notes.markdown import (
    MAX_ITEMS,
    MAX_SPANS,
    Hyperlink,
    Lines,
    Outline,
    Span,
    blank,
    blank_escapes,
    flatten,
    outline,
)

_WIKILINK = re.compile(r"\[\[(?!\[|\]\])[^\[\]\n]*(?:(?:\](?!\])|\[(?!\[))[^\[\]\n]*)*\]\]")
"""No newline, `[[` or `]]` inside. Each character can be read in one way only, so that a megabyte of brackets is no
trouble. (Possessive quantifiers would say so more plainly, but match nothing here in early releases of Python 3.11.)"""
_COMMENTS = re.compile(r"(?:%%.*?%%)+", re.DOTALL)
"""One after the other without a space between them."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://|(?:mailto|tel|data|javascript|obsidian):", re.IGNORECASE)
_SPACES = {0xA0: " ", 0x202F: " "}
_SIZE = re.compile(r"\d+(?:x\d+)?")
_KEPT_NAMES, _MAX_KEPT_NAME = 8192, 250
"""How many keys of names are remembered, and how long those names may be."""


class Prose(NamedTuple):
    """The links and comments of a text outside code and formulas."""

    links: list[Link]
    comments: list[Span]
    rest: str
    """The text with code, formulas and links blanked out."""
    has_more_links: bool = False
    """Whether links after the first `MAX_ITEMS` were left out."""


def scan(text: str) -> list[Link]:
    """The links of a text without frontmatter, in order."""
    return prose_of(text).links


def prose_of(text: str) -> Prose:
    """What stands in a text without frontmatter outside code and formulas."""
    flat = flatten(text)
    return read_prose(text, flat, outline(flat))


def link_to(name: str) -> Link:
    """The link with this name between its brackets, wherever it stands."""
    target, anchor, external = _split(name)
    return Link(text=f"[[{name}]]", target=target, anchor=anchor, external=external)


def without_links(text: str) -> str:
    """The text with each link replaced by a space."""
    return without(scan(text), text)


class Spanned(Protocol):
    """Something that stands in a text, such as a link."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def without(parts: Iterable[Spanned], text: str) -> str:
    """The text with each of the given parts, which are in order, replaced by a space."""
    pieces: list[str] = []
    position = 0
    for part in parts:
        pieces += (text[position : part.start], " ")
        position = max(position, part.end)
    return "".join([*pieces, text[position:]])


def read_prose(text: str, flat: str, found: Outline) -> Prose:
    """Find the links and comments of a text, given its outline. Where two links overlap, the wikilink wins."""
    visible = blank_escapes(blank(flat, found.code))
    spans = wikilink_spans(visible)
    formulas = _begun_outside(spans, found.formulas)
    wikilinks = [span for span, hidden in zip(spans, inside(spans, formulas), strict=True) if not hidden]
    hyperlinks = {(link.start, link.end): link for link in found.hyperlinks}
    places = sorted([*wikilinks, *_apart(hyperlinks, wikilinks)]) if hyperlinks else wikilinks
    rest = blank(visible, sorted(places + formulas) if formulas else places)
    comments = [match.span() for match in _COMMENTS.finditer(rest)] if "%" in rest else []
    lines = Lines(flat)
    links = []
    known = places[:MAX_ITEMS]
    for span, in_comment in zip(known, inside(known, comments), strict=True):
        line = lines.at(span[0])
        if span in hyperlinks:
            links.append(_from_hyperlink(hyperlinks[span], text, line, in_comment=in_comment))
        else:
            links.append(wikilink(text, span, line, in_comment=in_comment))
    return Prose([link for link in links if link], comments, rest, len(places) > MAX_ITEMS)


def wikilink_spans(visible: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The spans of `[[…]]` and `![[…]]` in a text whose code is blanked out."""
    matches = islice(_WIKILINK.finditer(visible, start, len(visible) if end is None else end), MAX_SPANS)
    spans = [match.span() for match in matches]
    return [(opening - (visible[opening - 1 : opening] == "!"), closing) for opening, closing in spans]


def wikilink(text: str, span: Span, line: int, *, in_comment: bool = False, in_frontmatter: str = "") -> Link | None:
    """Parse the wikilink in this span; None if its target is empty."""
    start, end = span
    written = text[start:end]
    embed = written.startswith("!")
    path, _, display = written[2 + embed : -2].partition("|")
    target, anchor, external = _split(path.removesuffix("\\").strip())
    link = Link(written, target, anchor, embed=embed, external=external, start=start, end=end, line=line)
    return _shown_as(display, link._replace(in_comment=in_comment, in_frontmatter=in_frontmatter))


def _from_hyperlink(link: Hyperlink, text: str, line: int, *, in_comment: bool) -> Link | None:
    target, anchor, external = _split(link.address)
    if not external:
        target, anchor = unquote(target).strip(), unquote(anchor).strip()
    found = Link(text[link.start : link.end], target, anchor, syntax="markdown", embed=link.image, external=external)
    place = found._replace(start=link.start, end=link.end, line=line, in_comment=in_comment)
    return _shown_as(link.label, place)


def _shown_as(display: str, link: Link) -> Link | None:
    """The link with what it shows, and the size of an embedded picture; None if its target is empty."""
    if not (link.target or link.anchor):
        return None
    display, size = _without_size(display) if link.embed else (display, "")
    return link._replace(display=display.strip(), size=size)


def _split(path: str) -> tuple[str, str, bool]:
    """Target, anchor, and whether it is an address outside the vault, which is not split."""
    if ":" in path and _ADDRESS.match(path):
        return path, "", True
    target, _, anchor = path.partition("#")
    return target.strip(), anchor.strip(), False


def _without_size(display: str) -> tuple[str, str]:
    rest, _, last = display.rpartition("|")
    return (rest, last.strip()) if _SIZE.fullmatch(last.strip()) else (display, "")


def inside(spans: Sequence[Span], walls: Sequence[Span]) -> list[bool]:
    """For each span whether one of the walls contains it; both are in order."""
    held = [False] * len(spans)
    current = 0
    for number, (start, end) in enumerate(spans if walls else ()):
        while current < len(walls) and walls[current][1] <= start:
            current += 1
        held[number] = current < len(walls) and walls[current][0] <= start and end <= walls[current][1]
    return held


def _begun_outside(links: Sequence[Span], formulas: Sequence[Span]) -> list[Span]:
    """The formulas without those whose first `$` is inside a link, as in `[[A$AP]] and [[Ke$ha]]`."""
    signs = [(start, start + 1) for start, _ in formulas]
    return [formula for formula, named in zip(formulas, inside(signs, links), strict=True) if not named]


def _apart(spans: Iterable[Span], others: Sequence[Span]) -> Iterator[Span]:
    """The spans that do not overlap any of the others, which are in order."""
    for start, end in spans:
        nearest = bisect_left(others, (end, end)) - 1
        if nearest < 0 or others[nearest][1] <= start:
            yield start, end


def name_key(name: str) -> str:
    """A key that ignores case, Unicode normal form and the kind of space."""
    if name.isascii():
        return name.lower()
    return _composed_key(name) if len(name) <= _MAX_KEPT_NAME else _composed_key.__wrapped__(name)


@lru_cache(_KEPT_NAMES)
def _composed_key(name: str) -> str:
    composed = unicodedata.normalize("NFC", name.translate(_SPACES))
    return unicodedata.normalize("NFC", composed.casefold())
