"""Definitions of MCP servers from tables as settings and other programs' JSON hold them. None is started here."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from zkchat.model.tool_server import ServerDefinition, ServerOrigin

MAX_SERVERS: Final = 50
"""In one table."""
MAX_TEXT: Final = 4_000
"""Characters of a command with its arguments, of all variables, and of all headers: what is approved is shown whole."""
MAX_CALL_SECONDS: Final = 3_600.0
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_KEYS: Final = ("command", "args", "env", "cwd", "url", "type", "headers", "disabled", "local", "timeout")
_HTTP_TYPES: Final = frozenset({"http", "streamable-http", "streamable_http", "streamablehttp"})
NAME_RULE: Final = (
    "A name has letters, digits, - _ and . only, begins with none of - and ., and has at most 64 of them."
)


class ServerProblem(Struct, frozen=True):
    """Why a definition cannot be used."""

    name: str
    sentence: str


class ParsedServers(Struct, frozen=True):
    definitions: tuple[ServerDefinition, ...] = ()
    problems: tuple[ServerProblem, ...] = ()
    warnings: tuple[str, ...] = ()


class _Unusable(ValueError):
    """What is wrong with a definition, as the rest of a sentence that begins with the server."""


def is_server_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def parse_servers(table: Mapping[str, object], origin: ServerOrigin) -> ParsedServers:
    """Every definition of the table that can be used, and what is wrong with the others.

    One that comes with a vault never says of itself that it is local.
    """
    definitions: list[ServerDefinition] = []
    problems: list[ServerProblem] = []
    warnings: list[str] = []
    for number, (name, entry) in enumerate(table.items()):
        try:
            if number >= MAX_SERVERS:
                raise _Unusable(f"is one too many: at most {MAX_SERVERS} are read")
            definitions.append(parse_server(name, entry, origin))
        except ValueError as error:
            problems.append(ServerProblem(name[:80], f"The server '{name[:80]}' {error}."))
            continue
        assert isinstance(entry, Mapping)
        warnings.extend(_misspelled(name, entry))
    return ParsedServers(tuple(definitions), tuple(problems), tuple(warnings))


def parse_server(name: str, entry: object, origin: ServerOrigin) -> ServerDefinition:
    """Raises `ValueError` with the rest of a sentence that begins with the server's name."""
    if not is_server_name(name):
        raise _Unusable(f"cannot be called so: {NAME_RULE[0].lower()}{NAME_RULE[1:-1]}")
    if not isinstance(entry, Mapping):
        raise _Unusable("is no table with its command or its url")
    table = {str(key): value for key, value in entry.items() if value is not None}
    definition = ServerDefinition(
        name=name,
        command=_text(table, "command"),
        args=_texts(table, "args"),
        env=_named_texts(table, "env", _VARIABLE_NAME),
        cwd=_text(table, "cwd"),
        url=_text(table, "url"),
        headers=_named_texts(table, "headers", _HEADER_NAME),
        is_local=_flag(table, "local") and origin == "user",
        is_enabled=not _flag(table, "disabled"),
        call_seconds=_seconds(table),
        origin=origin,
    )
    _check(definition, _text(table, "type"))
    return definition


def server_table(definition: ServerDefinition) -> dict[str, object]:
    """A definition as it is written into the settings: `parse_server` reads it back."""
    default = ServerDefinition(name=definition.name)
    table: dict[str, object] = {
        "command": definition.command,
        "args": list(definition.args),
        "env": dict(definition.env),
        "cwd": definition.cwd,
        "url": definition.url,
        "headers": dict(definition.headers),
        "local": definition.is_local,
        "disabled": not definition.is_enabled,
    }
    if definition.call_seconds != default.call_seconds:
        table["timeout"] = definition.call_seconds * (1 if definition.call_seconds < 1000 else 1000)
    return {key: value for key, value in table.items() if value}


def _check(definition: ServerDefinition, kind: str) -> None:
    if definition.command and definition.url:
        raise _Unusable("has a command and a url: it is either started or reached")
    if not (definition.command or definition.url) and definition.is_enabled:
        raise _Unusable("has neither a command nor a url")
    if kind.lower() == "sse":
        raise _Unusable("is reached by HTTP+SSE, which MCP has given up: ask its maker for the address of its HTTP")
    if kind and kind.lower() not in (_HTTP_TYPES if definition.url else {"stdio"}):
        raise _Unusable(f"is of the type '{kind[:40]}', which does not go with its {_reached_by(definition)}")
    for what, texts in (
        ("command with its arguments", (definition.command, *definition.args)),
        ("env", (*definition.env, *definition.env.values())),
        ("headers", (*definition.headers, *definition.headers.values())),
        ("url", (definition.url, definition.cwd)),
    ):
        if sum(map(len, texts)) > MAX_TEXT:
            raise _Unusable(f"has more than {MAX_TEXT:,} characters of {what}")


def _reached_by(definition: ServerDefinition) -> str:
    return "url" if definition.url else "command"


def _text(table: Mapping[str, object], key: str) -> str:
    return _checked_text(key, table.get(key, ""))


def _checked_text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise _Unusable(f"has a value of '{where}' that is no text")
    if "\0" in value or not _can_be_encoded(value):
        raise _Unusable(f"has a value of '{where}' with a character that no program takes")
    return value


def _can_be_encoded(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(table: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list | tuple):
        raise _Unusable(f"has '{key}' that are no list of texts")
    return tuple(_checked_text(key, each) for each in value)


def _named_texts(table: Mapping[str, object], key: str, names: re.Pattern[str]) -> dict[str, str]:
    value = table.get(key, {})
    if not isinstance(value, Mapping):
        raise _Unusable(f"has '{key}' that is no table of texts")
    for name in value:
        if not isinstance(name, str) or not names.fullmatch(name):
            raise _Unusable(f"has a name in '{key}' that cannot be one")
    return {name: _checked_text(f"{key}.{name}", each) for name, each in value.items()}


def _flag(table: Mapping[str, object], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise _Unusable(f"has a '{key}' that is neither true nor false")
    return value


def _seconds(table: Mapping[str, object]) -> float:
    """A number of 1000 or more is in milliseconds, as other programs write it."""
    value = table.get("timeout", ServerDefinition(name="").call_seconds)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Unusable("has a 'timeout' that is no number")
    if not 0 < value <= MAX_CALL_SECONDS * 1000:
        raise _Unusable(f"has a 'timeout' that is not between 0 and {MAX_CALL_SECONDS:,.0f} seconds")
    return float(value if value < 1000 else value / 1000)


def _misspelled(name: str, entry: Mapping[str, object]) -> Iterator[str]:
    """Keys that look like one of ours; those of other programs are passed over."""
    for key in entry:
        if key not in _KEYS and (close := get_close_matches(key, [each for each in _KEYS if each not in entry], n=1)):
            yield f"The server '{name}' has a key '{key[:40]}', which means nothing. Did you mean '{close[0]}'?"
