"""The record of a request as lines: what was sent and why, grouped, with a badge per item."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Final, get_args

from zkchat.model.choices import IncludeMode, ItemType
from zkchat.model.message import RequestContext, RequestItem
from zkchat.render.sanitize import sanitize_line

_GROUPS: Final[dict[ItemType, str]] = {
    "system": "Instructions",
    "rule": "Rules",
    "memory": "Memory",
    "summary": "Summary",
    "recall": "Recalled",
    "reference": "Notes",
    "evidence": "Evidence",
    "tool": "Tools",
    "message": "Messages",
}


def context_lines(context: RequestContext) -> Iterator[str]:
    """A line per group, one for what was left out, and one with the totals."""
    order = list(_GROUPS)
    attached = sum(item.tokens for item in context.items if item.part_of)
    for type_, items in groupby(sorted(context.items, key=lambda item: order.index(item.type)), lambda item: item.type):
        yield _group(type_, list(items), attached)
    if context.left_out:
        left = " · ".join(f"{_name(left.item)} ({left.why})" for left in context.left_out)
        yield f"Left out ({len(context.left_out)}): {left}"
    yield _summary(context)


def _group(type_: ItemType, items: list[RequestItem], attached: int) -> str:
    """`attached` are the tokens of items attached to messages, which are counted in their own groups."""
    title, tokens = f"{_GROUPS[type_]} ({len(items)})", sum(item.tokens for item in items)
    if type_ == "message":  # their names are ids, which mean nothing to a reader
        return f"{title}: {tokens - attached:,} tokens"
    return f"{title}, {tokens:,} tokens: " + " · ".join(f"{_name(item)} {_badge(item)}" for item in items)


def _name(item: RequestItem) -> str:
    return sanitize_line(f"{item.server}/{item.name}" if item.server else item.name)


def _badge(item: RequestItem) -> str:
    return f"[{item.include}]" if item.score is None else f"[{item.include} {item.score:.2f}]"


def _summary(context: RequestContext) -> str:
    items = [item for item in context.items if item.type != "message"]
    if not items:
        return "Nothing but messages was sent."
    modes = Counter(item.include for item in items)
    counts = ", ".join(f"{modes[mode]} {mode}" for mode in get_args(IncludeMode) if modes[mode])
    return f"Agent {sanitize_line(context.agent)}. {len(items)} items beside messages: {counts}."
