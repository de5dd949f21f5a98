"""Serving a vault: the service, the server over it, and a transport."""

import asyncio
import logging

from zkchat.compose.user_interface import Notices
from zkchat.compose.workspace import Workspace
from zkchat.mcp_server.server import build_server
from zkchat.mcp_server.service import HostOptions, VaultService
from zkchat.mcp_server.stdio import StdioTransport, claimed_streams


def serve_stdio(workspace: Workspace, options: HostOptions, notices: Notices) -> None:
    """Serve on standard input and output until the input ends."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what it would say is answered to the client
    with claimed_streams(workspace.environment) as channel:
        service = VaultService(workspace, options, notices)
        try:
            asyncio.run(StdioTransport(channel).serve(build_server(service)))
        finally:
            service.close()
