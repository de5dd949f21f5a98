"""The first words with a server: which revision of the protocol both speak."""

from typing import Final, Literal

import anyio
from mcp import ClientSession, MCPError
from mcp_types import CONNECTION_CLOSED, UNSUPPORTED_PROTOCOL_VERSION, DiscoverResult
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

_SECONDS_TO_DISCOVER: Final = 4.0
"""Servers of the older revisions may leave the question of the newer one without an answer."""

Handshake = Literal["any", "older"]


async def negotiate(session: ClientSession, handshake: Handshake) -> None:
    """Settle on a revision: by discovery, or by the handshake of the older ones where the server does not know it.

    Raises `MCPError`; with the code `CONNECTION_CLOSED`, the server may be one that ends on an unknown question.
    """
    if handshake == "older" or not await _discovered(session):
        try:
            await session.initialize()
        except MCPError as error:
            # A slow server may have understood the first question after we stopped waiting for its answer.
            if error.code != UNSUPPORTED_PROTOCOL_VERSION or not await _discovered(session):
                raise


async def _discovered(session: ClientSession) -> bool:
    try:
        with anyio.fail_after(_SECONDS_TO_DISCOVER):
            answer = DiscoverResult.model_validate(await session.send_discover(LATEST_MODERN_VERSION))
    except MCPError as error:
        if error.code == CONNECTION_CLOSED:
            raise
        return False
    except (TimeoutError, ValidationError):
        return False
    if not set(MODERN_PROTOCOL_VERSIONS) & set(answer.supported_versions):
        return False
    session.adopt(answer)
    return True
