"""The command that turns mentions of notes into links."""

from itertools import chain
from typing import Final

from zkchat.model.change import ChangeOrigin
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.repl.commands.places import find_file
from zkchat.writing.links.mentions import NO_MENTIONS, MentionLinks, stage_links
from zkchat.writing.staging import StagedChanges

_NOTHING_CHANGED: Final = "Nothing was changed."


async def link(context: CommandContext, argument: str) -> Outcome:
    path = find_file(context, argument, "link")[1] if argument else None
    staged = StagedChanges(context.changes)
    library = context.browser.library
    library.refresh()
    found = MentionLinks(library, staged.read, context.mentions.style)
    groups = found.about(path)
    if (first := next(groups, None)) is None:
        context.surface.print(NO_MENTIONS)
        return NOTHING
    chosen = context.mentions.choose(chain([first], groups))
    made = stage_links(staged, chosen or [])
    for remark in made.remarks:
        context.surface.print(remark)
    if not staged:
        context.surface.print_dimmed(_NOTHING_CHANGED)
        return NOTHING
    context.changes.apply(
        staged.change_set(), ChangeOrigin(command="/link", session_id=context.conversation.session_id)
    )
    context.surface.print(made.summary)
    context.surface.print_dimmed("/undo takes it back.")
    return NOTHING
