"""What the commands over notes share: a library that is up to date, and the note that an argument names."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from zkchat.cli.common import CommandIO
from zkchat.cli.progress import progress
from zkchat.compose.library import open_note_library
from zkchat.compose.paths import Paths
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.errors import StorageError
from zkchat.model.note import NoteWarning
from zkchat.vault.library import Library
from zkchat.vault.named_notes import NamedNote, find_named_note
from zkchat.vault.note_warnings import summarize_warnings

NoteArgument = Annotated[
    str, typer.Argument(metavar="NOTE", help="Its path, its title, or a [[wikilink]].", show_default=False)
]


@contextmanager
def open_refreshed_library(io: CommandIO, vault: Path | None, *, warn: bool = True) -> Iterator[tuple[Paths, Library]]:
    """The notes as they are now; where the index cannot be written, as they were, and a sentence says so.

    With `warn`, warnings about notes are printed where anything changed.
    """
    with open_refreshed_workspace(io, vault, warn=warn) as (workspace, library):
        if library.is_empty():
            io.note(f"There are no Markdown notes in {workspace.paths.vault}. Name another folder with --vault.")
        yield workspace.paths, library


@contextmanager
def open_refreshed_workspace(
    io: CommandIO, vault: Path | None, *, warn: bool = True
) -> Iterator[tuple[Workspace, Library]]:
    """The same with the settings of the vault, for commands that change it. A vault without notes is no surprise."""
    workspace = load_workspace(io.environment, vault)
    with open_note_library(workspace) as (library, cache_notices):
        for notice in (*cache_notices, *workspace.loaded.every_warning):
            io.note(notice)
        news = _refresh(io, library)
        if warn:
            print_warnings(io, news)
        yield workspace, library


def _refresh(io: CommandIO, library: Library) -> Sequence[NoteWarning]:
    """Refresh the index, and return the warnings where anything changed: repeated calls print them once."""
    try:
        with progress(io.environment, "Indexing notes") as step:
            refreshed = library.refresh(step)
    except StorageError as error:
        if library.is_empty():
            raise
        io.note(f"Notes are shown as they were indexed last: {error.message}")
        return ()
    return refreshed.warnings if refreshed.changed else ()


def print_warnings(io: CommandIO, warnings: Sequence[NoteWarning]) -> None:
    """Print a line for each kind of warning beside the result."""
    if not warnings:
        return
    for sentence in summarize_warnings(warnings):
        io.note(f"warning: {sentence}")


def find_note(io: CommandIO, paths: Paths, library: Library, name: str) -> str:
    """Find the path of the note that the user names. Raises `NoteNotFound` with the closest names as a hint."""
    return find_place(io, paths, library, name).path


def find_place(io: CommandIO, paths: Paths, library: Library, name: str) -> NamedNote:
    """Find the note that the user names and the place in it, and say where the name could mean another one."""
    found = find_named_note(library, name, paths_beside(io, paths, name), search="zkchat search")
    if found.others:
        io.note(f"{name} could also mean {', '.join(found.others)}; this is {found.path}.")
    return found


def paths_beside(io: CommandIO, paths: Paths, name: str) -> Iterator[str]:
    """A name as a path in the vault, from where the user is."""
    beside = Path(os.path.normpath(io.environment.cwd.resolve() / name))
    if beside.is_relative_to(paths.vault):
        yield beside.relative_to(paths.vault).as_posix()
