"""A vault for one host: opened with the first call that needs it, up to date before each, used by one thread."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property, partial
from typing import TypeVar

from msgspec import Struct

from zkchat.compose.fresh_index import FreshIndex, open_fresh_index
from zkchat.compose.library import embed_for_search, open_note_library
from zkchat.compose.live_settings import LiveSettings
from zkchat.compose.local_notes import local_folders_of
from zkchat.compose.user_interface import UNATTENDED, Notices
from zkchat.compose.workspace import Workspace
from zkchat.context.formatting import documents_in
from zkchat.errors import ConfigError, StorageError
from zkchat.mcp_server.changes import HostChanges, open_host_changes
from zkchat.mcp_server.vault_files import FileContent, VisibleFiles, read_uri
from zkchat.mcp_server.worker import Worker
from zkchat.model.note import is_note
from zkchat.model.parts import ToolCallPart
from zkchat.model.prompt import ModelInfo
from zkchat.ports.tools import ToolOutcome
from zkchat.tools.explore import explore_tools
from zkchat.tools.toolbox import Toolbox
from zkchat.vault.indexing.indexer import Progress
from zkchat.vault.library import GuardedLibrary, Library
from zkchat.vault.privacy.local_folders import unmatched

Done = TypeVar("Done")


class HostOptions(Struct, frozen=True, kw_only=True):
    """What the user allows the host."""

    is_local: bool = False
    """Whether its model runs on this machine, so that it may see local notes."""
    may_write: bool = False


class HostModel(Struct, frozen=True):
    """Implements `ports.models.LocatedModel` for the model of a host, of which only the user knows where it runs."""

    is_local: bool

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(provider="mcp", id="", calls_tools=True, on_this_machine=self.is_local)


class OpenVault:
    """The notes as the host's model may see them. Only the worker's thread uses it."""

    def __init__(self, workspace: Workspace, whole: Library, model: HostModel, changes: HostChanges | None) -> None:
        self.workspace = workspace
        self.library: GuardedLibrary = whole.guarded_for(model)
        self.changes = changes

    @cached_property
    def files(self) -> VisibleFiles:
        return VisibleFiles(self.library)

    @cached_property
    def _read_tools(self) -> Toolbox:
        return Toolbox(explore_tools(self.library, self.workspace.environment.now))

    def read(self, tool: str, arguments: str) -> ToolOutcome:
        """Call one of the tools that read notes."""
        outcome = asyncio.run(self._read_tools.call(ToolCallPart(call_id="", name=tool, arguments=arguments)))
        if self.changes and not outcome.failed:
            self.changes.readings.see(outcome.references, documents_in(outcome.text))
        return outcome

    def read_resource(self, uri: str) -> FileContent:
        """What an address names, as `read_uri`; of a note the host's model knows it from now on."""
        content = read_uri(self.files, uri)
        if self.changes and is_note(content.place.path):
            self.changes.readings.show(content.place.path, content.place.heading)
        return content


class VaultService:
    """What the handlers of requests use: `use` runs a function over the open vault in the worker's thread."""

    def __init__(self, workspace: Workspace, options: HostOptions, notices: Notices = UNATTENDED) -> None:
        self.options = options
        self._notices = notices
        self._worker = Worker()
        self._resources = ExitStack()
        self._index: FreshIndex | None = None
        self._vault: OpenVault | None = None
        self._is_embedded = False
        self._live = LiveSettings(workspace)

    async def use(self, work: Callable[[OpenVault], Done], progress: Progress | None = None) -> Done:
        """Bring the index up to date, then do the work. `progress` hears, in the worker, how far the indexing is."""
        return await self._worker.run(partial(self._work, work, progress))

    def close(self) -> None:
        self._worker.close(self._release)

    def _release(self) -> None:
        self._resources.close()  # of what is open by then

    def _work(self, work: Callable[[OpenVault], Done], progress: Progress | None) -> Done:
        vault = self._open()
        self._refresh(vault.library.whole, progress)
        return work(vault)

    @property
    def workspace(self) -> Workspace:
        """With the settings that count now."""
        return self._live.workspace

    def _open(self) -> OpenVault:
        self._catch_up()
        if self._vault is None:
            with ExitStack() as stack:
                library, said = stack.enter_context(open_note_library(self.workspace))
                for notice in (*said, *self.workspace.loaded.every_warning):
                    self._notices.note(notice)
                model = HostModel(self.options.is_local)
                changes = None
                if self.options.may_write:
                    changes = stack.enter_context(open_host_changes(self.workspace, library, model, self._notices))
                self._index = stack.enter_context(open_fresh_index(self.workspace, library))
                self._vault = OpenVault(self.workspace, library, model, changes)
                self._resources = stack.pop_all()
        return self._vault

    def _catch_up(self) -> None:
        """Close a vault whose settings have changed: they say which notes are local. Raises `ConfigError`."""
        live, version = self._live, self._live.version
        live.catch_up()
        for notice in live.take_notices():
            self._notices.note(notice)
        if live.version != version:
            self._resources.close()
            self._vault, self._is_embedded = None, False
        if live.problem and not self.options.is_local:
            # Without the reason: it may quote the name of a folder, which is not for the host's model.
            raise ConfigError(
                "The user's settings cannot be used, so no note is served.", hint="zkchat config show says why."
            )

    def _refresh(self, library: Library, progress: Progress | None) -> None:
        assert self._index is not None
        try:
            refreshed = self._index.refresh(progress)
        except StorageError as error:
            if library.is_empty():
                raise
            self._notices.note(f"Notes are shown as they were indexed last: {error.message}")
            return
        if not self._is_embedded:
            embed_for_search(library)
            self._say_unmatched(library)
        if not self._is_embedded or (refreshed and refreshed.changed):
            library.embed_in_background()
            library.extract_in_background()
        self._is_embedded = True

    def _say_unmatched(self, library: Library) -> None:
        """Report folders of `privacy.local_only` that hold no note: a mistyped one guards nothing."""
        for warning in unmatched(local_folders_of(self.workspace), [row.path for row in library.indexed()]):
            self._notices.note(f"warning: {warning.text}")
