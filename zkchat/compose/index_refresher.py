"""The index of a conversation, up to date before each of its turns."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from zkchat.compose.conversation_options import ConversationOptions
from zkchat.compose.library import embed_for_search, extract_for_search
from zkchat.compose.local_notes import local_folders_of
from zkchat.compose.workspace import Workspace

if TYPE_CHECKING:
    from zkchat.compose.live_settings import LiveSettings
    from zkchat.ports.models import ModelProvider
    from zkchat.vault.indexing.indexer import Refreshed
    from zkchat.vault.library import Library

MAX_REFRESH_SECONDS = 0.04
"""That a turn of a chat waits for the index; what takes longer goes on beside it."""


class NoteIndexRefresher:
    """Implements `chat.turn.IndexRefresher`; also checks the folders of `privacy.local_only`, once for each change."""

    def __init__(
        self,
        library: "Library",
        provider: "ModelProvider",
        live: "LiveSettings",
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

    def refresh(self) -> "Refreshed":
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
            from zkchat.vault.privacy.local_folders import unmatched

            odd = unmatched(self._unchecked, [row.path for row in library.indexed()])
            refreshed = replace(refreshed, warnings=(*refreshed.warnings, *odd))
            self._unchecked.clear()
        return refreshed

    def _refreshed(self) -> "Refreshed":
        from zkchat.vault.indexing.indexer import Refreshed

        if self._bounded and not self._library.is_empty():
            return self._library.refresh_within(MAX_REFRESH_SECONDS) or Refreshed()
        with self._user_interface.indexing_progress() as progress:
            return self._library.refresh(progress)
