"""Canvases (JSON Canvas 1.0, `.canvas`) as drawings."""

from zkchat.vault.documents.document import Document
from zkchat.vault.documents.drawing import (
    MAX_CARDS,
    MAX_CONNECTIONS,
    MAX_GROUPS,
    Box,
    Card,
    Connection,
    Drawing,
    Group,
)
from zkchat.vault.documents.drawing_text import document_of_drawing
from zkchat.vault.documents.json_drawing import Json, Malformed, box_at, load, objects, text_at

_NODE, _EDGE = "node", "edge"
_TYPES = frozenset({"text", "file", "link", "group"})


def read_canvas(path: str, text: str) -> Document:
    """Raises `UnreadableDocument`."""
    return document_of_drawing(path, parse_canvas(text))


def parse_canvas(text: str) -> Drawing:
    """What a canvas shows. Raises `UnreadableDocument` for what is no JSON object."""
    content, malformed = load(text), Malformed()
    cards: list[Card] = []
    groups: list[Group] = []
    ids: set[str] = set()
    for node in objects(content, "nodes", _NODE, malformed):
        id_, box = text_at(node, "id"), box_at(node)
        if not id_ or id_ in ids or box is None or not _is_known(node):
            malformed.add(_NODE)
        ids.add(id_)
        if text_at(node, "type") == "group":
            groups.append(Group(id_, box or Box(), text_at(node, "label"), text_at(node, "background")))
        elif card := _card(node, id_, box or Box()):
            cards.append(card)
    connections: list[Connection] = []
    for edge in objects(content, "edges", _EDGE, malformed):
        source, target = text_at(edge, "fromNode"), text_at(edge, "toNode")
        if source in ids and target in ids:
            arrows = text_at(edge, "fromEnd") == "arrow", text_at(edge, "toEnd") != "none"
            connections.append(Connection(source, target, text_at(edge, "label"), *arrows))
        else:
            malformed.add(_EDGE)
    for kind, found, most in (
        (_NODE, cards, MAX_CARDS), ("group", groups, MAX_GROUPS), (_EDGE, connections, MAX_CONNECTIONS),
    ):  # fmt: skip
        if len(found) > most:
            malformed.beyond(kind, most)
    return Drawing(
        cards=cards[:MAX_CARDS],
        groups=groups[:MAX_GROUPS],
        connections=connections[:MAX_CONNECTIONS],
        problems=malformed.sentences(),
    )


def _is_known(node: Json) -> bool:
    """Whether a node is of a type that there is, and has what that type needs."""
    needed = {"text": "text", "file": "file", "link": "url"}.get(text_at(node, "type"), "")
    return text_at(node, "type") in _TYPES and (not needed or isinstance(node.get(needed), str))


def _card(node: Json, id_: str, box: Box) -> Card | None:
    text, file, address = text_at(node, "text"), text_at(node, "file"), text_at(node, "url")
    match text_at(node, "type"):
        case "text":
            return Card(id_, box, text=text)
        case "file" if file:
            return Card(id_, box, file=file.lstrip("/"), place=text_at(node, "subpath").lstrip("#"))
        case "link" if address:
            return Card(id_, box, address=address)
        case _:
            return Card(id_, box, text=text) if text else None
