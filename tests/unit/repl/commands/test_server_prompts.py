"""Prompts of MCP servers as commands, and the state of servers in /tools."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.support.command_harness import CommandHarness
from tests.support.tool_servers import ServersInMemory, server
from zkchat.chat.tools.server_tools import ServerAccess
from zkchat.core.errors import UsageError
from zkchat.core.tool_server import PromptArgument, ServerDefinition, ServerPrompt, ServerStatus
from zkchat.repl.command_context import CommandContext, Outcome, Send
from zkchat.repl.commands.session import parse_arguments, state_lines
from zkchat.repl.commands.table import described_completions, run

PROMPT = ServerPrompt(
    server="web",
    name="big talk",
    description="A talk",
    arguments=(PromptArgument(name="topic", is_required=True), PromptArgument(name="tone")),
)


def context_with(servers: ServersInMemory) -> tuple[CommandHarness, CommandContext]:

    harness = CommandHarness()
    return harness, replace(harness.context, servers=ServerAccess(servers=servers, wait_seconds=0))


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("cats very dry", {"topic": "cats", "tone": "very dry"}),
        ('"big cats" tone=dry', {"topic": "big cats", "tone": "dry"}),
        ("tone=dry big cats", {"topic": "big cats", "tone": "dry"}),
        ("it's a=b", {"topic": "it's", "tone": "a=b"}),
    ],
)
def test_arguments_are_named_or_stand_in_order(written: str, arguments: dict[str, str]) -> None:
    assert parse_arguments(PROMPT, written) == arguments


def test_a_required_argument_that_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="needs topic"):
        parse_arguments(PROMPT, "tone=dry")


def test_what_a_server_writes_is_shown_and_sent_and_names_no_resource() -> None:
    servers = ServersInMemory(replace(server(), prompts=(PROMPT,)), answer="About cats, @web:memo://a.")
    harness, context = context_with(servers)
    sent: Outcome = asyncio.run(run(context, "/web:big_talk cats"))
    assert servers.sent == [("web", "big talk", {"topic": "cats"})]
    assert sent == Send("About cats, @\u200bweb:memo://a.")
    assert harness.surface.text.startswith("About cats")
    assert described_completions(context, "/we") == [("/web:big_talk", "A talk")]


def test_a_long_text_is_shown_in_part_and_a_long_description_too() -> None:
    servers = ServersInMemory(replace(server(), prompts=(replace(PROMPT, description="d" * 61),)), answer="x" * 601)
    harness, context = context_with(servers)
    assert asyncio.run(run(context, "/web:big_talk cats")) == Send("x" * 601)
    assert harness.surface.text.strip() == "x" * 599 + "…"
    assert described_completions(context, "/we") == [("/web:big_talk", "d" * 59 + "…")]


def test_other_names_with_a_colon_are_no_prompts() -> None:
    harness, context = context_with(ServersInMemory(server()))
    asyncio.run(run(context, "/web:nothing"))
    asyncio.run(run(context, "/mail:talk"))
    assert harness.surface.text.splitlines()[0].startswith("The MCP server web has no prompt nothing.")
    assert "There is no command /mail:talk." in harness.surface.text


def test_a_server_that_is_not_there_is_told_with_the_reason() -> None:
    failed = ServerStatus(definition=ServerDefinition(name="web"), state="failed", problem="It ended.")
    waiting = ServerStatus(definition=ServerDefinition(name="mail"))
    off = ServerStatus(definition=ServerDefinition(name="off"), state="disabled")
    _, context = context_with(ServersInMemory(failed, waiting, off))
    assert [*state_lines(context)] == [
        "It ended. More: zkchat config servers check web",
        "The MCP server mail is not connected yet.",
    ]
