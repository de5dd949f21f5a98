"""Addresses of servers, and whether a model runs on this machine: one rule for all providers. In doubt it does not."""

import re
import socket
from collections.abc import Mapping
from ipaddress import IPv4Network, ip_address
from typing import Final
from urllib.parse import urlsplit

_LOOPBACK: Final = IPv4Network("127.0.0.0/8")
_WORD: Final = re.compile(r"[^\W_]+")


def is_loopback(address: str) -> bool:
    """Whether a URL leads to this machine itself: 127.0.0.0/8, ::1, or `localhost`, and no other name."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    if host in {"localhost", "::1"}:
        return True
    try:
        return ip_address(host) in _LOOPBACK
    except ValueError:
        return False


def is_cloud_name(model: str) -> bool:
    """Whether a name is one of Ollama's for models that it forwards: `gpt-oss:120b-cloud`, `kimi-k2:cloud`."""
    return "cloud" in _WORD.findall(model.casefold())


def may_run_here(address: str, model: str, *, local: bool) -> bool:
    """Whether the model may run on this machine, as far as is known without asking its server."""
    return local and is_loopback(address) and not is_cloud_name(model)


def is_forwarded(facts: object) -> bool:
    """Whether the answer of `/api/show` says that the model runs on another host."""
    return isinstance(facts, Mapping) and bool(facts.get("remote_host") or facts.get("remote_model"))


def ollama_address(base_url: str) -> str:
    """Where an Ollama that is spoken to by OpenAI's protocol at this address speaks its own."""
    return base_url.rstrip("/").removesuffix("/v1")


def display_address(address: str) -> str:
    """An address without the password that may stand in it."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def is_reachable(url: str, *, timeout: float = 0.3) -> bool:
    """Whether something accepts connections at that address."""
    parts = urlsplit(url if "//" in url else f"//{url}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "127.0.0.1", port), timeout=timeout):
            return True
    except (OSError, ValueError):
        return False
