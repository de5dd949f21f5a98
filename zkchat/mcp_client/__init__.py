"""Clients of MCP servers: connections that cannot delay or break a chat."""
