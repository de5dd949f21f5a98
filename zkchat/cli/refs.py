"""`zkchat refs`: which conversations used which notes, across all sessions."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from zkchat.cli.common import CommandIO, JsonOption, VaultOption, YesOption, current_io
from zkchat.cli.note_lookup import find_note, open_refreshed_library
from zkchat.cli.output import Listing
from zkchat.cli.output_files import UNDO, write_output
from zkchat.compose import stores
from zkchat.compose.paths import find_paths
from zkchat.errors import NoteNotFound, UsageError
from zkchat.memory.note_usage import NoteUsage, note_uses
from zkchat.model.memory import DocumentUse
from zkchat.model.note import NOTE_SUFFIXES
from zkchat.model.text import counted
from zkchat.ports.sessions import SessionStore

DEFAULT_TOP = 10
GONE = "not there any more"


def refs(
    note: Annotated[
        str | None, typer.Argument(metavar="NOTE", help="A path, a title or a [[wikilink]].", show_default=False)
    ] = None,
    top: Annotated[bool, typer.Option("--top", help="The notes used most: --top, or --top 20.")] = False,
    graph: Annotated[
        Path | None, typer.Option("--graph", metavar="FILE.html", help="Draw it all as a page.", show_default=False)
    ] = None,
    yes: YesOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show which conversations used a note. Or the notes used most, or a page that draws both.

    zkchat refs "[[Evergreen notes]]"

    zkchat refs --top 20

    zkchat refs --graph refs.html
    """
    io = current_io()
    if [note is not None and not top, top, graph is not None].count(True) != 1:
        raise UsageError(
            "Say what to show.", hint="zkchat refs NOTE, zkchat refs --top, or zkchat refs --graph FILE.html"
        )
    if top:
        _show_top(io, vault, note, json_output=json_output)
    elif graph is not None:
        _write_graph(io, vault, graph, yes=yes, json_output=json_output)
    elif note is not None:
        _show_uses(io, vault, note, json_output=json_output)


def _show_uses(io: CommandIO, vault: Path | None, note: str, *, json_output: bool) -> None:
    with open_refreshed_library(io, vault, warn=False) as (paths, library):
        try:
            path, unknown = find_note(io, paths, library, note), None
        except NoteNotFound as error:  # perhaps it was there when it was used
            path, unknown = note.removeprefix("[[").removesuffix("]]"), error
    with stores.open_sessions(io.environment, vault, io) as store:
        spellings = {path, *(path + suffix for suffix in NOTE_SUFFIXES)}
        found = [use for use in document_uses(store, paths.vault) if use.path in spellings]
    if unknown and not found:
        raise unknown
    found.sort(key=lambda use: use.at, reverse=True)
    if json_output:
        io.json(found)
        return
    if not found:
        io.note(f"No conversation has used {path}.")
    listing = Listing(io, paths)
    for use in found:
        listing.line(f"{use.at.astimezone():%Y-%m-%d %H:%M}  {use.session_title or '(untitled)'}  ({use.session_id})")
        listing.aside(f"{use.why}; message {use.message_id}", indent=2)
    for gone in dict.fromkeys(use.path for use in found if use.is_gone):
        io.note(f"{gone} is {GONE}.")


def _show_top(io: CommandIO, vault: Path | None, most: str | None, *, json_output: bool) -> None:
    if most is not None and not (most.isdecimal() and len(most) < 10 and int(most)):
        raise UsageError(f"{most!r} is no number of notes.", hint="For example: zkchat refs --top 20")
    notes = _tally(io, vault).top(int(most or DEFAULT_TOP))
    if json_output:
        io.json(notes)
        return
    if not notes:
        io.note("No conversation has used a note yet.")
    for note in notes:
        times, talks = counted(note.turns, "time"), counted(note.sessions, "conversation")
        io.out(f"{times:>11} in {talks:<18}  {note.path}" + f" ({GONE})" * note.is_gone)


def _write_graph(io: CommandIO, vault: Path | None, file: Path, *, yes: bool, json_output: bool) -> None:
    from zkchat.render.graph_page import graph_page

    target = io.environment.cwd / file
    _check_target(target, yes=yes)
    graph = _tally(io, vault).graph()
    page = graph_page(graph, vault=find_paths(io.environment, vault).vault.name)
    is_undoable = write_output(io, vault, target, page, command="refs")
    if json_output:
        io.json({"file": target, "notes": len(graph.notes), "conversations": len(graph.talks)})
    else:
        io.out(f"Drew {counted(len(graph.notes), 'note')} and {counted(len(graph.talks), 'conversation')}: {target}")
        if is_undoable:
            io.note(UNDO)


def _check_target(target: Path, *, yes: bool) -> None:
    """Refuse to overwrite anything but a page that zkchat wrote, unless `yes`, and any file that is no page."""
    from zkchat.render.graph_page import MARK

    if target.suffix.lower() not in {".html", ".htm"}:
        raise UsageError(f"{target.name} is no name for a page.", hint="For example: zkchat refs --graph refs.html")
    if target.is_file() and not yes:
        with target.open("rb") as page:
            if page.read(len(MARK)) != MARK.encode():
                raise UsageError(f"{target} is there already, and not made by zkchat.", hint="To overwrite it: --yes")


def _tally(io: CommandIO, vault: Path | None) -> NoteUsage:
    tally = NoteUsage()
    with stores.open_sessions(io.environment, vault, io) as store:
        for use in document_uses(store, find_paths(io.environment, vault).vault):
            tally.add(use)
    return tally


def document_uses(store: SessionStore, vault: Path) -> Iterator[DocumentUse]:
    """The documents that each conversation used; one conversation is in memory at a time."""
    for session in store.sessions():
        for use in note_uses(session, store.entries(session.id)):
            yield use if os.path.lexists(vault / use.path) else replace(use, is_gone=True)
