"""`/verify`: which statements of an answer the notes support."""

from zkchat.actions.checks import verified
from zkchat.errors import UsageError
from zkchat.repl.command_context import CommandContext, Outcome
from zkchat.repl.commands.actions import show_result
from zkchat.repl.commands.arguments import answer_numbered, last_answer


async def verify(context: CommandContext, argument: str) -> Outcome:
    message = answer_numbered(context, argument) if argument else last_answer(context)
    if not message.text.strip():
        raise UsageError("That answer has no text to check.")
    return show_result(context, verified(context.browser.refreshed(), message.text))
