"""The index of a program that runs for long, up to date before each use, at little cost where nothing changed."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Final

from zkchat.compose.workspace import Workspace

if TYPE_CHECKING:
    from zkchat.storage.folder_watch import FolderWatch
    from zkchat.vault.indexing.indexer import Progress, Refreshed
    from zkchat.vault.library import Library

MAX_UNSCANNED_SECONDS: Final = 60.0
"""How long files are not looked at while the system tells of no change. What it cannot see is found then: a write
through a hard link elsewhere, or into mapped memory."""


class FreshIndex:
    """Refreshes a library, unless it is certain that nothing changed."""

    def __init__(self, library: "Library", watch: "FolderWatch | None") -> None:
        self._library = library
        self._watch = watch
        self._scanned: float | None = None

    def refresh(self, progress: "Progress | None" = None) -> "Refreshed | None":
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
def open_fresh_index(workspace: Workspace, library: "Library") -> Iterator[FreshIndex]:
    from zkchat.storage.folder_watch import FolderWatch

    watch = FolderWatch.over(workspace.paths.vault)
    with closing(watch) if watch else nullcontext():
        yield FreshIndex(library, watch)
