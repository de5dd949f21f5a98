"""The record of a request as lines: what was sent and why, grouped, with a badge per item."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from zkchat.model.choices import IncludeMode, ItemType, LeftOutReason
from zkchat.model.request_context import LeftOut, RequestContext, RequestItem
from zkchat.model.text import counted
from zkchat.render.context_bar import context_line
from zkchat.render.sanitize import sanitize_line

_TYPES: Final[Mapping[ItemType, tuple[str, str]]] = {
    "system": ("Instructions", "instructions"),
    "rule": ("Rules", "rule"),
    "memory": ("Memory", "memory"),
    "summary": ("Summary", "summary"),
    "recall": ("Recalled", "recalled message"),
    "outcome": ("Proposed changes", "proposed change"),
    "reference": ("Notes", "note"),
    "evidence": ("Evidence", "evidence"),
    "image": ("Images", "image"),
    "tool": ("Tools", "tool"),
    "message": ("Messages", "message"),
}
"""What things of each type are called in a heading, and what one of them is, in the order in which they are shown."""

_MODES: Final[Mapping[IncludeMode, str]] = {
    "always": "in every request",
    "manual": "linked or added by you",
    "agent": "found for your message; 1.00 fits best",
}

_WHY_LEFT_OUT: Final[Mapping[LeftOutReason, str]] = {
    "budget": "no room",
    "score": "does not fit your message",
    "removed": "dropped by you",
    "private": "stays on this machine",
    "missing": "cannot be read",
    "unapproved": "not approved: zkchat trust",
    "abstained": "your notes did not answer it",
    "unanswered": "got no answer",
}
"""The others are told with their item."""


def context_lines(context: RequestContext) -> Iterator[str]:
    """A line per group, one for what was left out, and one with the totals."""
    attached = sum(item.tokens for item in context.items if item.part_of)
    for type_, items in groupby(_in_order(context.items), lambda item: item.type):
        yield _group(type_, list(items), attached)
    if context.left_out:
        yield f"Left out ({len(context.left_out)}): {' · '.join(_left_out(context.left_out))}"
    yield f"Agent {sanitize_line(context.agent)}. {_modes(context)}".rstrip() if context.items else "Nothing was sent."


def _in_order(items: Iterable[RequestItem]) -> list[RequestItem]:
    order = list(_TYPES)
    return sorted(items, key=lambda item: order.index(item.type))


def counts_line(context: RequestContext) -> str:
    """How many things of each type and of each mode: `rules 2, notes 1, messages 4. 2 always (…), 1 manual (…).`"""
    counts = context.counts.by_type
    types = ", ".join(f"{title.lower()} {counts[type_]:,}" for type_, (title, _) in _TYPES.items() if type_ in counts)
    return f"{types}. {_modes(context)}".rstrip()


def _modes(context: RequestContext) -> str:
    """How many things have the badge of each mode, and what it means."""
    counts = context.counts.by_mode
    modes = [f"{counts[mode]:,} {mode} ({meaning})" for mode, meaning in _MODES.items() if mode in counts]
    return f"{', '.join(modes)}." if modes else ""


def _left_out(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """Each thing by its name, and how many messages: their names are ids."""
    yield from (f"{_name(left.item)} ({_why(left)})" for left in left_out if left.item.type != "message")
    messages = Counter(_why(left) for left in left_out if left.item.type == "message")
    yield from (f"{counted(count, 'message')} ({why})" for why, count in messages.items())


def detailed_lines(context: RequestContext) -> Iterator[str]:
    """A line per item with its mode, its tokens and the reason why it is sent, and one for each that was left out."""
    if context.usage:
        yield context_line(context.usage)
    for item in _in_order(context.items):
        if item.type != "message":
            yield f"+ {_titled(item)} {_badge(item)}, {item.tokens:,} tokens{_because(item.reason)}"
    messages = [item for item in context.items if item.type == "message"]
    if messages:
        attached = sum(item.tokens for item in context.items if item.part_of)
        yield f"+ {counted(len(messages), 'message')}, {sum(item.tokens for item in messages) - attached:,} tokens"
    for left in context.left_out:
        yield _left_out_line(left)


def _why(left: LeftOut) -> str:
    return _WHY_LEFT_OUT.get(left.why) or sanitize_line(left.item.reason)


def _left_out_line(left: LeftOut) -> str:
    tokens = f", {left.item.tokens:,} tokens" if left.item.tokens else ""
    return f"- {_titled(left.item)}, left out ({left.why}){tokens}{_because(left.item.reason)}"


def _titled(item: RequestItem) -> str:
    return "a message" if item.type == "message" else f"{_TYPES[item.type][1]} {_name(item)}"


def _because(reason: str) -> str:
    return f": {sanitize_line(reason)}" if reason else ""


def _group(type_: ItemType, items: list[RequestItem], attached: int) -> str:
    """`attached` are the tokens of items attached to messages, which are counted in their own groups."""
    title, tokens = f"{_TYPES[type_][0]} ({len(items)})", sum(item.tokens for item in items)
    if type_ == "message":  # their names are ids, which mean nothing to a reader
        return f"{title}: {tokens - attached:,} tokens"
    labels = [(label, len(list(alike))) for label, alike in groupby(f"{_name(item)} {_badge(item)}" for item in items)]
    named = " · ".join(f"{label} × {count}" if count > 1 else label for label, count in labels)
    return f"{title}, {tokens:,} tokens: {named}"


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
