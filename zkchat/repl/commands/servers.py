"""What MCP servers bring into a chat beside tools: their prompts as commands, and their state."""

import re
import shlex
from collections.abc import Iterator, Mapping

from zkchat.chat.server_access import ServerAccess
from zkchat.errors import UsageError
from zkchat.model.text import shorten
from zkchat.model.tool_server import ServerPrompt, ServerStatus
from zkchat.repl.command_context import CommandContext, Send

_MAX_SHOWN = 600
"""Characters of a prompt's text that are shown as it is sent."""
_MAX_DESCRIPTION = 60
_STATES: Mapping[str, str] = {
    "waiting": "is not connected yet",
    "connecting": "is being connected",
    "lost": "is not connected any more; the next call connects it again",
    "failed": "cannot be used",
}


def split_prompt(context: CommandContext, name: str) -> tuple[str, str] | None:
    """Server and prompt of `server:prompt`, where there is such a server."""
    server, colon, prompt = name.partition(":")
    servers = context.servers
    return (server, prompt) if colon and servers and servers.has(server) else None


async def send_prompt(context: CommandContext, server: str, name: str, argument: str) -> Send:
    """Have a server write a question, which is then asked as if the user had typed it."""
    assert context.servers is not None
    status = await context.servers.connected(server)
    prompt = next((each for each in status.prompts if command_name(each) == name), None)
    if prompt is None:
        known = ", ".join(f"/{server}:{command_name(each)}" for each in status.prompts[:5])
        raise UsageError(
            status.problem or f"The MCP server {server} has no prompt {name}.", hint=f"There is: {known}." * bool(known)
        )
    answer = await context.servers.servers.prompt(server, prompt.name, parse_arguments(prompt, argument))
    if answer.failed or not answer.text.strip():
        raise UsageError(answer.text or f"The prompt {name} of {server} is empty.", hint=answer.hint)
    text = _without_mentions(answer.text.strip(), context.servers)
    context.surface.print_dimmed(shorten(text, _MAX_SHOWN))
    return Send(text)


def parse_arguments(prompt: ServerPrompt, written: str) -> dict[str, str]:
    """The arguments of a prompt: `name=value`, or values in order, the last of which takes the rest.

    Raises `UsageError` where a required one is missing.
    """
    names = [argument.name for argument in prompt.arguments]
    try:
        words = shlex.split(written)
    except ValueError:
        words = written.split()
    given: dict[str, str] = {}
    plain: list[str] = []
    for word in words:
        name, is_named, value = word.partition("=")
        if is_named and name in names and name not in given:
            given[name] = value
        else:
            plain.append(word)
    left = [name for name in names if name not in given]
    for place, name in enumerate(left):
        is_last = place == len(left) - 1
        if taken := plain[place:] if is_last else plain[place : place + 1]:
            given[name] = " ".join(taken)
    missing = [argument.name for argument in prompt.arguments if argument.is_required and argument.name not in given]
    if missing:
        usage = " ".join([f"/{prompt.server}:{command_name(prompt)}", *(f"{name}=…" for name in missing)])
        raise UsageError(f"The prompt {prompt.name} needs {' and '.join(missing)}.", hint=f"Write it: {usage}")
    return given


def prompt_completions(context: CommandContext, typed: str) -> Iterator[tuple[str, str]]:
    """The prompts whose commands begin with what was typed, each with what it is for."""
    for status in context.servers.servers.statuses() if context.servers else ():
        for prompt in status.prompts:
            command = f"/{status.name}:{command_name(prompt)}"
            if command.casefold().startswith(f"/{typed}".casefold()):
                yield command, shorten(" ".join(prompt.description.split()), _MAX_DESCRIPTION)


def state_lines(context: CommandContext) -> Iterator[str]:
    """A line for each server whose tools are not all there."""
    for status in context.servers.servers.statuses() if context.servers else ():
        if line := _state_line(status):
            yield line


def _state_line(status: ServerStatus) -> str:
    if status.state == "ready":
        return "" if status.tools else f"The MCP server {status.name} has no tools."
    if status.state == "disabled":
        return ""
    sentence = status.problem or f"The MCP server {status.name} {_STATES[status.state]}."
    return f"{sentence} More: zkchat mcp check {status.name}" if status.state == "failed" else sentence


def command_name(prompt: ServerPrompt) -> str:
    """A prompt's name as it is typed: without spaces."""
    return re.sub(r"\s+", "_", prompt.name)


def _without_mentions(text: str, servers: ServerAccess) -> str:
    """The text of a server, unable to name resources of servers, which only the user does."""
    names = "|".join(re.escape(status.name) for status in servers.servers.statuses())
    return re.sub(rf'@(?="?(?:{names}):)', "@\u200b", text)
