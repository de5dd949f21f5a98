"""The command for goals: begun, gone on with, and shown."""

from typing import Final

from zkchat.errors import UsageError
from zkchat.render.checklist import checklist_lines, end_sentence
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome, Play

RESUME: Final = "resume"


async def goal(context: CommandContext, argument: str) -> Outcome:
    if argument.casefold() == RESUME:
        return Play(context.goals.resume())
    if argument:
        return Play(context.goals.start(argument))
    found = context.goals.goal
    if found is None:
        raise UsageError("There is no goal in this session.", hint="/goal and what is to be reached begins one.")
    context.surface.print(found.text)
    for line in checklist_lines(found):
        context.surface.print(line)
    context.surface.print_dimmed(end_sentence(found) if found.state != "running" else "Not finished.")
    if found.can_go_on:
        context.surface.print_dimmed("/goal resume goes on with it.")
    return NOTHING


def complete_goal(_context: CommandContext, text: str) -> list[str]:
    return [RESUME] if RESUME.startswith(text) else []
