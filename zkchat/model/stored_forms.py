"""How messages and entries are stored as JSON, and how those of older and newer versions are read."""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, get_args

from zkchat.model.entries import Entry, EntryBody, MessageEntry, UnknownEntry
from zkchat.model.message import ChatMessage
from zkchat.model.parts import Part, UnknownPart
from zkchat.model.request_context import RequestContext, RequestItem
from zkchat.model.values import Unknown, defaults_of, from_json, from_plain, to_plain, without_defaults

ItemsReader = Callable[[str], tuple[RequestItem, ...]]
ItemsWriter = Callable[[Sequence[RequestItem]], str]
"""A store keeps each item once, and has a text for those of a request."""


def _kinds(union: Any) -> frozenset[str]:
    return frozenset(each.__struct_config__.tag for each in get_args(union) if not issubclass(each, Unknown))


_ANY_BODY: Final[Any] = EntryBody
_PART_KINDS: Final = _kinds(Part)
_ENTRY_KINDS: Final = _kinds(EntryBody)
OMITTED: Final = defaults_of(ChatMessage)
"""What a store leaves out of a message: most fields of most messages. A default must never change."""


def stored_body(body: EntryBody, write_items: ItemsWriter) -> Any:
    """An entry as a store keeps it."""
    if not isinstance(body, MessageEntry):
        return to_plain(body)
    given = {name: getattr(body.message, name) for name in ChatMessage.__struct_fields__}
    kept = {name: value for name, value in given.items() if name not in OMITTED or value != OMITTED[name]}
    if references := kept.get("references"):
        kept["references"] = [without_defaults(reference) for reference in references]
    if context := kept.get("request_context"):
        kept["request_context"] = _stored_context(context, write_items)
    return {"kind": body.kind, "message": to_plain(kept)}


def _stored_context(context: RequestContext, write_items: ItemsWriter) -> dict[str, Any]:
    """Without what is computed of the rest."""
    written = {name: getattr(context, name) for name in RequestContext.__struct_fields__}
    written["items"] = write_items(context.items)
    reasons = groupby(context.left_out, key=attrgetter("why"))
    written["left_out"] = [[why, write_items([left.item for left in group])] for why, group in reasons]
    if usage := context.usage:
        budgets = {name: {"used": each.used, "limit": each.limit} for name, each in usage.budgets.items()}
        kept = {name: value for name, value in to_plain(usage).items() if name not in usage.computed}
        written["usage"] = {**kept, "budgets": budgets}
    return written


def read_json_body(text: str, read_items: ItemsReader | None = None) -> EntryBody:
    """As `read_body`, of JSON as it is stored. Raises `ValueError`, and `InvalidValue` for JSON that is no entry."""
    return read_body(from_json(text), read_items)


def read_body(plain: Any, read_items: ItemsReader | None = None) -> EntryBody:
    """The entry that JSON describes, without the items of requests where nobody reads them. Raises `InvalidValue`."""
    body: EntryBody = from_plain(_ANY_BODY, _current_body(plain, read_items))
    return body


def read_entry(plain: dict[str, Any]) -> Entry:
    """Raises `InvalidValue`."""
    return from_plain(Entry, {**plain, "body": _current_body(plain.get("body"))})


def read_message(plain: Any) -> ChatMessage:
    """Raises `InvalidValue`."""
    return from_plain(ChatMessage, _current_message(plain))


def _kind(plain: Any) -> str | None:
    kind = plain.get("kind") if isinstance(plain, dict) else None
    return kind if isinstance(kind, str) else None


def _current_body(body: Any, read_items: ItemsReader | None = None) -> Any:
    """What is stored of an entry, in the form that is written today."""
    kind = _kind(body)
    if kind is not None and kind not in _ENTRY_KINDS:
        return UnknownEntry(fields={"kind": kind, **body})
    return {**body, "message": _current_message(body.get("message"), read_items)} if kind == "message" else body


def _current_message(message: Any, read_items: ItemsReader | None = None) -> Any:
    if not isinstance(message, dict):
        return message
    changed: dict[str, Any] = {}
    if isinstance(parts := message.get("parts"), list):
        changed["parts"] = [_current_part(part) for part in parts]
    if isinstance(context := message.get("request_context"), dict):
        changed["request_context"] = _current_context(context, read_items or _no_items)
    return {**message, **changed}


def _no_items(_: str) -> tuple[RequestItem, ...]:
    return ()


def _current_context(context: dict[str, Any], read_items: ItemsReader) -> dict[str, Any]:
    """With items in the place of the texts that name them; earlier versions stored the items themselves."""
    changed: dict[str, Any] = {}
    if isinstance(items := context.get("items"), str):
        changed["items"] = read_items(items)
    if isinstance(left_out := context.get("left_out"), list):
        changed["left_out"] = [left for stored in left_out for left in _current_left_out(stored, read_items)]
    return {**context, **changed}


def _current_left_out(stored: Any, read_items: ItemsReader) -> list[Any]:
    match stored:
        case [why, str(items)]:
            return [{"item": item, "why": why} for item in read_items(items)]
        case _:
            return [stored]


def _current_part(part: Any) -> Any:
    kind = _kind(part)
    if kind is not None and kind not in _PART_KINDS:
        return UnknownPart(fields={"kind": kind, **part})
    if kind == "evidence":
        found = {name: part[name] for name in ("evidence", "nearest") if isinstance(part.get(name), list)}
        return {**part, **{name: [_current_evidence(each) for each in listed] for name, listed in found.items()}}
    return part


def _current_evidence(evidence: Any) -> Any:
    """Its text was called `sentence` once."""
    is_old = isinstance(evidence, dict) and "text" not in evidence and "sentence" in evidence
    return {**evidence, "text": evidence["sentence"]} if is_old else evidence
