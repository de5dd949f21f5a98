"""Bringing the index up to what the vault's files say. Only what changed is read again.

Changes go in batches, each of which takes effect whole or not at all, so that an interrupted refresh is simply gone on
with by the next one.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from zkchat.model.index import IndexBatch
from zkchat.model.note import FileStamp, NoteWarning, is_note
from zkchat.ports import ExtractedTexts, NoteFiles, NoteIndex, Workers
from zkchat.vault.documents.readers import is_indexed
from zkchat.vault.indexing.dating import NO_DATES, DateSources, Dating
from zkchat.vault.indexing.reader import Listed, PartRead, keys_of_known, parts_of, read_part, without_collector
from zkchat.vault.links.resolver import CatalogEntry, LiveCatalog, keys_of_file
from zkchat.vault.note_warnings import without_templates
from zkchat.vault.search.segments import merge_segments

Progress = Callable[[int, int], None]
"""Told how many of how many changed notes are done."""

_RESOLVE_BATCH = 2_000
_MIN_SHARED_PARTS = 3
"""Parts from which on other processes are asked to help: to start them costs about as much as to read one."""
_FIRST_PART_NOTES = 250
"""Notes of a part while the first are shared: other processes tell nothing of a part until it is done."""
_LAST_PART_NOTES = 350
"""Notes of a part while the last are shared, so that no process waits long for another to be done."""


class Refreshed(Struct, frozen=True, kw_only=True):
    """What a refresh found."""

    notes: int = 0
    """In the vault, all in all."""
    changed: int = 0
    """New, or with another text than before."""
    removed: int = 0
    links: int = 0
    """Resolved, or resolved again."""
    warnings: tuple[NoteWarning, ...] = ()
    """About what changed, and what now cannot be listed; what an earlier refresh found wrong is not repeated."""


class _Difference(Struct, frozen=True, kw_only=True):
    """What the files say that the index does not."""

    notes: int
    to_read: Sequence[Listed]
    """Notes, and other files whose text is indexed."""
    removed: Sequence[str]
    added_files: Sequence[str]
    removed_files: Sequence[str]
    unlisted: Sequence[NoteWarning]


class _KnownFiles:
    """What the index says of the files. Loaded only when others changed it: most looks at a vault find nothing new."""

    def __init__(self, index: NoteIndex, extracted: ExtractedTexts | None) -> None:
        self._index = index
        self._extracted = extracted
        self._generation: int | None = None
        self.notes: dict[str, FileStamp] = {}
        self.settled: set[FileStamp | NoteWarning] = set()
        """The stamps of those notes that need not be read again while they are listed in just this way."""
        self.settled_others: set[FileStamp] = set()
        """Those of them that are not of notes."""
        self.attachments: set[str] = set()

    def catch_up(self) -> None:
        generation = self._index.generation()
        if self._generation != generation:
            self.notes = {path: FileStamp(path, *stamp) for path, stamp in self._index.stamps().items()}
            self.settled = {
                stamp for stamp in self.notes.values() if stamp.settled and is_indexed(stamp.path, self._extracted)
            }
            self.settled_others = {stamp for stamp in self.notes.values() if stamp.settled and not is_note(stamp.path)}
            self.attachments = self._index.attachments()
            self._generation = generation

    def follow(self, generation: int, *, stamps: Sequence[FileStamp] = (), gone: Sequence[str] = ()) -> None:
        """Change as the index just did with these notes, unless others changed it too."""
        if self._generation != generation - 1:
            return
        self._generation = generation
        for path in (*gone, *[stamp.path for stamp in stamps]):
            if before := self.notes.pop(path, None):
                self.settled.discard(before)
                self.settled_others.discard(before)
        self.notes |= {stamp.path: stamp for stamp in stamps}
        self.settled |= {stamp for stamp in stamps if stamp.settled}
        self.settled_others |= {stamp for stamp in stamps if stamp.settled and not is_note(stamp.path)}


class Indexer:
    def __init__(
        self,
        files: NoteFiles,
        index: NoteIndex,
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
        self._known = _KnownFiles(index, extracted)
        self.dating = Dating(index, dates)
        self._name_formats: Sequence[str] = ()

    def refresh(self, progress: Progress) -> Refreshed:
        self._known.catch_up()
        self._name_formats, generation = self.dating.apply_formats(self._known.notes.keys)
        self._follow(generation)
        difference = self._difference()
        news = self._unlisted_news(difference.unlisted)
        self._forget(difference)  # first, because it costs no reading
        changed, warnings = self._read(difference.to_read, progress)
        links = self._resolve_links()
        self._follow(self.dating.read_history())
        if not self._index.is_complete():
            merge_segments(self._index)
            self._index.finish()
        return Refreshed(
            notes=difference.notes,
            changed=changed,
            removed=len(difference.removed),
            links=links,
            warnings=(*news, *without_templates(warnings, self._templates)),
        )

    def _follow(self, generation: int | None) -> None:
        """Nothing but dates has changed, which neither files nor links depend on."""
        if generation is not None:
            self._catalog.follow(generation, entries=(), gone=())
            self._known.follow(generation)

    def _difference(self) -> _Difference:
        known = self._known
        known.catch_up()
        found = [*self._files.scan()]
        news = [each for each in found if each not in known.settled]
        stamps = [each for each in news if isinstance(each, FileStamp)]
        read = [stamp for stamp in stamps if is_indexed(stamp.path, self._extracted)]
        files = {stamp.path for stamp in stamps} - {stamp.path for stamp in read}
        settled = len(found) - len(news)
        seen = settled + sum(stamp.path in known.notes for stamp in read)
        others = len(known.settled_others.intersection(found)) if known.settled_others else 0
        return _Difference(
            notes=settled - others + sum(is_note(stamp.path) for stamp in read),
            to_read=[(stamp, stamp.path in known.notes) for stamp in read if not self._is_as_known(stamp)],
            removed=[]
            if seen == len(known.notes)
            else sorted(known.notes.keys() - ({each.path for each in found if isinstance(each, FileStamp)} - files)),
            added_files=sorted(files - known.attachments),
            removed_files=sorted(known.attachments - files),
            unlisted=[each for each in news if isinstance(each, NoteWarning)],
        )

    def _is_as_known(self, stamp: FileStamp) -> bool:
        """Whether there is nothing new of a file whose text is extracted: it is the same, or still waited for."""
        if not (self._extracted and self._extracted.covers(stamp.path)):
            return False
        known = self._known.notes.get(stamp.path)
        is_same = known is not None and known[1:3] == stamp[1:3]
        return is_same and ((known is not None and known.settled) or self._extracted.find(stamp) is None)

    def _unlisted_news(self, unlisted: Sequence[NoteWarning]) -> list[NoteWarning]:
        """What could be listed at the last refresh, whoever made that, and now cannot."""
        before = {*self._index.unlisted()}
        if before != {*unlisted}:
            self._index.store_unlisted(unlisted)
        return [warning for warning in unlisted if warning not in before]

    def _forget(self, difference: _Difference) -> None:
        """Drop what is gone, and take note of attachments, of which there is nothing to read."""
        files = [*difference.added_files, *difference.removed_files]
        if not (files or difference.removed):
            return
        touched = {key for path in files for key in keys_of_file(path)}
        for path in difference.removed:
            touched |= keys_of_known(path, self._index.known(path))
        batch = IndexBatch(
            removed=difference.removed,
            added_files=difference.added_files,
            removed_files=difference.removed_files,
            touched_keys=frozenset(touched),
        )
        self._catalog.catch_up()
        generation = self._index.apply(batch)
        self._catalog.follow(
            generation,
            entries=[CatalogEntry(path=path) for path in batch.added_files],
            gone=[*batch.removed, *batch.removed_files],
        )
        if not files:
            self._known.follow(generation, gone=batch.removed)

    def _read(self, listed: Sequence[Listed], progress: Progress) -> tuple[int, list[NoteWarning]]:
        if not listed:
            return 0, []
        before = {(warning.path, warning.kind) for warning in self._index.warnings()}
        self._catalog.catch_up()
        parts = [*self._parts_read(listed, progress)]
        for part in sorted(parts, key=lambda part: part.generation):
            self._catalog.follow(part.generation, entries=part.entries, gone=part.gone)
            self._known.follow(part.generation, stamps=part.stamps, gone=part.gone)
        warnings = [each for part in parts for each in part.warnings if (each.path, each.kind) not in before]
        return sum(part.changed for part in parts), sorted(warnings, key=lambda warning: warning.path)

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

    def _resolve_links(self) -> int:
        resolved = 0
        while sources := self._index.notes_to_resolve(_RESOLVE_BATCH):
            with without_collector():
                generation = self._catalog.catch_up()
                found = self._catalog.resolve_all(self._index.links_to_resolve(sources))
                if self._index.store_resolutions(generation, sources, found):
                    resolved += len(found)
        return resolved


def _cut(part: Sequence[Listed], notes: int) -> list[Sequence[Listed]]:
    return [part[at : at + notes] for at in range(0, len(part), notes)]
