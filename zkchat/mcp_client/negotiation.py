"""The first words with a server: which revision of the protocol both speak."""

from typing import Any, Literal

import anyio
from mcp import ClientSession, MCPError
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION, DiscoverResult, UnsupportedProtocolVersionErrorData
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from zkchat.mcp_client.faults import is_closing

Handshake = Literal["any", "older"]


async def negotiate(session: ClientSession, handshake: Handshake, *, seconds: float) -> None:
    """Settle on a revision: by discovery, or by the handshake of the older ones where the server does not know it.

    `seconds`: for discovery, because servers of the older revisions may leave it without an answer.
    Raises `MCPError`; where the connection was closed, the server may be one that ends on an unknown question.
    """
    if handshake == "older" or not await _discovered(session, seconds):
        try:
            await session.initialize()
        except MCPError as error:
            # A slow server may have understood the first question after we stopped waiting for its answer.
            if error.code != UNSUPPORTED_PROTOCOL_VERSION or not await _discovered(session, seconds):
                raise


async def _discovered(session: ClientSession, seconds: float) -> bool:
    try:
        with anyio.fail_after(seconds):
            answer = DiscoverResult.model_validate(await _discovery(session))
    except MCPError as error:
        if is_closing(error):
            raise
        return False
    except (TimeoutError, ValidationError):
        return False
    if not set(MODERN_PROTOCOL_VERSIONS) & set(answer.supported_versions):
        return False
    session.adopt(answer)
    return True


async def _discovery(session: ClientSession) -> dict[str, Any]:
    """The answer to discovery; a server that refuses the revision is asked once more, by one that it names."""
    try:
        return await session.send_discover(LATEST_MODERN_VERSION)
    except MCPError as error:
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        named = UnsupportedProtocolVersionErrorData.model_validate(error.error.data).supported
        common = [version for version in MODERN_PROTOCOL_VERSIONS if version in named]
        if not common:
            raise
        return await session.send_discover(common[-1])
