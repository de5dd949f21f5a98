"""URLs of servers, as settings and variables may name them."""

import re
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import urlsplit

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
