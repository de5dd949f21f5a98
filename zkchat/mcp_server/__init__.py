"""The vault as an MCP server: its tools, notes as resources, and prompts, for any host."""
