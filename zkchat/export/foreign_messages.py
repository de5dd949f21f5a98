"""Parses messages of other programs: a role, a content, and optionally a name, a time and an id."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, assert_never, cast, get_args

from pydantic import TypeAdapter, ValidationError

from zkchat.errors import SessionError
from zkchat.export.session_json import Json
from zkchat.model.choices import Role
from zkchat.model.message import ChatMessage, ImagePart, Part, TextPart, ToolCallPart, ToolResultPart, UnknownPart

_ROLES: Final[Mapping[str, Role]] = {
    **{role: cast("Role", role) for role in get_args(Role)},
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
}
_DATA: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)
_TIME: Final = TypeAdapter(datetime)


def first_error(error: ValidationError) -> str:
    """The first error of a validation, with its position."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


@dataclass
class ForeignMessageParser:
    """Parses the messages of one file in order; each is the child of the one before, unless it names another."""

    now: datetime
    new_id: Callable[[], str]
    _last_id: str | None = None
    _tools: dict[str, str] = field(default_factory=dict)
    """Tool names by call id."""

    def message(self, number: int, value: Json) -> ChatMessage:
        if not isinstance(value, dict):
            raise SessionError(f"Message {number} is not an object with a role and a content.")
        try:
            read = self._own(value) if "parts" in value else self._plain(value)
        except ValidationError as error:
            raise SessionError(f"Message {number} cannot be used: {first_error(error)}.") from error
        except _InvalidMessage as error:
            raise SessionError(f"Message {number} {error}.") from error
        self._last_id = read.id
        return read

    def _own(self, value: Mapping[str, Json]) -> ChatMessage:
        """A message of zkchat, perhaps of an older version with fewer fields."""
        defaults = {"id": self.new_id(), "created_at": self.now, "parent_id": self._last_id}
        return ChatMessage.model_validate({**defaults, **value})

    def _plain(self, value: Mapping[str, Json]) -> ChatMessage:
        role = _role(value.get("role"))
        external_id = value.get("id")
        return ChatMessage(
            id=self.new_id(),
            parent_id=self._last_id,
            role=role,
            name=_text(value.get("name"), "name"),
            external_id=str(external_id) if isinstance(external_id, int) else _text(external_id, "id"),
            parts=tuple(self._parts(value, role)),
            created_at=self._time(value),
            context_type="tool_output" if role == "tool" else "primary",
        )

    def _time(self, value: Mapping[str, Json]) -> datetime:
        written = next((value[key] for key in ("timestamp", "created_at", "time") if value.get(key) is not None), None)
        if written is None:
            return self.now
        try:
            at = _TIME.validate_python(written)
        except ValidationError as error:
            raise _InvalidMessage(f"has a time that cannot be read: {written!r}; write 2026-03-01T12:00:00Z") from error
        return at if at.tzinfo else at.replace(tzinfo=UTC)

    def _parts(self, value: Mapping[str, Json], role: Role) -> Iterator[Part]:
        if "content" not in value and "tool_calls" not in value:
            raise _InvalidMessage("has no content")
        said = list(_content(value.get("content")))
        if role == "tool":
            call_id = _text(value.get("tool_call_id"), "tool_call_id")
            name = self._tools.get(call_id, "") or _text(value.get("name"), "name")
            text = "".join(part.text for part in said if isinstance(part, TextPart))
            yield ToolResultPart(call_id=call_id, name=name, text=text)
            return
        yield from said
        calls = value.get("tool_calls") or []
        for call in calls if isinstance(calls, list) else [calls]:
            part = _call(call)
            self._tools[part.call_id] = part.name
            yield part


class _InvalidMessage(Exception):
    """Describes what is wrong with a message, as the end of a sentence."""


def _role(value: Json) -> Role:
    role = _ROLES.get(value.casefold()) if isinstance(value, str) else None
    if role is None:
        known = ", ".join(get_args(Role))
        raise _InvalidMessage(
            f"has the role {value!r}, which is none of {known}" if value is not None else "has no role"
        )
    return role


def _text(value: Json, name: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise _InvalidMessage(f"has {name} {value!r}, which is no text")


def _content(content: Json) -> Iterator[Part]:
    match content:
        case None | "":
            pass
        case str():
            yield TextPart(text=content)
        case list():
            for piece in content:
                yield _content_part(piece)
        case dict():
            yield _content_part(content)
        case bool() | int() | float():
            raise _InvalidMessage(f"has the content {content!r}, which is no text")
        case _:
            assert_never(content)


def _content_part(piece: Json) -> Part:
    """One part of a content list: text, an image, or something unknown that is kept as it is."""
    match piece:
        case str():
            return TextPart(text=piece)
        case {"text": str(text)} | {"refusal": str(text)}:
            return TextPart(text=text)
        case {"image_url": {"url": str(address)}} | {"image_url": str(address)}:
            data = _DATA.fullmatch(address)
            if data is None:
                return TextPart(text=f"![image]({address})")  # it is not fetched
            return ImagePart(name="image", media_type=data[1], data=data[2])
        case {"type": str(kind), **rest}:
            return UnknownPart.model_validate({**rest, "kind": f"foreign:{kind}"})
        case _:
            raise _InvalidMessage(f"has a piece of content that cannot be understood: {piece!r}"[:200])


def _call(call: Json) -> ToolCallPart:
    match call:
        case {"id": str(call_id), "function": {"name": str(name), "arguments": str(arguments)}}:
            return ToolCallPart(call_id=call_id, name=name, arguments=arguments)
        case _:
            raise _InvalidMessage("has a tool call without an id, or without a function's name and arguments")
