"""Canvases (JSON Canvas 1.0, `.canvas`) and Excalidraw drawings (`.excalidraw`) as documents.

Their JSON is untrusted input: what is not as it should be is counted, and said in one sentence.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Final

from zkchat.model.text import counted
from zkchat.vault.documents.document import Document, UnreadableDocument
from zkchat.vault.documents.drawing_text import Box, Card, Connection, Drawing, Group, document_of_drawing

MAX_CARDS: Final = 5_000
MAX_GROUPS: Final = 200
MAX_CONNECTIONS: Final = 5_000
"""Of one drawing; what is beyond them is left out."""
_FARTHEST: Final = 1e9
"""Coordinates beyond this count as this."""
_NODE, _EDGE, _ELEMENT = "node", "edge", "element"
_NEEDED: Final = {"text": "text", "file": "file", "link": "url", "group": ""}
"""By type of a node, what it needs to have."""
_FRAMES: Final = frozenset({"frame", "magicframe"})
_LINES: Final = frozenset({"arrow", "line"})
_ADDRESS: Final = re.compile(r"\w{2,20}://[^\s<>]+")

Json = Mapping[str, object]


def read_drawing(path: str, text: str) -> Document:
    """A canvas or an Excalidraw drawing. Raises `UnreadableDocument`."""
    parse = _parse_canvas if path.lower().endswith(".canvas") else _parse_excalidraw
    try:
        return document_of_drawing(path, parse(_load(text)))
    except RecursionError as error:
        raise UnreadableDocument("is nested too deeply") from error


def _load(text: str) -> Json:
    """The object that a file holds; an empty one for an empty file."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    try:
        content = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UnreadableDocument("is no JSON") from error
    if not isinstance(content, dict):
        raise UnreadableDocument("holds no JSON object")
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
        raise UnreadableDocument("is no Excalidraw drawing")
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
        if _text_at(each, "type") in _FRAMES
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
    problems = [f"It holds {' and '.join(odd)}, used as far as possible."] if odd else []
    problems += [f"It holds {' and '.join(beyond)}; the others are left out."] if beyond else []
    return Drawing(
        cards=cards[:MAX_CARDS],
        groups=groups[:MAX_GROUPS],
        connections=connections[:MAX_CONNECTIONS],
        problems=problems,
    )


def _objects(content: Json, key: str, kind: str, malformed: Counter[str]) -> Iterator[Json]:
    """The objects of a list; nothing where there is none."""
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
    """The place of a node or element; None where its numbers are not as they should be."""
    numbers = [_coordinate(value.get(key)) for key in ("x", "y", "width", "height")]
    known = [number for number in numbers if number is not None]
    return Box(*known) if len(known) == len(numbers) else None


def _coordinate(value: object) -> float | None:
    """A number within bounds; None for what is no number."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (isinstance(value, float) and not isfinite(value))
    ):
        return None
    return float(max(-_FARTHEST, min(_FARTHEST, value)))
