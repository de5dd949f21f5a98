"""Excalidraw drawings (`.excalidraw`, JSON): their texts, frames, links and labelled arrows."""

from collections.abc import Mapping

from zkchat.model.patterns import lazy_pattern
from zkchat.vault.documents.document import Document, UnreadableDocument
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

_ELEMENT = "element"
_FRAMES = frozenset({"frame", "magicframe"})
_LINES = frozenset({"arrow", "line"})
_ADDRESS = lazy_pattern(r"\w{2,20}://[^\s<>]+")


def read_excalidraw(path: str, text: str) -> Document:
    """Raises `UnreadableDocument`."""
    return document_of_drawing(path, parse_excalidraw(text))


def parse_excalidraw(text: str) -> Drawing:
    """What a drawing shows. Raises `UnreadableDocument` for what is none."""
    content, malformed = load(text), Malformed()
    if content and "elements" not in content:
        raise UnreadableDocument("is no Excalidraw drawing")
    elements = [each for each in objects(content, "elements", _ELEMENT, malformed) if each.get("isDeleted") is not True]
    for each in elements:
        if not text_at(each, "id") or box_at(each) is None:
            malformed.add(_ELEMENT)
    texts = {text_at(each, "containerId"): each for each in elements if text_at(each, "type") == "text"}
    texts.pop("", None)
    arrows = [each for each in elements if text_at(each, "type") in _LINES and all(_bound(each))]
    labelled = {text_at(each, "id") for each in arrows}
    links = {text_at(each, "id"): text_at(each, "link") for each in elements}
    cards = [
        card
        for each in elements
        if text_at(each, "containerId") not in labelled and (card := _card(each, texts, links))
    ]
    groups = [
        Group(text_at(each, "id"), box_at(each) or Box(), text_at(each, "name"))
        for each in elements
        if text_at(each, "type") in _FRAMES
    ]
    for kind, found, most in (("element", cards, MAX_CARDS), ("frame", groups, MAX_GROUPS)):
        if len(found) > most:
            malformed.beyond(kind, most)
    return Drawing(
        cards=cards[:MAX_CARDS],
        groups=groups[:MAX_GROUPS],
        connections=[_connection(each, texts) for each in arrows[:MAX_CONNECTIONS]],
        problems=malformed.sentences(),
    )


def _bound(arrow: Json) -> tuple[str, str]:
    """The ids of what an arrow is bound to at its two ends; empty where it is free."""
    start, end = (arrow.get(key) for key in ("startBinding", "endBinding"))
    return _end(start), _end(end)


def _end(binding: object) -> str:
    return text_at(binding, "elementId") if isinstance(binding, dict) else ""


def _connection(arrow: Json, texts: Mapping[str, Json]) -> Connection:
    """A shape is meant by the text inside it."""
    source, target = (text_at(texts[id_], "id") if id_ in texts else id_ for id_ in _bound(arrow))
    label = _text(texts[text_at(arrow, "id")]) if text_at(arrow, "id") in texts else ""
    heads = bool(text_at(arrow, "startArrowhead")), bool(text_at(arrow, "endArrowhead"))
    return Connection(source, target, label, *heads)


def _card(element: Json, texts: Mapping[str, Json], links: Mapping[str, str]) -> Card | None:
    """A text with the link of itself or its shape, or a shape that only has a link."""
    id_, kind, link = text_at(element, "id"), text_at(element, "type"), text_at(element, "link")
    text = _text(element) if kind == "text" else ""
    if kind != "text" and id_ in texts:
        return None
    link = link or links.get(text_at(element, "containerId"), "")
    if link and link not in text:
        text = f"{text}\n\n{_as_markdown(link)}".strip()
    return Card(id_, box_at(element) or Box(), text=text, group=text_at(element, "frameId") or None) if text else None


def _as_markdown(link: str) -> str:
    """A link of an element, which is a wikilink or an address."""
    return f"[{link}](<{link}>)" if _ADDRESS.fullmatch(link) else link


def _text(element: Json) -> str:
    """As it was typed: `text` has the line breaks of the screen in it."""
    return text_at(element, "rawText") or text_at(element, "originalText") or text_at(element, "text")
