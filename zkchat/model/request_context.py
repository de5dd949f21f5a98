"""The record of what a request held, item by item, and of what was left out."""

from collections import Counter

from msgspec import field

from zkchat.model.choices import DEFAULT_AGENT, IncludeMode, ItemType, LeftOutReason
from zkchat.model.usage import ContextUsage
from zkchat.model.values import Value


class RequestItem(Value, frozen=True, kw_only=True):
    """One thing that went into a request, by name; the request is built from these."""

    type: ItemType
    name: str
    title: str = ""
    """What people read in the place of its name, where that is an id: the text of a fact, for instance."""
    server: str = ""
    include: IncludeMode = "always"
    score: float | None = None
    tokens: int = 0
    digest: str = ""
    """Of the content as it was sent: the session keeps that text under it, and a later change can be noticed."""
    reason: str = ""
    this_turn_only: bool = field(default=False, name="passing")
    """Sent with the current message only, and not again with the next."""
    part_of: str = ""
    """The id of the message that brings it along, where it is not sent by itself."""


class ItemCounts(Value, frozen=True, kw_only=True):
    """How many items a request held, by type and by mode."""

    by_type: dict[ItemType, int] = field(default_factory=dict)
    by_mode: dict[IncludeMode, int] = field(default_factory=dict)
    """Of all but messages, which are always there."""


class LeftOut(Value, frozen=True, kw_only=True):
    """Something that was considered and not sent."""

    item: RequestItem
    why: LeftOutReason


class RequestContext(Value, frozen=True, kw_only=True):
    """The record on an assistant message of everything its request held."""

    agent: str = DEFAULT_AGENT
    can_read: bool = False
    """Whether the model was told that it can read documents by itself."""
    items: tuple[RequestItem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    usage: ContextUsage | None = None

    @property
    def counts(self) -> ItemCounts:
        types = Counter(item.type for item in self.items)
        modes = Counter(item.include for item in self.items if item.type != "message")
        return ItemCounts(by_type=dict(types), by_mode=dict(modes))
