"""The types of settings that several sections share, and what is said of a setting beside its type.

That is metadata of `Annotated`: these marks, bounds as msgspec's `Meta`, and a plain text for what the setting is for.
"""

import re
from collections.abc import Callable
from ipaddress import IPv6Address
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from zkchat.model import globs


class Harmless(Struct, frozen=True):
    """Marks a setting that a vault's own file may hold unasked.

    All others, those of the future too, count there only after the user's approval.
    """


class Expects(Struct, frozen=True):
    """What a value must be, in words, where type and bounds do not say it."""

    words: str


class Accumulates(Struct, frozen=True):
    """Marks a list to which each layer adds, so that none can take away what another names."""


class UserOnly(Struct, frozen=True):
    """Marks a setting that never counts in a vault's own file, approved or not."""


class Redacted(Struct, frozen=True):
    """Marks a setting whose wrong values are never shown: somebody may have put a key there."""


class Validated(Struct, frozen=True):
    """What a text must pass, where type and bounds do not say it all."""

    validate: Callable[[str], object]
    """Raises ValueError."""


_FORBIDDEN = frozenset('\\<>"`{}|^?#')
"""Characters that no part of such a URL holds. Programs differ in what host they see in one that does."""


def validate_http_url(address: str) -> str:
    """The address itself. Raises `ValueError` for one that cannot be called, or that could be read in two ways."""
    if any(letter <= " " or letter in _FORBIDDEN or letter.isspace() for letter in address):
        raise ValueError("it holds a character that belongs into no address")
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"}:
        raise ValueError("it begins with neither http:// nor https://")
    host = parts.hostname or ""
    if parts.netloc.rpartition("@")[2].startswith("["):
        IPv6Address(host.partition("%")[0])
    elif any(not 0 < len(label) < 64 for label in host.removesuffix(".").split(".")):
        raise ValueError("it names no host")
    if parts.port == 0:  # which also raises for what is no number of a port
        raise ValueError("there is no port 0")
    return address


_EVERY_INTERFACE: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - an address to ask, none to serve on
_OLLAMA_PORT: Final = 11434


def ollama_url(host: str) -> str:
    """The address that Ollama's own programs understand by this: a scheme and a port may be missing.

    A server that listens on every interface of this machine is asked on this machine.
    """
    scheme, marked, rest = host.rpartition("://")
    host_and_port, slash, path = rest.partition("/")
    found = re.fullmatch(r"(?P<user>.*@)?(?P<name>\[[^\]]*\]|[^:]*)(?::(?P<port>\d*))?", host_and_port)
    if found is None:  # such as ::1, which is a name without its brackets
        name, port, user = f"[{host_and_port}]", "", ""
    else:
        name, port, user = found["name"], found["port"] or "", found["user"] or ""
    name = _EVERY_INTERFACE.get(name or "127.0.0.1", name or "127.0.0.1")
    usual = "" if marked else f":{_OLLAMA_PORT}"
    return f"{scheme or 'http'}://{user}{name}{f':{port}' if port else usual}{slash}{path}".rstrip("/")


def _validate_whole_path(path: str) -> None:
    """Raises ValueError for a path that means another folder in each current one."""
    if path and Path(path).parts[:1] != ("~",) and not Path(path).is_absolute():
        raise ValueError("The path is not whole.")


def _validate_time_zone(name: str) -> None:
    """Raises ValueError for a name that this system knows no time zone by."""
    if name:
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError("There is no such time zone.") from error


HttpAddress = Annotated[
    str,
    Validated(validate_http_url),
    Expects("an address that begins with http:// or https://, such as http://127.0.0.1:11434"),
]
OptionalHttpAddress = Annotated[
    str,
    Validated(lambda address: address and validate_http_url(address)),
    Expects("an address that begins with http:// or https://, such as http://127.0.0.1:8080/v1, or empty"),
]
VariableName = Annotated[
    str,
    Meta(pattern=r"\A[A-Z_][A-Z0-9_]*\Z"),
    Expects("the name of an environment variable in capitals, and never the key itself"),
    Redacted(),
]
OptionalVariableName = Annotated[
    str,
    Meta(pattern=r"\A([A-Z_][A-Z0-9_]*)?\Z"),
    Expects("the name of an environment variable in capitals, and never the key itself, or empty"),
    Redacted(),
]
Globs = Annotated[
    tuple[Annotated[str, Meta(max_length=globs.MAX_CHARS)], ...],
    Meta(max_length=globs.MAX_GLOBS),
    Expects(f"a list of texts (at most {globs.MAX_GLOBS}, of up to {globs.MAX_CHARS} characters each)"),
]
TimeZoneName = Annotated[
    str,
    Validated(_validate_time_zone),
    Expects("the name of a time zone, such as Europe/Berlin, or empty"),
]
WholePath = Annotated[
    str,
    Validated(_validate_whole_path),
    Expects("the whole path of a folder, such as ~/notes, or empty"),
]
Share = Annotated[float, Meta(gt=0, lt=1)]
ContextWindow = Annotated[int, Meta(ge=256)]
"""In tokens."""
