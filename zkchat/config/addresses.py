"""Addresses of servers, as settings and variables may name them."""

from ipaddress import IPv6Address
from urllib.parse import urlsplit

_FOREIGN = frozenset('\\<>"`{}|^?#')
"""What no part of such an address holds. Programs differ in what host they see in one that does."""


def http_address(address: str) -> str:
    """The address itself. Raises `ValueError` for one that cannot be called, or that could be read in two ways."""
    if any(letter <= " " or letter in _FOREIGN or letter.isspace() for letter in address):
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
