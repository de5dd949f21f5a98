"""What the files of a vault say that its index does not, folder by folder.

A folder that is listed as it was when all its files were indexed is passed over, so that of a large vault nothing is
loaded but the few folders in which something changed.
"""

from collections.abc import Iterable

from zkchat.model.folder import FolderListing, KnownFolder, folder_of
from zkchat.model.note import FileStamp, NoteWarning, is_note
from zkchat.ports.extraction import ExtractedTexts
from zkchat.ports.note_index import NoteIndex
from zkchat.vault.documents.readers import is_indexed
from zkchat.vault.indexing.reader import Listed


class VaultDifference:
    """Collects differences while the folders of a vault are listed."""

    def __init__(self, index: NoteIndex, extracted: ExtractedTexts | None, known: dict[str, KnownFolder]) -> None:
        self._index = index
        self._extracted = extracted
        self._rule = b"extracted" if extracted else b""
        self._unseen = known
        self._changed: dict[str, KnownFolder] = {}
        """Folders that will be as they are listed once what is to be read is read."""
        self.notes = 0
        """In the vault, all in all."""
        self.to_read: list[Listed] = []
        """Notes, and other files whose text is indexed."""
        self.removed: list[str] = []
        self.added_files: list[str] = []
        self.removed_files: list[str] = []
        self.gone: list[str] = []
        """Folders of which nothing is left."""
        self.warnings: list[NoteWarning] = []

    def compare(self, listing: FolderListing) -> None:
        self.warnings += listing.warnings
        known = self._unseen.pop(listing.prefix, None)
        digest = listing.digest(self._rule)
        if known and known.digest == digest and listing.is_settled:
            self.notes += known.notes
        elif known or listing.names:
            self._compare_files(listing, digest)

    def add_gone_folders(self) -> None:
        """After all others: the folders that were not listed any more."""
        for prefix in sorted(self._unseen):
            self._compare_files(FolderListing(prefix), b"")
        self.gone = [*self._unseen]

    def keep_others(self) -> None:
        """Instead: the folders that were not listed are as they were."""
        self.notes += sum(known.notes for known in self._unseen.values())

    def settled_folders(self, unsettled: Iterable[str]) -> dict[str, KnownFolder]:
        """What to remember of the folders that changed, but for those that hold an unsettled file."""
        to_look_at = {*map(folder_of, unsettled)}
        return {prefix: known for prefix, known in self._changed.items() if prefix not in to_look_at}

    def _compare_files(self, listing: FolderListing, digest: bytes) -> None:
        stamps = listing.stamps()
        indexed = [stamp for stamp in stamps if is_indexed(stamp.path, self._extracted)]
        paths = {stamp.path for stamp in indexed}
        others = {stamp.path for stamp in stamps} - paths
        known = self._index.files_in(listing.prefix)
        notes = sum(map(is_note, paths))
        self.notes += notes
        self.to_read += [
            (stamp, stamp.path in known.stamps)
            for stamp in indexed
            if not self._is_as_known(stamp, known.stamps.get(stamp.path))
        ]
        self.removed += sorted(known.stamps.keys() - paths)
        self.added_files += sorted(others - known.attachments)
        self.removed_files += sorted(known.attachments - others)
        if digest and listing.is_settled and not self._is_waited_for(known.stamps.values()):
            self._changed[listing.prefix] = KnownFolder(digest, notes)

    def _is_as_known(self, stamp: FileStamp, known: FileStamp | None) -> bool:
        """Whether there is nothing new of a file: it is the same, or its text is still to be extracted."""
        if known == stamp and stamp.settled:
            return True
        if known is None or not (self._extracted and self._extracted.covers(stamp.path)):
            return False
        return known[1:3] == stamp[1:3] and (known.settled or self._extracted.find(stamp) is None)

    def _is_waited_for(self, known: Iterable[FileStamp]) -> bool:
        """Whether one of the files is not read again now because its text is still to be extracted."""
        return any(not stamp.settled and not is_note(stamp.path) for stamp in known)
