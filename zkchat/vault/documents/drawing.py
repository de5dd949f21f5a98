"""What a canvas or an Excalidraw drawing shows: cards, groups, and connections between them, wherever they stand."""

from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct

MAX_CARDS: Final = 5_000
MAX_GROUPS: Final = 200
MAX_CONNECTIONS: Final = 5_000
"""Of one drawing; what is beyond them is left out."""
_FARTHEST: Final = 1e9
"""Coordinates beyond this count as this."""

Item = TypeVar("Item")


class Box(NamedTuple):
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    @property
    def area(self) -> float:
        return self.width * self.height

    def holds_middle_of(self, other: "Box") -> bool:
        x, y = other.x + other.width / 2, other.y + other.height / 2
        return self.x <= x <= self.x + self.width and self.y <= y <= self.y + self.height


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


class Connection(NamedTuple):
    source: str
    target: str
    label: str = ""
    begins_with_arrow: bool = False
    ends_with_arrow: bool = True


class Drawing(Struct, frozen=True, kw_only=True):
    cards: Sequence[Card] = ()
    groups: Sequence[Group] = ()
    connections: Sequence[Connection] = ()
    problems: Sequence[str] = ()
    """What of the file could not be used, each as a sentence."""


def number_of(value: object) -> float | None:
    """A coordinate within bounds; None for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not isfinite(value):
        return None
    return float(max(-_FARTHEST, min(_FARTHEST, value)))


def in_reading_order(items: Iterable[Item], box_of: Callable[[Item], Box]) -> list[Item]:
    """Row by row from the top, each from left to right. What begins above the middle of a row's first is in the row."""
    rows: list[tuple[float, list[Item]]] = []
    for item in sorted(items, key=lambda item: (box_of(item).y, box_of(item).x)):
        box = box_of(item)
        if not rows or box.y > rows[-1][0]:
            rows.append((box.y + box.height / 2, []))
        rows[-1][1].append(item)
    return [item for _, row in rows for item in sorted(row, key=lambda item: box_of(item).x)]


def parents_of(drawing: Drawing) -> tuple[dict[int, int], dict[int, int]]:
    """By its number, the group that each card lies in, and likewise each group: the smallest around its middle."""
    by_size = sorted(range(len(drawing.groups)), key=lambda number: (drawing.groups[number].box.area, -number))
    named = {group.id: number for number, group in reversed([*enumerate(drawing.groups)])}
    cards: dict[int, int] = {}
    for number, card in enumerate(drawing.cards):
        said = named.get(card.group) if card.group is not None else None
        around = said if said is not None else _around(drawing, card.box, by_size)
        if around is not None:
            cards[number] = around
    groups: dict[int, int] = {}
    for place, number in enumerate(by_size):
        larger = _around(drawing, drawing.groups[number].box, by_size[place + 1 :])
        if larger is not None:
            groups[number] = larger
    return cards, groups


def _around(drawing: Drawing, box: Box, groups: Sequence[int]) -> int | None:
    return next((number for number in groups if drawing.groups[number].box.holds_middle_of(box)), None)
