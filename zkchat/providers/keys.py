"""Which key goes to which server, and what the user should know of that. Pure."""

from typing import Final, NamedTuple
from urllib.parse import urlsplit

from zkchat.providers.locality import is_loopback
from zkchat.providers.transport import display_address

OLLAMA_VARIABLE: Final = "OLLAMA_API_KEY"
_OLLAMA: Final = "ollama.com"


class ServerKey(NamedTuple):
    """What is sent, empty where nothing is, and a warning."""

    value: str = ""
    warning: str = ""


def ollama_key(key: str, host: str, *, is_users_choice: bool) -> ServerKey:
    """The key goes to Ollama itself, and to a server that the user's own settings name, over TLS or on this machine."""
    parts = urlsplit(host)
    name = parts.hostname or ""
    is_ollama = name == _OLLAMA or name.endswith(f".{_OLLAMA}")
    if not key or not (is_ollama or is_users_choice):
        return ServerKey()
    if parts.scheme == "https" or is_loopback(host):
        return ServerKey(key)
    return ServerKey(
        warning=f"The key in {OLLAMA_VARIABLE} is not sent to {display_address(host)}: without TLS anybody on the way "
        "could read it. Use an address with https://."
    )


def openai_key(key: str, base_url: str, variable: str) -> ServerKey:
    """The key goes where the settings say; over plain HTTP to another machine only with a warning."""
    if not key or not base_url.lower().startswith("http:") or is_loopback(base_url):
        return ServerKey(key)
    return ServerKey(
        key,
        f"The key in {variable} and your notes go to {display_address(base_url)} without TLS: anybody on the way "
        "can read them. Use an address with https:// if the server has one.",
    )
