"""The notes of a vault: its files and the index over them."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic

from zkchat.compose.calendar import calendar_of
from zkchat.compose.daily_notes import note_name_formats
from zkchat.compose.databases import DatabasePaths
from zkchat.compose.embeddings import ServerEmbedders, end_changed_embedding
from zkchat.compose.live_settings import LiveSettings
from zkchat.compose.local_notes import local_globs
from zkchat.compose.paths import Paths
from zkchat.compose.pdf import MAX_SECONDS_BEFORE_SEARCH, PdfTexts, open_pdf_texts
from zkchat.compose.user_interface import UNATTENDED, Notices
from zkchat.compose.workspace import Workspace, load_workspace
from zkchat.compose.writing import recover_interrupted_changes
from zkchat.environment import Environment
from zkchat.model.note import FileStamp, NoteWarning, is_note
from zkchat.ports.history import CommitHistory
from zkchat.providers.static_vectors import installed
from zkchat.storage.git.history import GitHistory
from zkchat.storage.locations import writable_cache_path
from zkchat.storage.note_index import SqliteNoteIndex
from zkchat.storage.process_pool import ProcessPool
from zkchat.storage.template_folders import template_folders
from zkchat.storage.vault_files import VaultFiles
from zkchat.storage.watched_files import WatchedFiles
from zkchat.vault.indexing.dating import DateSources
from zkchat.vault.library import Library, LibraryOptions
from zkchat.vault.search.vectors import VectorSearch

MAX_INDEXING_PROCESSES = 2
"""That share a long indexing; each takes some 100 MB, and more of them wait for the one that writes."""

MAX_EMBEDDED_BEFORE_SEARCH = 2048
"""Sections that get their vectors before a search: some tenths of a second, once. `zkchat index` does all."""


@contextmanager
def open_library(
    environment: Environment, vault: Path | None, notices: Notices = UNATTENDED
) -> Iterator[tuple[Paths, Library]]:
    """The notes of a vault, for commands that need nothing else. Settings that are left out are reported to `notices`,
    and a cache that cannot be written."""
    workspace = load_workspace(environment, vault)
    with open_note_library(workspace) as (library, cache_notices):
        for notice in (*cache_notices, *workspace.loaded.every_warning):
            notices.note(notice)
        yield workspace.paths, library


@contextmanager
def open_note_library(
    workspace: Workspace, live: LiveSettings | None = None
) -> Iterator[tuple[Library, tuple[str, ...]]]:
    """The notes; where the cache cannot be written, they are indexed for this once, and a notice says so.

    A change whose process was killed is taken back first. With `live`, settings of privacy that change count.
    """
    interrupted = recover_interrupted_changes(workspace)
    with ExitStack() as stack:
        own = DatabasePaths(workspace).cache("index.db")
        path, reason = stack.enter_context(writable_cache_path(own, workspace.environment.temporary_folders))
        unwritable = f"{own.parent} cannot be written ({reason}), so your notes are indexed anew for this call."
        library = _open_with_index(stack, workspace, path, live)
        yield library, (*interrupted, unwritable) if reason else interrupted


def _open_with_index(stack: ExitStack, workspace: Workspace, path: Path, live: LiveSettings | None) -> Library:
    """The notes with the index at this path."""
    index = stack.enter_context(closing(SqliteNoteIndex(path)))
    vectors, end_requests = open_vector_search(workspace, index)
    pdf = open_pdf_texts(workspace, path, stack)
    files = stack.enter_context(closing(watched_files(workspace)))
    if live:
        live.follow(partial(_exclude_anew, files))
        live.follow(partial(end_changed_embedding, workspace, end_requests))
    library = Library.over(
        files,
        index,
        vectors,
        workers=ProcessPool(min(MAX_INDEXING_PROCESSES, os.cpu_count() or 1)),
        clock=monotonic,
        options=_library_options(workspace, pdf, live.local_only if live else local_globs(workspace)),
    )
    stack.enter_context(closing(library))
    stack.callback(end_requests)  # first of all: the library waits for what goes on in its background
    return library


def _library_options(workspace: Workspace, pdf: PdfTexts, local_only: Sequence[str]) -> LibraryOptions:
    vault = workspace.paths.vault
    return LibraryOptions(
        local_only=local_only,
        templates=partial(template_folders, vault),
        calendar=partial(calendar_of, workspace),
        dates=DateSources(name_formats=partial(note_name_formats, vault), history=git_history(workspace)),
        extracted=pdf.store,
        extraction=pdf.extraction,
    )


def open_vector_search(workspace: Workspace, index: SqliteNoteIndex) -> tuple[VectorSearch, Callable[[], None]]:
    """The vectors of the wanted method, with static ones behind those of a server, and what ends all requests."""
    embedders = ServerEmbedders(workspace)
    search = VectorSearch(
        index.vectors,
        embedders.wanted or installed(),
        base=installed(),
        former=embedders.former,
        query_seconds=workspace.settings.embeddings.query_timeout,
        clock=monotonic,
    )
    return search, embedders.close


def _exclude_anew(files: VaultFiles, workspace: Workspace) -> str:
    files.exclude(workspace.settings.vault.exclude)
    return ""


def embed_for_search(library: Library) -> None:
    """Compute missing vectors, but not for longer than somebody waits for a search."""
    library.embed(lambda done: done < MAX_EMBEDDED_BEFORE_SEARCH)


def git_history(workspace: Workspace) -> CommitHistory:
    environment = workspace.environment
    return GitHistory(workspace.paths.vault, environment.variables, environment.temporary_folders)


def extract_for_search(library: Library) -> tuple[NoteWarning, ...]:
    """Extract missing texts of PDFs, but not for longer than somebody waits for a search; says how many are left."""
    extracted = library.extract(seconds=MAX_SECONDS_BEFORE_SEARCH)
    notice = extracted.notice()
    return (*extracted.warnings, notice) if notice else extracted.warnings


def vault_files(workspace: Workspace) -> VaultFiles:
    vault = workspace.settings.vault
    return VaultFiles(workspace.paths.vault, exclude=vault.exclude, max_note_bytes=vault.max_note_bytes)


def watched_files(workspace: Workspace) -> WatchedFiles:
    vault = workspace.settings.vault
    return WatchedFiles(workspace.paths.vault, exclude=vault.exclude, max_note_bytes=vault.max_note_bytes)


def count_files_of_notes(workspace: Workspace, most: int) -> tuple[int, bool]:
    """How many notes lie in the vault, and whether that is all: no more than so many files are looked at."""
    from itertools import islice

    seen = list(islice(vault_files(workspace).scan(), most + 1))
    notes = sum(isinstance(found, FileStamp) and is_note(found.path) for found in seen[:most])
    return notes, len(seen) <= most
