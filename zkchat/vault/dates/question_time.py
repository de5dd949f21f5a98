"""The time of a question, and what its words tell beside it."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, Literal

from msgspec import Struct

from zkchat.model.dates import DayRange
from zkchat.model.patterns import lazy_pattern

QUOTED: Final = lazy_pattern(
    r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|《[^》]*》|〈[^〉]*〉|`[^`]*`"
)
Order = Literal["newest", "oldest"]


class TimeInQuestion(Struct, frozen=True, kw_only=True):
    period: DayRange | None
    """The days that are asked for; None where only an order is."""
    words: str
    """What says so in the question."""
    rest: str
    """The question without these words."""
    topic: str
    """The rest without what people do with notes at any time: empty where a time is all that is asked for."""
    order: Order | None = None
    """Whether the newest or the oldest note is asked for."""
    asks_when: bool = False
    is_about_changes: bool = False
    is_certain: bool = True
    """Whether it asks for the user's own notes; if not, it may ask what happened in the world."""


class MissingDay(Struct, frozen=True):
    """A day that a question asks for and that does not exist."""

    words: str
    topic: str
    """What else is asked; empty where the day is all."""


class PlacedPeriod(Struct, frozen=True):
    """A period and where it stands in a text, with the preposition before it."""

    period: DayRange
    start: int
    end: int


class Words(Struct, frozen=True):
    """What the words of a question tell beside its time."""

    past: bool
    present: bool
    modal: bool
    personal: bool
    event: bool
    """Whether it speaks of notes or meetings, or of what happened."""
    changes: bool
    usually: bool
    when: bool

    @property
    def own(self) -> bool:
        """Whether it asks for the user's own notes."""
        return self.personal or self.event or self.changes

    @property
    def oriented(self) -> bool:
        """Whether it asks for what was, or for notes."""
        return self.past or self.event or self.changes


@cache
def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


def pieces(word: str) -> Iterator[str]:
    """The parts of a word between apostrophes and hyphens."""
    return (piece for piece in re.split(r"[^\w]+", word) if piece)


def overlaps(place: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in spans)


def without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    position, pieces = 0, []
    for start, end in spans:
        pieces.append(text[position:start])
        position = max(position, end)
    return " ".join(" ".join([*pieces, text[position:]]).split())


def hull(periods: Sequence[DayRange]) -> DayRange | None:
    """All days of periods that overlap or follow each other; None where there are gaps between them, or no periods."""
    if not periods:
        return None
    ordered = sorted(periods, key=lambda each: (each.first is not None, each.first))
    whole = ordered[0]
    for each in ordered[1:]:
        if whole.end is None or each.first is None or each.first <= whole.end:
            ends = [whole.end, each.end]
            whole = DayRange(whole.first, None if None in ends else max(end for end in ends if end))
        else:
            return None
    return whole
