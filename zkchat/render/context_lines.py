"""The record of a request as lines: what was sent and why, grouped, with a badge per item."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, get_args

from zkchat.model.choices import IncludeMode, ItemType
from zkchat.model.request_context import LeftOut, RequestContext, RequestItem
from zkchat.model.text import counted
from zkchat.render.context_bar import context_line
from zkchat.render.sanitize import sanitize_line

_GROUPS: Final[dict[ItemType, str]] = {
    "system": "Instructions",
    "rule": "Rules",
    "memory": "Memory",
    "summary": "Summary",
    "recall": "Recalled",
    "outcome": "Proposed changes",
    "reference": "Notes",
    "evidence": "Evidence",
    "image": "Images",
    "tool": "Tools",
    "message": "Messages",
}

_KINDS: Final[Mapping[ItemType, str]] = {
    "system": "instructions",
    "rule": "rule",
    "memory": "memory",
    "summary": "summary",
    "recall": "recalled message",
    "outcome": "proposed change",
    "reference": "note",
    "evidence": "evidence",
    "image": "image",
    "tool": "tool",
}


def context_lines(context: RequestContext) -> Iterator[str]:
    """A line per group, one for what was left out, and one with the totals."""
    order = list(_GROUPS)
    attached = sum(item.tokens for item in context.items if item.part_of)
    for type_, items in groupby(sorted(context.items, key=lambda item: order.index(item.type)), lambda item: item.type):
        yield _group(type_, list(items), attached)
    if context.left_out:
        yield f"Left out ({len(context.left_out)}): {' · '.join(_left_out(context.left_out))}"
    yield f"Agent {sanitize_line(context.agent)}. {counts_line(context)}" if context.items else "Nothing was sent."


def counts_line(context: RequestContext) -> str:
    """`By type: rules 2, notes 1, messages 4. By mode: always 2, manual 1.`"""
    counts = context.counts
    types = [
        f"{title.lower()} {counts.by_type[type_]:,}" for type_, title in _GROUPS.items() if type_ in counts.by_type
    ]
    modes = [f"{mode} {counts.by_mode[mode]:,}" for mode in get_args(IncludeMode) if mode in counts.by_mode]
    return f"By type: {', '.join(types)}." + (f" By mode: {', '.join(modes)}." if modes else "")


def _left_out(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """Each thing by its name, and how many messages: their names are ids."""
    yield from (f"{_name(left.item)} ({_why(left)})" for left in left_out if left.item.type != "message")
    messages = Counter(_why(left) for left in left_out if left.item.type == "message")
    yield from (f"{counted(count, 'message')} ({why})" for why, count in messages.items())


def detailed_lines(context: RequestContext) -> Iterator[str]:
    """A line per item with its mode, its tokens and the reason why it is sent, and one for each that was left out."""
    order = list(_GROUPS)
    if context.usage:
        yield context_line(context.usage)
    for item in sorted(context.items, key=lambda item: order.index(item.type)):
        if item.type != "message":
            yield f"+ {_titled(item)} {_badge(item)}, {item.tokens:,} tokens{_because(item.reason)}"
    messages = [item for item in context.items if item.type == "message"]
    if messages:
        attached = sum(item.tokens for item in context.items if item.part_of)
        yield f"+ {counted(len(messages), 'message')}, {sum(item.tokens for item in messages) - attached:,} tokens"
    for left in context.left_out:
        yield _left_out_line(left)


def _why(left: LeftOut) -> str:
    return sanitize_line(left.item.reason) if left.why == "off" else left.why


def _left_out_line(left: LeftOut) -> str:
    tokens = f", {left.item.tokens:,} tokens" if left.item.tokens else ""
    return f"- {_titled(left.item)}, left out ({left.why}){tokens}{_because(left.item.reason)}"


def _titled(item: RequestItem) -> str:
    return "a message" if item.type == "message" else f"{_KINDS[item.type]} {_name(item)}"


def _because(reason: str) -> str:
    return f": {sanitize_line(reason)}" if reason else ""


def _group(type_: ItemType, items: list[RequestItem], attached: int) -> str:
    """`attached` are the tokens of items attached to messages, which are counted in their own groups."""
    title, tokens = f"{_GROUPS[type_]} ({len(items)})", sum(item.tokens for item in items)
    if type_ == "message":  # their names are ids, which mean nothing to a reader
        return f"{title}: {tokens - attached:,} tokens"
    return f"{title}, {tokens:,} tokens: " + " · ".join(f"{_name(item)} {_badge(item)}" for item in items)


def _name(item: RequestItem) -> str:
    if item.title:
        return f"“{sanitize_line(item.title)}”"
    if item.type == "summary":  # its name is the id of a marker
        return sanitize_line(item.reason)
    if not item.server:
        return sanitize_line(item.name)
    name = item.name.removeprefix(f"{item.server}__") if item.type == "tool" else item.name
    return sanitize_line(f"{item.server}/{name}")


def _badge(item: RequestItem) -> str:
    return f"[{item.include}]" if item.score is None else f"[{item.include} {item.score:.2f}]"
