"""The grammar of wikilinks, and the files of a vault by the names that links use, with similar names to suggest."""

import re
import unicodedata
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from heapq import nlargest, nsmallest
from itertools import islice
from typing import Literal, NamedTuple, Protocol
from urllib.parse import unquote

from zkchat.core import (
    Block,
    Heading,
    Link,
    LinkToResolve,
    Note,
    is_note,
    lazy_pattern,
    page_heading,
    page_of_anchor,
    without_suffix,
)
from zkchat.notes.markdown import MAX_ITEMS, MAX_SPANS, Lines, Outline, Span, blank, blank_escapes, flatten, outline

_NO_LETTERS = lazy_pattern(r'[!"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+')


class Anchors:
    """The headings and blocks of a note that a link can point to, indexed by key."""

    def __init__(self, headings: Sequence[Heading] = (), blocks: Sequence[Block] = ()) -> None:
        self._headings = headings
        self._blocks = blocks

    def __bool__(self) -> bool:
        return bool(self._headings or self._blocks)

    def find(self, anchor: str) -> Heading | Block | None:
        """The heading or block that `Heading`, `Heading#Sub` or `^block` names; the first where there are several."""
        page = page_of_anchor(anchor)
        return next(self._named(page_heading(page) if page else anchor), None)

    def find_all(self, anchor: str) -> "list[Heading | Block]":
        return [*self._named(anchor)]

    def _named(self, anchor: str) -> Iterator[Heading | Block]:
        """The headings that match the last part, below headings that match the others; else those that contain `#`.

        Only a limited number of headings with the same text is compared.
        """
        last = anchor.rpartition("#")[2].strip()
        if last.startswith("^"):
            yield from self._blocks_by_id.get(last[1:].casefold(), ())
            return
        parts = anchor.split("#") if anchor.count("#") < 20 else [anchor]
        *above, name = [key for key in map(heading_key, parts) if key] or [""]
        is_found = False
        for heading, trail in self._headings_by_key.get(name, ()):
            ancestors = iter(trail)
            if all(wanted in ancestors for wanted in above):
                is_found = True
                yield heading
        if not is_found:
            for heading, _ in self._headings_by_key.get(heading_key(anchor), ()):
                yield heading

    @cached_property
    def _blocks_by_id(self) -> dict[str, list[Block]]:
        found: dict[str, list[Block]] = {}
        for block in self._blocks:
            found.setdefault(block.id.casefold(), []).append(block)
        return found

    @cached_property
    def _headings_by_key(self) -> dict[str, list[tuple[Heading, tuple[str, ...]]]]:
        found: dict[str, list[tuple[Heading, tuple[str, ...]]]] = {}
        trail: list[tuple[int, str]] = []
        for heading in self._headings:
            key = heading_key(heading.text)
            while trail and trail[-1][0] >= heading.level:
                trail.pop()
            alike = found.setdefault(key, [])
            if len(alike) < 100:
                alike.append((heading, tuple(above for _, above in trail)))
            trail.append((heading.level, key))
        return found


def heading_key(text: str) -> str:
    """A key that ignores case, punctuation, markup and Unicode normal form."""
    return _NO_LETTERS.sub(" ", unicodedata.normalize("NFC", text)).strip().casefold()


def section_lines(note: Note, anchor: str) -> tuple[int, int] | None:
    """The first and last line of the section or block that an anchor (`Heading`, `Heading#Sub`, `^block`) names."""
    place = Anchors(note.headings, note.blocks).find(anchor)
    if isinstance(place, Block):
        return place.first_line, place.last_line
    if place is None:
        return None
    after = (heading for heading in note.headings if heading.start > place.start and heading.level <= place.level)
    following = next(after, None)
    return place.line, following.line - 1 if following else note.line_count


_WIKILINK = lazy_pattern(r"\[\[(?!\[|\]\])[^\[\]\n]*(?:(?:\](?!\])|\[(?!\[))[^\[\]\n]*)*\]\]")
"""No newline, `[[` or `]]` inside. Each character can be read in one way only, so that a megabyte of brackets is no
trouble. (Possessive quantifiers would say so more plainly, but match nothing here in early releases of Python 3.11.)"""
_COMMENTS = lazy_pattern(r"(?:%%.*?%%)+", re.DOTALL)
"""One after the other without a space between them."""
_ADDRESS = lazy_pattern(r"[a-z][a-z0-9+.-]+://|(?:mailto|tel|data|javascript|obsidian):", re.IGNORECASE)
_SPACES = {0xA0: " ", 0x202F: " "}
_SIZE = re.compile(r"\d+(?:x\d+)?")


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


class Spanned(Protocol):
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
    signs = [(start, start + 1) for start, _ in found.formulas]  # not inside a link, as in `[[A$AP]] and [[Ke$ha]]`
    formulas = [span for span, is_named in zip(found.formulas, inside(signs, spans), strict=True) if not is_named]
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
        if hyperlink := hyperlinks.get(span):
            target, anchor, external = _split(hyperlink.address)
            if not external:
                target, anchor = unquote(target).strip(), unquote(anchor).strip()
            written = text[slice(*span)]
            link = Link(written, target, anchor, syntax="markdown", embed=hyperlink.image, external=external)
            placed = link._replace(start=span[0], end=span[1], line=line, in_comment=in_comment)
            links.append(_shown_as(hyperlink.label, placed))
        else:
            links.append(wikilink(text, span, line, in_comment=in_comment))
    return Prose([link for link in links if link], comments, rest, len(places) > MAX_ITEMS)


def wikilink_spans(visible: str, start: int = 0) -> list[Span]:
    """The spans of `[[…]]` and `![[…]]` in a text whose code is blanked out."""
    matches = islice(_WIKILINK.finditer(visible, start), MAX_SPANS)
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


def _shown_as(display: str, link: Link) -> Link | None:
    """The link with what it shows, and the size of an embedded picture; None if its target is empty."""
    if not (link.target or link.anchor):
        return None
    rest, _, last = display.rpartition("|")
    if link.embed and _SIZE.fullmatch(last.strip()):
        return link._replace(display=rest.strip(), size=last.strip())
    return link._replace(display=display.strip())


def _split(path: str) -> tuple[str, str, bool]:
    """Target, anchor, and whether it is an address outside the vault, which is not split."""
    if ":" in path and _ADDRESS.match(path):
        return path, "", True
    target, _, anchor = Link.split(path)
    return target.strip(), anchor.strip(), False


def inside(spans: Sequence[Span], walls: Sequence[Span]) -> list[bool]:
    """For each span whether one of the walls contains it; both are in order."""
    held = [False] * len(spans)
    current = 0
    for number, (start, end) in enumerate(spans if walls else ()):
        while current < len(walls) and walls[current][1] <= start:
            current += 1
        held[number] = current < len(walls) and walls[current][0] <= start and end <= walls[current][1]
    return held


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
    composed = unicodedata.normalize("NFC", name.translate(_SPACES))
    return unicodedata.normalize("NFC", composed.casefold())


_Kind = Literal["tail", "alias", "id", "title"]
_ID_SHAPE = "(?:[0-9]{8}t[0-9]{4}|[0-9]{8,17})"
_ID = lazy_pattern(f"^{_ID_SHAPE}(?![0-9])|(?<![0-9]){_ID_SHAPE}$")
_MAX_SHARING = 4_000
"""Names that share a piece with the one asked for. Those of rare pieces come first, so that the best are among them."""
_MAX_LIKELY = 60
_MAX_COMPARED = 12
"""Names that are compared letter by letter, which takes a tenth of a millisecond for each."""
_MAX_NAME_CHARACTERS = 200
"""Characters of a name that are compared; no file name is longer."""


class CatalogEntry(NamedTuple):
    """A file of the vault. For an attachment only the path is set."""

    path: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    is_source: bool = True
    """Not so for what zkchat saved of a conversation: any other note of the same name is meant first."""


class Catalog:
    """Every file of the vault by the names that links use. `anchors` returns the headings and blocks of a note."""

    def __init__(self, entries: Iterable[CatalogEntry], anchors: Callable[[str], Anchors]) -> None:
        self.anchors = anchors
        self._entries: dict[str, CatalogEntry] = {}
        self._tables: dict[_Kind, dict[str, list[str]]] = {"tail": {}, "alias": {}, "id": {}, "title": {}}
        """Paths by key, the shortest first."""
        self._saved: set[str] = set()
        for entry in entries:
            self.replace(entry)

    def __len__(self) -> int:
        return len(self._entries)

    def copy(self) -> "Catalog":
        return Catalog(self._entries.values(), self.anchors)

    def replace(self, entry: CatalogEntry) -> None:
        self.remove(entry.path)
        self._entries[entry.path] = entry
        if not entry.is_source:
            self._saved.add(entry.path)
        for kind, key in _places(entry):
            insort(self._tables[kind].setdefault(key, []), entry.path, key=lambda path: (len(path), path))

    def remove(self, path: str) -> None:
        entry = self._entries.pop(path, None)
        self._saved.discard(path)
        for kind, key in _places(entry) if entry else ():
            paths = self._tables[kind][key]
            paths[:] = [each for each in paths if each != path]

    def ending_with(self, tail: str) -> list[str]:
        """The paths whose last components match this key."""
        if tail.count("/") <= 1:
            return self._paths("tail", tail)
        paths = self._paths("tail", "/".join(tail.split("/")[-2:]))
        return [path for path in paths if f"/{name_key(path)}".endswith(f"/{tail}")]

    def at(self, key: str) -> list[str]:
        """The paths with this key; they differ only in case or normal form."""
        two = "/".join(f"/{key}".split("/")[-2:])
        return [path for path in self._paths("tail", two) if name_key(path) == key]

    def called(self, name: str, kind: Literal["alias", "title"]) -> list[str]:
        return self._paths(kind, name_key(name))

    def with_id_of(self, target: str) -> list[str]:
        stem = without_suffix(name_key(target).rpartition("/")[2])
        return sorted({path for id_ in _ids(stem) for path in self._paths("id", id_)})

    @property
    def has_saved(self) -> bool:
        return bool(self._saved)

    def sources(self, paths: list[str]) -> list[str]:
        return [path for path in paths if path not in self._saved] if self._saved else paths

    def similar_to(self, name: str, limit: int) -> tuple[str, ...]:
        return SimilarNames(name for entry in self._entries.values() for name in names_of(entry)).closest(name, limit)

    def _paths(self, kind: _Kind, key: str) -> list[str]:
        return self._tables[kind].get(key, [])


def _places(entry: CatalogEntry) -> Iterator[tuple[_Kind, str]]:
    components = f"/{name_key(entry.path)}".split("/")
    yield "tail", components[-1]
    yield "tail", "/".join(components[-2:])
    if is_note(entry.path):
        stem = components[-1].rpartition(".")[0]
        for alias in {name_key(alias) for alias in entry.aliases}:
            yield "alias", alias
        for id_ in _ids(stem):
            yield "id", id_
        title = name_key(entry.title)
        if title and title != stem:
            yield "title", title


def _ids(stem: str) -> set[str]:
    return set(_ID.findall(stem)) if stem[:1].isdigit() or stem[-1:].isdigit() else set()


def names_of(entry: CatalogEntry) -> set[str]:
    name = entry.path.rpartition("/")[2]
    return {without_suffix(name), entry.title, *entry.aliases} - {""} if is_note(entry.path) else {name}


class SimilarNames:
    """An index of names by trigram, to find names similar to a given one.

    Only every second trigram of a name is stored; a query looks up all of its own.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_piece: defaultdict[str, list[str]] = defaultdict(list)
        for name in {*names}:
            for piece in _pieces(_beginning(name), step=2):
                self._by_piece[piece].append(name)

    def closest(self, name: str, limit: int) -> tuple[str, ...]:
        """The most similar names, best first; empty if none is similar enough."""
        key = _beginning(name)
        matcher = SequenceMatcher(autojunk=False, b=key)
        likeness: dict[str, float] = {}
        for candidate in self._shortlist(key):
            matcher.set_seq1(_beginning(candidate))
            likeness[candidate] = matcher.ratio() + (0.3 if key in _beginning(candidate) else 0.0)
        alike: dict[str, str] = {}
        for candidate in sorted(likeness, key=lambda candidate: (-likeness[candidate], candidate)):
            if likeness[candidate] >= 0.6:
                alike.setdefault(name_key(candidate), candidate)
        return tuple(alike.values())[:limit]

    def _shortlist(self, key: str) -> list[str]:
        """The candidates that share most trigrams with the name, relative to their own number of trigrams."""
        asked = _pieces(key)

        def unlikeness(name: str) -> float:
            pieces = _pieces(_beginning(name))
            return -len(asked & pieces) / len(asked | pieces)

        shared: Counter[str] = Counter()  # the trigrams that a name shares, counted over the rarest
        looked_at = 0
        for count, piece in sorted((len(self._by_piece.get(piece, ())), piece) for piece in asked):
            if looked_at and looked_at + count > _MAX_SHARING:
                break
            shared.update(self._by_piece.get(piece, ()))
            looked_at += count
        least = min(nlargest(_MAX_LIKELY, shared.values()), default=0)
        likely = [name for name, pieces in shared.items() if pieces >= least]
        likely = nsmallest(_MAX_LIKELY, likely, key=lambda name: (-shared[name], abs(len(name) - len(key)), name))
        return nsmallest(_MAX_COMPARED, likely, key=lambda name: (unlikeness(name), name))


def _beginning(name: str) -> str:
    return name_key(name[:_MAX_NAME_CHARACTERS])


def _pieces(key: str, step: int = 1) -> set[str]:
    padded = f" {key} "
    return {padded[start : start + 3] for start in range(0, len(padded) - 2, step)}


_ANY_ID = lazy_pattern(r"\d{8}t\d{4}|\d{8,17}")


def keys_of_file(path: str, title: str = "", aliases: tuple[str, ...] = ()) -> frozenset[str]:
    """Every key by which a link may look up a file. When the file changes, links with these keys are resolved again."""
    return frozenset((*_keys(name_key(path)), *[name_key(name) for name in (title, *aliases) if name]))


def keys_of_links(links: Iterable[Link | LinkToResolve]) -> frozenset[str]:
    keys: set[str] = set()
    for target in {link.target for link in links if link.target and not link.external}:
        key = name_key(target)
        keys |= {key, *_keys(key)}
        before, caret, _ = target.partition("^")
        if caret:
            keys |= {*_keys(name_key(before.strip()))}
    return frozenset(keys)


def _keys(key: str) -> list[str]:
    """The file name in a path key, and the ids in that name."""
    name = without_suffix(key.rpartition("/")[2])
    return [name, *_ANY_ID.findall(name)]
