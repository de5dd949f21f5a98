"""Bringing the index up to what the vault's files say. Only what changed is read again.

Changes go in batches, each of which takes effect whole or not at all, so that an interrupted refresh is simply gone on
with by the next one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    Commit,
    CommittedFiles,
    ExtractedTexts,
    FileStamp,
    FolderListing,
    HistoryStatus,
    IndexBatch,
    KnownFolder,
    KnownFolders,
    ListedFiles,
    NoteWarning,
    Workers,
    folder_of,
    is_drawing,
    is_note,
)
from zkchat.index.indexing.reader import Listed, PartRead, names_of_file, names_of_known, parts_of, read_part
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.notes import LiveCatalog, is_indexed, name_date, without_templates
from zkchat.storage import GitHistory


class DateSources(Struct, frozen=True, kw_only=True):
    name_formats: Callable[[], Sequence[str]] = tuple
    """The formats by which Obsidian names notes of days, weeks and months, in the notation of moment.js."""
    history: GitHistory | None = None


NO_DATES: Final = DateSources()


class Dating:
    """Finds dates that no note says itself."""

    def __init__(self, index: SqliteNoteIndex, sources: DateSources) -> None:
        self._index = index
        self._sources = sources

    def apply_formats(self, paths: Callable[[], Iterable[str]]) -> Sequence[str]:
        """The formats of names; if they are others than before, the names of all notes are read again."""
        formats = tuple(self._sources.name_formats())
        written = "\0".join(formats).encode(errors="replace")
        rule = int.from_bytes(blake2b(written, digest_size=6).digest()) if formats else 0
        if self._index.name_rule() != rule:
            self._index.store_names(rule, {path: name_date(path, formats) for path in paths()})
        return formats

    def commits_of(self, path: str, limit: int) -> list[Commit]:
        history = self._sources.history
        return history.commits_of(path, limit) if history else []

    def history_status(self) -> HistoryStatus:
        history = self._sources.history
        status = history.status() if history else HistoryStatus(is_repository=False)
        _, trouble = self._index.commits_read()
        return status if status.reason or not trouble else replace(status, reason=trouble)

    def read_history(self) -> None:
        history = self._sources.history
        known, trouble = self._index.commits_read()
        head = history.head() if history else ""
        if head == known:
            return
        if history is None or not head:
            self._index.store_commits(CommittedFiles(head=""))
            return
        found = history.read(head, "" if trouble else known)
        files = {path: each for path, each in found.files.items() if is_note(path) or is_drawing(path)}
        self._index.store_commits(replace(found, files=files))


class VaultDifference:
    """Collects differences while the folders of a vault are listed."""

    def __init__(self, index: SqliteNoteIndex, extracted: ExtractedTexts | None, known: dict[str, KnownFolder]) -> None:
        self._index = index
        self._extracted = extracted
        self._rule = b"extracted" if extracted else b""
        self._unseen = known
        self.changed: dict[str, KnownFolder] = {}
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

    def compare(self, listings: Iterable[FolderListing], *, is_whole: bool) -> None:
        """With all folders as they are listed now, or with some: then the others are as they were."""
        for listing in listings:
            self.warnings += listing.warnings
            known = self._unseen.pop(listing.prefix, None)
            digest = listing.digest(self._rule)
            if known and known.digest == digest and listing.is_settled:
                self.notes += known.notes
            elif known or listing.names:
                self._compare_files(listing, digest)
        if not is_whole:
            self.notes += sum(known.notes for known in self._unseen.values())
            return
        for prefix in sorted(self._unseen):
            self._compare_files(FolderListing(prefix), b"")
        self.gone = [*self._unseen]

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
        # A file is not read again now if its text is still to be extracted.
        is_waited_for = any(not stamp.settled and not is_note(stamp.path) for stamp in known.stamps.values())
        if digest and listing.is_settled and not is_waited_for:
            self.changed[listing.prefix] = KnownFolder(digest, notes)

    def _is_as_known(self, stamp: FileStamp, known: FileStamp | None) -> bool:
        """Whether there is nothing new of a file: it is the same, or its text is still to be extracted."""
        if known == stamp and stamp.settled:
            return True
        if known is None or not (self._extracted and self._extracted.covers(stamp.path)):
            return False
        return known[1:3] == stamp[1:3] and (known.settled or self._extracted.find(stamp) is None)


Progress = Callable[[int, int], None]
"""Told how many of how many changed notes are done."""

_MIN_SHARED_PARTS = 3
"""Parts from which on other processes are asked to help: to start them costs about as much as to read one."""
_FIRST_PART_NOTES = 250
"""Notes of a part while the first are shared: other processes tell nothing of a part until it is done."""
_LAST_PART_NOTES = 350
"""Notes of a part while the last are shared, so that no process waits long for another to be done."""


class Refreshed(Struct, frozen=True, kw_only=True):
    notes: int = 0
    """In the vault, all in all."""
    changed: int = 0
    """New, or with another text than before."""
    removed: int = 0
    links: int = 0
    """Resolved, or resolved again."""
    warnings: tuple[NoteWarning, ...] = ()
    """About what changed, and what now cannot be listed; what an earlier refresh found wrong is not repeated."""


class Indexer:
    def __init__(
        self,
        files: ListedFiles,
        index: SqliteNoteIndex,
        catalog: LiveCatalog,
        workers: Workers | None = None,
        templates: Callable[[], Sequence[str]] = tuple,
        extracted: ExtractedTexts | None = None,
        dates: DateSources = NO_DATES,
    ) -> None:
        self._files = files
        self._index = index
        self._catalog = catalog
        self._workers = workers
        self._templates = templates
        self._extracted = extracted
        self.dating = Dating(index, dates)
        self._name_formats: Sequence[str] = ()
        self._looked_at_epoch: int | None = None
        """Of the index after the last look, if that came to its end."""

    def refresh(self, progress: Progress) -> Refreshed:
        self._name_formats = self.dating.apply_formats(self._index.stamps)
        known = self._index.folders()
        found = VaultDifference(self._index, self._extracted, known.by_prefix)
        news = self._look(found, known)
        generation = known.generation + self._forget(found)  # first, because it costs no reading
        known_warnings = {(each.path, each.kind) for each in self._index.warnings()} if found.to_read else set()
        parts = [*self._parts_read(found.to_read, progress)] if found.to_read else []
        warnings = [each for part in parts for each in part.warnings if (each.path, each.kind) not in known_warnings]
        warnings.sort(key=lambda warning: warning.path)
        to_look_at = {folder_of(path) for part in parts for path in part.unsettled}
        settled = {prefix: known for prefix, known in found.changed.items() if prefix not in to_look_at}
        if settled or found.gone:
            self._index.store_folders(generation + len(parts), settled, found.gone)
        links = 0
        while sources := self._index.notes_to_resolve(2_000):
            resolved_at = self._catalog.catch_up()
            resolved = self._catalog.resolve_all(self._index.links_to_resolve(sources))
            links += len(resolved) if self._index.store_resolutions(resolved_at, sources, resolved) else 0
        self.dating.read_history()
        if not self._index.is_complete():
            from zkchat.index.search.postings import merge_segments  # needs NumPy

            merge_segments(self._index)
            self._index.finish()
        self._looked_at_epoch = known.epoch
        return Refreshed(
            notes=found.notes,
            changed=sum(part.changed for part in parts),
            removed=len(found.removed),
            links=links,
            warnings=(*news, *without_templates(warnings, self._templates)),
        )

    def _look(self, found: VaultDifference, known: KnownFolders) -> list[NoteWarning]:
        """Compare all folders, or those that changed since the last look. Returned is what now cannot be listed."""
        may_be_partial, self._looked_at_epoch = self._looked_at_epoch == known.epoch, None
        changed = self._files.changed_folders(known.unsettled()) if may_be_partial else None
        if changed is not None and not self._index.unlisted() and not any(listing.warnings for listing in changed):
            found.compare(changed, is_whole=False)
            return []
        found.compare(self._files.folders(), is_whole=True)
        before = {*self._index.unlisted()}
        if before != {*found.warnings}:
            self._index.store_unlisted(found.warnings)
        return [warning for warning in found.warnings if warning not in before]

    def _forget(self, found: VaultDifference) -> bool:
        """Drop what is gone, and take note of attachments, of which there is nothing to read. Whether there is any."""
        if not (found.removed or found.added_files or found.removed_files):
            return False
        lost = [pair for path in found.removed for pair in names_of_known(path, self._index.known(path))]
        lost += [pair for path in found.removed_files for pair in names_of_file(path)]
        self._index.apply(
            IndexBatch(
                removed=found.removed,
                added_files=found.added_files,
                removed_files=found.removed_files,
                names=[pair for path in found.added_files for pair in names_of_file(path)],
                lost_names=lost,
            )
        )
        return True

    def _parts_read(self, listed: Sequence[Listed], progress: Progress) -> Iterator[PartRead]:
        """Part after part, by other processes if there are many."""
        parts = parts_of(listed)
        read = partial(read_part, self._files, self._index, self._extracted, name_formats=self._name_formats)
        done = 0
        progress(done, len(listed))
        if self._workers and len(parts) >= _MIN_SHARED_PARTS:
            first, *others, last = parts
            shared = [*_cut(first, _FIRST_PART_NOTES), *others, *_cut(last, _LAST_PART_NOTES)]
            for part_read in self._workers.map(read, shared):
                done += part_read.notes
                progress(done, len(listed))
                yield part_read
            return

        def count() -> None:
            nonlocal done
            done += 1
            progress(done, len(listed))

        for part in parts:
            yield read(part, count)


def _cut(part: Sequence[Listed], notes: int) -> list[Sequence[Listed]]:
    return [part[at : at + notes] for at in range(0, len(part), notes)]
