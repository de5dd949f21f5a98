"""Whether a server is there at all, without speaking its language."""

import socket
from urllib.parse import urlsplit


def answers(url: str, *, seconds: float = 0.3) -> bool:
    """Whether something accepts connections at that address."""
    parts = urlsplit(url if "//" in url else f"//{url}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "127.0.0.1", port), timeout=seconds):
            return True
    except (OSError, ValueError):
        return False
