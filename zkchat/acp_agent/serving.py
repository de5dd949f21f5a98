"""`zkchat acp`, from the first message to the end of input."""

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

from acp.agent.connection import AgentSideConnection

from zkchat.acp_agent.agent import VaultAgent
from zkchat.acp_agent.options import AgentOptions
from zkchat.acp_agent.stdio import StdioTransport
from zkchat.compose.protocol_streams import Channel, claimed_streams
from zkchat.environment import Environment

if TYPE_CHECKING:
    from acp.interfaces import Agent

DRAIN_SECONDS: Final = 20.0
"""How long requests that were read before the end of input may take to be answered."""


def serve(environment: Environment, options: AgentOptions) -> None:
    """Answer the client on standard input and output until its input ends; then everything is stored."""
    agent = VaultAgent(environment, options)
    logging.getLogger().addHandler(logging.NullHandler())  # else the SDK prints traces of what it answers as an error
    with claimed_streams(environment) as channel:
        try:
            asyncio.run(_serve(agent, channel))
        finally:
            agent.close()


async def _serve(agent: VaultAgent, channel: Channel) -> None:
    transport = StdioTransport(channel)
    # Methods are called by the names of parameters, and only those that are needed are declared.
    connection = AgentSideConnection(cast("Agent", agent), transport, listening=False, use_unstable_protocol=True)
    await connection.listen()
    before = {asyncio.current_task()}
    await asyncio.sleep(0)  # what was read last begins
    agent.stop_answers()
    while requests := [task for task in asyncio.all_tasks() - before if task.get_name() == "acp.Connection.request"]:
        done, _ = await asyncio.wait(requests, timeout=DRAIN_SECONDS)
        if not done:
            break
    with suppress(ConnectionError):
        await connection.close()
