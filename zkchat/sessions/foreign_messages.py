"""Messages of other programs: envelopes, roles, contents, and pairs of tool calls and results."""

import json
import re
from base64 import b32encode
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    KEEP_PRIORITY,
    MAX_PRIORITY,
    ChatMessage,
    CompactionPart,
    ContextType,
    DocumentReference,
    InvalidValue,
    Json,
    Part,
    Role,
    Status,
    TextPart,
    ThinkingPart,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
    explain,
    from_plain,
    lazy_pattern,
    read_message,
    shorten,
)
from zkchat.sessions.foreign_parts import PartReader, Tally, first_of, is_result, list_of, object_of, text_at

_CONTENTS: Final = ("content", "parts", "text", "value")
_TIMES: Final = ("timestamp", "created_at", "time", "create_time", "createdAt", "date")
_THOUGHTS: Final = ("thinking", "reasoning_content", "reasoning")
_COUNTS: Final = ("token_count", "augmented_token_count", "tool_tokens", "thinking_tokens")
_FIRST_TIME: Final = datetime(1970, 1, 2, tzinfo=UTC)
_MAX_SECONDS: Final = 2e10
"""Times above that are in milliseconds."""
_MAX_COUNT: Final = 1 << 40
_PRIORITIES: Final = {"low": 3, "normal": 5, "medium": 5, "high": KEEP_PRIORITY, "critical": MAX_PRIORITY}
_THOUGHT: Final = lazy_pattern(r"\s*<(think|thinking|thought)>(.*?)(?:</\1>\s*|\Z)", re.DOTALL)
"""What some models write before their answer; one that was cut off has no end."""
_ENDINGS: Final = ("status", "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "reason")
_CUT_OFF: Final = ("unfinished", "incomplete", "interrupted", "truncated", "partial")
_STATUSES: Final[Mapping[str, Status]] = {
    **dict.fromkeys((*_CUT_OFF, "in_progress", "cancelled", "canceled", "aborted", "user_canceled"), "unfinished"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "content_filter", "safety"), "unfinished"),
    **dict.fromkeys(("error", "failed"), "error"),
}
"""How an answer ended, where that was not well."""
_NUMBER: Final = lazy_pattern(r"[+-]?\d+(?:\.\d+)?")
_OUTSIDE: Final = lazy_pattern(r"/|[A-Za-z]:|(?:.*/)?\.\.(?:/|\Z)", re.DOTALL)
"""A path that does not lead into the vault."""
_ROLES: Final[Mapping[str, Role]] = {
    **{role: cast("Role", role) for role in get_args(Role)},
    **dict.fromkeys(("human", "humanmessage"), "user"),
    **dict.fromkeys(("ai", "bot", "model", "gpt", "chatgpt", "claude", "aimessage", "aimessagechunk"), "assistant"),
    **dict.fromkeys(("developer", "systemmessage"), "system"),
    **dict.fromkeys(("function", "toolmessage", "functionmessage", "ipython"), "tool"),
}
_ROLE_KEYS: Final = ("role", "sender", "from")


class InvalidMessage(Exception):
    """Describes what is wrong with a message, as the end of a sentence."""


class ForeignConversation(Struct, frozen=True, kw_only=True):
    """A conversation of another program, in the form that most of them write: messages with a role and a content."""

    messages: Sequence[Json]
    id: str = ""
    """What it is called there; empty if it has no id."""
    title: str = ""
    model: str = ""
    head: str = ""
    """The id of the message at which the conversation stands, where it has branches."""
    has_local_times: bool = False
    """Whether times without a zone are those of this machine, and not UTC."""


def derived_id(*of: Json) -> str:
    """An id that is the same whenever it is derived of the same values."""
    written = json.dumps(of, sort_keys=True).encode()
    return b32encode(sha256(written).digest())[:12].decode().lower()


def is_own(value: Json) -> bool:
    parts = value.get("parts") if isinstance(value, dict) else None
    return isinstance(parts, list) and all(isinstance(part, dict) and "kind" in part for part in parts)


@dataclass
class ConversationReader:
    """Reads one conversation in order; each message follows the one before, unless it names another."""

    conversation: ForeignConversation
    now: datetime
    tally: Tally
    key: str
    """Of the conversation; the ids of its messages are derived of it."""
    messages: list[ChatMessage] = field(default_factory=list)
    _ids: dict[str, str | None] = field(default_factory=dict)
    """The last of our messages for the id of each of theirs; where nothing of it was kept, that of its parent."""
    _compactions: int = 0
    _archived: set[str] = field(default_factory=set)
    _used: set[str] = field(default_factory=set)
    _moved: Mapping[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._parts = PartReader(self.tally)

    def read(self) -> list[ChatMessage]:
        for number, value in enumerate(self.conversation.messages, start=1):
            try:
                self._read(number, value)
            except InvalidValue as error:
                self.tally.leave_out_message(f"Message {number} cannot be used: {explain(error)}.")
            except InvalidMessage as error:
                self.tally.leave_out_message(f"Message {number} {error}.")
        if not any(map(is_own, self.conversation.messages)):
            self.messages, self._moved = _pair_calls(self.messages, self.tally)
        return self.messages

    @property
    def head(self) -> str | None:
        """The message at which the conversation stands; None if that is the last one."""
        head = self._ids.get(self.conversation.head) if self.conversation.head else None
        return self._moved.get(head, head) if head else None

    def _read(self, number: int, value: Json) -> None:
        if not isinstance(value, dict):
            raise InvalidMessage("is not an object with a role and a content")
        if is_own(value):
            defaults = {"id": derived_id(self.key, number, value), "created_at": self.now, "parent_id": self._last_id}
            self.messages.append(read_message({**defaults, **value}))
        else:
            self._read_foreign(number, _unwrapped(value))

    def _read_foreign(self, number: int, value: Mapping[str, Json]) -> None:
        external_id = _id_at(value, "id", "uuid", "message_id")
        parent = self._ids.get(_id_at(value, "parent", "parent_id", "parent_message_uuid"), self._last_id)
        self._ids.setdefault(external_id, parent)
        last = parent
        for place, (role, parts) in enumerate(self._pieces(value)):
            id_ = self._derived_id(external_id, number, place, role, parts)
            self.messages.append(self._made(value, role, parts, last, id_))
            last = id_
        self._ids[external_id] = last

    def _derived_id(self, external_id: str, number: int, place: int, role: Role, parts: Sequence[Part]) -> str:
        """The same whenever this message is read, whatever else of it is understood then."""
        said = "".join(part.text for part in parts if isinstance(part, TextPart))
        id_ = derived_id(self.key, external_id or number, place, role, said)
        id_ = derived_id(id_, number) if id_ in self._used else id_
        self._used.add(id_)
        return id_

    @property
    def _last_id(self) -> str | None:
        return self.messages[-1].id if self.messages else None

    def _made(
        self, value: Mapping[str, Json], role: Role, parts: Sequence[Part], parent: str | None, id_: str
    ) -> ChatMessage:
        said = "".join(part.text for part in parts if isinstance(part, TextPart))
        if said and (value.get("isCompactSummary") is True or value.get("context_type") == "summary"):
            role, parts = "system", [CompactionPart(number=0, summary=said)]
        elif role == "assistant":
            parts = [piece for part in parts for piece in _with_thoughts(part)]
        is_summary = any(isinstance(part, CompactionPart) for part in parts)
        inner = object_of(value.get("metadata") or value.get("response_metadata"))
        model = text_at(value, "model", "model_slug") or text_at(inner, "model_slug", "model_name")
        return ChatMessage(
            id=id_,
            parent_id=parent,
            role=role,
            name=text_at(value, "name") if role != "tool" else "",
            external_id=_id_at(value, "id", "uuid", "message_id"),
            parts=tuple(
                self._compaction(each, value, parent) if isinstance(each, CompactionPart) else each for each in parts
            ),
            references=tuple(self._references(value.get("references"))) if role in ("user", "assistant") else (),
            created_at=self._time(value),
            model=(model or self.conversation.model) if role == "assistant" else "",
            usage=_usage(value) if role == "assistant" else None,
            context_type=_context_type(value, role, is_summary=is_summary),
            status=_status(value) if role == "assistant" else "complete",
            error=text_at(value, "error") if role == "assistant" else "",
            **self._numbers(value),
        )

    def _compaction(self, part: CompactionPart, value: Mapping[str, Json], parent: str | None) -> CompactionPart:
        """The compaction with the messages before it; those alone that it names, or before the one that it names."""
        self._compactions += 1
        known = {message.id: message for message in self.messages}
        before: list[ChatMessage] = []
        while parent is not None and parent in known:
            before.insert(0, known[parent])
            parent = known[parent].parent_id
        blocks = (object_of(each) for each in list_of(first_of(value, _CONTENTS)))
        told = next((each for each in blocks if text_at(each, "type") == "compaction"), value)
        first_kept = _id_at(told, "firstKeptEntryId", "first_kept_id")
        named = {str(each) for each in list_of(first_of(told, ("archived", "archived_ids")))}
        places = [place for place, message in enumerate(before) if first_kept and message.external_id == first_kept]
        before = [each for each in before[: places[0] if places else None] if not named or each.external_id in named]
        archived = tuple(message.id for message in before if message.id not in self._archived)
        self._archived.update(archived)
        return replace(part, number=self._compactions, archived=archived)

    def _numbers(self, value: Mapping[str, Json]) -> dict[str, Any]:
        """The counts of tokens and the priority, where they are such."""
        priority = value.get("priority")
        given = {**value, "priority": _PRIORITIES.get(priority) if isinstance(priority, str) else priority}
        bounds = {**dict.fromkeys(_COUNTS, range(_MAX_COUNT)), "priority": range(1, MAX_PRIORITY + 1)}
        read = {name: given[name] for name in bounds if type(given.get(name)) is int and given[name] in bounds[name]}
        if priority is not None and "priority" not in read:
            self.tally.leave_out_part("unreadable priority")
        return read

    def _pieces(self, value: Mapping[str, Json]) -> Iterator[tuple[Role, list[Part]]]:
        """The parts of a message in the messages that we make of it: results of tools, and summaries, stand alone."""
        role = _role_of(value)
        pieces: list[tuple[Role, list[Part]]] = []
        for part in self._said(value, role):
            match part:
                case ToolResultPart():
                    own: Role = "tool"
                case CompactionPart():
                    own = "system"
                case _:
                    own = "assistant" if role == "tool" else role
            goes_on = pieces and pieces[-1][0] == own and not isinstance(part, CompactionPart)
            if goes_on and not any(isinstance(each, CompactionPart) for each in pieces[-1][1]):
                pieces[-1][1].append(part)
            else:
                pieces.append((own, [part]))
        yield from pieces

    def _said(self, value: Mapping[str, Json], role: Role) -> Iterator[Part]:
        content = first_of(value, _CONTENTS)
        calls, reader = value.get("tool_calls"), self._parts
        if not any(key in value for key in (*_CONTENTS, "tool_calls")):
            raise InvalidMessage("has no content")
        if isinstance(content, bool | int | float):
            raise InvalidMessage(f"has the content {content!r}, which is not text")
        holds_results = any(is_result(text_at(object_of(part), "type")) for part in list_of(content))
        if role == "tool" and not holds_results:
            yield reader.result({**value, "content": content, "id": None})
            return
        reader.count_citations(value)
        if thought := text_at(value, *_THOUGHTS):
            yield from reader.parts({"type": "thinking", "thinking": thought})
        yield from reader.parts(content)
        for key, read in (("images", reader.image), ("attachments", reader.file), ("files", reader.file)):
            for item in list_of(value.get(key)):
                yield from read(item)
        for call in calls if isinstance(calls, list) else [calls] if calls else ():
            yield from reader.call(object_of(call))

    def _references(self, listed: Json) -> Iterator[DocumentReference]:
        for value in list_of(listed):
            try:
                yield _reference(value)
            except InvalidValue:
                self.tally.leave_out_part("unreadable reference")

    def _time(self, value: Mapping[str, Json]) -> datetime:
        before = self.messages[-1].created_at if self.messages else self.now
        written = first_of(value, _TIMES)
        if written is None:
            return before
        try:
            at = time_of(written)
            zoned = (
                at if at.tzinfo else at.astimezone() if self.conversation.has_local_times else at.replace(tzinfo=UTC)
            )
            if _FIRST_TIME <= zoned < self.now + timedelta(days=366):
                return zoned
        except (ValueError, OverflowError, OSError):
            pass
        self.tally.leave_out_part("unreadable time")
        return before


def time_of(written: Json) -> datetime:
    """A time as programs write it: ISO 8601, or the seconds or milliseconds since 1970. Raises `ValueError`."""
    if isinstance(written, str):
        if not _NUMBER.fullmatch(written):
            return datetime.fromisoformat(written.upper())
        written = float(written)
    if isinstance(written, bool) or not isinstance(written, int | float):
        raise ValueError("neither text nor a number")
    return datetime.fromtimestamp(written / 1000 if abs(written) > _MAX_SECONDS else written, UTC)


def _with_thoughts(part: Part) -> list[Part]:
    """A text of a model with what it wrote as its thoughts apart."""
    if not isinstance(part, TextPart) or not (thought := _THOUGHT.match(part.text)):
        return [part]
    pieces = (ThinkingPart(text=thought[2].strip()), TextPart(text=part.text[thought.end() :]))
    return [piece for piece in pieces if piece.text]


def _status(value: Mapping[str, Json]) -> Status:
    """How an answer ended, in the words of many programs."""
    if any(value.get(flag) is True for flag in _CUT_OFF):
        return "unfinished"
    inner = [object_of(value.get(key)) for key in ("metadata", "response_metadata", "incomplete_details")]
    written = [text_at(each, key) for each in (value, *inner) for key in _ENDINGS]
    written.append(text_at(object_of(value.get("finish_details")), "type"))
    found = (_STATUSES.get(each.casefold()) for each in written)
    return next((status for status in found if status), "complete")


def _context_type(value: Mapping[str, Json], role: Role, *, is_summary: bool) -> ContextType:
    if is_summary:
        return "summary"
    written = value.get("context_type")
    default: ContextType = "tool_output" if role == "tool" else "primary"
    return next((known for known in get_args(ContextType) if known == written), default)


def _usage(value: Mapping[str, Json]) -> TokenUsage | None:
    written = value.get("usage") or value.get("usage_metadata")
    if not isinstance(written, dict):
        return None
    prompt, completion = (
        next((count for key in keys if isinstance(count := written.get(key), int) and 0 <= count < _MAX_COUNT), 0)
        for keys in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
    )
    return TokenUsage(prompt_tokens=prompt, completion_tokens=completion) if prompt or completion else None


def _reference(value: Json) -> DocumentReference:
    """A document of a message. A path that leads out of the vault is not kept."""
    given = {name: item for name, item in object_of(value).items() if item is not None}
    path = given.get("relative_path")
    path = path.replace("\\", "/") if isinstance(path, str) else None
    is_inside = bool(path) and not _OUTSIDE.match(path or "")
    snippet = given.get("snippet") or given.get("context_snippet")
    return from_plain(
        DocumentReference,
        {
            **given,
            **({"snippet": snippet} if snippet else {}),
            "relative_path": path if is_inside else None,
            "status": given.get("status") or ("resolved" if is_inside else "missing"),
        },
    )


def _unwrapped(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """A message as its own fields, with its role, where a program wrote it in an envelope."""
    match value:
        case {"type": str(kind), "data": dict(inner)} if kind.casefold() in _ROLES:  # LangChain
            return {"role": kind, **inner}
        case {"id": [*_, str(name)], "kwargs": dict(inner)}:  # LangChain, serialized
            return {"role": name, **inner}
        case {"message": dict(inner)} if "role" in inner:  # logs of coding agents
            kept = ("timestamp", "isCompactSummary", "priority")
            outer = {key: value[key] for key in kept if value.get(key) is not None}
            ids = {"uuid": first_of(value, ("uuid", "id")), "parent": first_of(value, ("parentUuid", "parentId"))}
            return {**outer, **ids, **inner}
        case {"author": dict(author)}:
            return {**value, "role": author.get("role"), "name": author.get("name")}
        case {"type": str(kind)} if kind != "message" and not any(key in value for key in _ROLE_KEYS):
            # A type instead of a role is that of its author, or that of the one part that it is.
            role = "tool" if kind.endswith("_output") else "assistant"
            named = {key: value[key] for key in ("created_at", "timestamp", "status") if key in value}
            part: dict[str, Json] = {"role": role, "content": [{**value}], **named}
            return {**value, "role": kind} if kind.casefold() in _ROLES else part
        case _:
            return value


def _role_of(value: Mapping[str, Json]) -> Role:
    written = first_of(value, _ROLE_KEYS)
    role = _ROLES.get(written.casefold()) if isinstance(written, str) else None
    if written is None:
        raise InvalidMessage("does not say who wrote it (no role)")
    if role is None:
        known = ", ".join(get_args(Role))
        raise InvalidMessage(f"has the role {shorten(repr(written), 60)}, which is not one of {known}")
    return role


def _id_at(value: Mapping[str, Json], *keys: str) -> str:
    found = next((value[key] for key in keys if isinstance(value.get(key), str | int)), "")
    return str(found)[:200]


def _pair_calls(messages: Sequence[ChatMessage], tally: Tally) -> tuple[list[ChatMessage], Mapping[str, str | None]]:
    """The messages without unanswered calls and unmatched results, and for each that is gone the one before it.

    Messages come after those that they follow.
    """
    known = {message.id: message for message in messages}
    results: dict[str, list[Part]] = {}
    """What is left of each message of a tool."""
    answered: set[tuple[str, str]] = set()
    """The calls that have a result, each with the message that made it."""
    for message in messages:
        if message.role != "tool":
            continue
        # The message whose calls a result may answer is the nearest before it that is not from a tool.
        results[message.id] = []
        path = [results[message.id]]
        caller = known.get(message.parent_id or "")
        while caller is not None and caller.role == "tool":
            path += [results[caller.id]] if caller.id in results else []
            caller = known.get(caller.parent_id or "")
        for part in message.parts:
            if isinstance(part, ToolResultPart) and caller and _add_result(part, caller, path):
                continue
            tally.leave_out_part("stray tool result")
        answered.update((caller.id, part.call_id) for part in _results(path) if caller)
    return _without(messages, results, answered, tally)


def _add_result(part: ToolResultPart, caller: ChatMessage, path: Sequence[list[Part]]) -> bool:
    """Add a result to its message, the first of the path, if it answers a call: the one that it names, else the first
    open one of its name. A further result of a call is added to the text of the first.
    """
    calls = caller.parts_of(ToolCallPart)
    known = {each.call_id for each in _results(path)}
    for call in calls:
        if _may_answer(part, call) and call.call_id not in known:
            path[0].append(replace(part, call_id=call.call_id, name=call.name))
            return True
    for message in path:
        for place, first in enumerate(message):
            if isinstance(first, ToolResultPart) and _may_answer(part, first):
                message[place] = replace(first, text=f"{first.text}\n{part.text}")
                return True
    return False


def _may_answer(part: ToolResultPart, call: ToolCallPart | ToolResultPart) -> bool:
    return call.call_id == part.call_id or (not part.call_id and part.name in ("", call.name))


def _results(path: Iterable[Iterable[Part]]) -> Iterator[ToolResultPart]:
    return (part for message in path for part in message if isinstance(part, ToolResultPart))


def _without(
    messages: Sequence[ChatMessage], results: Mapping[str, list[Part]], answered: Set[tuple[str, str]], tally: Tally
) -> tuple[list[ChatMessage], dict[str, str | None]]:
    kept: list[ChatMessage] = []
    moved: dict[str, str | None] = {}
    for message in messages:
        parts = results.get(message.id)
        if parts is None:
            parts = [
                part
                for part in message.parts
                if not isinstance(part, ToolCallPart) or (message.id, part.call_id) in answered
            ]
            for _ in range(len(message.parts) - len(parts)):
                tally.leave_out_part("unanswered tool call")
        parent = moved.get(message.parent_id, message.parent_id) if message.parent_id else None
        if parts:
            kept.append(replace(message, parts=tuple(parts), parent_id=parent))
        else:
            moved[message.id] = parent
    return kept, moved
