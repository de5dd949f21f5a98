"""Serving a vault: the service, the server over it, and a transport."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zkchat.compose.protocol_streams import claimed_streams
from zkchat.compose.user_interface import Notices
from zkchat.compose.workspace import Workspace
from zkchat.mcp_server.server import build_server
from zkchat.mcp_server.service import HostOptions, VaultService
from zkchat.mcp_server.stdio import StdioTransport

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from zkchat.mcp_server.access_token import AccessToken


def serve_stdio(workspace: Workspace, options: HostOptions, notices: Notices) -> None:
    """Serve on standard input and output until the input ends."""
    with claimed_streams(workspace.environment) as channel, _opened(workspace, options, notices) as server:
        asyncio.run(StdioTransport(channel).serve(server))


def serve_http(
    workspace: Workspace, options: HostOptions, notices: Notices, listening: socket.socket, token: "AccessToken"
) -> None:
    """Serve on a port of this machine until a signal ends it."""
    from zkchat.mcp_server import http

    with listening, _opened(workspace, options, notices) as server:
        http.serve(server, listening, token)


@contextmanager
def _opened(workspace: Workspace, options: HostOptions, notices: Notices) -> "Iterator[Server[Any]]":
    for name in ("mcp", "uvicorn"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what they would say is answered to the client
    service = VaultService(workspace, options, notices)
    try:
        yield build_server(service)
    finally:
        service.close()
