"""The vault as an MCP server."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.mcp.server import address_of, serve_http, serve_stdio
    from zkchat.mcp.service import HostOptions
    from zkchat.mcp.vault_tools import AskVault, ask_vault
else:
    __getattr__ = lazy_names(__name__, __file__)
