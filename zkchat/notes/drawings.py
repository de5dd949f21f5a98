"""What a canvas or an Excalidraw drawing shows, read from untrusted JSON, as a text to be searched."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import isfinite
from typing import Final, NamedTuple, TypeVar

from zkchat.core import Heading, Link, Note, NoteWarning, Section, counted, shorten
from zkchat.notes.documents import Document, UnreadableDocument, document_title
from zkchat.notes.frontmatter import distinct
from zkchat.notes.markdown import sections_of
from zkchat.notes.parse import TextEdit, as_read, edited, parse_note

MAX_DEPTH: Final = 6
"""Groups inside each other that have a heading: there are six levels."""
_MAX_NAME: Final = 50
"""Characters by which a card is named in a connection."""
_MAX_LINES: Final = 20
_MAX_LINE: Final = 500
"""Lines of a card, and characters of each, that are looked at for its name."""
_UNLABELLED: Final = {("—", "→"): "→", ("←", "—"): "←", ("←", "→"): "↔", ("—", "—"): "—"}
_HASHES = re.compile(r" {0,3}(#{1,6})")
_FENCE = re.compile(r"`{3,}|~{3,}")


class Box(NamedTuple):
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


class Card(NamedTuple):
    """A text, a file or a page."""

    id: str
    box: Box
    text: str = ""
    """Markdown."""
    file: str = ""
    """The path of a file of the vault."""
    place: str = ""
    """In the file: `Heading` or `^block`."""
    address: str = ""
    group: str | None = None
    """The id of its group, where the drawing says it; else its position decides."""

    @property
    def is_text(self) -> bool:
        return not (self.file or self.address)


class Group(NamedTuple):
    id: str
    box: Box
    label: str = ""
    background: str = ""
    """The path of a picture."""


Item = TypeVar("Item", Card, Group)


class Connection(NamedTuple):
    source: str
    target: str
    label: str = ""
    begins_with_arrow: bool = False
    ends_with_arrow: bool = True


class Drawing(NamedTuple):
    cards: Sequence[Card]
    groups: Sequence[Group]
    connections: Sequence[Connection]
    problems: str
    """What of the file could not be used, in sentences."""


def _in_reading_order(items: Iterable[Item]) -> list[Item]:
    """Row by row from the top, each from left to right. What begins above the middle of a row's first is in the row."""
    rows: list[tuple[float, list[Item]]] = []
    for item in sorted(items, key=lambda item: (item.box.y, item.box.x)):
        if not rows or item.box.y > rows[-1][0]:
            rows.append((item.box.y + item.box.height / 2, []))
        rows[-1][1].append(item)
    return [item for _, row in rows for item in sorted(row, key=lambda item: item.box.x)]


def _contents_of(drawing: Drawing) -> dict[int | None, tuple[list[Card], list[Group]]]:
    """By the `id()` of a group, what lies in it, and what in none: the smallest around its middle holds a thing."""
    last_first = [*reversed(drawing.groups)]
    by_size = sorted(last_first, key=lambda group: group.box.width * group.box.height)
    named = {group.id: group for group in last_first}
    inside: dict[int | None, tuple[list[Card], list[Group]]] = defaultdict(lambda: ([], []))

    def around(box: Box, groups: Sequence[Group]) -> int | None:
        x, y = box.x + box.width / 2, box.y + box.height / 2
        across = (each for each in groups if each.box.x <= x <= each.box.x + each.box.width)
        return next((id(each) for each in across if each.box.y <= y <= each.box.y + each.box.height), None)

    for card in drawing.cards:
        said = named.get(card.group) if card.group is not None else None
        inside[id(said) if said else around(card.box, by_size)][0].append(card)
    larger = {id(group): around(group.box, by_size[place + 1 :]) for place, group in enumerate(by_size)}
    for group in drawing.groups:
        inside[larger[id(group)]][1].append(group)
    return inside


class _Writer:
    def __init__(self, path: str, drawing: Drawing) -> None:
        self._path = path
        self._drawing = drawing
        self._pieces: list[str] = []
        self._offset, self._line = 0, 1
        self._headings: list[Heading] = []
        self._links: list[Link] = []
        self._tags: list[str] = []
        self._notes: list[tuple[Note, int, int]] = []
        """Texts of cards, parsed, with the offset and the line before them."""
        self._sections: list[Section] = []
        self._ends: dict[int, int] = {}
        self._names = {group.id: _one_line(group.label) or "a group" for group in reversed(drawing.groups)}
        self._names |= {card.id: _name(card) for card in reversed(drawing.cards)}
        self._files = {card.id: card for card in reversed(drawing.cards) if card.file}
        self._contents = _contents_of(drawing)
        self._connections: dict[str, list[Connection]] = {}
        for each in drawing.connections:
            self._connections.setdefault(each.source, []).append(each)

    def document(self) -> Document:
        self._write_inside(None, (), 0)
        text = "".join(self._pieces).rstrip("\n")
        parsed = [note for note, _, _ in self._notes]
        problems = self._drawing.problems
        note = Note(
            path=self._path,
            title=document_title(self._path),
            tags=distinct(tag for note in parsed for tag in note.tags),
            headings=tuple(self._headings),
            blocks=tuple(
                block._replace(
                    line=block.line + line, first_line=block.first_line + line, last_line=block.last_line + line
                )
                for note, _, line in self._notes
                for block in note.blocks
            ),
            links=tuple(sorted(self._links, key=lambda link: link.start)),
            line_count=max(1, self._line - 1),
            comments=tuple(
                (start + offset, end + offset) for note, offset, _ in self._notes for start, end in note.comments
            ),
            warnings=(NoteWarning(path=self._path, text=problems, kind="excess"),) if problems else (),
        )
        return Document(note=note, text=text and f"{text}\n", own_sections=self._sections, ends=self._ends)

    def _write_inside(self, parent: Group | None, above: tuple[str, ...], depth: int) -> None:
        cards, groups = self._contents[parent and id(parent)]
        shown = [
            card
            for card in _in_reading_order(cards)
            if not card.is_text or card.text.strip() or card.id in self._connections
        ]
        is_first = True
        for is_text, run in groupby(shown, key=lambda card: card.is_text):
            for part in ([card] for card in run) if is_text else [[*run]]:
                if not is_first:
                    self._write("---\n\n")
                is_first = False
                self._write_card(part[0], above, depth) if is_text else self._write_targets(part, above)
        for group in _in_reading_order(groups):
            label, place, level = _one_line(group.label), above, depth
            if label and depth < MAX_DEPTH:
                place, level = (*above, label), depth + 1
                self._headings.append(Heading(label, level, self._line, self._offset))
                self._write(f"{'#' * level} {label}\n\n")
            if group.background:
                self._write_link("", group.background, "")
                self._write("\n\n")
            self._write_connections(group.id, place)
            self._write_inside(group, place, level)

    def _write_card(self, card: Card, above: tuple[str, ...], depth: int) -> None:
        text = _contained(_nested(card.text, depth))
        start, line = self._offset, self._line
        note = parse_note(self._path, f"\n{text}")
        offset, lines = start - 1, line - 2
        self._notes.append((note, offset, lines))
        own = [
            heading._replace(
                level=min(6, heading.level + (depth if not _HASHES.match(text, heading.start - 1) else 0)),
                line=heading.line + lines,
                start=heading.start + offset,
            )
            for heading in note.headings
        ]
        self._headings += own
        self._links += [
            link._replace(start=link.start + offset, end=link.end + offset, line=link.line + lines)
            for link in note.links
        ]
        self._write(f"{text}\n\n" if text else "")
        sections = [
            each._replace(
                heading_path=(*above, *each.heading_path),
                start=each.start + offset,
                end=each.end + offset,
                first_line=each.first_line + lines,
                last_line=each.last_line + lines,
            )
            for each in sections_of(note, f"\n{text}")
        ]
        self._write_connections(card.id, (*above, *(heading.text for heading in own[:1])), sections)
        self._ends |= {heading.line: self._line - 2 for heading in own}

    def _write_targets(self, cards: Sequence[Card], above: tuple[str, ...]) -> None:
        """Files and pages that stand next to each other: one list, and one section."""
        start, line = self._offset, self._line
        for card in cards:
            if card.file:
                self._write_link("- ", card.file, card.place)
            else:
                text = _one_line(card.address)
                self._write_target("- ", Link(text, text, syntax="markdown", external=True))
            self._write("\n")
        self._write("\n")
        if any(card.address for card in cards):  # names of files alone say nothing
            self._sections.append(Section(above, self._since(start), start, self._offset - 2, line, self._line - 2))
        for card in cards:
            self._write_connections(card.id, above)

    def _since(self, start: int) -> str:
        """What was written from an offset on."""
        pieces: list[str] = []
        left = self._offset - start
        for piece in reversed(self._pieces):
            if left <= 0:
                break
            pieces.append(piece)
            left -= len(piece)
        return "".join(reversed(pieces)).strip()

    def _write_connections(self, id_: str, place: tuple[str, ...], sections: Sequence[Section] = ()) -> None:
        """What a card is connected to: with a label it is found, without one it is only read."""
        connections = self._connections.pop(id_, [])
        labelled = [each for each in connections if _one_line(each.label)]
        first, first_line = self._offset, self._line
        for each in labelled:
            self._write_connection(each, _one_line(each.label))
        if labelled:
            text, end, last_line = self._since(first), self._offset - 1, self._line - 1
            whole = f"{sections[0].text}\n\n{text}" if len(sections) == 1 else ""
            if whole and len(whole) <= 1_600:
                sections = [sections[0]._replace(text=whole, end=end, last_line=last_line)]
            else:
                sections = [*sections, Section(place, text, first, end, first_line, last_line)]
        for each in connections:
            if not _one_line(each.label):
                self._write_connection(each, "")
        if connections:
            self._write("\n")
        self._sections += sections

    def _write_connection(self, connection: Connection, label: str) -> None:
        arrows = "←" if connection.begins_with_arrow else "—", "→" if connection.ends_with_arrow else "—"
        self._write_end("- ", connection.source, is_linked=bool(label))
        self._write(f" {arrows[0]}{label}{arrows[1]} " if label else f" {_UNLABELLED[arrows]} ")
        self._write_end("", connection.target, is_linked=bool(label))
        self._write("\n")

    def _write_end(self, before: str, id_: str, *, is_linked: bool) -> None:
        card = self._files.get(id_)
        if card and is_linked:
            self._write_link(before, card.file, card.place)
        else:
            self._write(before + self._names.get(id_, ""))

    def _write_link(self, before: str, file: str, place: str) -> None:
        """A link by the very path of a file: the file is missing where there is only one of the same name elsewhere."""
        text = _link_text(file, place)
        self._write_target(before, Link(text, f"/{_one_line(file)}", _one_line(place)))

    def _write_target(self, before: str, link: Link) -> None:
        start = self._offset + len(before)
        self._links.append(link._replace(start=start, end=start + len(link.text), line=self._line))
        self._write(before + link.text)

    def _write(self, text: str) -> None:
        self._pieces.append(text)
        self._offset += len(text)
        self._line += text.count("\n")


def _name(card: Card) -> str:
    """What a connection calls a card: its first heading or line, its file, or its address."""
    if card.file:
        return _link_text(card.file, card.place)
    if card.address:
        return shorten(_one_line(card.address), _MAX_NAME)
    words = (line.strip().lstrip("#").strip() for line in card.text.splitlines()[:_MAX_LINES])
    lines = (as_read(line[:_MAX_LINE]) for line in words if line)
    return shorten(next(filter(None, lines), "an empty card"), _MAX_NAME)


def _link_text(file: str, place: str) -> str:
    return _one_line(f"[[{file}#{place}]]" if place else f"[[{file}]]")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _nested(text: str, depth: int) -> str:
    """Markdown with its headings so many levels deeper."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not depth or "#" not in text:
        return text
    headings = (_HASHES.match(text, heading.start - 1) for heading in parse_note("", f"\n{text}").headings)
    return edited(text, (TextEdit(*each.span(1), "#" * min(6, len(each[1]) + depth)) for each in headings if each))


def _contained(text: str) -> str:
    """Markdown that ends what it begins: a fence or comment of one card must not take in the next ones."""
    if text.startswith("---"):
        text = f"\n{text}"  # no frontmatter
    if not re.search(r"```|~~~|%%|<|\$\$", text):
        return text
    fences = [match[0] for match in _FENCE.finditer(text)]
    longest = [max((fence for fence in fences if fence[0] == sign), key=len, default="") for sign in "`~"]
    for closing in ("", *(f"\n{fence}" for fence in longest if fence), "\n%%", "\n-->", "\n$$"):
        probe = f"\n{text}{closing}\n\n"
        headings = parse_note("", f"{probe}# x\n").headings
        if headings and headings[-1].start == len(probe):  # a heading below the text is one
            return text + closing
    return "\n".join(f"    {line}" for line in text.split("\n"))


MAX_CARDS: Final = 5_000
MAX_GROUPS: Final = 200
MAX_CONNECTIONS: Final = 5_000
"""Of one drawing; what is beyond them is left out."""
_FARTHEST: Final = 1e9
"""Coordinates beyond this count as this."""
_NODE, _EDGE, _ELEMENT = "node", "edge", "element"
_NEEDED: Final = {"text": "text", "file": "file", "link": "url", "group": ""}
"""By type of a node, what it needs to have."""
_LINES: Final = frozenset({"arrow", "line"})
_ADDRESS: Final = re.compile(r"\w{2,20}://[^\s<>]+")

Json = Mapping[str, object]


def read_drawing(path: str, text: str) -> Document:
    """A canvas or an Excalidraw drawing. Raises `UnreadableDocument`."""
    parse = _parse_canvas if path.lower().endswith(".canvas") else _parse_excalidraw
    try:
        return _Writer(path, parse(_load(text))).document()
    except RecursionError as error:
        raise UnreadableDocument("is nested too deeply") from error


def _load(text: str) -> Json:
    """The object that a file holds; an empty one for an empty file."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    try:
        content = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UnreadableDocument("is not JSON") from error
    if not isinstance(content, dict):
        raise UnreadableDocument("has no JSON object")
    return content


def _parse_canvas(content: Json) -> Drawing:
    malformed: Counter[str] = Counter()
    cards: list[Card] = []
    groups: list[Group] = []
    ids: set[str] = set()
    for node in _objects(content, "nodes", _NODE, malformed):
        id_, box, kind = _text_at(node, "id"), _box_at(node), _text_at(node, "type")
        needed = _NEEDED.get(kind)
        is_known = needed is not None and (not needed or isinstance(node.get(needed), str))
        if not id_ or id_ in ids or box is None or not is_known:
            malformed[_NODE] += 1
        ids.add(id_)
        if kind == "group":
            groups.append(Group(id_, box or Box(), _text_at(node, "label"), _text_at(node, "background")))
        elif card := _card_of_node(node, id_, box or Box()):
            cards.append(card)
    connections: list[Connection] = []
    for edge in _objects(content, "edges", _EDGE, malformed):
        source, target = _text_at(edge, "fromNode"), _text_at(edge, "toNode")
        if source in ids and target in ids:
            arrows = _text_at(edge, "fromEnd") == "arrow", _text_at(edge, "toEnd") != "none"
            connections.append(Connection(source, target, _text_at(edge, "label"), *arrows))
        else:
            malformed[_EDGE] += 1
    return _bounded((_NODE, "group", _EDGE), cards, groups, connections, malformed)


def _card_of_node(node: Json, id_: str, box: Box) -> Card | None:
    text, file, address = _text_at(node, "text"), _text_at(node, "file"), _text_at(node, "url")
    match _text_at(node, "type"):
        case "text":
            return Card(id_, box, text=text)
        case "file" if file:
            return Card(id_, box, file=file.lstrip("/"), place=_text_at(node, "subpath").lstrip("#"))
        case "link" if address:
            return Card(id_, box, address=address)
        case _:
            return Card(id_, box, text=text) if text else None


def _parse_excalidraw(content: Json) -> Drawing:
    """Texts, frames, links and labelled arrows."""
    if content and "elements" not in content:
        raise UnreadableDocument("is not an Excalidraw drawing")
    malformed: Counter[str] = Counter()
    elements = [
        each for each in _objects(content, "elements", _ELEMENT, malformed) if each.get("isDeleted") is not True
    ]
    malformed[_ELEMENT] += sum(not _text_at(each, "id") or _box_at(each) is None for each in elements)
    texts = {_text_at(each, "containerId"): each for each in elements if _text_at(each, "type") == "text"}
    texts.pop("", None)
    arrows = [each for each in elements if _text_at(each, "type") in _LINES and all(_bound(each))]
    labelled = {_text_at(each, "id") for each in arrows}
    links = {_text_at(each, "id"): _text_at(each, "link") for each in elements}
    cards = [
        card
        for each in elements
        if _text_at(each, "containerId") not in labelled and (card := _card_of_element(each, texts, links))
    ]
    groups = [
        Group(_text_at(each, "id"), _box_at(each) or Box(), _text_at(each, "name"))
        for each in elements
        if _text_at(each, "type") in {"frame", "magicframe"}
    ]
    connections = [_connection(each, texts) for each in arrows]
    return _bounded((_ELEMENT, "frame", "arrow"), cards, groups, connections, malformed)


def _bound(arrow: Json) -> list[str]:
    """The ids of what an arrow is bound to at its two ends; empty where it is free."""
    ends = (arrow.get(key) for key in ("startBinding", "endBinding"))
    return [_text_at(end, "elementId") if isinstance(end, dict) else "" for end in ends]


def _connection(arrow: Json, texts: Mapping[str, Json]) -> Connection:
    """A shape is meant by the text inside it."""
    source, target = (_text_at(texts[id_], "id") if id_ in texts else id_ for id_ in _bound(arrow))
    label = _typed(texts[_text_at(arrow, "id")]) if _text_at(arrow, "id") in texts else ""
    heads = bool(_text_at(arrow, "startArrowhead")), bool(_text_at(arrow, "endArrowhead"))
    return Connection(source, target, label, *heads)


def _card_of_element(element: Json, texts: Mapping[str, Json], links: Mapping[str, str]) -> Card | None:
    """A text with the link of itself or its shape, or a shape that only has a link."""
    id_, is_text = _text_at(element, "id"), _text_at(element, "type") == "text"
    if not is_text and id_ in texts:
        return None
    text = _typed(element) if is_text else ""
    link = _text_at(element, "link") or links.get(_text_at(element, "containerId"), "")
    if link and link not in text:
        written = f"[{link}](<{link}>)" if _ADDRESS.fullmatch(link) else link  # else it is a wikilink
        text = f"{text}\n\n{written}".strip()
    return Card(id_, _box_at(element) or Box(), text=text, group=_text_at(element, "frameId") or None) if text else None


def _typed(element: Json) -> str:
    """As it was typed: `text` has the line breaks of the screen in it."""
    return _text_at(element, "rawText") or _text_at(element, "originalText") or _text_at(element, "text")


def _bounded(
    kinds: tuple[str, str, str],
    cards: list[Card],
    groups: list[Group],
    connections: list[Connection],
    malformed: Counter[str],
) -> Drawing:
    """The drawing with what of it could not be used; the kinds are what the file calls its parts."""
    odd = [counted(number, f"malformed {kind}") for kind, number in malformed.items() if number]
    counts, bounds = (len(cards), len(groups), len(connections)), (MAX_CARDS, MAX_GROUPS, MAX_CONNECTIONS)
    parts = zip(kinds, counts, bounds, strict=True)
    beyond = [f"more than {most:,} {kind}s" for kind, count, most in parts if count > most]
    problems = [f"It contains {' and '.join(odd)}; zkchat uses what it can."] if odd else []
    problems += [f"It contains {' and '.join(beyond)}; the others are left out."] if beyond else []
    return Drawing(cards[:MAX_CARDS], groups[:MAX_GROUPS], connections[:MAX_CONNECTIONS], " ".join(problems))


def _objects(content: Json, key: str, kind: str, malformed: Counter[str]) -> Iterator[Json]:
    value = content.get(key)
    if value is not None and not isinstance(value, list):
        malformed[f"list of {kind}s"] += 1
        return
    for each in value or ():
        if isinstance(each, dict):
            yield each
        else:
            malformed[kind] += 1


def _text_at(value: Json, key: str) -> str:
    """The text at this key; empty where there is another value or none."""
    found = value.get(key)
    return found.encode(errors="replace").decode() if isinstance(found, str) else ""


def _box_at(value: Json) -> Box | None:
    """The place of a node or element, within bounds; None where its numbers are not as they should be."""
    numbers = [value.get(key) for key in ("x", "y", "width", "height")]
    known = [each for each in numbers if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(known) < len(numbers) or any(isinstance(each, float) and not isfinite(each) for each in known):
        return None
    return Box(*(float(max(-_FARTHEST, min(_FARTHEST, each))) for each in known))
