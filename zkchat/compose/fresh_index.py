"""The index of a conversation and of a server, up to date before each use, at little cost where nothing changed."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from time import monotonic
from typing import Final

from msgspec.structs import replace

from zkchat.compose.conversation_options import ConversationOptions
from zkchat.compose.library import embed_for_search, extract_for_search
from zkchat.compose.live_settings import LiveSettings
from zkchat.compose.local_notes import local_folders_of
from zkchat.compose.workspace import Workspace
from zkchat.ports.models import ModelProvider
from zkchat.storage.folder_watch import FolderWatch
from zkchat.vault.indexing.indexer import Progress, Refreshed
from zkchat.vault.library import Library
from zkchat.vault.privacy.local_folders import unmatched

MAX_UNSCANNED_SECONDS: Final = 60.0
"""How long files are not looked at while the system tells of no change. What it cannot see is found then: a write
through a hard link elsewhere, or into mapped memory."""
MAX_REFRESH_SECONDS = 0.04
"""That a turn of a chat waits for the index; what takes longer goes on beside it."""


class FreshIndex:
    """Refreshes a library, unless it is certain that nothing changed."""

    def __init__(self, library: Library, watch: FolderWatch | None) -> None:
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
    watch = FolderWatch.over(workspace.paths.vault)
    with closing(watch) if watch else nullcontext():
        yield FreshIndex(library, watch)


class NoteIndexRefresher:
    """Brings it up to date; also checks the folders of `privacy.local_only`, once for each change."""

    def __init__(
        self,
        library: Library,
        provider: ModelProvider,
        live: LiveSettings,
        options: ConversationOptions,
    ) -> None:
        self._library = library
        self._provider = provider
        self._unchecked = local_folders_of(live.workspace)
        live.follow(self._check_again)
        self._user_interface = options.user_interface
        self._bounded = options.bounded_refresh

    def _check_again(self, workspace: Workspace) -> str:
        self._unchecked = local_folders_of(workspace)
        return ""

    def refresh(self) -> Refreshed:
        library = self._library
        refreshed = self._refreshed()
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

    def _refreshed(self) -> Refreshed:
        if self._bounded and not self._library.is_empty():
            return self._library.refresh_within(MAX_REFRESH_SECONDS) or Refreshed()
        with self._user_interface.indexing_progress() as progress:
            return self._library.refresh(progress)
