"""`zkchat timeline`: what happened to a note, in order of time."""

from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import JsonOption, VaultOption, current_io
from zkchat.cli.note_lookup import NoteArgument, find_note, open_refreshed_workspace
from zkchat.cli.output import Listing
from zkchat.render.timeline import describe_event, event_time

if TYPE_CHECKING:
    from zkchat.model.timeline import TimelineEvent

_MAX_RECORDS = 5_000
"""Changes of the journal that are looked at."""


def timeline(
    note: NoteArgument,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1_000, metavar="N", help="How many of the latest events.")
    ] = 50,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show what happened to a note, in order of time.

    When it was written and changed and where that is known from, what zkchat changed in it, its git commits, and notes
    with a date that link to it or that it links to.

    zkchat timeline "[[Evergreen notes]]"
    """
    from zkchat.compose.writing import open_change_store
    from zkchat.vault.timeline import note_timeline

    io = current_io()
    with open_refreshed_workspace(io, vault) as (workspace, library):
        path = find_note(io, workspace.paths, library, note)
        with open_change_store(workspace, notices=io) as store:
            records = store.records(limit=_MAX_RECORDS, with_contents=False)
        found = note_timeline(library, path, records, limit)
    if json_output:
        events = [_event_values(event) for event in found.events]
        io.json({"path": found.path, "title": found.title, "events": events, "earlier": found.earlier})
        return
    listing = Listing(io, workspace.paths)
    if found.earlier:
        listing.aside(f"{found.earlier:,} earlier: --limit {found.earlier + limit} shows them", indent=0)
    for event in found.events:
        listing.line(f"{event_time(event):<16}  {describe_event(event)}")


def _event_values(event: "TimelineEvent") -> dict[str, str | None]:
    return {
        "date": event.day.isoformat(),
        "time": f"{event.time:%H:%M:%S}" if event.time else None,
        "kind": event.kind,
        "text": event.text,
        "path": event.path or None,
        "id": event.number or None,
    }
