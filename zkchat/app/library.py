"""The notes of a vault: files, index, PDFs and embeddings, kept up to date before each use."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat import models, storage
from zkchat.app.databases import DatabasePaths
from zkchat.app.paths import Paths
from zkchat.app.workspace import (
    UNATTENDED,
    Notices,
    Workspace,
    calendar_of,
    load_workspace,
    local_folders_of,
    local_globs,
)
from zkchat.app.writing import note_name_formats, recover_interrupted_changes
from zkchat.core import (
    Environment,
    ExtractedText,
    ExtractedTexts,
    FileStamp,
    ModelProvider,
    NoteFiles,
    NoteWarning,
    OpenText,
    PdfUnread,
    ProviderError,
    install_command,
    is_note,
)
from zkchat.index import (
    DateSources,
    Library,
    LibraryOptions,
    Progress,
    Refreshed,
    SqliteNoteIndex,
    TextExtraction,
    VectorSearch,
)
from zkchat.notes import unmatched
from zkchat.storage import GitHistory, SqliteExtractedTexts, VaultFiles, template_folders, writable_cache_path
from zkchat.subprocesses import ProcessPool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zkchat.app.conversation_core import ConversationOptions
    from zkchat.app.models import LiveSettings
    from zkchat.core import TextExtractor
    from zkchat.models import OnnxEmbedder, ServerEmbedder
    from zkchat.storage import FolderWatch


class ServerEmbedders:
    """The embedding models of servers that one process uses, until it closes them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.wanted = _embedder(workspace, workspace.settings.embeddings.model)
        self._in_use = [self.wanted] if self.wanted else []
        self._is_closed = False

    def former(self, method: str) -> "ServerEmbedder | OnnxEmbedder | None":
        """The model whose vectors have this name, by the settings in force; None where they do not lead to it."""
        embedder = None if self._is_closed else _embedder(self._workspace, method.partition("#")[0])
        if embedder is None or embedder.name != method:
            return None
        self._in_use.append(embedder)
        return embedder

    def close(self) -> None:
        """End what is waited for; nothing is asked any more."""
        self._is_closed = True
        for embedder in self._in_use:
            embedder.close()

    def end_if_changed(self, now: Workspace) -> str:
        """Close them where the settings say something else now of what is sent where for vectors; says so."""
        then = self._workspace
        if not then.settings.embeddings.model or _server_settings(then) == _server_settings(now):
            return ""
        self.close()
        return "The search model was changed: nothing is sent to it until you restart zkchat."


def _server_settings(workspace: Workspace) -> tuple[object, ...]:
    settings = workspace.settings
    return settings.embeddings, settings.ollama, settings.openai, workspace.loaded.privacy_unknown


def check_embedder(workspace: Workspace) -> str:
    """Have the model of `embeddings.model` embed a word, and describe it. Raises `ZkchatError`."""
    embedder = _embedder(workspace, workspace.settings.embeddings.model)
    if embedder is None:
        raise ProviderError(
            f"{workspace.loaded.privacy_unknown} So no notes are sent to {workspace.settings.embeddings.model}.",
            hint="Fix the file or move it away.",
        )
    embedder.embed_query(OpenText("hello"))
    place = "on this machine" if embedder.is_on_this_machine else "elsewhere: private notes are not sent"
    return f"{workspace.settings.embeddings.model} (ready, {place})"


def embed_texts(workspace: Workspace, texts: Sequence[str]) -> "tuple[str, NDArray[np.float32]]":
    """The vectors of texts of which nobody knows whether they may leave this machine, and what made them.

    Raises `ZkchatError`, also where they would have to leave it.
    """
    embedder = _embedder(workspace, workspace.settings.embeddings.model)
    if embedder is None:
        static = models.installed()
        return static.name, static.embed(texts)
    with closing(embedder):
        return embedder.name, embedder.embed(texts)


def _embedder(workspace: Workspace, name: str) -> "ServerEmbedder | OnnxEmbedder | None":
    """A model for embeddings, which is sent nothing yet; None for a name that means none.

    Where the vault's settings could not be read, it is unknown which notes stay on this machine, and one elsewhere is
    not used.
    """
    provider, _, model = name.partition(":")
    if provider == "local":
        return models.OnnxEmbedder(workspace.environment.cache_dir / "models" / model)
    if not model or provider not in {"ollama", "openai"}:
        return None
    from zkchat.app.models import provider_context

    wanted, descriptor = workspace.settings.embeddings, models.descriptor_of(provider)
    is_local = wanted.local and bool(wanted.base_url or getattr(workspace.settings, provider).local)
    own = models.ModelSettings(base_url=wanted.base_url, api_key_env=wanted.api_key_env, local=is_local)
    named = models.NamedModel(provider=provider, id=model, table="embeddings", settings=own)
    context = descriptor.context_for(named, provider_context(workspace))
    address = descriptor.server_address(context) or models.OPENAI
    if workspace.loaded.privacy_unknown and not (is_local and models.is_loopback(address)):
        return None
    variable, key = descriptor.variable(context), descriptor.key(context).value
    settings = models.EmbeddingSettings(
        batch_size=wanted.batch_size,
        timeout=wanted.timeout,
        dimensions=wanted.dimensions,
        query_prefix=wanted.query_prefix,
        document_prefix=wanted.document_prefix,
        options=wanted.options,
        local=is_local,
    )
    if provider == "ollama":
        return models.ollama_embedder(model, host=address, api_key=key, settings=settings)
    return models.openai_embedder(model, base_url=address, api_key=key, key_variable=variable, settings=settings)


PACKAGE: Final = "pypdfium2"
NOT_INSTALLED: Final = f"Reading PDFs needs the package {PACKAGE}, which is not installed."
MAX_SECONDS_BEFORE_SEARCH: Final = 1.0
"""That a search or a question waits for texts of PDFs. `zkchat config index` extracts all."""


def unread_reason(workspace: Workspace) -> tuple[str, str] | None:
    """Why PDFs are not read here, and what helps; None where they are."""
    if not workspace.settings.vault.pdf:
        return "PDFs are not read, because vault.pdf is off.", "To read them: zkchat config set vault.pdf true"
    return None if find_spec(PACKAGE) else (NOT_INSTALLED, f"Install it: {install_command('pdf')}")


class UnreadPdfs(Struct, frozen=True):
    """Implements `ExtractedTexts` where PDFs are not read: who asks for one is told why."""

    message: str
    hint: str

    def covers(self, path: str) -> bool:  # noqa: ARG002 - a PDF is an attachment like any other
        return False

    def find(self, stamp: FileStamp) -> ExtractedText | None:  # noqa: ARG002
        return None

    def latest(self, path: str) -> ExtractedText | None:
        raise PdfUnread(f"{path}: {self.message}", hint=self.hint)


def open_pdf_texts(
    workspace: Workspace, index: Path, stack: ExitStack
) -> tuple[ExtractedTexts, Callable[[NoteFiles, SqliteNoteIndex], TextExtraction] | None]:
    """The texts, in a file beside the index, and what extracts them, unless PDFs are not read here."""
    settings = workspace.settings.vault
    if reason := unread_reason(workspace):
        return UnreadPdfs(*reason), None
    own = DatabasePaths(workspace).cache("pdf.db")
    path = own if index.parent == own.parent else index.with_name("pdf.db")
    store = stack.enter_context(closing(SqliteExtractedTexts(path, settings.max_pdf_bytes)))

    def extractor() -> "TextExtractor":
        limits = storage.PdfLimits(
            max_bytes=settings.max_pdf_bytes, max_pages=settings.max_pdf_pages, max_seconds=settings.max_pdf_seconds
        )
        return storage.PdfExtractor(limits, workspace.environment.variables)

    return store, lambda files, index: TextExtraction(files, index, store, extractor)


MAX_EMBEDDED_BEFORE_SEARCH = 2048
"""Sections that get their vectors before a search: some tenths of a second, once. `zkchat config index` does all."""


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
    workspace: Workspace, live: "LiveSettings | None" = None
) -> Iterator[tuple[Library, tuple[str, ...]]]:
    """The notes; where the cache cannot be written, they are indexed for this once, and a notice says so.

    A change whose process was killed is taken back first. With `live`, settings of privacy that change count.
    """
    interrupted = recover_interrupted_changes(workspace)
    with ExitStack() as stack:
        own = DatabasePaths(workspace).cache("index.db")
        path, reason = stack.enter_context(writable_cache_path(own, workspace.environment.temporary_folders))
        unwritable = f"{own.parent} cannot be written ({reason}), so your notes are indexed again for this command."
        library = _open_with_index(stack, workspace, path, live)
        yield library, (*interrupted, unwritable) if reason else interrupted


def _open_with_index(stack: ExitStack, workspace: Workspace, path: Path, live: "LiveSettings | None") -> Library:
    index = stack.enter_context(closing(SqliteNoteIndex(path)))
    embedders = ServerEmbedders(workspace)
    vectors = VectorSearch(  # of the wanted method, with static ones behind those of a server
        index.vectors,
        embedders.wanted or models.installed(),
        base=models.installed(),
        former=embedders.former,
        query_seconds=workspace.settings.embeddings.query_timeout,
        clock=monotonic,
    )
    extracted, extraction = open_pdf_texts(workspace, path, stack)
    limits = workspace.settings.vault
    files = stack.enter_context(
        closing(
            storage.WatchedFiles(workspace.paths.vault, exclude=limits.exclude, max_note_bytes=limits.max_note_bytes)
        )
    )

    def exclude_anew(now: Workspace) -> str:
        files.exclude(now.settings.vault.exclude)
        return ""

    if live:
        live.follow(exclude_anew)
        live.follow(embedders.end_if_changed)
    vault, environment = workspace.paths.vault, workspace.environment
    history = GitHistory(vault, environment.variables, environment.temporary_folders)
    # Each takes some 100 MB, and more wait for the one that writes.
    library = Library.over(
        files,
        index,
        vectors,
        workers=ProcessPool(min(2, os.cpu_count() or 1)),
        options=LibraryOptions(
            local_only=live.local_only if live else local_globs(workspace),
            templates=partial(template_folders, vault),
            calendar=partial(calendar_of, workspace),
            dates=DateSources(name_formats=partial(note_name_formats, vault), history=history),
            extracted=extracted,
            extraction=extraction,
        ),
    )
    stack.enter_context(closing(library))
    stack.callback(embedders.close)  # first of all: the library waits for what goes on in its background
    return library


def embed_for_search(library: Library) -> None:
    """Compute missing vectors, but not for longer than somebody waits for a search."""
    library.embed(lambda done: done < MAX_EMBEDDED_BEFORE_SEARCH)


def extract_for_search(library: Library) -> tuple[NoteWarning, ...]:
    """Extract missing texts of PDFs, but not for longer than somebody waits for a search; says how many are left."""
    extracted = library.extract(seconds=MAX_SECONDS_BEFORE_SEARCH)
    notice = extracted.notice()
    return (*extracted.warnings, notice) if notice else extracted.warnings


def vault_files(workspace: Workspace) -> VaultFiles:
    vault = workspace.settings.vault
    return VaultFiles(workspace.paths.vault, exclude=vault.exclude, max_note_bytes=vault.max_note_bytes)


def count_files_of_notes(workspace: Workspace, most: int) -> tuple[int, bool]:
    """How many notes lie in the vault, and whether that is all: no more than so many files are looked at."""
    seen = list(islice(vault_files(workspace).scan(), most + 1))
    notes = sum(isinstance(found, FileStamp) and is_note(found.path) for found in seen[:most])
    return notes, len(seen) <= most


MAX_UNSCANNED_SECONDS: Final = 60.0
"""How long files are not looked at while the system tells of no change. What it cannot see is found then: a write
through a hard link elsewhere, or into mapped memory."""
MAX_REFRESH_SECONDS = 0.04
"""That a turn of a chat waits for the index; what takes longer goes on beside it."""


class FreshIndex:
    """Refreshes a library, unless it is certain that nothing changed."""

    def __init__(self, library: Library, watch: "FolderWatch | None") -> None:
        self._library = library
        self._watch = watch
        self._scanned: float | None = None

    def refresh(self, progress: Progress | None = None) -> Refreshed | None:
        """None where there was nothing to do."""
        now, is_quiet = monotonic(), self._watch is not None and self._watch.is_quiet()
        if is_quiet and self._scanned is not None and now - self._scanned < MAX_UNSCANNED_SECONDS:
            return None
        if self._watch is not None and not is_quiet:
            self._watch.begin()  # first, so that a change during the scan is noticed
        self._scanned = None
        refreshed = self._library.refresh(progress)
        self._scanned = now
        return refreshed


@contextmanager
def open_fresh_index(workspace: Workspace, library: Library) -> Iterator[FreshIndex]:
    watch = storage.FolderWatch.over(workspace.paths.vault)
    with closing(watch) if watch else nullcontext():
        yield FreshIndex(library, watch)


class NoteIndexRefresher:
    """Brings it up to date; also checks the folders of `privacy.local_only`, once for each change."""

    def __init__(
        self, library: Library, provider: ModelProvider, live: "LiveSettings", options: "ConversationOptions"
    ) -> None:
        self._library = library
        self._provider = provider
        self._user_interface = options.user_interface
        self._bounded = options.bounded_refresh

        def check(workspace: Workspace) -> str:
            self._unchecked = local_folders_of(workspace)
            return ""

        check(live.workspace)
        live.follow(check)

    def refresh(self) -> Refreshed:
        library = self._library
        if self._bounded and not library.is_empty():
            refreshed = library.refresh_within(MAX_REFRESH_SECONDS) or Refreshed()
        else:
            with self._user_interface.indexing_progress() as progress:
                refreshed = library.refresh(progress)
        if self._bounded:
            library.extract_in_background()
        else:
            refreshed = replace(refreshed, warnings=(*refreshed.warnings, *extract_for_search(library)))
        if self._bounded or self._provider.info.calls_tools:
            library.embed_in_background()
        else:  # it is handed evidence at once
            embed_for_search(library)
        if self._unchecked and not library.is_empty():
            odd = unmatched(self._unchecked, [row.path for row in library.indexed()])
            refreshed = replace(refreshed, warnings=(*refreshed.warnings, *odd))
            self._unchecked.clear()
        return refreshed
