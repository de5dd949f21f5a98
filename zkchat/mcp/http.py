"""The transport over HTTP."""

import socket
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from zkchat.hosting import ADDRESS, NAMES, SECONDS_FOR_TOKEN, AccessToken, Gate, hosts_of, port_of, serve_app

PATH: Final = "/mcp"


def address_of(listening: socket.socket) -> str:
    return f"http://{ADDRESS}:{port_of(listening)}{PATH}"


def serve(
    server: Server[Any], listening: socket.socket, token: AccessToken, seconds_for_token: int = SECONDS_FOR_TOKEN
) -> None:
    """Serve until SIGINT or SIGTERM, which then takes its usual course."""
    port = port_of(listening)
    security = TransportSecuritySettings(
        allowed_hosts=hosts_of(port), allowed_origins=[f"http://{name}:*" for name in NAMES]
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=4_000_000,
        max_sessions=100,
        transport_security=security,
    )
    serve_app(Gate(app, token, port), listening, seconds_for_token)
