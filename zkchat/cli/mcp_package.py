"""The package `mcp`, which is an extra: what needs it says how to install it."""

from zkchat.core import ConfigError, install_command


def require_sdk() -> None:
    """Raises `ConfigError` where the package `mcp` is not installed."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise ConfigError(
            "MCP needs the package mcp, which is not installed.", hint=f"Install it: {install_command('mcp')}"
        )
