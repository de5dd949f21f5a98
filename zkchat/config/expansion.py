"""`${VAR}` and `${VAR:-default}` in definitions of MCP servers, and the folder that a server is started in."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from zkchat.config.value_types import validate_http_url
from zkchat.errors import ConfigError
from zkchat.model.server_display import REFERENCE, texts_of
from zkchat.model.tool_server import ServerDefinition

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class ExpansionError(ConfigError):
    """A server that cannot be started or reached as it is defined; the message holds no value of a variable."""


class MissingVariable(ExpansionError):
    """A variable without a default is not set."""


def expand(definition: ServerDefinition, variables: Mapping[str, str], folder: Path, home: Path) -> ServerDefinition:
    """The definition with the values of variables, and with a whole path as its folder; that is `folder` by default.

    An empty variable counts as not set. Raises `ExpansionError`.
    """
    missing = sorted({name for text in texts_of(definition) for name in _missing(text, variables)})
    if missing:
        raise MissingVariable(
            f"The server '{definition.name}' needs the variable{'s' * (len(missing) > 1)} {', '.join(missing)}, "
            f"which {'are' if len(missing) > 1 else 'is'} not set."
        )

    def value(text: str) -> str:
        return REFERENCE.sub(lambda found: variables.get(found["name"]) or found["default"] or "", text)

    cwd = folder / _at_home(value(definition.cwd), home)
    command = _at_home(value(definition.command), home)
    expanded = replace(
        definition,
        command=str(cwd / command) if "/" in command and definition.command else command,
        args=tuple(map(value, definition.args)),
        env={name: value(text) for name, text in definition.env.items()},
        cwd=str(cwd),
        url=value(definition.url),
        headers={name: value(text) for name, text in definition.headers.items()},
    )
    _check(expanded, definition)
    return expanded


def check_constants(definition: ServerDefinition) -> None:
    """Raises `ExpansionError` where a url or a header that names no variable can never be used."""
    headers = {name: text for name, text in definition.headers.items() if not REFERENCE.search(text)}
    url = "" if REFERENCE.search(definition.url) else definition.url
    constant = replace(definition, url=url, headers=headers)
    _check(constant, constant)


def _at_home(path: str, home: Path) -> str:
    return str(home / path[2:]) if path.startswith("~/") else path


def _missing(text: str, variables: Mapping[str, str]) -> Iterator[str]:
    for found in REFERENCE.finditer(text):
        if found["default"] is None and not variables.get(found["name"]):
            yield found["name"]


def _check(expanded: ServerDefinition, definition: ServerDefinition) -> None:
    for name, text in expanded.headers.items():
        if _CONTROL.search(text) or not text.isascii():
            raise ExpansionError(f"The header '{name}' of the server '{expanded.name}' holds what no header can hold.")
    if definition.command and not expanded.command:
        raise ExpansionError(f"The command of the server '{expanded.name}' is empty.")
    if definition.url and not _is_address(expanded.url):
        raise ExpansionError(
            f"The url of the server '{expanded.name}' is no address that begins with http:// or https://."
        )


def _is_address(url: str) -> bool:
    try:
        validate_http_url(url.replace("?", "/").replace("#", "/"))
    except ValueError:
        return False
    return True
