"""`zkchat show`, `recent`, `tags` and `daily`: one note to read, and the notes and tags there are."""

from typing import TYPE_CHECKING, Annotated

import typer

from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.note_lookup import NoteArgument, find_place, open_refreshed_library
from zkchat.cli.output import Listing, stdout_console
from zkchat.errors import ExitCode

if TYPE_CHECKING:
    from zkchat.compose.paths import Paths
    from zkchat.vault.library import Library
    from zkchat.vault.listings import ChangedNote
    from zkchat.vault.reading import ReadableNote


def show(note: NoteArgument, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show a note, or a section of it.

    In a pipe it is the text of the file, on a terminal it is drawn.

    zkchat show "[[Evergreen notes#Titles]]"
    """
    from zkchat.vault.reading import read_note

    io = current_io()
    with open_refreshed_library(io, vault) as (paths, library):
        place = find_place(io, paths, library, note)
        if place.missing_anchor:
            io.note(f"There is no “{place.missing_anchor}” in {place.path}; this is the whole note.")
        found = read_note(library, place.path, place.anchor)
        if json_output:
            fields = {"title": found.names[0], "anchor": place.anchor, "line": place.line, "tags": found.tags}
            io.json({"path": place.path, **fields, **_dates(library, place.path), "text": found.text})
        elif not found.text.strip():
            io.note(f"{place.path} holds no text.")
        else:
            _print_note(io, paths, library, place.path, found)


def _dates(library: "Library", path: str) -> dict[str, dict[str, str] | None]:
    """When a note was written and changed, and where that is known from."""
    dates = library.dates([path]).get(path)
    if dates is None:
        return {"written": None, "changed": None}
    return {
        name: {"at": each.day.isoformat() + (f"T{each.time:%H:%M:%S}" if each.time else ""), "origin": each.origin}
        for name, each in (("written", dates.written), ("changed", dates.changed))
    }


def _print_note(io: CommandIO, paths: "Paths", library: "Library", path: str, note: "ReadableNote") -> None:
    console = stdout_console(io, paths)
    if console is None:
        io.out(note.text.removesuffix("\n"))
        return
    from zkchat.compose.document_links import VaultDocumentLinks
    from zkchat.render.markdown.notes import note_rows

    listing = Listing(io, paths)
    listing.title(" › ".join(note.names))
    listing.aside(" · ".join([path, *(f"#{tag}" for tag in note.tags)]), indent=0)
    rows = note_rows(console, note.body, source=path, links=VaultDocumentLinks(paths.vault, library))
    io.environment.stdout.write("".join(f"{row}\n" for row in ("", *(row.text for row in rows))))


def recent(
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="Changed from this day on: 2026-03-01, last-week, 3d.")
    ] = "",
    on: Annotated[
        str,
        typer.Option("--on", metavar="TIME", help="Changed on this day or in this time: yesterday, 2026-03."),
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many at most.")] = 10,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show the notes that changed last, the latest first.

    zkchat recent --since monday

    zkchat recent --on last-month --limit 50
    """
    from zkchat.vault.dates.expressions import describe_period, period_given
    from zkchat.vault.listings import count_changed, recent_notes

    io = current_io()
    with open_refreshed_library(io, vault) as (paths, library):
        calendar = library.calendar()
        period = period_given("--since", since, calendar, is_since=True) if since else None
        if on:
            period = period_given("--on", on, calendar).overlap(period)
        found = recent_notes(library, limit, period)
        more = count_changed(library, period) - len(found) if period else 0
    if period and not found and not json_output:
        io.note(f"No note changed {describe_period(period, calendar)}.")
    if json_output:
        io.json([_changed_values(each) for each in found])
        return
    listing = Listing(io, paths)
    for each in found:
        origin = "" if each.changed.origin == "file" else f" · {each.changed.origin}"
        listing.line(f"{each.changed!s:<16}  {each.path}{origin}")
    if more:
        io.note(f"… and {more:,} more. --limit {len(found) + more} lists all.")


def _changed_values(note: "ChangedNote") -> dict[str, str]:
    day, clock, origin = note.changed
    at = note.changed_at.isoformat() if clock else day.isoformat()
    return {"path": note.path, "title": note.title, "changed_at": at, "origin": origin}


def tags(
    prefix: Annotated[
        str, typer.Argument(metavar="PREFIX", help="Only tags that begin with it.", show_default=False)
    ] = "",
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show the tags of your notes, each with the number of notes.

    A nested tag counts for those above it too. The notes of one: zkchat search tag:idea --notes
    """
    from zkchat.vault.listings import tag_counts

    io = current_io()
    with open_refreshed_library(io, vault) as (paths, library):
        found = tag_counts(library, prefix)
    if json_output:
        io.json([{"tag": each.tag, "notes": each.notes} for each in found])
        return
    listing = Listing(io, paths)
    for each in found:
        listing.line(f"{each.notes:,}  #{each.tag}", indent=2 * each.depth)


def daily(vault: VaultOption = None, json_output: JsonOption = False) -> int:
    """Show the daily note of today.

    It is found by Obsidian's settings of daily notes, else by the usual names. It is not made: where there is none, you
    are told how it would be called, and the exit code is 4.
    """
    from zkchat.compose.daily_notes import daily_note_settings
    from zkchat.vault.daily_notes import find_daily_note
    from zkchat.vault.reading import read_note

    io = current_io()
    today = io.environment.now().astimezone().date()
    with open_refreshed_library(io, vault) as (paths, library):
        found = find_daily_note(library, daily_note_settings(paths.vault), today)
        if json_output:
            io.json({"date": today, "path": found.path, "expected_path": found.expected_path})
        elif found.path is None:
            io.note(f"There is no daily note for {today} yet. It would be {found.expected_path}.")
        else:
            _print_note(io, paths, library, found.path, read_note(library, found.path))
    return ExitCode.OK if found.path else ExitCode.VAULT
