"""The files of a vault in a process that looks at them again and again: most looks list a few folders only."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from zkchat.model.folder import FolderListing
from zkchat.storage.vault_files import VaultFiles

if TYPE_CHECKING:
    from zkchat.storage.folder_watch import FolderWatch

MAX_UNLISTED_SECONDS: Final = 60.0
"""How long folders are not listed in which the system tells of no change. What it cannot see is found then: a write
through a hard link elsewhere, or into mapped memory."""


class WatchedFiles(VaultFiles):
    """Begins to watch at the second look: a process that looks once has no use for it."""

    def __init__(self, root: Path, *, exclude: Sequence[str], max_note_bytes: int) -> None:
        super().__init__(root, exclude=exclude, max_note_bytes=max_note_bytes)
        self._watch: FolderWatch | None = None
        self._may_watch = True
        self._listed_at: float | None = None
        """When all folders were last listed with the watch at work."""

    def exclude(self, globs: Sequence[str]) -> None:
        super().exclude(globs)
        self._listed_at = None  # so that all folders are listed again

    def folders(self) -> Iterator[FolderListing]:
        started, self._listed_at = monotonic(), None
        has_links = False
        for listing in super().folders():
            has_links |= listing.has_links
            yield listing
        if self._watch and not has_links:  # what a link shows may change where nobody looks
            self._listed_at = started

    def changed_folders(self, unsettled: Iterable[str]) -> list[FolderListing] | None:
        changed = self._watch.changed_folders() if self._watch else None
        if changed is None:
            self._begin()
            return None
        if self._listed_at is None or monotonic() - self._listed_at > MAX_UNLISTED_SECONDS:
            return None
        prefixes = [prefix for prefix in sorted({*changed, *unsettled}) if self._is_walked(prefix)]
        listings = [self.list_folder(prefix) for prefix in prefixes]
        return None if any(listing.has_links for listing in listings) else listings

    def _begin(self) -> None:
        """Watch from now on, unless the system does not tell, or there are too many folders."""
        from zkchat.storage.folder_watch import FolderWatch

        if self._may_watch:
            self._watch = self._watch or FolderWatch.over(self._root)
            self._may_watch = self._watch is not None and self._watch.begin()

    def _is_walked(self, prefix: str) -> bool:
        return not prefix or self._is_included(prefix[:-1].split("/"))

    def close(self) -> None:
        if self._watch:
            self._watch.close()
