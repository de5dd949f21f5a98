"""The vault as an MCP server: its tools, notes as resources, and prompts, for any host.

`serve` opens a `VaultService`, which knows nothing of MCP; `server` builds the SDK's server over it from the handlers
of `tools`; `stdio` is the transport.
"""
