"""The envelopes of foreign messages: where each program writes the role and the id, and what it wraps them in."""

from collections.abc import Mapping
from typing import Final, cast, get_args

from zkchat.export.session_json import Json
from zkchat.model.choices import Role
from zkchat.model.text import shorten

_ROLES: Final[Mapping[str, Role]] = {
    **{role: cast("Role", role) for role in get_args(Role)},
    **dict.fromkeys(("human", "humanmessage"), "user"),
    **dict.fromkeys(("ai", "bot", "model", "gpt", "chatgpt", "claude", "aimessage", "aimessagechunk"), "assistant"),
    **dict.fromkeys(("developer", "systemmessage"), "system"),
    **dict.fromkeys(("function", "toolmessage", "functionmessage", "ipython"), "tool"),
}
_ROLE_KEYS: Final = ("role", "sender", "from")
_MAX_ID_LENGTH: Final = 200


class InvalidMessage(Exception):
    """Describes what is wrong with a message, as the end of a sentence."""


def unwrapped(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """A message as its own fields, with its role, where a program wrote it in an envelope."""
    match value:
        case {"type": str(kind), "data": dict(inner)} if kind.casefold() in _ROLES:  # LangChain
            return {"role": kind, **inner}
        case {"id": [*_, str(name)], "kwargs": dict(inner)}:  # LangChain, serialized
            return {"role": name, **inner}
        case {"message": dict(inner)} if "role" in inner:  # logs of coding agents
            outer = {"timestamp": value.get("timestamp"), "uuid": value.get("uuid"), "parent": value.get("parentUuid")}
            return {**outer, **inner}
        case {"author": dict(author)}:
            return {**value, "role": author.get("role"), "name": author.get("name")}
        case {"type": str(kind)} if not any(key in value for key in _ROLE_KEYS):
            return _typed(value, kind)
        case _:
            return value


def _typed(value: Mapping[str, Json], kind: str) -> Mapping[str, Json]:
    """A message that has a type instead of a role: that of its author, or that of the one part that it is."""
    if kind.casefold() in _ROLES:
        return {**value, "role": kind}
    if kind == "message":
        return value
    role = "tool" if kind.endswith("_output") else "assistant"
    return {"role": role, "content": [{**value}], "created_at": value.get("created_at")}


def role_of(value: Mapping[str, Json]) -> Role:
    written = next((value[key] for key in _ROLE_KEYS if value.get(key) is not None), None)
    role = _ROLES.get(written.casefold()) if isinstance(written, str) else None
    if role is None:
        known = ", ".join(get_args(Role))
        raise InvalidMessage(
            f"has the role {shorten(repr(written), 60)}, which is none of {known}"
            if written is not None
            else "has no role"
        )
    return role


def id_at(value: Mapping[str, Json], *keys: str) -> str:
    """The first of these fields that holds an id."""
    found = next((value[key] for key in keys if isinstance(value.get(key), str | int)), "")
    return str(found)[:_MAX_ID_LENGTH]
