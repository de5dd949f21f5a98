"""`/timeline`: what happened to a note, in order of time."""

from typing import Final

from zkchat.render.numbered_rows import NumberedRow
from zkchat.render.timeline import describe_event, event_time
from zkchat.repl.command_context import NOTHING, CommandContext, Outcome
from zkchat.repl.commands.places import NEXT_STEP, find_file, show_list
from zkchat.repl.vault_browser import Place
from zkchat.vault.timeline import note_timeline

_MAX_EVENTS: Final = 30
_MAX_RECORDS: Final = 5_000


async def timeline(context: CommandContext, argument: str) -> Outcome:
    _, path = find_file(context, argument, "timeline")
    library = context.browser.refreshed()
    records = context.changes.records(limit=_MAX_RECORDS, with_contents=False)
    found = note_timeline(library, path, records, _MAX_EVENTS)
    context.surface.print(f"{library.link_to(path)}:")
    if found.earlier:
        context.surface.print_dimmed(f"{found.earlier:,} earlier; in a shell, zkchat timeline --limit shows them.")
    context.surface.print_rows(
        [NumberedRow(name=f"{event_time(each)} {describe_event(each)}") for each in found.events]
    )
    show_list(context, [Place(path=each.path or path, name=each.text or found.title) for each in found.events])
    context.surface.print_dimmed(NEXT_STEP)
    return NOTHING
