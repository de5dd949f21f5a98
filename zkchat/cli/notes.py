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
            io.json({"path": place.path, **fields, "text": found.text})
        else:
            _print_note(io, paths, library, place.path, found)


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
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many at most.")] = 10,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show the notes that changed last, the latest first."""
    from zkchat.vault.listings import recent_notes

    io = current_io()
    with open_refreshed_library(io, vault) as (paths, library):
        found = recent_notes(library, limit)
    if json_output:
        io.json([{"path": each.path, "title": each.title, "changed_at": each.changed_at.isoformat()} for each in found])
        return
    listing = Listing(io, paths)
    for each in found:
        listing.line(f"{each.changed_at.astimezone():%Y-%m-%d %H:%M}  {each.path}")


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
