"""`/brief`: what changed lately, what is to be done, what was on this day."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from zkchat.actions.brief import brief_of
from zkchat.errors import UsageError
from zkchat.model.events import Event
from zkchat.repl.command_context import CommandContext, Outcome, Play
from zkchat.repl.commands.actions import show_result
from zkchat.vault.brief.daily import DEFAULT_DAYS, MAX_DAYS

_HINT: Final = "For example /brief 3"


async def brief(context: CommandContext, argument: str) -> Outcome:
    if argument and not (argument.isascii() and argument.isdigit() and 0 < int(argument[:9]) <= MAX_DAYS):
        raise UsageError(f"{argument!r} is not a number of days up to {MAX_DAYS}.", hint=_HINT)
    context.browser.refreshed()
    return Play(_events(context, int(argument) if argument else DEFAULT_DAYS))


async def _events(context: CommandContext, days: int) -> AsyncGenerator[Event, None]:
    """The turn in which a model sums it up, and then the brief itself, so that numbers mean its places."""
    has_summary = False
    async with aclosing(context.conversation.summarize_brief(days)) as events:
        async for event in events:
            has_summary = True
            yield event
    if has_summary:
        context.surface.print("")
    show_result(context, brief_of(context.browser.library, days))
