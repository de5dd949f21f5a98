"""Imports client libraries without the variables that they read: some create a client while they are imported."""

import os
from importlib import import_module
from threading import Lock

_IMPORTING = Lock()


def load(name: str) -> None:
    """Import a library with the variables hidden that name servers, proxies and certificates.

    Our clients are given what of these to use when they are created, where errors are mapped.
    """
    with _IMPORTING:
        hidden = {name: value for name, value in os.environ.items() if _is_hidden(name)}  # noqa: TID251 - not read
        for variable in hidden:
            del os.environ[variable]  # noqa: TID251
        try:
            import_module(name)
        finally:
            os.environ.update(hidden)  # noqa: TID251


def _is_hidden(variable: str) -> bool:
    return variable.upper().endswith("_PROXY") or variable in {"SSL_CERT_FILE", "SSL_CERT_DIR", "OLLAMA_HOST"}
